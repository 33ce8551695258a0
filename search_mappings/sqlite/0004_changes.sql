-- Every change of an indicator takes the next number; `changed_at` never falls while numbers rise. What was stored
-- before there were numbers takes them in the order in which it was last seen.
ALTER TABLE iocs ADD COLUMN added_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iocs ADD COLUMN changed_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iocs ADD COLUMN added_number INTEGER NOT NULL DEFAULT 0; -- the change that added it
ALTER TABLE iocs ADD COLUMN change_number INTEGER NOT NULL DEFAULT 0; -- its newest change
UPDATE iocs SET
    added_at = min(first_seen, stored.now),
    changed_at = min(last_seen, stored.now),
    added_number = stored.number,
    change_number = stored.number
FROM (
    SELECT
        seq,
        row_number() OVER (ORDER BY newest_first DESC, id DESC) AS number,
        CAST(strftime('%s', 'now') AS INTEGER) * 1000 AS now
    FROM iocs
) AS stored
WHERE stored.seq = iocs.seq;
CREATE INDEX iocs_by_change ON iocs (change_number);
CREATE INDEX iocs_by_addition ON iocs (added_at);

CREATE TABLE newest_change (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
INSERT INTO newest_change (only, number, changed_at) SELECT 1, count(*), coalesce(max(changed_at), 0) FROM iocs;

CREATE TABLE removed_iocs (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    change_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_iocs_by_change ON removed_iocs (change_number);
