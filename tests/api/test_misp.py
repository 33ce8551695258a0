"""`/misp/`, read with the library that MISP's own users have, and taken in again by our import."""

from __future__ import annotations

import base64
import hashlib
from copy import deepcopy
from typing import Any
from uuid import UUID

import pytest
from pymisp import MISPEvent

from ingest.bundles.misp import misp_report
from intel.records import Sighting
from tests.api.running import Running
from tests.api.test_lists import ONE_OF_EACH


def basic(key: dict[str, str], user: str = "anybody") -> dict[str, str]:
    secret = key["Authorization"].removeprefix("Bearer ")
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}


async def fetched(api: Running, path: str, headers: dict[str, str]) -> Any:
    answer = await api.client.get(f"/misp/{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def read(event: Any) -> MISPEvent:
    """The event as pymisp reads it, which checks types and categories against MISP's own list."""
    made = MISPEvent()
    made.load(deepcopy(event))
    return made


@pytest.mark.promise("misp.event")
async def test_an_article_is_an_event_that_pymisp_reads(api: Running) -> None:
    near = Sighting("domain", "c2-kestrel.net", "Emotet asked c2-kestrel.net.", ("Emotet",))
    article = await api.publish("one", *ONE_OF_EACH, near, "ip 8.8.8.8", title='The "first" one', source="Agency")
    answer = await api.get(f"/articles/{article.id}", format="misp")
    event = read(answer.json())
    assert (event.uuid, event.info, event.Orgc.name) == (article.id, 'The "first" one', "Agency")
    assert str(event.date) == "2026-11-16"
    attributes = {attribute.value: attribute for attribute in event.attributes}
    kept_as_tags = {"malware", "mitre_attack"}
    assert set(attributes) == {
        value for type, _, value in (one.partition(" ") for one in ONE_OF_EACH) if type not in kept_as_tags
    } | {"c2-kestrel.net", "8.8.8.8"}
    assert all(str(UUID(attribute.uuid)) == attribute.uuid for attribute in event.attributes)
    c2 = attributes["c2-kestrel.net"]
    assert c2.to_ids and c2.comment.startswith("Emotet asked c2-kestrel.net.")
    assert [tag.name for tag in c2.tags] == ['misp-galaxy:malpedia="Emotet"']
    assert not attributes["8.8.8.8"].to_ids and "warning list" in attributes["8.8.8.8"].comment
    assert all(not one.to_ids for one in event.attributes if one.type == "vulnerability")
    names = {tag.name for tag in event.tags}
    assert "tlp:clear" in names
    assert any(name.startswith("misp-galaxy:mitre-attack-pattern=") for name in names)
    assert (await api.get(f"/articles/{article.id}", format="misp")).text == answer.text


@pytest.mark.promise("misp.event")
async def test_an_event_comes_in_again_as_it_went_out(api: Running) -> None:
    named = ("domain c2-kestrel.net", "ip 91.92.240.7", "cve CVE-2024-3400", "mitre_attack T1053.005", "malware Emotet")
    article = await api.publish("one", *named, "email a@c2-kestrel.net", title="A report", source="Agency")
    event = (await api.get(f"/articles/{article.id}", format="misp")).json()["Event"]
    report = misp_report(event)
    assert (report.title, report.source_name) == ("A report", "Agency")
    assert {f"{one.type} {one.raw}" for one in report.statements} == {*named, "email a@c2-kestrel.net"}


async def test_what_is_exported_of_a_list_is_another_event_where_it_holds_other_indicators(api: Running) -> None:
    await api.publish("one", "domain c2-kestrel.net", "ip 91.92.240.7")

    async def uuid_of(**asked: Any) -> str:
        event = (await api.get("/iocs", format="misp", **asked)).json()
        return str(read(event).uuid)

    assert await uuid_of() == await uuid_of()
    assert len({await uuid_of(), await uuid_of(type="ip"), await uuid_of(type="domain")}) == 3


async def test_what_programs_read_is_never_run_by_a_browser(api: Running) -> None:
    answer = await api.client.get("/misp/manifest.json", headers=await api.key())
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.slow
@pytest.mark.promise("misp.feed")
async def test_a_server_follows_the_manifest_to_every_event(api: Running) -> None:
    titles = {(await api.publish(f"a{n}", f"domain d{n}.example", title=f"Report {n}")).id: n for n in range(250)}
    key = await api.key()
    manifest = await fetched(api, "manifest.json", key)
    assert set(manifest) == set(titles)
    for id in list(titles)[:5]:
        event = (await fetched(api, f"{id}.json", key))["Event"]
        assert read({"Event": event}).attributes[0].value == f"d{titles[id]}.example"
        listed = manifest[id]
        assert {name: event[name] for name in listed if name != "Tag"} == {
            name: listed[name] for name in listed if name != "Tag"
        }
    hashes = (await api.client.get("/misp/hashes.csv", headers=key)).text.splitlines()
    assert set(hashes) == {
        f"{hashlib.md5(f'd{n}.example'.encode(), usedforsecurity=False).hexdigest()},{id}" for id, n in titles.items()
    }


@pytest.mark.promise("misp.feed")
async def test_the_feed_of_an_empty_store_is_empty(api: Running) -> None:
    key = await api.key()
    assert await fetched(api, "manifest.json", key) == {}
    assert (await api.client.get("/misp/hashes.csv", headers=key)).text == ""
    missing = await api.client.get("/misp/5f0c1b3e-6d0a-5b4e-9a53-2f7c4f1d8e60.json", headers=key)
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


@pytest.mark.promise("misp.authentication")
async def test_the_key_comes_as_a_bearer_or_as_a_password(api: Running) -> None:
    key = await api.key()
    for headers in (key, basic(key), basic(key, "")):
        assert await fetched(api, "manifest.json", headers) == {}
    wrong = [
        {},
        basic({"Authorization": "Bearer wrong"}),
        {"Authorization": "Basic !"},
        {"Authorization": "Basic YQ=="},
    ]
    for refused in wrong:
        answer = await api.client.get("/misp/manifest.json", headers=refused)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Basic realm=")
    elsewhere = await api.client.get("/api/v1/usage", headers=basic(key))
    assert (elsewhere.status_code, elsewhere.headers["www-authenticate"]) == (401, "Bearer")
