"""The whole service in this process, asked over HTTP, with a clock that a test turns."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from argon2 import PasswordHasher
from fastapi import FastAPI

from api.accounts.sign_up import create_account
from api.app import create_app
from api.service import Service
from ingest.warned import marked
from intel.ids import account_id
from intel.records import Article, Sighting
from intel.settings import Settings
from intel.store import SQLITE_FILE, Store
from tests.contract.store.builders import make_article, seen
from tests.stores import lay_store

# A Friday: the articles of the builders are published from Monday morning on.
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PASSWORD = "correct horse battery staple"
# So that a test runs into a limit only where it means to.
GENEROUS = {
    "ioc_rate_list": "100000/second",
    "ioc_rate_search": "100000/second",
    "ioc_rate_wrong_key": "100000/second",
    "ioc_rate_export": "100000/second",
}


class Clock:
    """The time of day as the service sees it."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass(frozen=True, slots=True)
class Running:
    """One running service; `client` is a visitor without a key."""

    app: FastAPI
    client: httpx.AsyncClient
    clock: Clock

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    @property
    def store(self) -> Store:
        return self.service.store

    async def key(self, email: str = "analyst@example.org") -> dict[str, str]:
        """The header of a new key of that account, which is made where there is none yet."""
        service = self.service
        if await service.store.accounts.get(account_id(email)) is None:
            await create_account(service.store, service.passwords, self.clock, email, PASSWORD)
        made = await service.keys.create(account_id(email), "test")
        return {"Authorization": f"Bearer {made.secret}"}

    async def get(self, path: str, key: dict[str, str] | None = None, **parameters: Any) -> httpx.Response:
        """The answer to GET below `/api/v1`."""
        return await self.client.get(f"/api/v1{path}", params=parameters, headers=key)

    async def items(self, path: str, key: dict[str, str] | None = None, **parameters: Any) -> list[dict[str, Any]]:
        """The items of a list that must answer."""
        answer = await self.get(path, key, **parameters)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["items"]
        return found

    async def values(self, key: dict[str, str] | None = None, **parameters: Any) -> list[str]:
        """The values that `/iocs` lists or finds."""
        return [item["value"] for item in await self.items("/iocs", key, **parameters)]

    async def post(self, path: str, body: Any, key: dict[str, str] | None = None) -> httpx.Response:
        """The answer to a JSON body posted below `/api/v1`."""
        headers = {"Content-Type": "application/json", **(key or {})}
        return await self.client.post(f"/api/v1{path}", content=json.dumps(body), headers=headers)

    async def publish(self, name: str, *indicators: str | Sighting, **article: Any) -> Article:
        """Saves an article named `name` that names these indicators (`domain evil.example`)."""
        made = make_article(name, **article)
        seen_there = await marked(self.store, seen(*indicators))
        return await self.store.articles.save(made, seen_there, [made.url] if made.url else [])


@asynccontextmanager
async def running(folder: Path, address: str = "198.51.100.7", **settings: Any) -> AsyncIterator[Running]:
    """The service on a data folder, started and in the end stopped; `address` is where its client asks from."""
    clock = Clock()
    lay_store(folder / SQLITE_FILE)
    given = {"ioc_data_dir": folder, "ioc_fetch_allow": "127.0.0.0/8", **settings}
    app = create_app(Settings.model_validate(given), clock)
    # Most tests need an account and none of these the cost of its password, which takes longer than they do.
    app.state.service.passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    transport = httpx.ASGITransport(app, client=(address, 4711))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://ioc.example") as client,
    ):
        yield Running(app, client, clock)
