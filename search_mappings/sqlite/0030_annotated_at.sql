-- When an account last changed an article's tags or TLP; NULL where none did, or did before this was kept.
ALTER TABLE articles ADD COLUMN annotated_at INTEGER;
