"""The queue: only a hint that a stored submission is due; losing it loses nothing."""
