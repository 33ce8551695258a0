"""Notes over REST: who may, who sees them, and where they stand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from intel.ids import account_id
from intel.records import Role
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import id_of, make_article

EVIL = id_of("domain evil.example")
HERE = f"/iocs/{EVIL}/notes"
TEXT = "Sinkholed.\n<b>Ours</b> says é."


async def become(api: Running, role: Role, email: str = "analyst@example.org") -> None:
    account = await api.store.accounts.get(account_id(email))
    assert account is not None
    await api.store.accounts.update(replace(account, role=role))


async def delete(api: Running, path: str, key: dict[str, str]) -> Any:
    return await api.client.delete(f"/api/v1{path}", headers=key)


@pytest.mark.promise("notes.who")
async def test_notes_are_written_listed_and_removed_and_the_audit_log_says_so(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    key = await api.key()
    answer = await api.post(HERE, {"text": f"  {TEXT}\r\n"}, key)
    note = answer.json()
    assert answer.status_code == 201
    assert note == {
        "id": note["id"], "text": TEXT, "author": "analyst", "own": True, "written_at": "2026-11-20T12:00:00Z"
    }  # fmt: skip
    listed = (await api.get(HERE, key)).json()
    assert listed == {"items": [note], "limit": 50, "total": 1, "next_cursor": None}
    on_article = f"/articles/{make_article('one').id}/notes"
    other = (await api.post(on_article, {"text": "Good report."}, key)).json()
    assert [one["text"] for one in (await api.get(on_article, key)).json()["items"]] == ["Good report."]
    assert (await delete(api, f"{HERE}/{other['id']}", key)).status_code == 404
    for path in (f"{HERE}/{note['id']}", f"{on_article}/{other['id']}"):
        assert (await delete(api, path, key)).status_code == 204
        assert (await delete(api, path, key)).status_code == 404
    assert (await api.get(HERE, key)).json()["items"] == []
    told = {(entry.action, entry.detail) for entry in await api.store.audit.newest(10) if ".noted" in entry.action}
    assert told == {
        (f"{kind}.noted", sign + id) for kind, id in (("ioc", note["id"]), ("article", other["id"])) for sign in "+-"
    }


@pytest.mark.promise("notes.who")
async def test_only_its_author_and_administrators_remove_a_note(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    first, second = await api.key(), await api.key("second@example.org")
    await become(api, "submitter")
    await become(api, "submitter", "second@example.org")
    notes = [(await api.post(HERE, {"text": text}, first)).json() for text in ("one", "two")]
    (seen, _) = (await api.get(HERE, second)).json()["items"]
    assert (seen["author"], seen["own"]) == ("analyst", False)
    assert (await delete(api, f"{HERE}/{notes[0]['id']}", second)).status_code == 403
    await become(api, "administrator", "second@example.org")
    assert (await delete(api, f"{HERE}/{notes[0]['id']}", second)).status_code == 204
    await become(api, "reader")
    assert (await delete(api, f"{HERE}/{notes[1]['id']}", first)).status_code == 403
    assert (await api.post(HERE, {"text": "three"}, first)).status_code == 403
    assert [one["text"] for one in (await api.get(HERE, first)).json()["items"]] == ["two"]
    await api.store.accounts.remove(account_id("analyst@example.org"))
    assert [one["author"] for one in (await api.get(HERE, second)).json()["items"]] == ["removed account"]


@each("wrong", ["", "  \n ", "x" * 2_001, "a\0b", "a\u202eb"])
async def test_what_is_no_note_is_refused(api: Running, key: dict[str, str], wrong: str) -> None:
    await api.publish("one", "domain evil.example")
    answer = await api.post(HERE, {"text": wrong}, key)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
    assert (await api.post(f"/iocs/{id_of('domain other.example')}/notes", {"text": "x"}, key)).status_code == 404
    assert (await api.get(f"/articles/{EVIL}/notes", key)).status_code == 404
    assert (await api.get(HERE, key)).json()["items"] == []


@pytest.mark.slow
@pytest.mark.promise("notes.seen")
async def test_notes_stand_in_what_a_key_exports_and_nowhere_else(api: Running) -> None:
    await api.publish("one", "domain evil.example", "domain other.example", "cve CVE-2024-3400")
    key = await api.key()
    for kind in ("domain evil.example", "cve CVE-2024-3400"):
        await api.post(f"/iocs/{id_of(kind)}/notes", {"text": TEXT}, key)
    expected = [{"text": TEXT, "written_at": "2026-11-20T12:00:00Z"}]
    lines = map(json.loads, (await api.get("/export", key)).text.splitlines())
    assert {one["value"]: one.get("notes") for one in lines} == {
        "evil.example": expected, "other.example": None, "CVE-2024-3400": expected
    }  # fmt: skip
    told = {item["ioc"]["value"]: item["ioc"].get("notes") for item in await api.items("/changes", key)}
    assert told["evil.example"] == expected and told["other.example"] is None
    objects = (await api.get("/export", key, format="stix")).json()["objects"]
    known = {made["id"]: made for made in objects}
    notes = [made for made in objects if made["type"] == "note"]
    assert {known[made["object_refs"][0]]["name"] for made in notes} == {"evil.example", "CVE-2024-3400"}
    assert {(made["content"], made["created"]) for made in notes} == {(TEXT, "2026-11-20T12:00:00.000Z")}
    event = (await api.get("/export", key, format="misp")).json()["Event"]
    comments = {made["value"]: made["comment"] for made in event["Attribute"]}
    assert f"Note of 2026-11-20: {TEXT}" in comments["evil.example"]
    assert "Note of" not in comments["other.example"]
    for format in ("txt", "csv", "hosts"):
        assert "Sinkholed" not in (await api.get("/export", key, format=format)).text
    assert (await api.get(HERE)).status_code == 401
    await api.post(f"/articles/{make_article('one').id}/notes", {"text": TEXT}, key)
    article = f"/articles/{make_article('one').id}"
    for path in ("/iocs", f"/iocs/{EVIL}", "/iocs.atom", article, "/iocs?format=stix", f"{article}?format=misp"):
        assert "Sinkholed" not in (await api.client.get(f"/api/v1{path}")).text, path
    page = await api.client.get("/ioc/domain/evil.example")
    assert page.status_code == 200 and "Sinkholed" not in page.text


@pytest.mark.promise("notes.seen")
async def test_notes_on_an_article_stand_in_its_export_to_whoever_shows_a_key(api: Running) -> None:
    await api.publish("one", "domain evil.example")
    key, article = await api.key(), make_article("one").id
    await api.post(f"/articles/{article}/notes", {"text": TEXT}, key)
    await api.post(HERE, {"text": "Seized."}, key)
    shown = await api.get(f"/articles/{article}", key, format="stix")
    assert shown.headers["Cache-Control"] == "private, no-cache"
    objects = shown.json()["objects"]
    known = {made["id"]: made["type"] for made in objects}
    told = {(known[made["object_refs"][0]], made["content"]) for made in objects if made["type"] == "note"}
    assert told == {("report", TEXT), ("indicator", "Seized.")}
    event = (await api.get(f"/articles/{article}", key, format="misp")).json()["Event"]
    (report,) = event["EventReport"]
    assert report["name"] == "Note of 2026-11-20"
    assert report["content"] == "Sinkholed\\.\n\n\\<b\\>Ours\\</b\\> says é\\."
    assert "Note of 2026-11-20: Seized." in event["Attribute"][0]["comment"]
    assert "Sinkholed" not in (await api.get(f"/articles/{article}", format="stix")).text
