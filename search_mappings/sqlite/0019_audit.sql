CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    done_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT, WITHOUT ROWID;
