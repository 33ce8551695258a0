"""`/taxii2/`, read with the library of OASIS, and in the ways in which other programs call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import stix2
from taxii2client.v21 import Server, as_pages

from intel.ids import ioc_id
from intel.records import Sighting
from tests.api.running import Running
from tests.api.serving import serving
from tests.api.test_lists import ONE_OF_EACH
from tests.api.test_misp import basic

ROOT = "/taxii2/api"
MEDIA_TYPE = "application/taxii+json;version=2.1"
DOMAINS = [f"domain d{n}.example" for n in range(25)]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    folder: Path = tmp_path_factory.mktemp("taxii")
    with serving(folder, *DOMAINS, *ONE_OF_EACH, ioc_rate_key="100000/second") as started:
        yield started


class Taxii:
    """Asks by hand, with a key."""

    def __init__(self, api: Running, key: dict[str, str]) -> None:
        self.api, self.key = api, key

    async def ask(self, path: str, status: int = 200, headers: dict[str, str] | None = None, **asked: Any) -> Any:
        sent = {"Accept": MEDIA_TYPE, **self.key, **(headers or {})}
        parameters = {name.replace("match_", "match[") + "]" * name.startswith("match_"): asked[name] for name in asked}
        answer = await self.api.client.get(f"/taxii2{path}", params=parameters, headers=sent)
        assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE), answer.text
        self.headers = answer.headers
        return answer.json()

    async def objects(self, collection: str = "all", **asked: Any) -> list[Any]:
        """All objects, page by page by `next` alone, as Elastic's integration does."""
        page = await self.ask(f"/api/collections/{collection}/objects/", **asked)
        found = page.get("objects", [])
        while page.get("more"):
            limit = {"limit": asked["limit"]} if "limit" in asked else {}
            page = await self.ask(f"/api/collections/{collection}/objects/", next=page["next"], **limit)
            found += page.get("objects", [])
        return list(found)


def indicators(objects: list[Any]) -> list[str]:
    return sorted(each["name"] for each in objects if each["type"] == "indicator" and not each.get("revoked"))


@pytest.mark.slow
@pytest.mark.promise("taxii.reading")
def test_the_library_of_oasis_reads_all_from_the_address_alone(service: tuple[str, str]) -> None:
    address, key = service
    server = Server(f"{address}/taxii2/", user="anybody", password=key)
    root = server.default
    assert root.url == f"{address}{ROOT}/" and MEDIA_TYPE in root.versions
    by_alias = {collection.alias: collection for collection in root.collections}
    assert list(by_alias)[:2] == ["all", "ip"] and len(by_alias) == 11
    for collection in root.collections:
        assert collection.can_read and not collection.can_write
        collection.refresh()
    everything = [each for page in as_pages(by_alias["all"].get_objects, per_request=7) for each in page["objects"]]
    assert len({each["id"] for each in everything}) == len(everything) == 4 + len(DOMAINS) + len(ONE_OF_EACH)
    for made in everything:
        stix2.parse(made, allow_custom=True)
    listed = [each for page in as_pages(by_alias["all"].get_manifest, per_request=7) for each in page["objects"]]
    assert [each["id"] for each in listed] == [each["id"] for each in everything]
    times = [each["date_added"] for each in listed]
    assert times == sorted(set(times)) and all(len(time) == len("2026-11-20T09:00:00.000000Z") for time in times)
    one = everything[9]
    assert by_alias["all"].get_object(one["id"])["objects"] == [one]
    assert by_alias["all"].object_versions(one["id"])["versions"] == [one["modified"]]
    since = by_alias["domain"].get_objects(added_after=datetime(2100, 1, 1, tzinfo=UTC))
    assert since == {}
    assert len(by_alias["domain"].get_objects(type="indicator")["objects"]) > len(DOMAINS)


@pytest.mark.promise("taxii.misses-nothing")
async def test_who_goes_on_after_the_last_date_misses_nothing_at_any_pace(api: Running) -> None:
    taxii = Taxii(api, await api.key())
    await api.publish("one", *DOMAINS)
    known: dict[str, Any] = {}
    after: dict[str, Any] = {}

    async def poll(limit: int) -> int:
        page = await taxii.ask("/api/collections/all/objects/", limit=limit, **after)
        made = page.get("objects", [])
        assert len(made) <= limit
        for each in made:
            assert each["id"] not in known or known[each["id"]]["modified"] < each["modified"]
            known[each["id"]] = each
        if "x-taxii-date-added-last" in taxii.headers:
            after["added_after"] = taxii.headers["x-taxii-date-added-last"]
        return len(made)

    for limit in (1, 2, 3, 5):
        assert await poll(limit) == limit
    await api.publish("one", *DOMAINS[3:], "ip 91.92.240.7", at=1)
    await api.publish("two", "domain new.example", "malware Emotet", at=2)
    while await poll(4):
        pass
    assert indicators(list(known.values())) == sorted(
        [*(each.split()[1] for each in DOMAINS[3:]), "91.92.240.7", "new.example"]
    )
    revoked = [each for each in known.values() if each.get("revoked")]
    assert {each["name"] for each in revoked} == {each.split()[1] for each in DOMAINS[:3]}
    for each in revoked:
        assert stix2.parse(each).revoked and each["created"] < each["modified"]
    # Nothing new: the time stays, so that nobody begins anew.
    at = after["added_after"]
    assert await poll(9) == 0 and after["added_after"] == at


@pytest.mark.promise("taxii.reading")
async def test_an_object_is_what_the_export_says(api: Running) -> None:
    await api.publish("one", *ONE_OF_EACH, "domain c2-kestrel.net")
    taxii = Taxii(api, await api.key())
    bundle = (await api.get("/iocs", await api.key(), format="stix", limit=50)).json()
    exported = {each["id"]: each for each in bundle["objects"]}
    read = await taxii.objects(limit=3)
    assert {each["id"] for each in read} >= {
        id for id in exported if id.startswith(("indicator", "malware", "identity"))
    }
    # An export defines the markings that it needs.
    for each in [one for one in read if one["type"] != "marking-definition" or one["id"] in exported]:
        assert exported[each["id"]] == each


@pytest.mark.slow
@pytest.mark.promise("taxii.matching")
async def test_filters_narrow_and_go_along_with_next(api: Running) -> None:
    await api.publish("one", *DOMAINS, *ONE_OF_EACH)
    taxii = Taxii(api, await api.key())
    everything = await taxii.objects()
    assert everything == await taxii.objects(limit=4)
    by_type: dict[str, list[Any]] = {}
    for each in everything:
        by_type.setdefault(each["type"], []).append(each)
    assert set(by_type) == {"indicator", "malware", "vulnerability", "attack-pattern", "identity", "marking-definition"}
    for type, expected in by_type.items():
        assert await taxii.objects(match_type=type, limit=3) == expected, type
    assert len(await taxii.objects(match_type="malware,vulnerability")) == 2
    domains = await taxii.objects("domain", match_type="indicator", limit=2)
    assert indicators(domains) == sorted([*(each.split()[1] for each in DOMAINS), "evil.example"])
    some = [everything[n] for n in (0, 5, 7, 20)]
    ids = ",".join(each["id"] for each in reversed(some))
    assert await taxii.objects(match_id=ids) == await taxii.objects(match_id=ids, limit=1) == some
    assert await taxii.objects("ip", match_id=by_type["malware"][0]["id"]) == []
    one = by_type["indicator"][0]
    for version, found in ((one["modified"], [one]), ("last", [one]), ("2001-01-01T00:00:00Z", [])):
        assert await taxii.objects(match_id=one["id"], match_version=version) == found
    assert await taxii.objects(match_spec_version="2.0") == []
    assert await taxii.objects(match_spec_version="2.1,2.0") == everything
    # No slash at the end, and the id in place of the alias.
    (collection,) = [c for c in (await taxii.ask("/api/collections"))["collections"] if c["alias"] == "malware"]
    assert (await taxii.ask(f"/api/collections/{collection['id']}/objects"))["objects"][-1] == by_type["malware"][0]


@pytest.mark.promise("taxii.errors")
async def test_errors_are_told_in_the_words_of_taxii(api: Running) -> None:
    await api.publish("one", *DOMAINS)
    taxii = Taxii(api, await api.key())
    unknown = f"indicator--{ioc_id('domain', 'never.example')}"
    cases: list[tuple[str, int, dict[str, Any]]] = [
        ("/api/collections/nothing/", 404, {}),
        ("/api/collections/nothing/objects/", 404, {}),
        (f"/api/collections/all/objects/{unknown}/", 404, {}),
        (f"/api/collections/all/objects/{unknown}/versions/", 404, {}),
        ("/api/status/1/", 404, {}),
        ("/other/", 404, {}),
        ("/api/collections/all/objects/", 400, {"limit": "0"}),
        ("/api/collections/all/objects/", 400, {"limit": "x"}),
        ("/api/collections/all/objects/", 400, {"added_after": "yesterday"}),
        ("/api/collections/all/objects/", 400, {"next": "x"}),
        ("/api/collections/all/objects/", 400, {"match_version": "newest"}),
        ("/api/collections/all/manifest/", 400, {"limit": "-1"}),
    ]
    for path, status, asked in cases:
        told = await taxii.ask(path, status, **asked)
        assert told["http_status"] == str(status) and told["title"] and told["description"], path
    other = (await taxii.ask("/api/collections/domain/objects/", limit=1))["next"]
    await taxii.ask("/api/collections/all/objects/", 400, next=other)
    for accept in ("application/vnd.oasis.taxii+json; version=2.0", "application/taxii+json;version=2.0", "text/html"):
        await taxii.ask("/api/", 406, {"Accept": accept})
    for accept in ("application/taxii+json; version=2.1", "application/taxii+json", "*/*", "text/html, */*;q=0.1"):
        await taxii.ask("/api/", 200, {"Accept": accept})
    for method, path, status in (
        ("POST", "/api/collections/all/objects/", 403),
        ("DELETE", f"/api/collections/all/objects/{unknown}/", 403),
        ("POST", "/api/collections/nothing/objects/", 404),
        ("PUT", "/api/collections/all/", 405),
    ):
        answer = await api.client.request(method, f"/taxii2{path}", headers=taxii.key)
        assert (answer.status_code, answer.headers["content-type"]) == (status, MEDIA_TYPE)
        assert answer.json()["http_status"] == str(status)


@pytest.mark.promise("taxii.authentication")
async def test_the_key_and_its_bucket_are_those_of_rest(limited_api: Running) -> None:
    key = await limited_api.key()
    for headers in (key, basic(key, "taxii")):
        answer = await limited_api.client.get("/taxii2/", headers=headers)
        assert answer.status_code == 200 and answer.headers["ratelimit-policy"].startswith('"key"')
    for wrong in ({}, basic({"Authorization": "Bearer wrong"})):
        answer = await limited_api.client.get("/taxii2/", headers=wrong)
        assert (answer.status_code, json.loads(answer.content)["http_status"]) == (401, "401")
        assert answer.headers["www-authenticate"].startswith("Basic realm=")
    for _ in range(150):  # some tokens come back meanwhile
        answer = await limited_api.client.get(f"{ROOT}/", headers=key)
        if answer.status_code != 200:
            break
    assert (answer.status_code, answer.headers["content-type"]) == (429, MEDIA_TYPE)
    assert int(answer.headers["retry-after"]) >= 1


def test_an_answer_is_kept_and_compressed(service: tuple[str, str]) -> None:
    address, key = service
    headers = {"Authorization": f"Bearer {key}", "Accept": MEDIA_TYPE}
    with httpx.Client(base_url=address, headers=headers) as client:
        first = client.get(f"{ROOT}/collections/all/objects/")
        assert first.headers["content-encoding"] == "gzip"
        again = client.get(f"{ROOT}/collections/all/objects/", headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304


@pytest.mark.promise("taxii.saved-searches")
async def test_a_saved_search_is_a_collection_of_its_account(api: Running) -> None:
    await api.publish("one", *DOMAINS, "domain kestrel.example", "ip 91.92.240.7", source="Agency")
    await api.publish("two", "domain kestrel-two.example", "domain d1.example", source="Other", at=1)
    taxii = Taxii(api, await api.key())
    saved = (await api.post("/searches", {"name": "Kestrel", "q": "kestrel", "type": ["domain"]}, taxii.key)).json()
    (told,) = [each for each in (await taxii.ask("/api/collections/"))["collections"] if each["title"] == "Kestrel"]
    assert told["alias"] == saved["id"] and told["can_read"] and not told["can_write"]
    found = await taxii.objects(told["id"], limit=1)
    assert indicators(found) == ["kestrel-two.example", "kestrel.example"]
    (other,) = [each for each in await taxii.objects("ip") if each["type"] == "indicator"]
    assert await taxii.objects(saved["id"], match_id=",".join([found[-1]["id"], other["id"]])) == [found[-1]]
    stranger = Taxii(api, await api.key("other@example.org"))
    await stranger.ask(f"/api/collections/{told['id']}/", 404)
    await stranger.ask(f"/api/collections/{told['id']}/objects/", 404)


@pytest.mark.promise("taxii.saved-searches")
async def test_the_filters_of_lists_narrow_a_collection(api: Running) -> None:
    warned = Sighting("ip", "8.8.8.8", "It asked 8.8.8.8.", warned=True)
    await api.publish("one", *DOMAINS, warned, source="Agency")
    await api.publish("two", "domain d1.example", "domain d2.example", source="Other", at=1)
    taxii = Taxii(api, await api.key())
    assert indicators(await taxii.objects(min_sources=2, limit=1)) == ["d1.example", "d2.example"]
    assert indicators(await taxii.objects("domain", source="Other")) == ["d1.example", "d2.example"]
    assert indicators(await taxii.objects("domain", type="ip")) == []
    assert "8.8.8.8" in indicators(await taxii.objects()) and len(indicators(await taxii.objects("ip"))) == 1
    assert indicators(await taxii.objects("ip", exclude="warned")) == []
    await taxii.ask("/api/collections/all/objects/", 400, min_sources="x")
    await taxii.ask("/api/collections/all/objects/", 400, exclude="nothing")
