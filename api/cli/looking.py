"""`ioc search`, `ioc list`, `ioc lookup`."""

from __future__ import annotations

from collections.abc import Sequence

from api import views
from api.cli.running import print_json, print_table, say, with_store
from intel.canonical import defang
from intel.ids import ioc_id
from intel.query import IocQuery, Page, exact_value, parse_search
from intel.records import Ioc
from intel.settings import Settings
from intel.store import Store


def search(q: str, type: str | None, limit: int, *, as_json: bool) -> int:
    """Exit status 1 where nothing matches."""
    text = parse_search(q)
    page = _find(IocQuery(text=text, type=type, limit=limit))
    _show(page, f"Indicators matching {q.strip()[:80]!r}", as_json=as_json)
    return 0 if page.items else 1


def list_newest(type: str | None, source: str | None, limit: int, *, as_json: bool) -> None:
    """The newest indicators."""
    _show(_find(IocQuery(type=type, source=source, limit=limit)), "Newest indicators", as_json=as_json)


def lookup(values: Sequence[str], *, as_json: bool) -> int:
    """Exit status 1 where none of the values is known."""
    wanted = {value: [ioc_id(type, read) for type, read in exact_value(value)] for value in values}

    async def look(store: Store, _: Settings) -> dict[str, Ioc]:
        return await store.iocs.get_many([id for ids in wanted.values() for id in ids])

    found = with_store(look)
    answers = {value: [found[id] for id in ids if id in found] for value, ids in wanted.items()}
    if as_json:
        print_json(
            {"items": [{"value": v, "found": bool(f), "iocs": [*map(views.ioc, f)]} for v, f in answers.items()]}
        )
    else:
        print_table("Looked up", _COLUMNS, [_row(ioc) for iocs in answers.values() for ioc in iocs])
        for value in (value for value, iocs in answers.items() if not iocs):
            say(f"not found: {value[:200]}")
    return 0 if found else 1


_COLUMNS = ("type", "value", "last seen", "sightings", "sources", "newest article")


def _find(query: IocQuery) -> Page[Ioc]:
    async def find(store: Store, _: Settings) -> Page[Ioc]:
        return await store.iocs.find(query)

    return with_store(find)


def _show(page: Page[Ioc], title: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"items": [*map(views.ioc, page.items)], "total": page.total})
        return
    print_table(title, _COLUMNS, map(_row, page.items))
    say(f"{len(page.items)} of {page.total}")


def _row(ioc: Ioc) -> Sequence[object]:
    value = defang(ioc.type, ioc.value)
    return (ioc.type, value, f"{ioc.last_seen:%Y-%m-%d}", ioc.sightings, ioc.sources, ioc.article.title[:80])
