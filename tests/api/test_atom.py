"""`/weekly.atom`, `/focus.atom`, `/articles.atom`, `/iocs.atom`: feeds for readers."""

from __future__ import annotations

import re
from typing import Any

import feedparser
import pytest
from lxml import etree
from lxml.etree import _Element

from intel.records import Sighting
from tests.api.running import Running
from tests.api.test_lists import ONE_OF_EACH
from tests.cases import each

_ATOM = "{http://www.w3.org/2005/Atom}"
FEEDS = ("weekly", "focus", "articles", "iocs")
HOSTILE = "<script>alert(1)</script> ]]> &amp; \x01\x0b\ufffe\u202e\x85 'q' \"d\" <![CDATA[x"


async def feed(api: Running, name: str, key: dict[str, str] | None = None, **asked: Any) -> _Element:
    answer = await api.get(f"/{name}.atom", key, **asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    return etree.fromstring(answer.content)


def texts(root: _Element, name: str) -> list[str]:
    return [each.findtext(f"{_ATOM}{name}") or "" for each in root.findall(f"{_ATOM}entry")]


async def fill(api: Running) -> None:
    for n, source in enumerate(("One", "Two", "Three")):
        await api.publish(source, *ONE_OF_EACH, source=source, title=f"Report {n}", at=n)


def assert_valid(root: _Element) -> None:
    """What RFC 4287 asks of a feed and its entries."""
    assert root.tag == f"{_ATOM}feed"
    for part in (root, *root.findall(f"{_ATOM}entry")):
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", part.findtext(f"{_ATOM}id") or "")
        assert (part.findtext(f"{_ATOM}title") or "").strip()
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", part.findtext(f"{_ATOM}updated") or "")
        (alternate,) = [link for link in part.findall(f"{_ATOM}link") if link.get("rel") == "alternate"]
        assert (alternate.get("href") or "").startswith("http://ioc.example/")
    assert root.findtext(f"{_ATOM}author/{_ATOM}name")
    ids = [each.findtext(f"{_ATOM}id") for each in root.findall(f"{_ATOM}entry")]
    assert len(set(ids)) == len(ids)


@pytest.mark.promise("atom.valid")
@each("name", FEEDS)
async def test_a_feed_is_valid_and_its_entries_are_those_of_the_list(api: Running, name: str) -> None:
    await fill(api)
    root = await feed(api, name)
    assert_valid(root)
    listed = await api.items(f"/{name}")
    assert len(root.findall(f"{_ATOM}entry")) == len(listed) > 0
    read = feedparser.parse((await api.get(f"/{name}.atom")).content)
    assert not read.bozo and len(read.entries) == len(listed)


@pytest.mark.promise("atom.valid")
@each("name", FEEDS)
async def test_a_feed_without_entries_is_valid_too(api: Running, name: str) -> None:
    root = await feed(api, name)
    assert_valid(root)
    assert root.findall(f"{_ATOM}entry") == []


@pytest.mark.promise("atom.valid")
async def test_ids_stay_whatever_changes(api: Running) -> None:
    await fill(api)
    before = {name: texts(await feed(api, name), "id") for name in FEEDS}
    await api.publish("Four", *ONE_OF_EACH, source="Four", title="Report 4", at=9)
    for name in FEEDS:
        assert set(before[name]) <= set(texts(await feed(api, name), "id"))
    assert texts(await feed(api, "weekly"), "updated") == ["2026-11-20T12:00:00Z"]


@pytest.mark.promise("atom.valid")
async def test_hostile_text_is_text(api: Running) -> None:
    hostile = Sighting("domain", "a.example", HOSTILE, (f"Emotet{HOSTILE}",))
    for source in (HOSTILE, "Two"):
        await api.publish(source[-4:], hostile, "malware Emotet", title=HOSTILE, source=source, summary=HOSTILE)
    shown = "<script>alert(1)</script> ]]> &amp; 'q' \"d\" <![CDATA[x"
    articles = await feed(api, "articles", source=HOSTILE)
    assert_valid(articles)
    assert [" ".join(title.split()) for title in texts(articles, "title")] == [shown]
    for name in FEEDS:
        root = await feed(api, name)
        assert_valid(root)
        assert {each.tag.removeprefix(_ATOM) for each in root.iter()} <= {
            "feed", "entry", "id", "title", "updated", "published", "generator", "author", "name", "link", "category",
            "content",
        }  # fmt: skip


@pytest.mark.promise("atom.valid")
async def test_any_search_is_a_feed_with_a_name_of_its_own(api: Running) -> None:
    await fill(api)
    found = await feed(api, "iocs", q="evil[.]example", type="domain", source="Two")
    assert texts(found, "title") == ["domain: evil[.]example"]
    assert found.findtext(f"{_ATOM}title") == "Indicators: evil[.]example, type domain, source Two"
    links = {link.get("rel"): link.get("href") for link in found.findall(f"{_ATOM}link")}
    assert links["self"] == "http://ioc.example/api/v1/iocs.atom?q=evil%5B.%5Dexample&type=domain&source=Two"
    assert links["alternate"] == "http://ioc.example/search?q=evil%5B.%5Dexample&type=domain&source=Two"
    others = [await feed(api, "iocs"), await feed(api, "iocs", q="evil"), await feed(api, "iocs", value="evil.example")]
    assert len({each.findtext(f"{_ATOM}id") for each in (found, *others)}) == 4
    assert len(texts(others[2], "id")) == 1


async def test_a_feed_is_narrowed_like_its_list(api: Running) -> None:
    await fill(api)
    severities = [item["severity"] for item in await api.items("/focus")]
    for severity in ("critical", "high", "medium", "low"):
        assert len(texts(await feed(api, "focus", severity=severity), "id")) == severities.count(severity)
    assert texts(await feed(api, "articles", source="Two"), "title") == ["Report 1"]
    assert len(texts(await feed(api, "iocs", type="domain", status="active"), "id")) == 1
    assert texts(await feed(api, "iocs", type="domain", status="expired"), "id") == []
    assert texts(await feed(api, "articles", q='"report 2"'), "title") == ["Report 2"]


@pytest.mark.promise("atom.tier")
async def test_a_feed_has_the_tier_and_the_cap_of_its_list(api: Running, limited_api: Running) -> None:
    await api.publish("many", *(f"domain d{n}.example" for n in range(60)))
    assert len(texts(await feed(api, "iocs", limit=1000), "id")) == 50
    assert len(texts(await feed(api, "iocs", limit=1000, q="example"), "id")) == 10
    answers = [(await limited_api.get("/iocs.atom", q="x")).status_code for _ in range(11)]
    assert answers == [200] * 10 + [429]
    assert (await limited_api.get("/iocs.atom")).headers["ratelimit-policy"].startswith('"list"')
    key = await limited_api.key()
    assert (await limited_api.get("/iocs.atom", key, q="x")).headers["ratelimit-policy"].startswith('"key"')


@pytest.mark.promise("atom.tier")
@each(
    ("path", "field"),
    [
        ("/iocs.atom?type=x", "type"),
        ("/iocs.atom?exclude=old", "exclude"),
        ("/iocs.atom?limit=0", "limit"),
        ("/iocs.atom?since=soon", "since"),
        ("/articles.atom?q=%00", "q"),
        ("/focus.atom?severity=urgent", "severity"),
        ("/weekly.atom?limit=x", "limit"),
    ],
)
async def test_what_a_feed_cannot_understand_is_a_problem(api: Running, path: str, field: str) -> None:
    answer = await api.client.get(f"/api/v1{path}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
