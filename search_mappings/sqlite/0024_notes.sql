-- Notes that accounts write on indicators and articles.
CREATE TABLE notes (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    text TEXT NOT NULL,
    written_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_of_record ON notes (record_id, written_at, id);
