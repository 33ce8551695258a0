-- How far an article may be passed on, by the number of its level (0: it says nothing), and the strictest level of an
-- indicator's articles.
ALTER TABLE articles ADD COLUMN tlp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iocs ADD COLUMN tlp INTEGER NOT NULL DEFAULT 0;
CREATE INDEX iocs_by_tlp ON iocs (tlp, newest_first, id) WHERE tlp > 0;
CREATE INDEX articles_by_tlp ON articles (tlp, newest_first, id) WHERE tlp > 0;
