-- Indicators and articles stand in other tables by `seq`, source names by that of `sources`. An indicator's id is its 16
-- bytes, whose order is that of the text. `id_bytes` and `casefold` are functions of the program that runs this.

CREATE TABLE sources (
    seq INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO sources (name) SELECT DISTINCT source_name FROM articles ORDER BY source_name;
ALTER TABLE articles ADD COLUMN source_seq INTEGER REFERENCES sources (seq);
-- The source that the earliest article of the cluster counts for.
ALTER TABLE articles ADD COLUMN counted_source TEXT NOT NULL DEFAULT '';
UPDATE articles SET
    source_seq = (SELECT seq FROM sources WHERE name = articles.source_name),
    counted_source = (
        SELECT coalesce(first.source_domain, first.source_name) FROM articles AS first
        WHERE first.cluster_id = articles.cluster_id ORDER BY first.seen_at, first.id LIMIT 1
    );

CREATE TABLE compact_iocs (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    newest_first INTEGER GENERATED ALWAYS AS (-last_seen) VIRTUAL,
    sightings INTEGER NOT NULL,
    sources INTEGER NOT NULL,
    article_seq INTEGER NOT NULL,
    added_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    added_number INTEGER NOT NULL, -- the change that added it
    change_number INTEGER NOT NULL, -- its newest change
    ip BLOB, -- of type ip: its version and its bytes
    name TEXT, -- of type malware: the value, casefolded
    malware TEXT NOT NULL,
    context TEXT NOT NULL
) STRICT;
INSERT INTO compact_iocs (
    seq, id, type, value, first_seen, last_seen, sightings, sources, article_seq,
    added_at, changed_at, added_number, change_number, ip, name, malware, context
)
    SELECT
        i.seq, id_bytes(i.id), i.type, i.value, i.first_seen, i.last_seen, i.sightings, i.sources, a.seq,
        i.added_at, i.changed_at, i.added_number, i.change_number, i.ip,
        CASE WHEN i.type = 'malware' THEN casefold(i.value) END, i.malware, i.context
    FROM iocs AS i CROSS JOIN articles AS a ON a.id = i.article_id ORDER BY i.seq;

-- One indicator in one article.
CREATE TABLE compact_sightings (
    ioc_seq INTEGER NOT NULL,
    newest_first INTEGER NOT NULL, -- the article's
    article_seq INTEGER NOT NULL REFERENCES articles (seq),
    position INTEGER NOT NULL,
    malware TEXT NOT NULL,
    context TEXT NOT NULL,
    PRIMARY KEY (ioc_seq, newest_first, article_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO compact_sightings (ioc_seq, newest_first, article_seq, position, malware, context)
    SELECT i.seq, -a.seen_at, a.seq, s.position, s.malware, s.context
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_id = i.id CROSS JOIN articles AS a ON a.id = s.article_id
    ORDER BY i.seq;

DROP TABLE ioc_sources;
DROP TABLE sightings;
DROP TABLE iocs;
ALTER TABLE compact_iocs RENAME TO iocs;
ALTER TABLE compact_sightings RENAME TO sightings;
CREATE UNIQUE INDEX iocs_by_id ON iocs (id);
CREATE INDEX iocs_newest ON iocs (newest_first, id);
CREATE INDEX iocs_of_type ON iocs (type, newest_first, id);
CREATE INDEX iocs_by_ip ON iocs (ip) WHERE ip IS NOT NULL;
CREATE INDEX iocs_by_name ON iocs (name) WHERE name IS NOT NULL;
CREATE INDEX iocs_by_change ON iocs (change_number);
CREATE INDEX iocs_by_addition ON iocs (added_at);
-- What several sources name leads every class of a search; the rest follows newest first.
CREATE INDEX iocs_of_many_sources ON iocs (sources DESC, newest_first, id) WHERE sources > 1;
CREATE INDEX sightings_of_article ON sightings (article_seq, position);

-- The source names of every indicator; `shared` where it has several.
CREATE TABLE ioc_sources (
    ioc_seq INTEGER NOT NULL,
    source_seq INTEGER NOT NULL,
    shared INTEGER NOT NULL,
    PRIMARY KEY (ioc_seq, source_seq)
) STRICT, WITHOUT ROWID;
INSERT INTO ioc_sources (ioc_seq, source_seq, shared)
    SELECT
        i.seq, a.source_seq,
        min(a.source_seq) OVER (PARTITION BY i.seq) < max(a.source_seq) OVER (PARTITION BY i.seq)
    FROM iocs AS i CROSS JOIN sightings AS s ON s.ioc_seq = i.seq CROSS JOIN articles AS a ON a.seq = s.article_seq
    WHERE TRUE ON CONFLICT DO NOTHING;
CREATE INDEX ioc_sources_shared ON ioc_sources (source_seq) WHERE shared;

-- The list of every source name; `newest_first`, `id` and `type` are the indicator's.
CREATE TABLE source_lists (
    source_seq INTEGER NOT NULL,
    newest_first INTEGER NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    ioc_seq INTEGER NOT NULL,
    PRIMARY KEY (source_seq, newest_first, id)
) STRICT, WITHOUT ROWID;
INSERT INTO source_lists (source_seq, newest_first, id, type, ioc_seq)
    SELECT s.source_seq, i.newest_first, i.id, i.type, i.seq
    FROM iocs AS i CROSS JOIN ioc_sources AS s ON s.ioc_seq = i.seq ORDER BY s.source_seq, i.newest_first, i.id;
CREATE INDEX source_lists_of_type ON source_lists (source_seq, type, newest_first, id, ioc_seq);

-- How many indicators there are of each type and week of `last_seen` (in weeks since Monday, 29 December 1969): in all,
-- and of each source name.
DROP TABLE ioc_totals;
CREATE TABLE ioc_counts (
    type TEXT NOT NULL,
    week INTEGER NOT NULL,
    iocs INTEGER NOT NULL,
    PRIMARY KEY (type, week)
) STRICT, WITHOUT ROWID;
CREATE TABLE source_counts (
    source_seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    iocs INTEGER NOT NULL,
    PRIMARY KEY (source_seq, type)
) STRICT, WITHOUT ROWID;
CREATE TABLE source_weeks (
    source_seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    week INTEGER NOT NULL,
    iocs INTEGER NOT NULL,
    PRIMARY KEY (source_seq, type, week)
) STRICT, WITHOUT ROWID;

-- What searches match: encoded words, which the tokenizer leaves whole; `host` holds hosts, one token each. The words
-- themselves are not kept: they follow from the records.
DROP TABLE ioc_words;
CREATE VIRTUAL TABLE ioc_words USING fts5 (
    value, article, host, tokenize = "ascii tokenchars '_'", columnsize = 0, content = ''
);
-- While the words are indexed anew beside `ioc_words`: who does it, and how far it has come.
CREATE TABLE rebuilding (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;

CREATE TABLE compact_votes (
    ioc_id BLOB NOT NULL,
    account_id TEXT NOT NULL,
    note TEXT NOT NULL,
    voted_at INTEGER NOT NULL,
    PRIMARY KEY (ioc_id, account_id)
) STRICT, WITHOUT ROWID;
INSERT INTO compact_votes (ioc_id, account_id, note, voted_at)
    SELECT id_bytes(ioc_id), account_id, note, voted_at FROM votes;
DROP TABLE votes;
ALTER TABLE compact_votes RENAME TO votes;

CREATE TABLE compact_removed_iocs (
    id BLOB PRIMARY KEY,
    type TEXT NOT NULL,
    value TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    change_number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO compact_removed_iocs (id, type, value, changed_at, change_number)
    SELECT id_bytes(id), type, value, changed_at, change_number FROM removed_iocs;
DROP TABLE removed_iocs;
ALTER TABLE compact_removed_iocs RENAME TO removed_iocs;
CREATE INDEX removed_iocs_by_change ON removed_iocs (change_number);
