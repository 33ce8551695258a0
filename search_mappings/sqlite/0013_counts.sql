-- What is told of the whole store is counted as it is written: articles of a source name and of a day, submissions by status.
ALTER TABLE sources ADD COLUMN articles INTEGER NOT NULL DEFAULT 0;
UPDATE sources SET articles = (SELECT count(*) FROM articles WHERE source_name = sources.name);
CREATE TRIGGER article_of_source_added AFTER INSERT ON articles BEGIN
    UPDATE sources SET articles = articles + 1 WHERE seq = new.source_seq;
END;
CREATE TRIGGER article_of_source_removed AFTER DELETE ON articles BEGIN
    UPDATE sources SET articles = articles - 1 WHERE seq = old.source_seq;
END;
CREATE TRIGGER article_of_source_moved AFTER UPDATE OF source_seq ON articles
WHEN old.source_seq <> new.source_seq BEGIN
    UPDATE sources SET articles = articles - 1 WHERE seq = old.source_seq;
    UPDATE sources SET articles = articles + 1 WHERE seq = new.source_seq;
END;

-- `starts_at` is the beginning of a day in UTC; `last_save` the highest number of a save among its articles.
CREATE TABLE article_days (
    starts_at INTEGER PRIMARY KEY,
    articles INTEGER NOT NULL,
    last_save INTEGER NOT NULL
) STRICT;
INSERT INTO article_days (starts_at, articles, last_save)
    SELECT seen_at - (seen_at % 86400000 + 86400000) % 86400000 AS day, count(*), max(save_number)
    FROM articles GROUP BY day;
CREATE TRIGGER article_of_day_added AFTER INSERT ON articles BEGIN
    INSERT INTO article_days (starts_at, articles, last_save)
        VALUES (new.seen_at - (new.seen_at % 86400000 + 86400000) % 86400000, 1, new.save_number)
        ON CONFLICT DO UPDATE SET articles = articles + 1, last_save = max(last_save, excluded.last_save);
END;
CREATE TRIGGER article_of_day_removed AFTER DELETE ON articles BEGIN
    UPDATE article_days SET articles = articles - 1
    WHERE starts_at = old.seen_at - (old.seen_at % 86400000 + 86400000) % 86400000;
    UPDATE article_days SET last_save = (
        SELECT coalesce(max(save_number), 0) FROM articles
        WHERE seen_at >= starts_at AND seen_at < starts_at + 86400000
    )
    WHERE starts_at = old.seen_at - (old.seen_at % 86400000 + 86400000) % 86400000 AND last_save = old.save_number;
END;
-- A save has a higher number than all before it.
CREATE TRIGGER article_of_day_moved AFTER UPDATE OF seen_at, save_number ON articles BEGIN
    INSERT INTO article_days (starts_at, articles, last_save)
        VALUES (new.seen_at - (new.seen_at % 86400000 + 86400000) % 86400000, 1, new.save_number)
        ON CONFLICT DO UPDATE SET articles = articles + 1, last_save = max(last_save, excluded.last_save);
    UPDATE article_days SET articles = articles - 1
    WHERE starts_at = old.seen_at - (old.seen_at % 86400000 + 86400000) % 86400000;
    UPDATE article_days SET last_save = (
        SELECT coalesce(max(save_number), 0) FROM articles
        WHERE seen_at >= starts_at AND seen_at < starts_at + 86400000
    )
    WHERE starts_at = old.seen_at - (old.seen_at % 86400000 + 86400000) % 86400000 AND last_save = old.save_number;
END;

CREATE TABLE submission_counts (
    status TEXT PRIMARY KEY,
    submissions INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO submission_counts (status, submissions) SELECT status, count(*) FROM submissions GROUP BY status;
CREATE TRIGGER submission_counted AFTER INSERT ON submissions BEGIN
    INSERT INTO submission_counts (status, submissions) VALUES (new.status, 1)
        ON CONFLICT DO UPDATE SET submissions = submissions + 1;
END;
CREATE TRIGGER submission_removed AFTER DELETE ON submissions BEGIN
    UPDATE submission_counts SET submissions = submissions - 1 WHERE status = old.status;
END;
CREATE TRIGGER submission_moved AFTER UPDATE OF status ON submissions WHEN old.status <> new.status BEGIN
    UPDATE submission_counts SET submissions = submissions - 1 WHERE status = old.status;
    INSERT INTO submission_counts (status, submissions) VALUES (new.status, 1)
        ON CONFLICT DO UPDATE SET submissions = submissions + 1;
END;
