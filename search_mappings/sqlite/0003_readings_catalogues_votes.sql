-- Texts stand apart from the articles, so that lists do not read past them.
CREATE TABLE article_texts (
    seq INTEGER PRIMARY KEY, -- the article's
    text TEXT
) STRICT;
INSERT INTO article_texts (seq, text) SELECT seq, text FROM articles ORDER BY seq;
ALTER TABLE articles DROP COLUMN text;
ALTER TABLE articles RENAME COLUMN revision TO save_number;
ALTER TABLE articles ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
ALTER TABLE articles ADD COLUMN ioc_dropped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE articles ADD COLUMN findings TEXT NOT NULL DEFAULT '{}';

-- `seq` is the indicator's: a search counts the sources of what it finds in the order in which it finds it.
DROP TABLE ioc_sources;
CREATE TABLE ioc_sources (
    seq INTEGER NOT NULL REFERENCES iocs (seq) ON DELETE CASCADE,
    source_name TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    newest_first INTEGER NOT NULL,
    PRIMARY KEY (seq, source_name)
) STRICT, WITHOUT ROWID;
INSERT INTO ioc_sources (seq, source_name, id, type, newest_first)
    SELECT DISTINCT i.seq, s.source_name, i.id, i.type, i.newest_first
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_id = i.id ORDER BY i.seq;
CREATE INDEX ioc_sources_newest ON ioc_sources (source_name, newest_first, id);
CREATE INDEX ioc_sources_of_type ON ioc_sources (source_name, type, newest_first, id);

-- What each revision of an article said; `iocs`, `text` and `candidates` are compressed JSON.
CREATE TABLE readings (
    article_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    fetched_at INTEGER NOT NULL,
    title TEXT NOT NULL,
    iocs BLOB NOT NULL,
    text BLOB NOT NULL,
    candidates BLOB NOT NULL,
    PRIMARY KEY (article_id, revision)
) STRICT;

ALTER TABLE submissions ADD COLUMN ioc_dropped INTEGER;
ALTER TABLE submissions ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submissions_of_account ON submissions (account_id, created_at DESC, id);

CREATE TABLE catalogues (
    name TEXT PRIMARY KEY,
    as_of INTEGER NOT NULL,
    imported_at INTEGER NOT NULL,
    source TEXT NOT NULL,
    entries INTEGER NOT NULL
) STRICT;
CREATE TABLE catalogue_parts (
    name TEXT NOT NULL REFERENCES catalogues (name),
    key TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (name, key)
) STRICT;

CREATE TABLE votes (
    ioc_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    note TEXT NOT NULL,
    voted_at INTEGER NOT NULL,
    PRIMARY KEY (ioc_id, account_id)
) STRICT, WITHOUT ROWID;
