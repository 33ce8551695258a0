"""Accounts, their API keys and sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from intel.errors import AccountExists, NotFound
from intel.records import KEYS_PER_ACCOUNT, Account, ApiKey, Session
from intel.store.sqlite.connection import Database
from intel.store.sqlite.rows import from_row, to_row
from intel.times import to_milliseconds

Parameters = tuple[Any, ...] | Mapping[str, Any]


class SqliteAccounts:
    """The accounts of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, account: Account) -> Account:
        def work(connection: sqlite3.Connection) -> Account:
            if connection.execute(_CREATE, to_row(account)).rowcount == 0:
                raise AccountExists("This e-mail address has an account already.")
            if connection.execute(_CLAIM_ADMINISTRATION, (account.id,)).rowcount == 1:
                connection.execute("UPDATE accounts SET role = 'administrator' WHERE id = ?", (account.id,))
            return from_row(Account, connection.execute(_ACCOUNT, (account.id,)).fetchone())

        return await self._database.write(work)

    async def get(self, id: str) -> Account | None:
        rows = await self._rows(_ACCOUNT, (id,))
        return from_row(Account, rows[0]) if rows else None

    async def update(self, account: Account) -> None:
        if not await self._changes(_UPDATE, to_row(account)):
            raise NotFound(account.id)

    async def remove(self, id: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            for table, column in (("keys", "account_id"), ("sessions", "account_id"), ("accounts", "id")):
                connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))

        await self._database.write(work)

    async def all(self) -> tuple[Account, ...]:
        return tuple(
            from_row(Account, row) for row in await self._rows("SELECT * FROM accounts ORDER BY email, id", ())
        )

    async def add_key(self, key: ApiKey) -> bool:
        return await self._changes(_ADD_KEY, to_row(key))

    async def get_key(self, account_id: str, slot: int) -> ApiKey | None:
        rows = await self._rows(_KEY, (account_id, slot))
        return from_row(ApiKey, rows[0]) if rows else None

    async def key_and_account(
        self, account_id: str, slot: int, secret_hash: str
    ) -> tuple[ApiKey | None, Account | None]:
        def work(connection: sqlite3.Connection) -> tuple[ApiKey | None, Account | None]:
            key = connection.execute(_KEY, (account_id, slot)).fetchone()
            account = connection.execute(_ACCOUNT, (account_id,)).fetchone()
            return from_row(ApiKey, key) if key else None, from_row(Account, account) if account else None

        return await self._database.read_unless_kept(("key", account_id, slot), work)

    async def keys(self, account_id: str, first_slot: int = 0) -> tuple[ApiKey, ...]:
        asked = (account_id, first_slot, first_slot + KEYS_PER_ACCOUNT)
        return tuple(from_row(ApiKey, row) for row in await self._rows(_LIVE_KEYS, asked))

    async def revoke_key(self, account_id: str, slot: int, secret_hash: str, now: datetime) -> bool:
        return await self._changes(_REVOKE_KEY, (to_milliseconds(now), account_id, slot, secret_hash))

    async def touch_key(self, key: ApiKey, now: datetime) -> None:
        await self._changes(_TOUCH_KEY, (to_milliseconds(now), key.account_id, key.slot, key.secret_hash))

    async def put_session(self, session: Session) -> None:
        await self._changes(_PUT_SESSION, to_row(session))

    async def get_session(self, id: str) -> Session | None:
        rows = await self._rows("SELECT * FROM sessions WHERE id = ?", (id,))
        return from_row(Session, rows[0]) if rows else None

    async def touch_session(self, id: str, now: datetime) -> bool:
        return await self._changes("UPDATE sessions SET last_used_at = ? WHERE id = ?", (to_milliseconds(now), id))

    async def end_session(self, id: str) -> None:
        await self._changes("DELETE FROM sessions WHERE id = ?", (id,))

    async def sessions(self, account_id: str) -> tuple[Session, ...]:
        return tuple(from_row(Session, row) for row in await self._rows(_SESSIONS, (account_id,)))

    async def _changes(self, sql: str, parameters: Parameters) -> bool:
        """Tell whether the statement changed a record."""
        return await self._database.write(lambda connection: connection.execute(sql, parameters).rowcount == 1)

    async def _rows(self, sql: str, parameters: Parameters) -> list[sqlite3.Row]:
        return await self._database.read_at_once(lambda connection: connection.execute(sql, parameters).fetchall())


_ACCOUNT = "SELECT * FROM accounts WHERE id = ?"
_KEY = "SELECT * FROM keys WHERE account_id = ? AND slot = ?"
_CREATE = """
    INSERT INTO accounts (id, email, password_hash, created_at, disabled_at, session_epoch, role, two_factor)
    VALUES (:id, :email, :password_hash, :created_at, :disabled_at, :session_epoch, :role, :two_factor)
    ON CONFLICT DO NOTHING
"""
_CLAIM_ADMINISTRATION = "INSERT OR IGNORE INTO first_administrator (singleton, account_id) VALUES (1, ?)"
_UPDATE = """
    UPDATE accounts SET email = :email, password_hash = :password_hash, created_at = :created_at,
        disabled_at = :disabled_at, session_epoch = :session_epoch, role = :role, two_factor = :two_factor
    WHERE id = :id
"""
_ADD_KEY = """
    INSERT INTO keys
        (account_id, slot, name, secret_hash, created_at, last_used_at, revoked_at, expires_at, scopes)
    VALUES (:account_id, :slot, :name, :secret_hash, :created_at, :last_used_at, :revoked_at, :expires_at, :scopes)
    ON CONFLICT (account_id, slot) DO UPDATE SET name = :name, secret_hash = :secret_hash, created_at = :created_at,
        last_used_at = :last_used_at, revoked_at = :revoked_at, expires_at = :expires_at, scopes = :scopes
    WHERE revoked_at IS NOT NULL OR expires_at <= :created_at
"""
_LIVE_KEYS = """
    SELECT * FROM keys WHERE account_id = ? AND slot >= ? AND slot < ? AND revoked_at IS NULL ORDER BY slot
"""
_THAT_LIVE_KEY = "account_id = ? AND slot = ? AND secret_hash = ? AND revoked_at IS NULL"
_REVOKE_KEY = f"UPDATE keys SET revoked_at = ? WHERE {_THAT_LIVE_KEY}"
_TOUCH_KEY = f"UPDATE keys SET last_used_at = ? WHERE {_THAT_LIVE_KEY}"
_PUT_SESSION = """
    REPLACE INTO sessions (id, account_id, epoch, created_at, last_used_at, expires_at, user_agent)
    VALUES (:id, :account_id, :epoch, :created_at, :last_used_at, :expires_at, :user_agent)
"""
_SESSIONS = "SELECT * FROM sessions WHERE account_id = ? ORDER BY created_at DESC, id"
