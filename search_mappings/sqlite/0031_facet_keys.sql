-- What facets count of 500 indicators in a row, in 8 bytes each: source, week and type of one that a single source names
-- as `ioc_sources` has them, -1 for one that several name, 0 where there is none.
CREATE TABLE facet_keys (
    block INTEGER PRIMARY KEY, -- `seq` of the indicators, divided by 500
    keys BLOB NOT NULL
) STRICT;
