-- How far what is submitted may be passed on, as who submits it says.
ALTER TABLE submissions ADD COLUMN tlp TEXT;
