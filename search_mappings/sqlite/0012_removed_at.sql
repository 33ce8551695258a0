-- When an indicator that was removed had been added; nothing where a former version removed it.
ALTER TABLE removed_iocs ADD COLUMN added_at INTEGER;
