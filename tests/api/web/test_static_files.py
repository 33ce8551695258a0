from __future__ import annotations

import asyncio
import gzip

import pytest

from api.web.static_files import FOLDER
from tests.api.web.reading import Reader


async def test_a_file_under_its_fingerprint_is_kept_for_ever(visitor: Reader) -> None:
    tree = (await visitor.open("/")).tree
    for address in tree.xpath("//link/@href | //script/@src"):
        answer = await visitor.client.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]


async def test_a_file_without_its_fingerprint_is_asked_for_again(visitor: Reader) -> None:
    first = await visitor.client.get("/static/site.css?v=old")
    assert first.headers["cache-control"] == "public, no-cache"
    again = await visitor.client.get("/static/site.css", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 304


async def test_pages_and_files_travel_compressed(visitor: Reader) -> None:
    for path in ("/", "/static/site.css"):
        answer = await visitor.client.get(path, headers={"accept-encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/static/site.css", "/static/swagger/swagger-ui-bundle.js"])
async def test_a_file_is_compressed_once_for_all_requests(
    visitor: Reader, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compressed = list[int]()
    compress = gzip.compress

    def counted(data: bytes, *given: int, **named: int) -> bytes:
        compressed.append(len(data))
        return compress(data, *given, **named)

    monkeypatch.setattr(gzip, "compress", counted)
    answers = await asyncio.gather(*(visitor.client.get(path) for _ in range(20)))
    answers.append(await visitor.client.get(path))
    assert len({answer.content for answer in answers}) == 1
    assert len(compressed) == 1


async def test_browsers_and_caches_tell_the_compressed_file_from_the_plain_one(visitor: Reader) -> None:
    packed = await visitor.client.get("/static/site.css", headers={"accept-encoding": "br, gzip;q=0.5"})
    plain = await visitor.client.get("/static/site.css", headers={"accept-encoding": "gzip;q=0, br"})
    assert (packed.headers["content-encoding"], plain.headers.get("content-encoding")) == ("gzip", None)
    assert packed.content == plain.content
    assert plain.content.startswith((FOLDER / "site.css").read_bytes())
    assert packed.headers["etag"] != plain.headers["etag"]
    for answer, coding in ((packed, "gzip"), (plain, "identity")):
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["content-type"] == "text/css; charset=utf-8"
        held = {"if-none-match": answer.headers["etag"], "accept-encoding": coding}
        again = await visitor.client.get("/static/site.css", headers=held)
        assert (again.status_code, again.content, again.headers["vary"]) == (304, b"", "Accept-Encoding")
        assert again.headers["cache-control"] == "public, no-cache"


async def test_a_file_is_read_and_nothing_else(visitor: Reader) -> None:
    head = await visitor.client.head("/static/site.css", headers={"accept-encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    whole = await visitor.client.get("/static/site.css", headers={"accept-encoding": "identity"})
    assert int(head.headers["content-length"]) == len(whole.content)
    posted = await visitor.client.post("/static/site.css")
    assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD")


async def test_nothing_beside_the_static_files_is_handed_out(visitor: Reader) -> None:
    for path in ("/static/../routes.py", "/static/%2e%2e/visit.py", "/static//etc/passwd", "/static/"):
        assert (await visitor.client.get(path)).status_code == 404


def test_style_sheet_and_script_of_our_own_stay_small() -> None:
    """As a browser gets them, packed: once for all pages."""
    for name in ("site.css", "site.js"):
        assert len(gzip.compress((FOLDER / name).read_bytes())) < 10_000
