ALTER TABLE keys ADD COLUMN expires_at INTEGER;
ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '["read","submit","export"]';
