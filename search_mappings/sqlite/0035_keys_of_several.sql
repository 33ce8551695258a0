-- The key of what several sources name tells its week and type too. They are written anew by the program that runs this.
DELETE FROM facet_keys;
-- With `shared`, so that what each source shares is read from the index alone.
DROP INDEX ioc_sources_shared;
CREATE INDEX ioc_sources_shared ON ioc_sources (source_seq, shared) WHERE shared;
