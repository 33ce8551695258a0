-- What readers call wrongly kept or dropped.
CREATE TABLE feedback (
    id TEXT PRIMARY KEY,
    article_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    spelling TEXT NOT NULL,
    text TEXT NOT NULL,
    kept INTEGER NOT NULL,
    rule TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_of_article ON feedback (article_id, account_id, id);
