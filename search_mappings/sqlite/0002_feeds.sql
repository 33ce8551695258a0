CREATE TABLE feeds (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    next_poll_at INTEGER NOT NULL,
    enabled INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    interval_seconds INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    lease_ends_at INTEGER,
    last_polled_at INTEGER,
    last_success_at INTEGER,
    failures INTEGER NOT NULL,
    last_error TEXT,
    ended_at INTEGER
) STRICT;
CREATE INDEX feeds_due ON feeds (next_poll_at, id) WHERE enabled AND ended_at IS NULL;
