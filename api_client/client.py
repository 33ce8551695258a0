"""Call the REST API: one method for each thing to do, paging and batches done inside."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Unpack
from urllib.parse import quote

import httpx

from api_client.failures import NotReachable, failure
from api_client.shapes import Article, Changes, ExportFormat, Extracted, Filters, Ioc, Submission

_LOOKED_UP_AT_ONCE: Final = 1_000
_CHANGES_AT_ONCE: Final = 1_000
_PAGE: Final = 50
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 5.0


class Client:
    """Calls one service; `key` is an API key, without which lists stop after a page and much is refused.

    Every method may raise NotReachable, ServiceRefused and RateLimited. Use it in `with`, or `close` it; any number of
    threads may share one. `timeout_seconds` bounds each wait for the service; `transport` carries the calls in place
    of the network.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8000",
        key: str | None = None,
        *,
        timeout_seconds: float = 30.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"User-Agent": "ioc-client"} | ({"Authorization": f"Bearer {key}"} if key else {})
        base_url = f"{address.rstrip('/')}/api/v1"
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=timeout_seconds, transport=transport)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def iocs(self, q: str | None = None, **filters: Unpack[Filters]) -> Iterator[Ioc]:
        """Yield the indicators of a list, newest first, or of a search, best first; read page by page on the way."""
        return self._items("/iocs", {"q": q, **filters})

    def ioc(self, id: str) -> Ioc:
        """Return the indicator with that id."""
        found: Ioc = self._json("GET", f"/iocs/{quote(id, safe='')}")
        return found

    def lookup(self, values: Iterable[str]) -> dict[str, list[Ioc]]:
        """Return what is known of each value, plain or defanged; an empty list where nothing is."""
        found: dict[str, list[Ioc]] = {}
        left = iter(values)
        while some := list(islice(left, _LOOKED_UP_AT_ONCE)):
            answer = self._json("POST", "/iocs/lookup", json={"values": some})
            found |= {item["value"]: item["iocs"] for item in answer["items"]}
        return found

    def changes(self, after: str | None = None, **filters: Unpack[Filters]) -> Changes:
        """Return up to 1,000 changes after a position; keep `next` and give it back as `after`."""
        asked = {"after": after, "limit": _CHANGES_AT_ONCE, **filters}
        page: Changes = self._json("GET", "/changes", params=_given(asked))
        return page

    def export(
        self, format: ExportFormat = "ndjson", q: str | None = None, **filters: Unpack[Filters]
    ) -> Iterator[bytes]:
        """Yield a whole export in pieces, as it comes; it is whole where nothing is raised."""
        asked = _given({"format": format, "q": q, **filters})
        try:
            with self._http.stream("GET", "/export", params=asked) as answer:
                if answer.status_code != 200:
                    raise failure(answer.status_code, answer.headers, answer.read())
                yield from answer.iter_bytes()
        except httpx.HTTPError as error:
            raise NotReachable(str(error)) from error

    def articles(self, q: str | None = None, source: str | None = None) -> Iterator[Article]:
        """Yield articles, newest first."""
        return self._items("/articles", {"q": q, "source": source})

    def submit(self, url: str, source_name: str | None = None) -> Submission:
        """Hand an article in by its address."""
        submission: Submission = self._json("POST", "/submit", json=_given({"url": url, "source_name": source_name}))
        return submission

    def submit_file(self, path: Path, source_name: str | None = None) -> Submission:
        """Hand a file in: HTML, text, Markdown, PDF, Word, EML, MISP or STIX, up to 10 MB."""
        sent = {"file": (path.name, path.read_bytes())}
        submission: Submission = self._json("POST", "/submit", files=sent, data=_given({"source_name": source_name}))
        return submission

    def submission(self, id: str) -> Submission:
        """Return what became of a submission."""
        submission: Submission = self._json("GET", f"/submissions/{quote(id, safe='')}")
        return submission

    def ended(self, id: str, within_seconds: float = 200.0) -> Submission:
        """Wait until a submission is done or failed, and return it; NotReachable where that takes longer."""
        until, wait = time.monotonic() + within_seconds, _FIRST_WAIT_SECONDS
        while (submission := self.submission(id))["status"] not in ("done", "failed"):
            if time.monotonic() + wait > until:
                raise NotReachable(f"The submission {id} is still {submission['status']}.")
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_SECONDS)
        return submission

    def extract(self, text: str) -> list[Extracted]:
        """Return what would be found in a text; nothing is stored."""
        found: list[Extracted] = self._json("POST", "/extract", json={"text": text})["items"]
        return found

    def _items(self, path: str, asked: Mapping[str, Any]) -> Iterator[Any]:
        cursor: str | None = None
        while True:
            page = self._json("GET", path, params=_given({**asked, "limit": _PAGE, "cursor": cursor}))
            yield from page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _json(self, method: str, path: str, **request: Any) -> Any:
        try:
            answer = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise NotReachable(str(error)) from error
        if not answer.is_success:
            raise failure(answer.status_code, answer.headers, answer.content)
        return answer.json()


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters that are given; what to exclude as the one text that the service takes."""
    given = {name: value for name, value in asked.items() if value is not None}
    return given | ({"exclude": ",".join(given["exclude"])} if "exclude" in given else {})
