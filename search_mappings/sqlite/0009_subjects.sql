-- What articles say of CVEs, malware and techniques; `domain`, `level` and `score` are the article's.
CREATE TABLE mentions (
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    article_id TEXT NOT NULL,
    source TEXT NOT NULL, -- that the article counts for
    level TEXT,
    score REAL,
    domain TEXT,
    PRIMARY KEY (type, value, seen_at, article_id)
) STRICT, WITHOUT ROWID;
INSERT INTO mentions (type, value, seen_at, article_id, source, level, score, domain)
    SELECT i.type, i.value, a.seen_at, a.id, a.counted_source,
        CASE WHEN json_extract(a.findings, '$."' || i.value || '".exploitation') IN ('in_the_wild', 'poc')
            THEN json_extract(a.findings, '$."' || i.value || '".exploitation') END,
        CASE WHEN json_type(a.findings, '$."' || i.value || '".cvss.score') IN ('integer', 'real')
            THEN json_extract(a.findings, '$."' || i.value || '".cvss.score') END,
        domain_of(a.url)
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE i.type IN ('cve', 'malware', 'mitre_attack');
CREATE INDEX mentions_recent ON mentions (seen_at, type, value, source, level, score);
CREATE INDEX mentions_of_article ON mentions (article_id, type);

-- When an observable was first named near a malware, if within 14 days of its first sighting; `seq` is the indicator's.
CREATE INDEX sightings_near ON sightings (ioc_seq, newest_first, article_seq, malware) WHERE malware <> '[]';
CREATE TABLE named_near (
    seq INTEGER NOT NULL,
    malware TEXT NOT NULL,
    named_at INTEGER NOT NULL,
    first_seen INTEGER NOT NULL,
    PRIMARY KEY (seq, malware)
) STRICT, WITHOUT ROWID;
CREATE TABLE newly_named (
    first_seen INTEGER NOT NULL,
    named_at INTEGER NOT NULL,
    malware TEXT NOT NULL,
    iocs INTEGER NOT NULL,
    PRIMARY KEY (first_seen, named_at, malware)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER newly_named_added AFTER INSERT ON named_near BEGIN
    INSERT INTO newly_named (first_seen, named_at, malware, iocs) VALUES (new.first_seen, new.named_at, new.malware, 1)
    ON CONFLICT DO UPDATE SET iocs = iocs + 1;
END;
CREATE TRIGGER newly_named_removed AFTER DELETE ON named_near BEGIN
    UPDATE newly_named SET iocs = iocs - 1
    WHERE first_seen = old.first_seen AND named_at = old.named_at AND malware = old.malware;
    DELETE FROM newly_named
    WHERE first_seen = old.first_seen AND named_at = old.named_at AND malware = old.malware AND iocs = 0;
END;
INSERT INTO named_near (seq, malware, named_at, first_seen)
    SELECT i.seq, near.value, -max(s.newest_first), i.first_seen
    FROM sightings AS s INDEXED BY sightings_near CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
    CROSS JOIN json_each(s.malware) AS near
    WHERE s.malware <> '[]' AND i.type NOT IN ('cve', 'malware', 'mitre_attack')
    GROUP BY i.seq, near.value HAVING -max(s.newest_first) < i.first_seen + 1209600000;

-- The observables of an article, of those near a malware where one is given (else ''), by type and value: all by `seq`,
-- and the first 20 as [type, value].
CREATE TABLE article_observables (
    article_id TEXT NOT NULL,
    malware TEXT NOT NULL,
    seqs TEXT NOT NULL,
    first_20 TEXT NOT NULL,
    PRIMARY KEY (article_id, malware)
) STRICT;
INSERT INTO article_observables (article_id, malware, seqs, first_20)
    SELECT
        a.id,
        '',
        (
            SELECT json_group_array(i.seq) FROM sightings AS s CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
            WHERE s.article_seq = a.seq AND i.type NOT IN ('cve', 'malware', 'mitre_attack')
        ),
        (
            SELECT json_group_array(json_array(type, value)) FROM (
                SELECT i.type, i.value FROM sightings AS s CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
                WHERE s.article_seq = a.seq AND i.type NOT IN ('cve', 'malware', 'mitre_attack')
                ORDER BY i.type, i.value LIMIT 20
            )
        )
    FROM articles AS a;
INSERT INTO article_observables (article_id, malware, seqs, first_20)
    SELECT
        a.id,
        named.malware,
        json_group_array(named.seq),
        json_group_array(json_array(named.type, named.value)) FILTER (WHERE named.place <= 20)
    FROM (
        SELECT
            s.article_seq, near.value AS malware, i.seq, i.type, i.value,
            row_number() OVER (PARTITION BY s.article_seq, near.value ORDER BY i.type, i.value) AS place
        FROM sightings AS s INDEXED BY sightings_near CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
        CROSS JOIN json_each(s.malware) AS near
        WHERE s.malware <> '[]' AND i.type NOT IN ('cve', 'malware', 'mitre_attack')
    ) AS named CROSS JOIN articles AS a ON a.seq = named.article_seq
    GROUP BY a.id, named.malware;
