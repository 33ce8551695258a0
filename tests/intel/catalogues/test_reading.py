"""Reading catalogues: what is in them, and that nothing wrong or damaged is taken for one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from intel.catalogues.lists import parse_attack, parse_epss, parse_kev
from intel.catalogues.parsed import Parsed
from intel.catalogues.scores import parse_cvss
from intel.catalogues.streams import members_of, unfolded
from intel.errors import CatalogueUnreadable
from tests.cases import each
from tests.intel.catalogues.importing import attack_file, epss_file, kev_file, nvd_file

PARSERS: tuple[Callable[[Iterable[bytes]], Parsed], ...] = (parse_kev, parse_epss, parse_cvss, parse_attack)
WHOLE = {
    parse_kev: kev_file({"CVE-2024-0001": "2026-11-15", "CVE-2024-0002": "2026-11-16"}),
    parse_epss: epss_file({"CVE-2024-0001": 0.5, "CVE-2024-0002": 0.25}),
    parse_cvss: nvd_file({"CVE-2024-0001": 9.8, "CVE-2024-0002": 5.0}),
    parse_attack: attack_file({"id": "T1190", "name": "One"}, {"id": "T1566.001", "name": "Two"}),
}
A_REAL_ONE = Path(__file__).parents[3].parent / "shared" / "data" / "kev.json"


def in_pieces(body: bytes, size: int) -> Iterator[bytes]:
    yield from (body[start : start + size] for start in range(0, len(body), size))


@pytest.mark.promise("catalogues.formats")
@each("parse", PARSERS)
@each("size", [1, 7, 1_000_000])
def test_a_catalogue_is_read_alike_in_pieces_of_any_size(parse: Callable[..., Parsed], size: int) -> None:
    body = WHOLE[parse]
    parsed = parse(unfolded(in_pieces(body, size)))
    assert len(parsed.entries) == 2 and parsed.as_of is not None and parsed.as_of.year == 2026
    assert parse(unfolded(in_pieces(gzip.compress(body), size))) == parsed
    assert parse(unfolded(in_pieces(b"\xef\xbb\xbf" + body, size))) == parsed


@pytest.mark.promise("catalogues.damaged")
@each("parse", PARSERS)
def test_a_file_cut_short_is_refused_wherever_it_is_cut(parse: Callable[..., Parsed]) -> None:
    body = WHOLE[parse]
    packed = gzip.compress(body)
    for cut in range(1, len(packed) - 1, 3):
        with pytest.raises(CatalogueUnreadable):
            parse(unfolded([packed[:cut]]))
    if parse is not parse_epss:
        for cut in range(1, len(body) - 1, 3):
            with pytest.raises(CatalogueUnreadable):
                parse(unfolded([body[:cut]]))


@pytest.mark.promise("catalogues.damaged")
@each("parse", PARSERS)
@each(
    "body",
    [
        b"", b" ", b"null", b"[]", b"{}", b"{", b"<html></html>", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000,
        b'{"vulnerabilities": {}}', b'{"vulnerabilities": []}', b'{"vulnerabilities": [1, null, "x", [], {}]}',
        b'{"objects": [1, null, {"type": "attack-pattern"}]}', b'{"vulnerabilities": [{"cveID": 7}]}', b"\x1f\x8b",
        b"cve,epss,percentile\n", b"cve,epss,percentile\nCVE-2024-0001,2.0,0.5\n", b"cve,score\nCVE-2024-0001,nan\n",
        b"cve,epss,percentile\nCVE-2024-0001,0.5\n", b'cve,score\nCVE-2024-0001,11\n', b'{"a": 1} {"b": 2}',
        b'{"vulnerabilities": [{"cveID": "CVE-2024-0001", "dateAdded": "soon"}]}', b"PK\x03\x04", b"\x00" * 5000,
        b'{"vulnerabilities": [{"cve": {"id": "CVE-2024-0001", "metrics": {"cvssMetricV31": [{"cvssData": 1}]}}}]}',
    ],
)  # fmt: skip
def test_what_is_no_catalogue_is_refused_in_a_sentence(parse: Callable[..., Parsed], body: bytes) -> None:
    with pytest.raises(CatalogueUnreadable, match=r"\.$"):
        parse(unfolded([body]))


@pytest.mark.promise("catalogues.damaged")
def test_a_kev_catalogue_with_fewer_entries_than_it_says_is_refused() -> None:
    with pytest.raises(CatalogueUnreadable, match="says that it has 3 entries, and has 1"):
        parse_kev([kev_file({"CVE-2024-0001": "2026-11-15"}, count=3)])


def test_what_unfolds_without_end_is_refused() -> None:
    with pytest.raises(CatalogueUnreadable, match="more than"):
        parse_epss(unfolded([gzip.compress(b"\n" * 5_000_000)], most_bytes=1_000_000))


@pytest.mark.promise("catalogues.formats")
def test_scores_come_from_a_simple_table_too() -> None:
    plain = parse_cvss([b"cve,score,vector\ncve-2024-0001,9.8,CVSS:3.1/AV:N\nCVE-2024-0002,5,\n"])
    bare = parse_cvss([b"CVE-2024-0001,9.8,CVSS:3.1/AV:N\nCVE-2024-0002,5\n"])
    swapped = parse_cvss([b'"Base Score","CVE ID",vector\r\n9.8,CVE-2024-0001,CVSS:3.1/AV:N\r\n5,CVE-2024-0002,\r\n'])
    assert plain.entries == bare.entries == swapped.entries
    assert json.loads(plain.entries["CVE-2024-0001"])["version"] == "3.1"


def test_the_newest_primary_score_counts() -> None:
    def metric(version: str, score: float, kind: str) -> dict[str, object]:
        return {"type": kind, "source": kind, "cvssData": {"version": version, "baseScore": score}}

    metrics = {
        "cvssMetricV2": [metric("2.0", 10.0, "Primary")],
        "cvssMetricV31": [metric("3.1", 9.9, "Secondary"), metric("3.1", 8.8, "Primary")],
    }
    body = json.dumps({"vulnerabilities": [{"cve": {"id": "CVE-2024-0001", "metrics": metrics}}]}).encode()
    assert json.loads(parse_cvss([body]).entries["CVE-2024-0001"])["score"] == 8.8


def test_a_living_technique_stands_before_a_revoked_one_of_its_id() -> None:
    both = ({"id": "T1190", "name": "Old", "revoked": True}, {"id": "T1190", "name": "New"})
    for order in (both, both[::-1]):
        parsed = parse_attack([attack_file(*order)])
        assert json.loads(parsed.entries["T1190"])["name"] == "New"


def test_members_come_one_by_one_whatever_their_order() -> None:
    body = b'{"list": [1, {"a": [2]}, "]"], "name": "x", "list": [], "n": 12}'
    members = [("list", 1), ("list", {"a": [2]}), ("list", "]"), ("name", "x"), ("n", 12)]
    assert [*members_of(in_pieces(body, 1), "list")] == members


@pytest.mark.skipif(not A_REAL_ONE.exists(), reason="no real catalogue is at hand")
def test_a_real_kev_catalogue_is_read_whole() -> None:
    parsed = parse_kev(unfolded([A_REAL_ONE.read_bytes()]))
    assert len(parsed.entries) == 1404
    assert parsed.as_of == datetime(2025, 8, 25, 17, 4, 19, 979000, UTC)
