"""The handlers of the pages, one file a noun."""
