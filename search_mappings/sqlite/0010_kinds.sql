-- What facets count of an indicator stands beside each of its sources: `kind` is the week of `last_seen` times 16, and the
-- type's place; `shared` is 0 for an only source, 1 for one of several, and 2 for every further one.
CREATE TABLE kinds_of_sources (
    ioc_seq INTEGER NOT NULL,
    source_seq INTEGER NOT NULL,
    shared INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    PRIMARY KEY (ioc_seq, source_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO kinds_of_sources (ioc_seq, source_seq, shared, kind)
    SELECT
        s.ioc_seq, s.source_seq,
        s.shared + EXISTS (
            SELECT 1 FROM ioc_sources AS first WHERE first.ioc_seq = s.ioc_seq AND first.source_seq < s.source_seq
        ),
        (i.last_seen + 259200000 - ((i.last_seen + 259200000) % 604800000 + 604800000) % 604800000) / 604800000 * 16
        + CASE i.type
            WHEN 'ip' THEN 0 WHEN 'domain' THEN 1 WHEN 'hash_md5' THEN 2 WHEN 'hash_sha1' THEN 3
            WHEN 'hash_sha256' THEN 4 WHEN 'url' THEN 5 WHEN 'cve' THEN 6 WHEN 'mitre_attack' THEN 7
            WHEN 'email' THEN 8 WHEN 'malware' THEN 9
        END
    FROM ioc_sources AS s CROSS JOIN iocs AS i ON i.seq = s.ioc_seq;
DROP TABLE ioc_sources;
ALTER TABLE kinds_of_sources RENAME TO ioc_sources;
CREATE INDEX ioc_sources_shared ON ioc_sources (source_seq) WHERE shared;
