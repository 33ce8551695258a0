-- The domain that an article counts for where an account submitted it, and its source name is only a claim.
ALTER TABLE articles ADD COLUMN source_domain TEXT;

-- An address leads to the article that claimed it first; when that one is removed, to the next.
CREATE TABLE claimed_addresses (
    address TEXT NOT NULL,
    article_id TEXT NOT NULL REFERENCES articles (id),
    claimed INTEGER NOT NULL, -- the number of the save that claimed it
    PRIMARY KEY (address, article_id)
) STRICT, WITHOUT ROWID;
INSERT INTO claimed_addresses (address, article_id, claimed) SELECT address, article_id, 0 FROM addresses;
DROP TABLE addresses;
ALTER TABLE claimed_addresses RENAME TO addresses;
CREATE INDEX addresses_of_article ON addresses (article_id);

-- The number of the last save; no number comes twice, though articles are removed.
CREATE TABLE save_numbers (
    last INTEGER NOT NULL
) STRICT;
INSERT INTO save_numbers (last) SELECT coalesce(max(save_number), 0) FROM articles;

CREATE INDEX submissions_of_article ON submissions (article_id) WHERE article_id IS NOT NULL;

CREATE TABLE blocked_domains (
    domain TEXT PRIMARY KEY,
    blocked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
