"""The service behind a real HTTP server on a socket, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from api.accounts.sign_up import create_account
from api.app import create_app
from api.service import Service
from intel.settings import Settings
from intel.store import SQLITE_FILE
from intel.times import utc_now
from tests.api.running import PASSWORD
from tests.contract.store.builders import make_article, publish
from tests.stores import lay_store

_PATIENCE_SECONDS = 60


@contextmanager
def serving(folder: Path, *indicators: str, **settings: Any) -> Iterator[tuple[str, str]]:
    """The address of a running service that knows these indicators, and a key for it."""
    given = Settings.model_validate({"ioc_data_dir": folder, **{name.lower(): each for name, each in settings.items()}})
    lay_store(folder / SQLITE_FILE)
    app = create_app(given)
    key = asyncio.run(_prepare(given, indicators))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, server_header=False))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", key
        finally:
            server.should_exit = True
            thread.join(_PATIENCE_SECONDS)


async def _prepare(settings: Settings, indicators: tuple[str, ...]) -> str:
    """Fills the store and makes a key, in an event loop that ends before the server's begins."""
    service: Service = create_app(settings).state.service
    await service.store.setup()
    try:
        await publish(service.store, make_article("report"), *indicators)
        account = await create_account(service.store, service.passwords, utc_now, "fuzz@example.org", PASSWORD)
        return (await service.keys.create(account.id, "fuzz")).secret
    finally:
        await service.store.close()
