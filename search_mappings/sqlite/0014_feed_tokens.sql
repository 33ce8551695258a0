-- Slots 5 to 9 hold an account's feed tokens.
CREATE TABLE wider_keys (
    account_id TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 9),
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    PRIMARY KEY (account_id, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO wider_keys SELECT * FROM keys;
DROP TABLE keys;
ALTER TABLE wider_keys RENAME TO keys;
