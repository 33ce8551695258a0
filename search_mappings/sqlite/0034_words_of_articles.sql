-- The words of articles are not kept a second time beside their index: they follow from the records. `encoded_words` and
-- `packed_words` are functions of the program that runs this.
CREATE VIRTUAL TABLE words_alone USING fts5 (
    title, summary, text, source_name, tokenize = "ascii tokenchars '_'", columnsize = 0, content = ''
);
INSERT INTO words_alone (rowid, title, summary, text, source_name)
    SELECT a.seq, encoded_words(a.title), encoded_words(a.summary), packed_words(t.text), encoded_words(a.source_name)
    FROM articles AS a CROSS JOIN article_texts AS t ON t.seq = a.seq ORDER BY a.seq;
DROP TABLE article_words;
ALTER TABLE words_alone RENAME TO article_words;
-- While the words of articles are indexed anew beside `article_words`: who does it, and how far it has come.
CREATE TABLE rebuilding_articles (
    run TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
