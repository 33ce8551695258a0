-- The blocks of a text as its page told them.
ALTER TABLE article_texts ADD COLUMN structure TEXT NOT NULL DEFAULT '';
