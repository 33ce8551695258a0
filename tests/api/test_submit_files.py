"""`/submit` with a file: read as imports are, from the moment it is accepted safe from any death of the process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingest.handed_in import clear_files
from intel.ids import account_id
from intel.records import HandedFile
from tests.api.pages import KESTREL, article_page, eventually
from tests.api.running import GENEROUS, Running, running
from tests.api.test_submit import ended

MISP = {
    "Event": {
        "uuid": "5b23c82b-6508-4bdc-b580-045b0a000001",
        "info": "Kestrel campaign",
        "date": "2026-11-16",
        "Attribute": [{"type": "domain", "value": "kestrel-update.example", "to_ids": True, "category": "Network"}],
    }
}
_NAMED = '<head><meta property="og:site_name" content="Harbour Watch">'


async def send(
    api: Running, key: dict[str, str], body: bytes, name: str = "report.html", **fields: str
) -> httpx.Response:
    files = {"file": (name, body, "application/octet-stream")}
    return await api.client.post("/api/v1/submit", headers=key, files=files, data=fields)


async def done(api: Running, key: dict[str, str], answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/api/v1/submissions/{answer.json()['id']}"
    return await ended(api, key, answer.json()["id"])


@pytest.mark.promise("submit.file", "records.submission")
async def test_a_submitted_file_is_read_and_found(api: Running) -> None:
    key, page = await api.key(), article_page().encode()
    answer = await send(api, key, page, "C:\\reports\\kes\u202etrel.html", source_name="Example Research")
    read = await done(api, key, answer)
    assert (read["status"], read["url"], read["file_name"], read["ioc_count"]) == ("done", None, "kestrel.html", 5)
    assert sorted((item["type"], item["value"]) for item in await api.items("/iocs")) == sorted(KESTREL)
    article = (await api.get(f"/articles/{read['article_id']}")).json()
    assert (article["url"], article["source_name"], article["source_domain"]) == (
        None,
        "Example Research",
        "submitted file",
    )
    await eventually(lambda: _nothing_is_kept(api))
    again = await send(api, await api.key("other@example.org"), page, "other.html")
    assert (again.status_code, again.json()["status"], again.json()["article_id"]) == (200, "done", article["id"])
    shown = (await api.client.get(f"/articles/{article['id']}")).text
    assert "claimed by the submitter of a file" in shown


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (article_page().replace("<head>", _NAMED), "Harbour Watch"),
        (article_page(), "submitted file"),
        (json.dumps({"Event": MISP["Event"] | {"Orgc": {"name": "Harbour CERT"}}}), "Harbour CERT"),
        (json.dumps(MISP), "submitted file"),
    ],
)
@pytest.mark.promise("submit.file")
async def test_a_file_without_a_source_name_has_its_own_as_an_imported_one_and_counts_as_before(
    api: Running, page: str, name: str
) -> None:
    key = await api.key()
    read = await done(api, key, await send(api, key, page.encode()))
    article = (await api.get(f"/articles/{read['article_id']}")).json()
    assert (article["source_name"], article["source_domain"]) == (name, "submitted file")


@pytest.mark.promise("submit.file")
async def test_a_shared_event_is_read_and_takes_nobodys_place(api: Running) -> None:
    first, second = await api.key(), await api.key("other@example.org")
    read = await done(api, first, await send(api, first, json.dumps(MISP).encode(), "event.json"))
    assert (read["status"], read["ioc_count"]) == ("done", 1), read
    forged = json.loads(json.dumps(MISP).replace("kestrel-update.example", "innocent-victim.example"))
    other = await done(api, second, await send(api, second, json.dumps(forged).encode(), "event.json"))
    assert other["status"] == "done" and other["article_id"] != read["article_id"]
    assert set(await api.values()) == {"kestrel-update.example", "innocent-victim.example"}
    restricted = json.dumps(MISP | {"Event": MISP["Event"] | {"Tag": [{"name": "tlp:red"}]}}).encode()
    refused = await done(api, first, await send(api, first, restricted, "event.json"))
    assert (refused["status"], refused["reason"]) == ("failed", "restricted_sharing")
    image = await done(api, first, await send(api, first, b"\x89PNG\r\n\x1a\n" + bytes(5_000), "picture.png"))
    assert (image["status"], image["reason"]) == ("failed", "unsupported_content_type")


@pytest.mark.promise("submit.file")
async def test_what_is_no_form_with_one_file_is_refused(api: Running) -> None:
    key = await api.key()
    kind = {"Content-Type": "multipart/form-data; boundary=x"}

    async def raw(body: bytes, headers: dict[str, str] = kind) -> tuple[int, str]:
        answer = await api.client.post("/api/v1/submit", headers=key | headers, content=body)
        return answer.status_code, answer.json()["code"]

    def part(head: str, body: str = "text") -> bytes:
        return f"--x\r\n{head}\r\n\r\n{body}\r\n".encode()

    file = part('Content-Disposition: form-data; name="file"; filename="a.txt"')
    assert await raw(b"no form at all") == (400, "invalid_form")
    assert await raw(file + b"--x--", {"Content-Type": "multipart/form-data"}) == (400, "invalid_form")
    assert await raw(part("Content-Type: text/plain") + b"--x--") == (400, "invalid_form")
    assert await raw(b"--x\r\n" + b"A: b\r\n" * 10_000 + b"\r\n") == (400, "invalid_form")
    assert await raw(b"--x\r\nA: " + b"b" * 1_000_000) == (400, "invalid_form")
    assert await raw(file * 50 + b"--x--") == (400, "invalid_form")
    for body, field in (
        (file + file, "file"),
        (part('Content-Disposition: form-data; name="file"'), "file"),
        (part('Content-Disposition: form-data; name="source_name"'), "file"),
        (part('Content-Disposition: form-data; name="file"; filename=""', ""), "file"),
        (file + part('Content-Disposition: form-data; name="url"'), "url"),
        (file + part('Content-Disposition: form-data; name="source_name"', "a\tb"), "source_name"),
    ):
        answer = await api.client.post("/api/v1/submit", headers=key | kind, content=body + b"--x--")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter"), answer.text
        assert answer.json()["errors"][0]["field"] == field
    large = await send(api, key, b"a" * 10_000_001)
    assert (large.status_code, large.json()["code"]) == (413, "payload_too_large")
    assert await api.store.files.before(api.clock.now + timedelta(days=1), 10) == ()


@pytest.mark.promise("submit.file", "accounts.roles")
async def test_a_reader_may_not_submit_files(api: Running) -> None:
    await api.key("first@example.org")
    key = await api.key("reader@example.org")
    account = await api.store.accounts.get(account_id("reader@example.org"))
    assert account is not None
    await api.store.accounts.update(replace(account, role="reader"))
    assert (await send(api, key, b"evil[.]example")).status_code == 403


@pytest.mark.promise("submit.file")
async def test_an_accepted_file_is_read_after_the_process_died(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        account = await api.key()
        submission = await _accepted_and_cut_short(api, article_page().encode())
    async with running(tmp_path, **GENEROUS) as api:
        assert (await ended(api, account, submission))["status"] == "done"
        assert sorted(await api.values()) == sorted(value for _, value in KESTREL)


async def _nothing_is_kept(api: Running) -> bool:
    return await api.store.files.before(api.clock.now + timedelta(days=1), 10) == ()


async def _accepted_and_cut_short(api: Running, body: bytes) -> str:
    """Accepts a file in a process that dies before anybody is told of it."""

    submitting = replace(api.service.submitting, queue=_Deaf())
    return (await submitting.submit_file(account_id("analyst@example.org"), "report.html", body, None)).id


class _Deaf:
    """A queue that nobody reads from."""

    async def enqueue(self, *_: object) -> None: ...

    async def close(self) -> None: ...


async def test_files_that_a_killed_process_left_are_deleted(api: Running) -> None:
    await api.key()
    waiting = await _accepted_and_cut_short(api, b"evil[.]example is called by the loader, says the report.")
    left = HandedFile("left", account_id("analyst@example.org"), waiting, 3, api.clock.now)
    await api.store.files.put(left, b"abc")
    await clear_files(api.store, api.clock.now + timedelta(minutes=59))
    assert await api.store.files.get("left") == b"abc"

    async def gone() -> bool:
        await clear_files(api.store, api.clock.now + timedelta(minutes=61))
        return await api.store.files.get("left") is None

    await eventually(gone)
    submission = await api.store.submissions.get(waiting)
    assert submission is not None and submission.reason != "file_gone"
