"""Importing into a store, and looking up what was imported."""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import zipfile
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ingest import catalogues
from ingest.catalogues import import_catalogue, locate
from ingest.fetch import FetchAllow
from intel.catalogues import ListWarning, lookup, techniques, warnings_of
from intel.errors import CatalogueUnreadable
from intel.store import Store
from tests.contract.store.builders import make_article, publish, the_ioc
from tests.intel.catalogues.importing import (
    attack_file,
    epss_file,
    kev_file,
    located,
    nvd_file,
    put,
    put_kev,
    warning_file,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ALLOW = FetchAllow.parse("")


async def warned(store: Store, *indicators: str) -> dict[str, tuple[ListWarning, ...]]:
    """The warnings of indicators written as `domain evil.example`."""
    await publish(store, make_article(), *indicators)
    iocs = {indicator: await the_ioc(store, indicator) for indicator in indicators}
    found = await warnings_of(store, iocs.values())
    return {indicator: found.get(ioc.id, ()) for indicator, ioc in iocs.items()}


@pytest.mark.promise("catalogues.facts")
async def test_what_was_imported_is_looked_up_by_cve(store: Store) -> None:
    assert await lookup(store, ["CVE-2024-0001"]) == {}
    await put_kev(store, NOW, {"CVE-2024-0001": "2026-11-15"}, ransomware="Known")
    await put(store, "epss", NOW, epss_file({"CVE-2024-0001": 0.5, "CVE-2024-0002": 0.25}))
    await put(store, "cvss", NOW, nvd_file({"CVE-2024-0001": 9.8}))
    found = await lookup(store, ["CVE-2024-0001", "CVE-2024-0002", "CVE-2024-0003"])
    assert found.keys() == {"CVE-2024-0001", "CVE-2024-0002"}
    first = found["CVE-2024-0001"]
    assert first.kev is not None and first.epss is not None and first.cvss is not None
    assert (first.kev.date_added, first.kev.due_date, first.kev.ransomware) == (
        date(2026, 11, 15), date(2026, 12, 24), True,
    )  # fmt: skip
    assert (first.epss.score, first.epss.model, first.epss.as_of) == (
        0.5, "v2026.03.14", datetime(2026, 11, 20, 12, 55, tzinfo=UTC),
    )  # fmt: skip
    assert (first.cvss.score, first.cvss.version, first.cvss.source) == (9.8, "3.1", "nvd@nist.example")
    assert found["CVE-2024-0002"].kev is None


@pytest.mark.promise("catalogues.damaged")
@pytest.mark.parametrize("name", ["kev", "epss", "cvss", "attack", "warninglist"])
async def test_a_file_that_is_refused_leaves_the_former_import(store: Store, name: str) -> None:
    whole = {
        "kev": kev_file({"CVE-2024-0001": "2026-11-15"}),
        "epss": epss_file({"CVE-2024-0001": 0.5}),
        "cvss": nvd_file({"CVE-2024-0001": 9.8}),
        "attack": attack_file({"id": "T1190", "name": "One"}),
        "warninglist": warning_file("List", "string", "evil.example"),
    }[name]
    await put(store, name, NOW, whole)
    before = await store.catalogues.all()
    for wrong in (whole[:-5], b"{}", b"<html>", b"\x1f\x8b\x08"):
        with pytest.raises(CatalogueUnreadable):
            await put(store, name, NOW, wrong)
    assert await store.catalogues.all() == before


async def test_a_newer_kev_replaces_the_former_whole(store: Store) -> None:
    await put_kev(store, NOW, {"CVE-2024-0001": "2026-11-15"})
    await put_kev(store, NOW, {"CVE-2024-0002": "2026-11-16"})
    assert (await lookup(store, ["CVE-2024-0001", "CVE-2024-0002"])).keys() == {"CVE-2024-0002"}


@pytest.mark.promise("catalogues.many-files")
async def test_scores_of_several_files_stand_beside_each_other(store: Store) -> None:
    await put(store, "cvss", NOW, nvd_file({"CVE-2024-0001": 9.8, "CVE-2024-0002": 5.0}))
    done = await put(store, "cvss", NOW, b"cve,score\nCVE-2024-0002,6.5\n", nvd_file({"CVE-2025-0003": 7.0}))
    assert done.catalogue.entries == 3 and done.former is not None and done.former.entries == 2
    scores = {cve: found.cvss for cve, found in (await lookup(store, ["CVE-2024-0001", "CVE-2024-0002"])).items()}
    assert {cve: cvss.score for cve, cvss in scores.items() if cvss} == {"CVE-2024-0001": 9.8, "CVE-2024-0002": 6.5}


@pytest.mark.promise("catalogues.many-files")
async def test_imports_side_by_side_lose_none_of_their_entries(store: Store) -> None:
    cves = [f"CVE-2024-{number:04}" for number in range(6)]
    lists = [f"List {number}" for number in range(6)]
    await asyncio.gather(
        *(put(store, "cvss", NOW, nvd_file({cve: 5.0})) for cve in cves),
        *(put(store, "warninglist", NOW, warning_file(name, "string", "evil.example")) for name in lists),
    )
    assert {cve for cve, found in (await lookup(store, cves)).items() if found.cvss} == set(cves)
    found = (await warned(store, "domain evil.example"))["domain evil.example"]
    assert {warning.list for warning in found} == set(lists)
    assert {each.name: each.entries for each in await store.catalogues.all()} == {"cvss": 6, "warninglist": 6}


async def test_a_date_in_the_future_is_taken_for_today(store: Store) -> None:
    body = kev_file({"CVE-2024-0001": "2026-11-15"}, dateReleased="2999-01-01T00:00:00Z")
    assert (await put(store, "kev", NOW, body)).catalogue.as_of == NOW


@pytest.mark.promise("catalogues.facts")
async def test_techniques_are_told_with_what_became_of_them(store: Store) -> None:
    await put(store, "attack", NOW, attack_file({"id": "T1064", "name": "Scripting", "x_mitre_deprecated": True}))
    found = await techniques(store, ["T1064", "T1190"])
    assert found.keys() == {"T1064"} and found["T1064"].deprecated and not found["T1064"].revoked


@pytest.mark.promise("warnings.imported")
async def test_each_kind_of_list_warns_of_what_it_holds(store: Store) -> None:
    await put(
        store, "warninglist", NOW,
        warning_file("Exact", "string", "plain.example", "44D88612FEA8A8F36DE82E1278ABB02F"),
        warning_file("Hosts", "hostname", ".parent.example", "*.wild.example", "alone.example"),
        warning_file("Nets", "cidr", "198.51.100.0/24", "2001:db8::/32", "203.0.113.9", "10.0.0.0/7"),
        warning_file("Parts", "substring", "sink-hole"),
    )  # fmt: skip
    found = await warned(
        store,
        "domain plain.example", "domain sub.plain.example", "domain a.b.parent.example", "domain notparent.example",
        "domain wild.example", "url https://x.alone.example/p", "email me@alone.example", "ip 198.51.100.7",
        "ip 198.51.101.7", "ip 2001:db8::1", "ip 203.0.113.9", "url http://198.51.100.9/x", "ip 11.2.3.4",
        "hash_md5 44d88612fea8a8f36de82e1278abb02f", "domain my-sink-hole.example", "cve CVE-2024-0001",
    )  # fmt: skip
    assert {indicator: [warning.list for warning in warnings] for indicator, warnings in found.items() if warnings} == {
        "domain plain.example": ["Exact"],
        "domain a.b.parent.example": ["Hosts"],
        "domain wild.example": ["Hosts"],
        "url https://x.alone.example/p": ["Hosts"],
        "email me@alone.example": ["Hosts"],
        "ip 198.51.100.7": ["Nets"],
        "ip 2001:db8::1": ["Nets"],
        "ip 203.0.113.9": ["Nets"],
        "url http://198.51.100.9/x": ["Nets"],
        "ip 11.2.3.4": ["Nets"],
        "hash_md5 44d88612fea8a8f36de82e1278abb02f": ["Exact"],
        "domain my-sink-hole.example": ["Parts"],
    }
    (warning,) = found["domain a.b.parent.example"]
    assert warning.reason == "It stands on this list as parent.example. Made up."


@pytest.mark.promise("warnings.imported")
async def test_a_list_speaks_only_of_the_types_that_it_names(store: Store) -> None:
    await put(
        store, "warninglist", NOW,
        warning_file("Addresses", "cidr", "198.51.100.0/24", matching_attributes=["ip-dst", "ip-src"]),
        warning_file("Sites", "hostname", "alone.example", matching_attributes=["url"]),
    )  # fmt: skip
    found = await warned(store, "ip 198.51.100.7", "url http://198.51.100.7/", "domain alone.example",
                         "url http://alone.example/")  # fmt: skip
    assert [indicator for indicator, warnings in found.items() if warnings] == [
        "ip 198.51.100.7", "url http://alone.example/",
    ]  # fmt: skip


@pytest.mark.promise("warnings.imported", "catalogues.many-files")
async def test_a_list_replaces_the_one_of_its_name_and_leaves_the_others(store: Store) -> None:
    await put(store, "warninglist", NOW, warning_file("One", "hostname", "one.example", "old.example"))
    await put(store, "warninglist", NOW, warning_file("Two", "cidr", "198.51.100.0/24"))
    await put(store, "warninglist", NOW, warning_file("Three", "substring", "sink-hole"))
    done = await put(store, "warninglist", NOW, warning_file("One", "hostname", "one.example", "new.example"))
    assert done.catalogue.entries == 4
    found = await warned(store, "domain one.example", "domain old.example", "domain new.example", "ip 198.51.100.7",
                         "domain sink-hole.example")  # fmt: skip
    assert [[warning.list for warning in warnings] for warnings in found.values()] == [
        ["One"], [], ["One"], ["Two"], ["Three"],
    ]  # fmt: skip


async def test_lists_that_cannot_be_used_are_left_out_and_said(store: Store) -> None:
    done = await put(
        store, "warninglist", NOW,
        warning_file("Usable", "string", "plain.example"), warning_file("Expressions", "regex", "/^a+$/"),
        warning_file("Empty", "string"), warning_file("Phones", "string", "1", matching_attributes=["phone-number"]),
    )  # fmt: skip
    assert done.catalogue.entries == 1 and len(done.notes) == 3
    with pytest.raises(CatalogueUnreadable, match="no warning list that can be used"):
        await put(store, "warninglist", NOW, warning_file("Expressions", "regex", "/^a+$/"))


@pytest.mark.promise("catalogues.many-files")
async def test_folders_and_archives_of_lists_are_read(store: Store, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lists/one/list.json", warning_file("One", "string", "one.example"))
        archive.writestr("schema.json", b"{}")
        archive.writestr("README.md", b"read me")
    (tmp_path / "lists.zip").write_bytes(packed.getvalue())
    folder = tmp_path / "folder" / "two"
    folder.mkdir(parents=True)
    (folder / "list.json").write_bytes(warning_file("Two", "string", "two.example"))
    for place in ("lists.zip", "folder"):
        found = await locate(str(tmp_path / place), ALLOW)
        await import_catalogue(store, "warninglist", found, NOW, lambda _: None)
    found_warnings = await warned(store, "domain one.example", "domain two.example")
    assert [warnings[0].list for warnings in found_warnings.values()] == ["One", "Two"]


async def test_a_damaged_archive_or_missing_file_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and nothing else")
    for place in ("broken.zip", "missing.json", "."):
        with pytest.raises(CatalogueUnreadable):
            await locate(str(tmp_path / place), ALLOW)


@pytest.mark.slow
async def test_an_archive_that_unfolds_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(catalogues._CHOICE, spare_bytes=1_000_000, most_bytes=2_000_000)
    monkeypatch.setattr(catalogues, "_CHOICE", small)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("list.json", bytes(5_000_000))
    for name, body in (("lists.zip", packed.getvalue()), ("list.json.gz", gzip.compress(bytes(5_000_000)))):
        (tmp_path / name).write_bytes(body)
        with pytest.raises(CatalogueUnreadable, match="unfold to more than"):
            await locate(str(tmp_path / name), ALLOW)


async def test_packed_files_are_told_by_their_bytes_and_pipes_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "download").write_bytes(gzip.compress(b"cve,score\n"))
    found = await locate(str(tmp_path / "download"), ALLOW)
    assert [b"".join(file.pieces()) for file in found.files] == [b"cve,score\n"]
    os.mkfifo(tmp_path / "list.json")
    with pytest.raises(CatalogueUnreadable):
        await locate(str(tmp_path / "list.json"), ALLOW)


async def test_one_catalogue_is_not_taken_from_many_files(store: Store) -> None:
    one = kev_file({"CVE-2024-0001": "2026-11-15"})
    with pytest.raises(CatalogueUnreadable, match="name the one"):
        await import_catalogue(store, "kev", located(one, one), NOW, lambda _: None)


async def test_the_reader_is_told_of_bytes_as_they_are_read(store: Store) -> None:
    body = kev_file({"CVE-2024-0001": "2026-11-15"})
    read: list[int] = []
    await import_catalogue(store, "kev", located(body), NOW, read.append)
    assert sum(read) == len(body)
