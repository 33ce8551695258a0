from __future__ import annotations

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


async def test_nothing_beside_the_static_files_is_handed_out(visitor: Reader) -> None:
    for path in ("/static/../routes.py", "/static/%2e%2e/visit.py", "/static//etc/passwd", "/static/"):
        assert (await visitor.client.get(path)).status_code == 404


def test_style_sheet_and_script_of_our_own_stay_small() -> None:
    for name in ("site.css", "site.js"):
        assert (FOLDER / name).stat().st_size < 20_000
