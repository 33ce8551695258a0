CREATE TABLE searches (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    secret TEXT NOT NULL,
    mail_token TEXT NOT NULL,
    q TEXT NOT NULL,
    filters TEXT NOT NULL,
    webhook_url TEXT,
    email TEXT,
    every TEXT NOT NULL CHECK (every IN ('now', 'hour', 'day', 'week')),
    enabled INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    webhook_number INTEGER NOT NULL,
    webhook_at INTEGER NOT NULL,
    mail_number INTEGER NOT NULL,
    mail_at INTEGER NOT NULL,
    mail_due_at INTEGER NOT NULL,
    outbox TEXT NOT NULL,
    lease_ends_at INTEGER,
    first_failure_at INTEGER,
    switched_off_at INTEGER
) STRICT;
CREATE INDEX searches_of_account ON searches (account_id, created_at, id);

CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    search_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('webhook', 'email')),
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    created_at INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_status INTEGER,
    last_error TEXT,
    finished_at INTEGER
) STRICT;
CREATE INDEX deliveries_of_search ON deliveries (search_id, id);
CREATE INDEX deliveries_pending ON deliveries (search_id, due_at, id) WHERE status = 'pending';
