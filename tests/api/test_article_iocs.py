"""`/articles/{id}` and `/articles/{id}/iocs`: the indicators of long articles, page by page."""

from __future__ import annotations

import asyncio
import csv
import io

import pytest
import pytest_asyncio
import stix2
from starlette.types import Message

from intel.records import Article, Sighting
from tests.api.running import Running

COUNT = 2_345
VALUES = [f"d{n}.example" for n in range(COUNT)]


@pytest_asyncio.fixture
async def long(api: Running) -> Article:
    """An article of many indicators, some of them named with malware, and two of malware that they share."""
    near = [
        Sighting("domain", value, "It used <b>.", ("Emotet",) if n % 9 else (), n) for n, value in enumerate(VALUES)
    ]
    return await api.publish(
        "long", *near, "malware Emotet", "cve CVE-2024-3400", text='Quoted "text" ü 分析\n' * 9_000
    )


@pytest.mark.slow
@pytest.mark.promise("articles.iocs")
async def test_an_article_shows_its_first_thousand_indicators_and_how_many_there_are(
    api: Running, long: Article
) -> None:
    shown = (await api.get(f"/articles/{long.id}")).json()
    assert [ioc["value"] for ioc in shown["iocs"]] == VALUES[:1_000]
    assert (shown["iocs_total"], shown["ioc_count"]) == (COUNT + 2, COUNT + 2)
    assert shown["text"] == long.text
    assert await api.items("/iocs", value=VALUES[7]) == [shown["iocs"][7]]


@pytest.mark.slow
@pytest.mark.promise("articles.iocs")
@pytest.mark.parametrize("limit", [1_000, 5_000, 999])
async def test_a_key_pages_through_all_indicators_of_an_article(api: Running, long: Article, limit: int) -> None:
    key, cursor, found = await api.key(), None, []
    while True:
        answer = await api.get(
            f"/articles/{long.id}/iocs", key, **{"limit": limit} if cursor is None else {"cursor": cursor}
        )
        page = answer.json()
        assert page["limit"] == min(limit, 1_000)
        assert page["total"] == (COUNT + 2 if cursor is None else None)
        found += page["items"]
        if (cursor := page["next_cursor"]) is None:
            break
        assert len(page["items"]) == page["limit"]
    assert [ioc["value"] for ioc in found] == [*VALUES, "Emotet", "CVE-2024-3400"]
    assert found[:1_000] == (await api.get(f"/articles/{long.id}")).json()["iocs"]


@pytest.mark.promise("articles.iocs")
async def test_the_indicators_of_an_article_are_a_list_like_others(api: Running) -> None:
    article, key = await api.publish("short", *(f"domain d{n}.example" for n in range(30))), await api.key()
    first = (await api.get(f"/articles/{article.id}/iocs", key)).json()
    assert (len(first["items"]), first["limit"], first["total"]) == (20, 20, 30)
    rest = (await api.get(f"/articles/{article.id}/iocs", key, cursor=first["next_cursor"])).json()
    assert (len(rest["items"]), rest["next_cursor"]) == (10, None)
    other = await api.publish("other", "domain a.example")
    for path, parameters in (
        (f"/articles/{other.id}/iocs", {"cursor": first["next_cursor"]}),
        (f"/articles/{article.id}/iocs", {"limit": "0"}),
        (f"/articles/{article.id}/iocs", {"cursor": "x"}),
    ):
        assert (await api.get(path, key, **parameters)).status_code == 422
    assert (await api.get("/articles/nothing/iocs", key)).status_code == 404
    bare = await api.publish("bare")
    empty = {"items": [], "limit": 20, "total": 0, "next_cursor": None}
    assert (await api.get(f"/articles/{bare.id}/iocs", key)).json() == empty


@pytest.mark.promise("articles.iocs")
async def test_paging_through_an_article_needs_a_key(api: Running) -> None:
    article = await api.publish("one", "domain a.example")
    answer = await api.get(f"/articles/{article.id}/iocs")
    assert (answer.status_code, answer.json()["code"]) == (401, "missing_api_key")


@pytest.mark.promise("formats.article")
@pytest.mark.slow
async def test_exports_of_a_long_article_are_whole(api: Running, long: Article) -> None:
    expected = [*VALUES, "Emotet", "CVE-2024-3400"]
    for path in (f"/api/v1/articles/{long.id}", f"/articles/{long.id}"):
        txt = await api.client.get(path, params={"format": "txt"})
        assert txt.text.split() == expected
        table = await api.client.get(path, params={"format": "csv"})
        assert [row["value"] for row in csv.DictReader(io.StringIO(table.text))] == expected
        bundle = await api.client.get(path, params={"format": "stix"})
        assert bundle.headers["content-disposition"] == 'attachment; filename="indicators.json"'
        objects = stix2.parse(bundle.text, version="2.1", allow_custom=False).objects
        ids = [made.id for made in objects]
        assert len(set(ids)) == len(ids)
        (report,) = (made for made in objects if made.type == "report")
        assert set(report.object_refs) == {i for i in ids if not i.startswith(("report", "identity", "marking"))}
        assert len(report.object_refs) == COUNT + 2 + sum(1 for n in range(COUNT) if n % 9)
        assert {i.partition("--")[0] for i in ids} >= {"malware", "vulnerability", "relationship", "identity"}


@pytest.mark.slow
@pytest.mark.promise("formats.streamed")
async def test_long_answers_come_in_pieces_and_short_ones_with_their_length(api: Running, long: Article) -> None:
    short = await api.publish("short", "domain a.example")
    for format in ("json", "csv", "stix", "txt"):
        path = f"/api/v1/articles/{short.id}?format={format}"
        answer = await api.client.get(path, headers={"Accept-Encoding": "identity"})
        assert int(answer.headers["content-length"]) == len(answer.content)
    pieces = await sent(api, f"/api/v1/articles/{long.id}", b"format=stix", asyncio.Event())
    assert len(pieces) > 10 and max(map(len, pieces)) < 200_000


@pytest.mark.slow
@pytest.mark.promise("formats.streamed")
async def test_head_reads_no_further_than_the_beginning(
    api: Running, long: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = counted(api, monkeypatch)
    answer = await api.client.head(f"/api/v1/articles/{long.id}?format=csv")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(asked) < 5


@pytest.mark.promise("formats.streamed")
async def test_a_client_that_goes_away_ends_the_reading(
    api: Running, long: Article, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, gone = counted(api, monkeypatch), asyncio.Event()
    gone.set()
    await sent(api, f"/api/v1/articles/{long.id}", b"format=stix", gone)
    assert len(asked) < 5


async def sent(api: Running, path: str, query: bytes, gone: asyncio.Event) -> list[bytes]:
    """The pieces in which an answer is sent to a client that goes away at that event."""
    pieces: list[bytes] = []
    requests: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Message:
        if requests:
            return requests.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pieces.append(message.get("body", b""))

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": path,
        "raw_path": path.encode(), "query_string": query, "headers": [(b"host", b"ioc.example")],
        "scheme": "http", "server": ("ioc.example", 80), "client": ("198.51.100.9", 4711), "root_path": "",
    }  # fmt: skip
    await api.app(scope, receive, send)
    return pieces


def counted(api: Running, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What is asked of the store for pages of an article's indicators from now on."""
    asked: list[object] = []
    articles = type(api.store.articles)
    found = articles.iocs_of

    async def iocs_of(self: object, *arguments: object) -> object:
        asked.append(arguments)
        return await found(self, *arguments)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(articles, "iocs_of", iocs_of)
    return asked
