-- No statement looks into the text of an article: it is kept compressed. `packed` is a function of the program that runs
-- this; it is given bytes, for a text that is no valid UTF-8 must not keep the others from being packed.
CREATE TABLE packed_texts (
    seq INTEGER PRIMARY KEY, -- the article's
    text BLOB, -- the UTF-8, compressed with zlib
    structure TEXT NOT NULL DEFAULT ''
) STRICT;
INSERT INTO packed_texts (seq, text, structure)
    SELECT seq, packed(CAST(text AS BLOB)), structure FROM article_texts ORDER BY seq;
DROP TABLE article_texts;
ALTER TABLE packed_texts RENAME TO article_texts;
