-- What weeks come to is kept as articles are written, so that telling of one reads no sightings. Weeks are counted since
-- Monday, 29 December 1969.

-- How many observables of a type were named in a week, and how many of them for the first time.
CREATE TABLE week_counts (
    week INTEGER NOT NULL,
    type TEXT NOT NULL,
    iocs INTEGER NOT NULL,
    new_iocs INTEGER NOT NULL,
    PRIMARY KEY (week, type)
) STRICT, WITHOUT ROWID;

-- The weeks of every observable that more than one article names: how many of them, and of the sources that they count for.
CREATE TABLE week_iocs (
    ioc_seq INTEGER NOT NULL,
    week INTEGER NOT NULL,
    articles INTEGER NOT NULL,
    sources INTEGER NOT NULL,
    first_seen INTEGER NOT NULL, -- the indicator's, in any week
    PRIMARY KEY (ioc_seq, week)
) STRICT, WITHOUT ROWID;
INSERT INTO week_iocs (ioc_seq, week, articles, sources, first_seen)
    SELECT
        i.seq,
        (259200000 - s.newest_first - ((259200000 - s.newest_first) % 604800000 + 604800000) % 604800000) / 604800000
            AS week,
        count(*), count(DISTINCT a.counted_source), i.first_seen
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE i.sightings > 1 AND i.type NOT IN ('cve', 'malware', 'mitre_attack') GROUP BY i.seq, week;
CREATE INDEX week_iocs_in_order ON week_iocs (week, sources DESC, articles DESC, first_seen, ioc_seq);

INSERT INTO week_counts (week, type, iocs, new_iocs)
    SELECT week, type, sum(iocs), sum(new_iocs) FROM (
        SELECT w.week, i.type, count(*) AS iocs, 0 AS new_iocs
        FROM week_iocs AS w CROSS JOIN iocs AS i ON i.seq = w.ioc_seq GROUP BY w.week, i.type
        UNION ALL
        SELECT
            (first_seen + 259200000 - ((first_seen + 259200000) % 604800000 + 604800000) % 604800000) / 604800000
                AS week,
            type, sum(sightings = 1), count(*)
        FROM iocs WHERE type NOT IN ('cve', 'malware', 'mitre_attack') GROUP BY week, type
    ) GROUP BY week, type;

-- The CVEs and techniques named near a malware in an article, as [type, value].
ALTER TABLE article_observables ADD COLUMN subjects TEXT NOT NULL DEFAULT '[]';
INSERT INTO article_observables (article_id, malware, seqs, first_20, subjects)
    SELECT a.id, near.value, '[]', '[]', json_group_array(json_array(i.type, i.value))
    FROM sightings AS s INDEXED BY sightings_near CROSS JOIN iocs AS i ON i.seq = s.ioc_seq
    CROSS JOIN json_each(s.malware) AS near CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE s.malware <> '[]' AND i.type IN ('cve', 'mitre_attack') GROUP BY a.id, near.value
    ON CONFLICT (article_id, malware) DO UPDATE SET subjects = excluded.subjects;

-- Subjects that several sources name, or of which an article says how far they are exploited: all others are in focus by
-- what catalogues say of them alone. One that is so no more may stay; `last_seen` is when the newest of its articles was
-- seen, or later.
CREATE INDEX mentions_of_source ON mentions (type, value, source);
CREATE TABLE notable_subjects (
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    last_seen INTEGER NOT NULL,
    PRIMARY KEY (type, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX notable_subjects_recent ON notable_subjects (last_seen);
INSERT INTO notable_subjects (type, value, last_seen)
    SELECT type, value, max(seen_at) FROM mentions
    GROUP BY type, value HAVING min(source) < max(source) OR max(level) IS NOT NULL;
