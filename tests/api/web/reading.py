"""A browser without JavaScript: it opens pages, follows forms and keeps cookies."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

import httpx
from fastapi import FastAPI
from lxml import html
from lxml.html import HtmlElement

ORIGIN = "http://ioc.example"
EMAIL = "reader@example.org"
PASSWORD = "correct horse battery staple 9"


@dataclass(frozen=True, slots=True)
class Page:
    """What came back, after redirects."""

    answer: httpx.Response

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def path(self) -> str:
        return self.answer.url.raw_path.decode()

    @property
    def tree(self) -> HtmlElement:
        return html.fromstring(self.answer.text)

    @property
    def text(self) -> str:
        """What a person reads in the main part, in one line."""
        return " ".join(self.tree.xpath("string(//main)").split())

    @property
    def heading(self) -> str:
        return " ".join(self.tree.xpath("string(//h1)").split())

    def links(self, within: str = "//main") -> dict[str, str]:
        """Addresses of links by their text."""
        return {" ".join(a.text_content().split()): a.get("href") for a in self.tree.xpath(f"{within}//a[@href]")}

    def fields(self, action: str) -> dict[str, str]:
        """The hidden fields of the first form that goes there."""
        form = self.tree.xpath("//form[@action=$action]", action=action)[0]
        return {field.get("name"): field.get("value") for field in form.xpath(".//input[@type='hidden']")}


@dataclass(frozen=True, slots=True)
class Reader:
    """One visitor with cookies of their own."""

    client: httpx.AsyncClient

    async def open(self, path: str) -> Page:
        return Page(await self.client.get(path, follow_redirects=True))

    async def post(self, path: str, fields: dict[str, str], **headers: str) -> Page:
        """Sends a form as a browser does from a page of the service; headers given may say otherwise."""
        form = "application/x-www-form-urlencoded"
        given = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": form}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {name: value for name, value in given.items() if value}
        return Page(await self.client.post(path, content=urlencode(fields), headers=sent, follow_redirects=True))

    async def submit(self, page: Page, action: str, **fields: str) -> Page:
        """Fills in and sends the form of that page which goes to `action`."""
        return await self.post(action, page.fields(action) | fields)

    async def sign_up(self, email: str = EMAIL, password: str = PASSWORD) -> Page:
        return await self.submit(await self.open("/signup"), "/signup", email=email, password=password)

    async def sign_in(self, email: str = EMAIL, password: str = PASSWORD) -> Page:
        return await self.submit(await self.open("/signin"), "/signin", email=email, password=password)

    async def sign_out(self) -> Page:
        return await self.submit(await self.open("/settings"), "/signout")

    async def is_signed_in(self) -> bool:
        return (await self.open("/settings")).path == "/settings"


@asynccontextmanager
async def reading(app: FastAPI, address: str = "198.51.100.7", origin: str = ORIGIN) -> AsyncIterator[Reader]:
    """A reader who comes from that client address."""
    transport = httpx.ASGITransport(app, client=(address, 4711))
    async with httpx.AsyncClient(transport=transport, base_url=origin) as client:
        yield Reader(client)
