ALTER TABLE accounts ADD COLUMN role TEXT NOT NULL DEFAULT 'submitter'
    CHECK (role IN ('reader', 'submitter', 'administrator'));

-- Which account was made administrator for being the first; it stays when that account goes.
CREATE TABLE first_administrator (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    account_id TEXT NOT NULL
) STRICT;
INSERT INTO first_administrator (singleton, account_id)
    SELECT 1, id FROM accounts ORDER BY disabled_at IS NOT NULL, created_at, id LIMIT 1;
UPDATE accounts SET role = 'administrator' WHERE id IN (SELECT account_id FROM first_administrator);
