ALTER TABLE submissions ADD COLUMN put_off INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submissions_unended ON submissions (account_id) WHERE status IN ('queued', 'fetching');
