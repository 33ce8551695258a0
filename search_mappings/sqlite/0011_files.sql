-- A submission of a file has no address, but a name; its bytes are kept until it has been read.
ALTER TABLE submissions ADD COLUMN file_id TEXT;
ALTER TABLE submissions ADD COLUMN file_name TEXT;
CREATE TABLE files (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    submission_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX files_by_age ON files (created_at, id, account_id, submission_id, size);
