"""`ioc tag` and `ioc article tag`."""

from __future__ import annotations

from collections.abc import Sequence

from api.auditing import on_command_line
from api.cli.running import print_json, say, with_store
from api.tagging import change_tags
from intel.canonical import readings
from intel.errors import NotFound
from intel.ids import ioc_id
from intel.settings import Settings
from intel.store import Store
from intel.store.tags import TaggedKind


def tag_indicator(value: str, add: Sequence[str], remove: Sequence[str], *, as_json: bool) -> None:
    """Change the tags of a stored indicator, given by its value, and print those that it has."""

    async def change(store: Store, _: Settings) -> tuple[str, ...]:
        stored = await store.iocs.get_many([ioc_id(*named) for named in readings(value)])
        if not stored:
            raise NotFound(f"{value} is not known; see: ioc lookup {value}")
        return await _changed(store, "ioc", next(iter(stored)), add, remove)

    _tell(with_store(change), as_json=as_json)


def tag_article(id: str, add: Sequence[str], remove: Sequence[str], *, as_json: bool) -> None:
    """Change the tags of an article and print those that it has."""

    async def change(store: Store, _: Settings) -> tuple[str, ...]:
        return await _changed(store, "article", id, add, remove)

    _tell(with_store(change), as_json=as_json)


async def _changed(
    store: Store, kind: TaggedKind, id: str, add: Sequence[str], remove: Sequence[str]
) -> tuple[str, ...]:
    return await change_tags(store, on_command_line(store), kind, id, add, remove)


def _tell(tags: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"tags": tags})
    else:
        say(f"tags: {', '.join(tags)}" if tags else "no tags")
