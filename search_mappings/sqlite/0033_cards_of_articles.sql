-- How an indicator's record shows its article, in JSON. `article_card` is a function of the program that runs this.
ALTER TABLE articles ADD COLUMN card TEXT NOT NULL DEFAULT '';
UPDATE articles SET card = article_card(id, title, url, source_name, published_at, source_domain);
