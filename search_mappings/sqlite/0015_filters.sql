-- What filters and orders of lists are read from.
ALTER TABLE iocs ADD COLUMN warned INTEGER NOT NULL DEFAULT 0; -- whether it stands on a warning list
CREATE INDEX iocs_warned ON iocs (type, newest_first) WHERE warned;
CREATE INDEX iocs_by_first_seen ON iocs (first_seen DESC, id);
DROP INDEX iocs_by_addition;
CREATE INDEX iocs_by_addition ON iocs (added_at DESC, id);

-- The warning lists by which indicators are marked; none before the first marking of all.
CREATE TABLE warned_basis (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    basis TEXT NOT NULL
) STRICT;

-- The indicators named with each malware, newest first; its name is casefolded.
CREATE TABLE malware_names (
    seq INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE malware_lists (
    malware_seq INTEGER NOT NULL,
    newest_first INTEGER NOT NULL,
    id BLOB NOT NULL,
    ioc_seq INTEGER NOT NULL,
    PRIMARY KEY (malware_seq, newest_first, id)
) STRICT, WITHOUT ROWID;
INSERT INTO malware_names (name)
    SELECT DISTINCT casefold(near.value) FROM iocs AS i CROSS JOIN json_each(i.malware) AS near WHERE i.malware <> '[]';
INSERT OR IGNORE INTO malware_lists (malware_seq, newest_first, id, ioc_seq)
    SELECT n.seq, i.newest_first, i.id, i.seq
    FROM iocs AS i CROSS JOIN json_each(i.malware) AS near CROSS JOIN malware_names AS n ON n.name = casefold(near.value)
    WHERE i.malware <> '[]' ORDER BY n.seq, i.newest_first, i.id;
