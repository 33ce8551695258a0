-- Times are milliseconds since 1970. `newest_first` is a negated time, so that every list is one ascending index.

CREATE TABLE articles (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    url TEXT,
    title TEXT NOT NULL,
    source_name TEXT NOT NULL,
    author TEXT,
    published_at INTEGER,
    fetched_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    newest_first INTEGER GENERATED ALWAYS AS (-seen_at) VIRTUAL,
    language TEXT,
    summary TEXT NOT NULL,
    cluster_id TEXT NOT NULL,
    notes TEXT NOT NULL,
    ioc_counts TEXT NOT NULL,
    revision INTEGER NOT NULL UNIQUE, -- rises over the whole table with every save
    text TEXT -- last, so that lists do not read past it
) STRICT;
CREATE INDEX articles_newest ON articles (newest_first, id);
CREATE INDEX articles_of_source ON articles (source_name, newest_first, id);
CREATE INDEX articles_oldest ON articles (seen_at, id, revision);
CREATE INDEX articles_of_cluster ON articles (cluster_id, seen_at, id);

CREATE TABLE addresses (
    address TEXT PRIMARY KEY,
    article_id TEXT NOT NULL REFERENCES articles (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE iocs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    newest_first INTEGER GENERATED ALWAYS AS (-last_seen) VIRTUAL,
    sightings INTEGER NOT NULL,
    sources INTEGER NOT NULL,
    ip BLOB, -- of type ip: its version and its bytes
    article_id TEXT NOT NULL REFERENCES articles (id),
    malware TEXT NOT NULL,
    context TEXT NOT NULL
) STRICT;
CREATE INDEX iocs_newest ON iocs (newest_first, id);
CREATE INDEX iocs_of_type ON iocs (type, newest_first, id);
CREATE INDEX iocs_by_ip ON iocs (ip) WHERE ip IS NOT NULL;

-- How many indicators of each type there are.
CREATE TABLE ioc_totals (
    type TEXT PRIMARY KEY,
    iocs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER ioc_added AFTER INSERT ON iocs BEGIN
    INSERT INTO ioc_totals (type, iocs) VALUES (new.type, 1) ON CONFLICT (type) DO UPDATE SET iocs = iocs + 1;
END;
CREATE TRIGGER ioc_removed AFTER DELETE ON iocs BEGIN
    UPDATE ioc_totals SET iocs = iocs - 1 WHERE type = old.type;
END;

-- The indicators of every source name; `id`, `type` and `newest_first` are the indicator's.
CREATE TABLE ioc_sources (
    id TEXT NOT NULL REFERENCES iocs (id) ON DELETE CASCADE,
    source_name TEXT NOT NULL,
    type TEXT NOT NULL,
    newest_first INTEGER NOT NULL,
    PRIMARY KEY (id, source_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX ioc_sources_newest ON ioc_sources (source_name, newest_first, id);
CREATE INDEX ioc_sources_of_type ON ioc_sources (source_name, type, newest_first, id);

-- One indicator in one article; `counted_source` is the source name of the earliest article of that article's cluster.
CREATE TABLE sightings (
    ioc_id TEXT NOT NULL REFERENCES iocs (id),
    article_id TEXT NOT NULL REFERENCES articles (id),
    position INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    newest_first INTEGER GENERATED ALWAYS AS (-seen_at) VIRTUAL,
    source_name TEXT NOT NULL,
    counted_source TEXT NOT NULL,
    malware TEXT NOT NULL,
    context TEXT NOT NULL,
    PRIMARY KEY (ioc_id, article_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sightings_newest ON sightings (ioc_id, newest_first, article_id, counted_source, source_name);
CREATE INDEX sightings_of_article ON sightings (article_id, position, ioc_id);

-- What searches match: encoded words, which the tokenizer leaves whole. `host` holds hosts and ids, one token each.
CREATE VIRTUAL TABLE ioc_words USING fts5 (value, article, host, tokenize = "ascii tokenchars '_'", columnsize = 0);
CREATE VIRTUAL TABLE article_words USING fts5 (
    title, summary, text, source_name, tokenize = "ascii tokenchars '_'", columnsize = 0
);

CREATE TABLE submissions (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    url TEXT NOT NULL,
    source_name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'fetching', 'done', 'failed')),
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    first_attempt_at INTEGER,
    reason TEXT,
    detail TEXT,
    article_id TEXT,
    ioc_count INTEGER,
    finished_at INTEGER
) STRICT;
CREATE INDEX submissions_due ON submissions (due_at, id) WHERE status IN ('queued', 'fetching');
CREATE INDEX submissions_by_status ON submissions (status);

CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    session_epoch INTEGER NOT NULL
) STRICT;

-- The slot is part of the key, so that no account can have a sixth.
CREATE TABLE keys (
    account_id TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 4),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    PRIMARY KEY (account_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    user_agent TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_of_account ON sessions (account_id, created_at);

CREATE TABLE weeks (
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    basis TEXT NOT NULL,
    generated_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id, revision)
) STRICT;
