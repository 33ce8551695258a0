"""`POST /extract`: what would be found, as text, page, PDF and JSON; nothing of it is stored."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.api.running import Running
from tests.ingest.test_article_text import pdf

TEXT = "The loader called hxxps://evil[.]example/gate from 203.0.113[.]7 and then CVE-2026-10001 was used."
FOUND = {("url", "https://evil.example/gate"), ("ip", "203.0.113.7"), ("cve", "CVE-2026-10001")}


async def extract(api: Running, body: bytes | str, content_type: str, key: dict[str, str]) -> httpx.Response:
    return await api.client.post("/api/v1/extract", content=body, headers=key | {"Content-Type": content_type})


def named(answer: httpx.Response) -> set[tuple[str, str]]:
    assert answer.status_code == 200, answer.text
    return {(item["type"], item["value"]) for item in answer.json()["items"]}


@pytest.mark.promise("extract.endpoint")
async def test_every_kind_of_body_is_read_and_nothing_is_stored(api: Running) -> None:
    key = await api.key()
    page = f"<html><body><article><h1>Report</h1><p>{TEXT}</p></article></body></html>"
    bodies: tuple[tuple[bytes | str, str], ...] = (
        (TEXT, "text/plain"),
        (TEXT, "Text/Plain; charset=UTF-8"),
        (TEXT.encode("utf-16"), "text/plain"),
        (page, "text/html; charset=utf-8"),
        (f"<table><tr><td>{TEXT}</td></tr></table>", "text/html"),
        (pdf(TEXT), "application/pdf"),
    )
    for body, content_type in bodies:
        assert named(await extract(api, body, content_type, key)) >= FOUND, content_type
    answer = await api.post("/extract", {"text": TEXT}, key)
    assert named(answer) >= FOUND
    assert answer.json()["total"] == len(answer.json()["items"])
    first: dict[str, Any] = answer.json()["items"][0]
    assert (first["value"], first["defanged"]) == ("https://evil.example/gate", "hxxps://evil[.]example/gate")
    assert first["context"] == TEXT and first["rule"]
    totals = await api.store.totals()
    assert (totals.articles, totals.iocs, totals.submissions) == (0, 0, {})


@pytest.mark.promise("extract.endpoint")
async def test_a_text_without_indicators_has_none(api: Running) -> None:
    key = await api.key()
    for text in ("", "Nothing to see."):
        assert (await api.post("/extract", {"text": text}, key)).json() == {"items": [], "total": 0}


async def test_what_is_cut_out_of_a_page_is_read_as_a_page(api: Running) -> None:
    cut = '<p>The <b>Emotet</b> loader called <a href="https://vendor.example/reports/1">evil[.]example.com</a>.</p>'
    key = await api.key()
    for found in (await extract(api, cut.encode(), "text/plain", key), await api.post("/extract", {"text": cut}, key)):
        assert [item["value"] for item in found.json()["items"]] == ["Emotet", "evil.example.com"]


async def test_what_cannot_be_read_is_refused_with_what_to_do(api: Running) -> None:
    key = await api.key()
    wrong = (
        (b"text", "application/x-unknown", 415, "unsupported_media_type"),
        (b"text", "garbage", 415, "unsupported_media_type"),
        (b"{", "application/json", 400, "invalid_json"),
        (b"{}", "application/json", 422, "invalid_parameter"),
        (b'{"text": 1}', "application/json", 422, "invalid_parameter"),
        (b"%PDF-1.4 broken", "application/pdf", 422, "pdf_damaged"),
        (bytes(range(256)) * 40, "text/plain", 422, "no_text"),
        (b"a" * 10_000_001, "text/plain", 413, "payload_too_large"),
    )
    for body, content_type, status, code in wrong:
        refused = await extract(api, body, content_type, key)
        assert (refused.status_code, refused.json()["code"]) == (status, code), content_type
    assert (await extract(api, TEXT, "text/plain", {})).status_code == 401


async def test_no_account_holds_all_places_for_large_bodies(api: Running) -> None:
    greedy, other = await api.key(), await api.key("other@example.org")
    account = await api.service.keys.authenticate(greedy["Authorization"].removeprefix("Bearer "))
    assert account is not None
    with ExitStack() as held:
        for _ in range(3):
            held.enter_context(api.service.uploads.room(account.account_id))
        refused = await api.post("/extract", {"text": TEXT}, greedy)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_uploads")
        assert int(refused.headers["retry-after"]) > 0
        assert named(await api.post("/extract", {"text": TEXT}, other)) >= FOUND
    assert named(await api.post("/extract", {"text": TEXT}, greedy)) >= FOUND
