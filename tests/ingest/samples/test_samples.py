from __future__ import annotations

import ipaddress
import json
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from urllib.parse import urlsplit

from lxml import etree, html

from ingest.samples import sample_paths
from intel.records import IOC_TYPES
from tests.cases import each

Expected = dict[str, dict[str, list[str]]]

NAMES = [path.name for path in sample_paths()]
FOLDER = files("ingest.samples")
DOCUMENTATION = tuple(map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32")))
BLOCKS = ("br", "dd", "div", "dt", "h1", "h2", "h3", "header", "li", "p", "pre", "section", "td", "th", "tr", "ul")
SPELLINGS = (
    ("[://]", "://"),
    ("[:]", ":"),
    ("[.]", "."),
    ("(.)", "."),
    ("{.}", "."),
    ("[dot]", "."),
    ("[at]", "@"),
    ("(at)", "@"),
    ("[@]", "@"),
    ("hxxp", "http"),
    ("\u2011", "-"),
)


@cache
def page(name: str) -> html.HtmlElement:
    return html.document_fromstring((FOLDER / name).read_text(encoding="utf-8"))


@cache
def expected() -> Expected:
    loaded: Expected = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    return loaded


def meta(name: str, key: str) -> str:
    found = page(name).xpath(f"//meta[@name='{key}' or @property='{key}']/@content")
    return str(found[0]) if found else ""


def published(name: str) -> datetime:
    return datetime.fromisoformat(meta(name, "article:published_time"))


def visible_text(name: str) -> str:
    """The text a reader sees, refanged, in lower case, with blocks and cells apart and white space joined."""
    seen = html.document_fromstring((FOLDER / name).read_text(encoding="utf-8"))
    etree.strip_elements(seen, "script", "style", "head", with_tail=False)
    for element in seen.iter(*BLOCKS):
        element.tail = "\n" + (element.tail or "")
    text = " ".join("".join(map(str, seen.itertext())).split()).lower()
    for defanged, plain in SPELLINGS:
        text = text.replace(defanged, plain)
    return text


def values() -> dict[tuple[str, str], set[str]]:
    """Every expected indicator with the publishers that name it."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, by_type in expected().items():
        for ioc_type, listed in by_type.items():
            for value in listed:
                found.setdefault((ioc_type, value), set()).add(meta(name, "og:site_name"))
    return found


def of_type(ioc_type: str) -> set[str]:
    return {value for found, value in values() if found == ioc_type}


def test_there_are_ten_samples_in_order_of_name() -> None:
    assert len(NAMES) == 10
    assert sorted(NAMES) == NAMES
    assert sorted(expected()) == NAMES


@each("name", NAMES)
def test_a_sample_says_its_title_author_date_site_and_language(name: str) -> None:
    title = page(name).findtext(".//title")
    assert title and title.strip()
    assert meta(name, "author") and meta(name, "og:site_name")
    assert page(name).get("lang")
    assert name.startswith(published(name).date().isoformat())


@each("name", NAMES)
def test_a_sample_has_the_furniture_of_a_saved_page(name: str) -> None:
    for wanted in ("//nav", "//footer", "//a[contains(@href, 'linkedin.com')]", "//section[contains(@class, 'aut')]"):
        assert page(name).xpath(wanted), wanted
    assert re.search("cookie", (FOLDER / name).read_text(encoding="utf-8"), re.IGNORECASE)


def test_samples_spread_over_four_weeks_and_six_publishers() -> None:
    times = [published(name) for name in NAMES]
    assert len({time.isocalendar()[:2] for time in times}) >= 4
    assert datetime(2026, 10, 26, tzinfo=UTC) <= min(times) and max(times) < datetime(2026, 11, 20, tzinfo=UTC)
    assert len({meta(name, "og:site_name") for name in NAMES}) >= 6


def test_expected_indicators_cover_all_types_and_are_at_least_ninety() -> None:
    assert {ioc_type for ioc_type, _ in values()} == set(IOC_TYPES)
    assert len(values()) >= 90


def test_some_indicators_are_named_by_several_publishers() -> None:
    by_sources = Counter(len(publishers) for publishers in values().values())
    assert sum(count for publishers, count in by_sources.items() if publishers >= 2) >= 20
    assert max(by_sources) <= 5


@each("name", NAMES)
def test_every_expected_value_stands_in_its_article(name: str) -> None:
    text = visible_text(name)
    for ioc_type, listed in expected()[name].items():
        missing = [value for value in listed if not standing(value.lower(), text)]
        assert missing == [], ioc_type


def standing(value: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9-]){re.escape(value)}(?![a-z0-9])", text) is not None


@each("name", NAMES)
def test_every_hash_cve_and_technique_of_an_article_is_expected(name: str) -> None:
    text, listed = visible_text(name), expected()[name]
    for pattern, types in (
        (r"\b(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b", ("hash_md5", "hash_sha1", "hash_sha256")),
        (r"\bcve-\d{4}-\d{4,}\b", ("cve",)),
        (r"\bt\d{4}(?:\.\d{3})?\b", ("mitre_attack",)),
    ):
        assert set(re.findall(pattern, text)) == {v.lower() for t in types for v in listed.get(t, [])}


@each("name", NAMES)
def test_the_noise_of_an_article_is_not_expected(name: str) -> None:
    domains = set(expected()[name].get("domain", []))
    links = [str(element.get("href")) for element in page(name).iter("a")]
    linked = {urlsplit(link).hostname for link in links if link.startswith("http")}
    assert linked and not domains & linked
    assert not {value for value in domains if value.endswith((".py", ".dll", ".aspx", ".zip", ".js", ".io"))}
    assert not {link.removeprefix("mailto:") for link in links} & set(expected()[name].get("email", []))


def test_addresses_come_from_the_documentation_ranges() -> None:
    for address in map(ipaddress.ip_address, of_type("ip")):
        assert any(address in network for network in DOCUMENTATION if network.version == address.version), address


def test_names_come_from_the_reserved_domains() -> None:
    hosts = of_type("domain") | {value.split("@")[1] for value in of_type("email")}
    named = {urlsplit(url).hostname or "" for url in of_type("url")} - of_type("ip")
    for host in hosts | named:
        assert re.search(r"\.example$|\.example\.(com|net|org)$", host), host


def test_every_url_names_a_host_that_its_article_lists_too() -> None:
    for name, by_type in expected().items():
        hosts = {urlsplit(url).hostname for url in by_type.get("url", [])}
        assert hosts <= {*by_type["domain"], *by_type["ip"]}, name


def test_one_article_is_a_syndicated_copy_of_another() -> None:
    bodies = {name: page(name).xpath("string(//div[@class='story-body'])").strip() for name in NAMES}
    copies = [name for name in NAMES if bodies[name] and list(bodies.values()).count(bodies[name]) == 2]
    assert len({meta(name, "og:site_name") for name in copies}) == 2
    assert len({page(name).findtext(".//title") for name in copies}) == 2


def test_indicators_are_written_in_several_defanged_ways() -> None:
    together = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in NAMES).lower()
    assert [spelling for spelling, _ in SPELLINGS if spelling not in together] == []
