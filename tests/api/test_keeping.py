"""What a client keeps and asks about again, and what it gets compressed."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.running import GENEROUS, Running, running
from tests.api.serving import serving
from tests.api.test_lists import ONE_OF_EACH
from tests.cases import each

# An answer that is streamed, because it is larger than what a server buffers.
MANY = [f"domain a-rather-long-name-number-{n}.example" for n in range(900)]


async def paths(api: Running) -> list[str]:
    """Every kind of answer that a client may poll."""
    article = await api.publish("one", *ONE_OF_EACH, title="A report")
    ioc = (await api.items("/iocs"))[0]["id"]
    lists = ("iocs", "articles", "weekly", "focus", "awareness", "sources", "catalogues", "openapi.json", "changes")
    feeds = ("iocs.atom", "articles.atom", "weekly.atom", "focus.atom", "iocs?format=csv", "iocs?format=stix")
    records = (f"iocs/{ioc}", f"articles/{article.id}", "weekly/2026-W47", "weekly/2026-W47.md")
    exports = (f"articles/{article.id}?format=misp", f"articles/{article.id}/iocs")
    return [*(f"/api/v1/{path}" for path in (*lists, *feeds, *records, *exports)), "/misp/manifest.json"]


@pytest.mark.slow
@pytest.mark.promise("http.conditional", "atom.conditional")
async def test_what_a_client_has_is_not_sent_again(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_rate_key="100000/second", **GENEROUS) as api:
        await ask_again(api, await api.key())


async def ask_again(api: Running, key: dict[str, str]) -> None:
    for path in await paths(api):
        first = await api.client.get(path, headers=key)
        tag = first.headers["etag"]
        is_limited = "ratelimit" in first.headers
        assert first.status_code == 200, path
        assert first.headers["cache-control"] == ("private, no-cache" if is_limited else "no-cache")
        for method, held in (("GET", f"W/{tag}"), ("GET", f'"a, b", {tag}'), ("GET", "*"), ("HEAD", tag)):
            again = await api.client.request(method, path, headers={**key, "If-None-Match": held})
            assert (again.status_code, again.content) == (304, b""), path
            assert "content-type" not in again.headers and ("ratelimit" in again.headers) == is_limited
        for other in (f'"x{tag[1:]}', tag.strip('"')):
            assert (await api.client.get(path, headers={**key, "If-None-Match": other})).status_code == 200, path


@pytest.mark.promise("http.conditional")
async def test_what_changed_is_sent_again(api: Running) -> None:
    await api.publish("one", "domain a.example")
    tag = (await api.get("/iocs")).headers["etag"]
    await api.publish("two", "domain b.example", at=20)
    answer = await api.client.get("/api/v1/iocs", headers={"If-None-Match": tag})
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    missing = await api.client.get("/api/v1/nothing", headers={"If-None-Match": "*"})
    assert missing.status_code == 404 and "etag" not in missing.headers
    posted = await api.post("/iocs/lookup", {"values": ["a.example"]}, await api.key() | {"If-None-Match": "*"})
    assert posted.status_code == 200 and "etag" not in posted.headers


async def fetched(api: Running, path: str, accepted: str, **headers: str) -> tuple[httpx.Response, bytes]:
    """An answer, and its bytes as they came."""
    sent: dict[str, Any] = {"Accept-Encoding": accepted, **headers}
    async with api.client.stream("GET", path, headers=sent) as answer:
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    return answer, raw


@pytest.mark.promise("http.compressed")
@each(
    ("accepted", "is_packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.2, *;q=0", True),
        ("GZIP;Q=0.001", True),
        ("*", True),
        ("x-gzip", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000, *", False),
        ("identity, gzip;q=0.5", False),
        ("gzip;q=x", False),
        ("identity;q=0.5, *;q=0", False),
        ("", False),
    ],
)
async def test_an_answer_is_compressed_for_who_likes_that(api: Running, accepted: str, is_packed: bool) -> None:
    await api.publish("many", *MANY[:60])
    plain, expected = await fetched(api, "/api/v1/iocs?limit=50", "identity")
    answer, raw = await fetched(api, "/api/v1/iocs?limit=50", accepted)
    assert (answer.headers.get("content-encoding") == "gzip") == is_packed
    assert answer.headers["vary"] == plain.headers["vary"] == "Accept, Accept-Encoding"
    assert int(answer.headers["content-length"]) == len(raw)
    assert (zlib.decompress(raw, 31) if is_packed else raw) == expected
    assert len(raw) * 4 < len(expected) or not is_packed
    # Other bytes, another strong tag; but one tells as well as the other that nothing has changed.
    assert (answer.headers["etag"] != plain.headers["etag"]) == is_packed
    for tag in (answer.headers["etag"], plain.headers["etag"]):
        kept, nothing = await fetched(api, "/api/v1/iocs?limit=50", accepted, **{"If-None-Match": tag})
        assert (kept.status_code, nothing, kept.headers["etag"]) == (304, b"", tag)


@pytest.mark.promise("http.compressed")
async def test_what_is_tiny_is_not_compressed(api: Running) -> None:
    answer, _ = await fetched(api, "/api/v1/iocs/unknown", "gzip")
    assert "content-encoding" not in answer.headers
    page, _ = await fetched(api, "/", "gzip")
    assert page.headers["content-encoding"] == "gzip"


@pytest.mark.slow
@pytest.mark.promise("http.compressed")
def test_a_stream_is_compressed_piece_by_piece_and_has_no_tag(tmp_path: Path) -> None:
    with serving(tmp_path, *MANY) as (address, _), httpx.Client(base_url=address) as client:
        article = client.get("/api/v1/articles").json()["items"][0]["id"]
        path = f"/api/v1/articles/{article}?format=stix"
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as packed:
            pieces = list(packed.iter_raw())
        assert zlib.decompress(b"".join(pieces), 31) == plain.content
        assert len(pieces) > 2
        for answer in (plain, packed, client.head(path)):
            assert "etag" not in answer.headers and "content-length" not in answer.headers
