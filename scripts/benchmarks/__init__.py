"""Speeds of the service and of its extractor beside what they stand on and their peers, measured in one run."""
