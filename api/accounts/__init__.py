"""Accounts, their passwords and API keys."""
