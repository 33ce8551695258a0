-- What is added to `newly_named` is counted by who writes `named_near`, for many indicators at once.
DROP TRIGGER newly_named_added;
