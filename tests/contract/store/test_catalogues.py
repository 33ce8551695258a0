"""Catalogues are replaced whole; whoever reads meets one import or the other, never a mixture."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from intel.records import Catalogue
from intel.store.port import Store
from tests.contract.store.builders import hour

KEYS = tuple(f"part-{n}" for n in range(40))


def make_catalogue(name: str = "exploited", *, version: int = 1) -> Catalogue:
    return Catalogue(name, hour(version), hour(version + 0.5), f"https://lists.example/{name}?v={version}", version)


def same_everywhere(body: bytes) -> dict[str, bytes]:
    return dict.fromkeys(KEYS, body)


async def test_a_catalogue_is_read_back_whole(store: Store, other_store: Store) -> None:
    parts = {"2024": b'{"a": 1}', "": b"no key", "ü/\\#* ?\"'": bytes(range(256)), "empty": b""}
    await store.catalogues.put(make_catalogue(), parts)
    assert await other_store.catalogues.all() == (make_catalogue(),)
    assert await other_store.catalogues.imported_at("exploited") == make_catalogue().imported_at
    assert await other_store.catalogues.imported_at("other") is None
    assert await other_store.catalogues.parts("exploited", list(parts)) == parts


async def test_only_the_parts_that_exist_are_given(store: Store) -> None:
    await store.catalogues.put(make_catalogue(), {"a": b"1", "b": b"2", "c": b"3"})
    assert await store.catalogues.parts("exploited", ["b", "unknown", "a", "b"]) == {"a": b"1", "b": b"2"}
    assert await store.catalogues.parts("exploited", []) == {}
    assert await store.catalogues.parts("unknown", ["a"]) == {}


async def test_there_is_none_before_the_first_import(store: Store) -> None:
    assert await store.catalogues.all() == ()
    assert await store.catalogues.imported_at("exploited") is None
    assert await store.catalogues.parts("exploited", ["a"]) == {}


async def test_catalogues_come_by_name_and_keep_their_parts_apart(store: Store) -> None:
    for name in ("b", "a-b", "a", "B"):
        await store.catalogues.put(make_catalogue(name), {"key": name.encode(), "b-key": b"x"})
    assert [catalogue.name for catalogue in await store.catalogues.all()] == ["B", "a", "a-b", "b"]
    for name in ("b", "a-b", "a", "B"):
        assert await store.catalogues.parts(name, ["key"]) == {"key": name.encode()}


async def test_a_catalogue_is_replaced_with_all_its_parts(store: Store, other_store: Store) -> None:
    await store.catalogues.put(make_catalogue(), {"a": b"old", "b": b"old"})
    await store.catalogues.put(make_catalogue("other"), {"a": b"other"})
    await other_store.catalogues.put(make_catalogue(version=2), {"b": b"new", "c": b"new"})
    assert await store.catalogues.all() == (make_catalogue(version=2), make_catalogue("other"))
    assert await store.catalogues.parts("exploited", ["a", "b", "c"]) == {"b": b"new", "c": b"new"}
    assert await store.catalogues.parts("other", ["a", "b", "c"]) == {"a": b"other"}


async def test_a_catalogue_may_lose_all_its_parts(store: Store) -> None:
    await store.catalogues.put(make_catalogue(), {"a": b"old"})
    await store.catalogues.put(make_catalogue(version=2), {})
    assert await store.catalogues.all() == (make_catalogue(version=2),)
    assert await store.catalogues.parts("exploited", ["a"]) == {}


async def test_the_same_import_again_changes_nothing(store: Store) -> None:
    for _ in range(3):
        await store.catalogues.put(make_catalogue(), same_everywhere(b"same"))
    assert await store.catalogues.all() == (make_catalogue(),)
    assert await store.catalogues.parts("exploited", KEYS) == same_everywhere(b"same")


@pytest.mark.timeout(900)
async def test_of_many_imports_at_once_one_stands_whole(store: Store, other_store: Store) -> None:
    stores = (store, other_store)

    async def put(version: int) -> None:
        parts = same_everywhere(str(version).encode()) | {f"only-{version}": b"mine"}
        await stores[version % 2].catalogues.put(make_catalogue(version=version), parts)

    await asyncio.gather(*map(put, range(12)))
    (kept,) = await store.catalogues.all()
    version = kept.entries
    assert kept == make_catalogue(version=version)
    asked = (*KEYS, *(f"only-{n}" for n in range(12)))
    expected = same_everywhere(str(version).encode()) | {f"only-{version}": b"mine"}
    assert await store.catalogues.parts("exploited", asked) == expected
    assert await other_store.catalogues.parts("exploited", asked) == expected


async def test_a_catalogue_is_told_with_the_number_of_its_import(store: Store, other_store: Store) -> None:
    assert await store.catalogues.get("exploited") is None
    for number in (1, 2, 3):
        assert await store.catalogues.put(make_catalogue(version=number), {})
        assert await other_store.catalogues.get("exploited") == (make_catalogue(version=number), number)
    assert await store.catalogues.get("other") is None


async def test_nothing_is_put_over_an_import_that_does_not_count_any_more(store: Store, other_store: Store) -> None:
    assert not await store.catalogues.put(make_catalogue(), {"a": b"x"}, over=1)
    assert await store.catalogues.put(make_catalogue(), {"a": b"1"}, over=0)
    assert not await other_store.catalogues.put(make_catalogue(version=2), {"a": b"2"}, over=0)
    assert await store.catalogues.get("exploited") == (make_catalogue(), 1)
    assert await store.catalogues.all() == (make_catalogue(),)
    assert await store.catalogues.parts("exploited", ["a"]) == {"a": b"1"}
    assert await other_store.catalogues.put(make_catalogue(version=2), {"a": b"2"}, over=1)
    assert await store.catalogues.parts("exploited", ["a"]) == {"a": b"2"}


@pytest.mark.timeout(900)
async def test_writers_that_add_side_by_side_lose_nothing(store: Store, other_store: Store) -> None:
    async def add(number: int) -> int:
        catalogues, tries = (store, other_store)[number % 2].catalogues, 0
        while True:
            tries += 1
            _, generation = await catalogues.get("exploited") or (None, 0)
            parts = await catalogues.parts("exploited", KEYS) | {KEYS[number]: b"mine"}
            if await catalogues.put(make_catalogue(version=len(parts)), parts, over=generation):
                return tries

    tries = await asyncio.gather(*map(add, range(12)))
    # Else they came one after the other, and nothing was tried.
    assert sum(tries) > len(tries)
    assert await store.catalogues.parts("exploited", KEYS) == dict.fromkeys(KEYS[:12], b"mine")
    kept = await store.catalogues.get("exploited")
    assert kept is not None and kept[0].entries == 12


@pytest.mark.timeout(900)
async def test_parts_are_all_of_one_import_while_it_is_replaced(store: Store, other_store: Store) -> None:
    await store.catalogues.put(make_catalogue(version=0), same_everywhere(b"0"))
    read: list[dict[str, bytes]] = []

    async def replace_often() -> None:
        for version in range(1, 9):
            await store.catalogues.put(make_catalogue(version=version), same_everywhere(str(version).encode()))

    async def read_on(replacing: asyncio.Task[None], reader: Store) -> None:
        while not replacing.done():
            read.append(await reader.catalogues.parts("exploited", KEYS))

    replacing = asyncio.create_task(replace_often())
    await asyncio.gather(replacing, *(read_on(replacing, reader) for reader in (store, other_store, other_store)))
    assert read
    for parts in read:
        assert parts.keys() == set(KEYS) and len(set(parts.values())) == 1
    assert await other_store.catalogues.parts("exploited", KEYS) == same_everywhere(b"8")


@pytest.mark.timeout(900)
async def test_an_import_that_was_given_up_is_there_whole_or_not_at_all(store: Store, other_store: Store) -> None:
    await store.catalogues.put(make_catalogue(), same_everywhere(b"old"))
    large = same_everywhere(b"new" * 60_000)
    giving_up = asyncio.create_task(store.catalogues.put(make_catalogue(version=2), large))
    done, _ = await asyncio.wait([giving_up], timeout=0.02)
    giving_up.cancel()
    await asyncio.gather(giving_up, return_exceptions=True)
    found = await other_store.catalogues.parts("exploited", KEYS)
    assert found == large or (found == same_everywhere(b"old") and not done)
    last = same_everywhere(b"last")
    await other_store.catalogues.put(make_catalogue(version=3), last)
    assert await store.catalogues.parts("exploited", KEYS) == last
    assert await store.catalogues.all() == (make_catalogue(version=3),)


@pytest.mark.timeout(900)
async def test_a_large_catalogue_is_kept_whole(store: Store) -> None:
    parts = {f"{n:04}": f"{n}".encode() * 2_000 for n in range(2_047)} | {"large": b"\0\xff" * 500_000}
    await store.catalogues.put(replace(make_catalogue(), entries=300_000), parts)
    assert await store.catalogues.parts("exploited", list(parts)) == parts
    await store.catalogues.put(make_catalogue(version=2), {"0001": b"small"})
    assert await store.catalogues.parts("exploited", ["0000", "0001", "large"]) == {"0001": b"small"}
