"""How fast articles are taken in, from handing in their addresses until they are found: beside trafilatura alone.

Usage as a process of its own: python -m scripts.benchmarks.taking_in reads a JSON list of pages, has trafilatura read
each, and prints how many a second.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import trafilatura

from ingest.indicators import document_from_html
from ingest.samples import sample_paths

from . import folders

# One account may have three pages of a host read at once: with so many hosts, as many as it may in all.
_HOSTS = 8
_SENTENCE = re.compile(r"(?<=[.!?]) +(?=[A-Z])")
# As much text, links and boxes as a maker's report has, with its menus: 60 kB.
_SENTENCES, _IN_A_PARAGRAPH, _INDICATORS, _LINKS = 150, 5, 60, 120
# Each look takes from what is measured: on Elasticsearch one that finds nothing costs tens of milliseconds.
_LOOK_SECONDS = 0.2
_LONGEST_SECONDS = 600


class Pages:
    """Web pages on several ports of the loopback, each of which is a host to the service."""

    def __init__(self) -> None:
        self._pages: dict[str, bytes] = {}
        self._servers = [ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) for _ in range(_HOSTS)]

    def put(self, name: str, page: str) -> str:
        """Serve a page, and return its address."""
        self._pages[f"/{name}"] = page.encode()
        return f"http://{self._hosts[len(self._pages) % _HOSTS]}/{name}"

    @property
    def _hosts(self) -> list[str]:
        return [f"127.0.0.1:{server.server_port}" for server in self._servers]

    @property
    def environment(self) -> dict[str, str]:
        """What lets the service fetch them."""
        return {"IOC_FETCH_ALLOW": ",".join(self._hosts)}

    @contextmanager
    def served(self) -> Iterator[Pages]:
        with ExitStack() as stack:
            for server in self._servers:
                stack.callback(server.server_close)
                threading.Thread(target=server.serve_forever, daemon=True).start()
                stack.callback(server.shutdown)
            yield self

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        pages = self._pages

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                page = pages.get(self.path)
                self.send_response(404 if page is None else 200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(page or b"")))
                self.end_headers()
                self.wfile.write(page or b"")

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler


class Reader:
    """A running service that is handed articles; `ask` sends it a request, with a body or without."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = headers

    def read(self, urls: Sequence[str]) -> float:
        """Hand in addresses at once; return how long it takes until all articles are searchable."""
        before, begun = self._articles(), time.perf_counter()
        self._ask("/api/v1/submit", {"urls": list(urls)})
        return _seconds_until(begun, lambda: self._articles() - before >= len(urls))

    def read_one(self, url: str, value: str) -> float:
        """Hand in an address; return how long it takes until an indicator of that article is found."""
        begun = time.perf_counter()
        self._ask("/api/v1/submit", {"url": url})
        return _seconds_until(begun, lambda: bool(self._ask(f"/api/v1/iocs?value={quote(value, safe='')}")["items"]))

    def _articles(self) -> int:
        return int(self._ask("/api/v1/articles?limit=1")["total"])

    def _ask(self, path: str, body: object = None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        headers = dict(self._headers) | ({} if sent is None else {"Content-Type": "application/json"})
        asked = Request(f"http://{self._address}{path}", sent, headers)
        with urlopen(asked, timeout=_LONGEST_SECONDS) as answer:  # noqa: S310 - our own address
            return json.load(answer)


def _seconds_until(begun: float, holds: Callable[[], bool]) -> float:
    while not holds():
        if time.perf_counter() - begun > _LONGEST_SECONDS:
            raise TimeoutError("articles that were handed in were not read")
        time.sleep(_LOOK_SECONDS)
    return time.perf_counter() - begun


def alone(pages: Sequence[str]) -> float:
    """Return how many of these pages a second one process of trafilatura reads."""
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, input=json.dumps(pages), capture_output=True, text=True, check=True)
    return float(done.stdout)


def page(seed: int, number: int, indicators: int = _INDICATORS) -> tuple[str, str]:
    """Return a page about its own indicators, and the last of these: sentences of real reports, in an order of its
    own, and a list.
    """
    drawn = random.Random(seed * 1_000_003 + number).sample(_sentences(), _SENTENCES)
    paragraphs = [_paragraph(drawn[at : at + _IN_A_PARAGRAPH]) for at in range(0, _SENTENCES, _IN_A_PARAGRAPH)]
    first = number * indicators
    numbers = [each for each in range(first, first + indicators) if each % 20 < 18]  # all but mailboxes and CVEs
    listed = "".join(f"<li><code>{folders.written(seed, each)}</code></li>" for each in numbers)
    title = f"{folders.word(number * 7 + seed).title()} campaign {seed}-{number}"
    menu = "".join(_box(each) for each in range(_LINKS))
    text = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{'.card{margin:0 auto;padding:1rem}' * 60}</style></head><body>"
        f'<header><nav class="menu"><ul>{menu}</ul></nav></header><main><article><h1>{title}</h1>'
        f"{''.join(paragraphs)}<h2>Indicators of compromise</h2><ul>{listed}</ul></article>"
        f'<aside class="related"><ul>{menu}</ul></aside></main><footer><p>All rights reserved.</p></footer>'
        "</body></html>"
    )
    return text, folders.indicator(seed, numbers[-1])[1]


def _paragraph(sentences: Sequence[str]) -> str:
    first, *others = sentences
    return (
        f'<p><strong>{first}</strong> <a href="/{folders.word(len(first))}">{others[0]}</a> {" ".join(others[1:])}</p>'
    )


def _box(number: int) -> str:
    name = folders.word(number * 31)
    return f'<li class="item"><div class="card"><a href="/{name}"><span>{name.title()} briefing</span></a></div></li>'


@cache
def _sentences() -> tuple[str, ...]:
    texts = [document_from_html(path.read_text("utf-8")).text for path in sample_paths()]
    lines = (line for text in texts for line in text.splitlines())
    return tuple(each for line in lines for each in _SENTENCE.split(line) if 40 < len(each) < 300)


def _read(page: str) -> None:
    """Find the text of an article, its title and its date: as much as an article needs."""
    trafilatura.bare_extraction(page, url="https://bench.example/article", with_metadata=True)


def _read_alone() -> None:
    pages = json.load(sys.stdin)
    _read(pages[0])  # what it imports on first use is no part of a page
    begun = time.perf_counter()
    for each in pages:
        _read(each)
    sys.stdout.write(f"{len(pages) / (time.perf_counter() - begun)}\n")


if __name__ == "__main__":
    _read_alone()
