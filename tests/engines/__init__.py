"""The real servers and programs that tests run on: found, or installed and started, and stopped again."""
