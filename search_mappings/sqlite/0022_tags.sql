-- Tags of indicators and articles, sorted, and the records of each tag.
ALTER TABLE iocs ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE articles ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
CREATE TABLE ioc_tags (
    tag TEXT NOT NULL,
    ioc_seq INTEGER NOT NULL,
    PRIMARY KEY (tag, ioc_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX ioc_tags_of ON ioc_tags (ioc_seq);
CREATE TABLE article_tags (
    tag TEXT NOT NULL,
    article_seq INTEGER NOT NULL,
    PRIMARY KEY (tag, article_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX article_tags_of ON article_tags (article_seq);
