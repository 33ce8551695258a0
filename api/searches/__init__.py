"""Saved searches: what is added is matched with each (`matching`), and sent to who asked for it (`delivering`)."""
