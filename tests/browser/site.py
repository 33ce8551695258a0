"""A running service with articles in it, friendly and hostile, and a person with a browser before it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, ConsoleMessage, Page, Response

from api.app import create_app
from api.service import Service
from intel.records import Feed, Sighting
from intel.settings import Settings
from tests.contract.store.builders import make_article, publish

EMAIL = "browser@example.org"
PASSWORD = "correct horse battery staple 9"
TITLE = "Sandpiper loader at the shipyards"
EVIL = '<script>window.xss=1</script> "><img src=x onerror=window.xss=1> javascript:window.xss=1'
_TEXT = (
    "The sandpiper crew registered login-sandpiper[.]org for the next wave of letters.\n"
    "APT40 dropped Emotet through CVE-2024-3400 from 185.220.101[.]47."
)
_PATIENCE_SECONDS = 60
_PATIENCE_MILLISECONDS = 60_000


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The address of the service on a socket of its own, in a thread of its own."""
    ready = threading.Event()
    server = uvicorn.Server(uvicorn.Config(_filled(create_app(settings), ready), log_config=None, access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
        thread.start()
        try:
            assert ready.wait(_PATIENCE_SECONDS), "the service did not start"
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(_PATIENCE_SECONDS)


def _filled(app: FastAPI, ready: threading.Event) -> FastAPI:
    """Publishes the articles as soon as the service runs, in its own event loop."""
    begin = app.router.lifespan_context

    @asynccontextmanager
    async def filled(application: FastAPI) -> AsyncIterator[None]:
        async with begin(application):
            service: Service = app.state.service
            await service.store.setup()
            await _publish(service)
            ready.set()
            yield

    app.router.lifespan_context = filled
    return app


async def _publish(service: Service) -> None:
    mailed = Sighting("mitre_attack", "T1566.001", "Emotet came by mail.", ("Emotet",), 4)
    indicators = ("domain login-sandpiper.org", "malware Emotet", "cve CVE-2024-3400", "ip 185.220.101.47", mailed)
    for number, source in enumerate(("Shipyard Blog", "Harbour Blog", "Pier Blog")):
        title = TITLE if number == 0 else f"{source} on the sandpiper"
        article = make_article(f"good{number}", at=-number, source=source, title=title, text=_TEXT)
        await publish(service.store, article, *indicators)
    amber = replace(make_article("amber", at=-3, source="Pier Blog", title="Dunlin loader"), tlp="amber")
    await publish(service.store, amber, "domain dunlin.example")
    title, text = f"Curlew {EVIL}\u202e", f"{EVIL} evil-curlew[.]net"
    article = make_article("evil", title=title, source=EVIL, summary=EVIL, text=text)
    hostile = replace(article, url="javascript:window.xss=1", author=EVIL, notes=(EVIL,))
    sightings = [
        Sighting("domain", "evil-curlew.net", EVIL, (EVIL,), 0),
        Sighting("url", "http://evil-curlew.net/\"><svg/onload=window.xss=1>'", EVIL, (), 1),
        Sighting("malware", EVIL, EVIL, (), 2),
        Sighting("domain", "curlew." + "a" * 60 + "." + "b" * 60 + "." + "c" * 60 + ".example", "x" * 2000, (), 3),
    ]
    await publish(service.store, hostile, *sightings)
    feed = Feed(
        "f" * 36, "https://news.example/feed", EVIL, service.clock(), service.clock(), failures=2, last_error=EVIL
    )
    await service.store.feeds.add(feed)


@dataclass
class Visitor:
    """One browser context; what the console says is kept."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> Response:
        answer = self.page.goto(path)
        assert answer is not None
        return answer

    def sign_up(self, email: str = EMAIL) -> None:
        self.go("/signup")
        self._credentials(email, "Create account")

    def sign_in(self, email: str = EMAIL) -> None:
        self.go("/signin")
        self._credentials(email, "Sign in")

    def _credentials(self, email: str, button: str) -> None:
        self.page.get_by_label("E-mail address").fill(email)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("main").get_by_role("button", name=button).click()
        self.page.wait_for_load_state()

    def follow(self, name: str) -> None:
        self.page.get_by_role("main").get_by_role("link", name=name).first.click()
        self.page.wait_for_load_state()

    @property
    def width(self) -> int:
        width: int = self.page.evaluate("document.documentElement.scrollWidth")
        return width


@contextmanager
def visiting(browser: Browser, address: str, **options: Any) -> Iterator[Visitor]:
    """A visitor with cookies of their own; in the end the console must have been silent."""
    context = browser.new_context(base_url=address, **options)
    context.set_default_timeout(_PATIENCE_MILLISECONDS)
    visitor = Visitor(context.new_page())
    visitor.page.on("console", lambda message: _note(visitor, message))
    visitor.page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
    try:
        yield visitor
    finally:
        context.close()
    assert visitor.complaints == []


def _note(visitor: Visitor, message: ConsoleMessage) -> None:
    if message.type in ("error", "warning"):
        visitor.complaints.append(f"{visitor.page.url}: {message.text}")
