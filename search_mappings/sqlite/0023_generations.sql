-- Which import of a catalogue counts, so that one that adds to another can tell whether that still stands.
ALTER TABLE catalogues ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
