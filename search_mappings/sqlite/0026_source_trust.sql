-- How far sources are trusted, 0 to 100; one that is not here as usual.
CREATE TABLE source_trust (
    source TEXT PRIMARY KEY,
    trust INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
