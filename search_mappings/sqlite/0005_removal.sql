-- The domain that an article counts for where an account submitted it, and its source name is only a claim.
ALTER TABLE articles ADD COLUMN source_domain TEXT;
