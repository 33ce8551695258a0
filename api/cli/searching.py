"""`ioc search`, `ioc list`, `ioc lookup`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from api.annotating import Annotations, annotate
from api.cli.running import print_json, print_table, printable, say, with_store
from api.filters import read_filter, read_sort
from api.searching import iocs_suggested, reading, searched
from api.web.text import counted
from ingest.warned import lasting_cautions
from intel.canonical import defang, readings
from intel.errors import InvalidQuery
from intel.exact import exact_values
from intel.ids import ioc_id
from intel.matching import reason
from intel.query import ArticleQuery, IocFilter, IocQuery, Page, SearchText, is_lookable, parse_search
from intel.records import Ioc
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

_READ_AT_ONCE: Final = 5_000
_MOST_NAMES: Final = 4
_LONGEST_INPUT: Final = 20_000_000

Json = dict[str, Any]


def search(q: str, filters: Json, limit: int, *, as_json: bool, wide: bool) -> int:
    """Exit status 1 where nothing matches."""
    text = parse_search(q)
    query = IocQuery(text, read_filter(filters, utc_now()), limit=limit, sort=read_sort(filters))

    async def find(store: Store, _: Settings) -> tuple[Found, list[str], Json | None]:
        await check_sources(store, query.filter)
        found = await _found(store, query)
        if found.page.items or text is None:
            return found, [], None
        return found, await iocs_suggested(store, text), await searched(store)

    found, suggestions, within = with_store(find, reads=True)
    if as_json:
        print_json(found.members() | {"query": reading(text), "suggestions": suggestions, "searched": within})
    else:
        found.show(f"Indicators matching {q.strip()[:80]!r}" if text else "Newest indicators", wide=wide)
        _say_nothing_found(suggestions, within)
    return 0 if found.page.items else 1


def list_newest(filters: Json, limit: int, *, as_json: bool, wide: bool) -> None:
    """List the newest indicators."""
    query = IocQuery(filter=read_filter(filters, utc_now()), limit=limit, sort=read_sort(filters))

    async def find(store: Store, _: Settings) -> Found:
        await check_sources(store, query.filter)
        return await _found(store, query)

    found = with_store(find, reads=True)
    if as_json:
        print_json(found.members())
    else:
        found.show("Newest indicators", wide=wide)


async def check_sources(store: Store, only: IocFilter) -> None:
    """Raise InvalidQuery where a source is asked for that no article names."""
    for name in only.sources:
        if not (await store.articles.find(ArticleQuery(source=name, limit=1))).items:
            raise InvalidQuery("--source", f"no source is known by the name {printable(name)[:200]!r}")


def lookup(values: Sequence[str], *, as_json: bool, wide: bool) -> int:
    """Exit status 1 where none of the values is known; `-` among them stands for the lines of standard input."""
    values = [each for value in values for each in (_piped() if value == "-" else [value])]

    async def look(store: Store, _: Settings) -> tuple[dict[str, list[str]], dict[str, Ioc], Annotations, Json]:
        named = dict.fromkeys(values, ()) | await exact_values(store.iocs, filter(is_lookable, values))
        wanted = {value: [ioc_id(*each) for each in may_be] for value, may_be in named.items()}
        ids = [id for ids in wanted.values() for id in ids]
        found: dict[str, Ioc] = {}
        for start in range(0, len(ids), _READ_AT_ONCE):
            found |= await store.iocs.get_many(ids[start : start + _READ_AT_ONCE])
        return wanted, found, await annotate(store, [*found.values()], utc_now()), await searched(store)

    wanted, found, noted, within = with_store(look, reads=True)
    answers = {value: [found[id] for id in ids if id in found] for value, ids in wanted.items()}
    if as_json:
        items = [{"value": value, "found": bool(f), "iocs": noted.records(f)} for value, f in answers.items()]
        print_json({"items": items, "searched": within})
    else:
        rows = [_row(ioc, noted) for iocs in answers.values() for ioc in iocs]
        print_table("Looked up", _COLUMNS, rows, wide=wide, none="nothing is known")
        for value in (value for value, iocs in answers.items() if not iocs):
            say(f"not found: {value}{_warned(value)}")
        _say_nothing_found((), within if not all(answers.values()) else None)
    return 0 if found else 1


def _warned(value: str) -> str:
    """Return the built-in warning lists that hold a value, as words after it."""
    lists = (caution.list for type, read in readings(value) for caution in lasting_cautions(type, read))
    named = ", ".join(dict.fromkeys(lists))
    return f" (on a warning list: {named})" if named else ""


def _piped() -> list[str]:
    return [line.strip() for line in sys.stdin.read(_LONGEST_INPUT).splitlines() if line.strip()]


_COLUMNS = ("type", "value", "malware", "status", "last seen", "sightings", "sources", "newest article")


@dataclass(frozen=True, slots=True)
class Found:
    """One page of a list or search and what is said of its indicators."""

    page: Page[Ioc]
    noted: Annotations
    text: SearchText | None

    def members(self) -> Json:
        return {"items": self.noted.records(self.page.items, self.text), "total": self.page.total}

    def show(self, title: str, *, wide: bool) -> None:
        columns = (*_COLUMNS, "found by") if self.text else _COLUMNS
        print_table(title, columns, (self._cells(ioc) for ioc in self.page.items), wide=wide)
        say(f"{len(self.page.items)} of {self.page.total}")

    def _cells(self, ioc: Ioc) -> Sequence[object]:
        if self.text is None:
            return _row(ioc, self.noted)
        match = reason(self.text, ioc)
        return (*_row(ioc, self.noted), f"{match.how}: {match.on}")


async def _found(store: Store, query: IocQuery) -> Found:
    page = await store.iocs.find(query)
    return Found(page, await annotate(store, page.items, utc_now()), query.text)


def _say_nothing_found(suggestions: Sequence[str], within: Json | None) -> None:
    """Say what was searched in vain: that is no all-clear."""
    if suggestions:
        say(f"did you mean {', '.join(suggestions)}?")
    if within is not None:
        newest = f", newest of {within['newest_article'][:10]}" if within["newest_article"] else ""
        read = f"{counted(within['articles'], 'article')} from {counted(within['sources'], 'source')}{newest}"
        say(f"searched {read}; not found does not mean harmless")


def _row(ioc: Ioc, noted: Annotations) -> Sequence[object]:
    """Return the cells of an indicator: one on a warning list says so beside its status."""
    status = f"{noted.age(ioc).status}{', warned' if noted.cautions(ioc) else ''}"
    malware = ", ".join(name for name in ioc.malware[:_MOST_NAMES] if name != ioc.value)
    counted = (f"{ioc.last_seen:%Y-%m-%d}", ioc.sightings, ioc.sources, ioc.article.title)
    return ioc.type, defang(ioc.type, ioc.value), malware, status, *counted
