"""Make, name and swap indices: each noun's documents stand in `{prefix}{noun}-ioc-v{number}…` behind the alias
`{prefix}{noun}`.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from dataclasses import dataclass
from typing import Any

from intel.store.elastic.client import AnswerLost, Cluster, Patience, Refused
from intel.store.elastic.layout import Layout
from intel.store.elastic.pauses import LOST_SECONDS, TryAgain, retried
from search_mappings import elasticsearch_indices

_VERSION = "-ioc-v"


@dataclass(frozen=True, slots=True)
class Version:
    """One index of a noun; `live` where the alias leads to it."""

    name: str
    number: int
    live: bool


class Indices:
    """Makes, names and swaps indices."""

    def __init__(self, cluster: Cluster, prefix: str, layout: Layout) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._layout = layout
        self._definitions = elasticsearch_indices()
        self._making = asyncio.Lock()

    @property
    def nouns(self) -> tuple[str, ...]:
        return tuple(self._definitions)

    def alias(self, noun: str) -> str:
        """Return the name that everything but set-up and rebuilding uses."""
        return f"{self._prefix}{noun}"

    async def make(self) -> None:
        """Make the indices whose alias is missing, and the fields that an index of an older version lacks.

        Of several processes at once, one makes each.
        """
        async with self._making:
            versions = await self._all_versions()
            missing = [noun for noun in self.nouns if not any(version.live for version in versions[noun])]
            if missing:
                await self._forbid_automatic_indices()
            numbers = {noun: max((version.number for version in versions[noun]), default=0) for noun in missing}
            await asyncio.gather(*(self._create_live(noun, number + 1) for noun, number in numbers.items()))
            await asyncio.gather(*map(self._wait_until_ready, self.nouns))
            await self._add_missing_fields()
            await self._keep_to_layout()

    async def versions(self, noun: str) -> list[Version]:
        """Return every index of a noun, the oldest first."""
        return (await self._all_versions())[noun]

    async def live(self, noun: str) -> Version:
        """Return the index that the alias leads to."""
        return next(version for version in await self.versions(noun) if version.live)

    async def create_next(self, noun: str, number: int) -> str:
        """Make an index that no alias leads to yet, under a name that no other process gives; return it."""
        name = f"{self.alias(noun)}{_VERSION}{number}-{secrets.token_hex(3)}"
        held = await self._cluster.ask("GET", f"/{self.alias(noun)}/_count", patience=Patience.LONG)
        await self._create(name, noun, {}, int(held["count"]))
        return name

    async def drop(self, name: str) -> None:
        """Delete an index, if it exists."""
        await self._change("DELETE", f"/{name}", ignore_unavailable="true")

    async def block_writes(self, name: str) -> None:
        """Block writes; return when no write is under way any more."""
        await self._change("PUT", f"/{name}/_block/write")

    async def allow_writes(self, name: str) -> None:
        """Lift the write block."""
        await self._change("PUT", f"/{name}/_settings", {"index.blocks.write": None})

    async def exchange(self, noun: str, old: str, new: str) -> None:
        """Move the alias from one index to the other in one step."""
        alias = self.alias(noun)
        actions = [
            {"remove": {"index": old, "alias": alias, "must_exist": True}},
            {"add": {"index": new, "alias": alias}},
        ]
        try:
            await self._change("POST", "/_aliases", {"actions": actions})
        except Refused:
            # Said again after a lost answer, it meets its own work.
            if (await self.live(noun)).name != new:
                raise

    async def abandon(self, noun: str, old: str, new: str) -> bool:
        """Delete a new index in the step that finds the alias at the old one; return False if the alias is
        elsewhere.
        """
        alias = self.alias(noun)
        actions = [
            {"remove": {"index": old, "alias": alias, "must_exist": True}},
            {"add": {"index": old, "alias": alias}},
            {"remove_index": {"index": new}},
        ]
        try:
            await self._change("POST", "/_aliases", {"actions": actions})
        except Refused:
            return (await self.live(noun)).name == old
        return True

    async def _all_versions(self) -> dict[str, list[Version]]:
        patterns = ",".join(f"{self.alias(noun)}{_VERSION}*" for noun in self.nouns)
        answer = await self._cluster.ask("GET", f"/{patterns}/_alias", patience=Patience.LONG)
        return {noun: self._versions_of(noun, answer) for noun in self.nouns}

    def _versions_of(self, noun: str, answer: dict[str, Any]) -> list[Version]:
        pattern = re.compile(rf"{re.escape(self.alias(noun) + _VERSION)}([0-9]+)(?:-[0-9a-f]+)?")
        numbered = [(name, match) for name in answer if (match := pattern.fullmatch(name))]
        found = [Version(name, int(match[1]), self.alias(noun) in answer[name]["aliases"]) for name, match in numbered]
        return sorted(found, key=lambda version: version.number)

    async def _create_live(self, noun: str, number: int) -> None:
        await self._create(f"{self.alias(noun)}{_VERSION}{number}", noun, {self.alias(noun): {}})

    async def _create(self, name: str, noun: str, aliases: dict[str, Any], documents: int = 0) -> None:
        """Make an index, unless another process, or this one before an answer was lost, made it."""
        definition = self._definitions[noun]
        settings = self._layout.settings_of(noun, definition["settings"], documents)
        try:
            await self._change("PUT", f"/{name}", {**definition, "settings": settings, "aliases": aliases})
        except Refused as refused:
            if refused.kind != "resource_already_exists_exception":
                raise

    async def _wait_until_ready(self, noun: str) -> None:
        """Wait until an index answers: one that was just made takes a moment, though its health is yellow already."""
        ready = {"wait_for_active_shards": 1, "timeout": "20s", "filter_path": "status"}
        await self._cluster.ask_once("GET", f"/_cluster/health/{self.alias(noun)}", None, Patience.LONG, **ready)

    async def _add_missing_fields(self) -> None:
        path = f"/{','.join(map(self.alias, self.nouns))}/_mapping"
        answer = await self._cluster.ask_once("GET", path, None, Patience.LONG)
        for name, held in answer.items():
            noun = name.removeprefix(self._prefix).rpartition(_VERSION)[0]
            wanted = self._definitions[noun]["mappings"]["properties"]
            if missing := _missing(wanted, held["mappings"].get("properties", {})):
                await self._change("PUT", f"/{self.alias(noun)}/_mapping", {"properties": missing})

    async def _keep_to_layout(self) -> None:
        """Give the indices the settings that were set and can change while they are used."""
        for noun in self.nouns:
            if wanted := self._layout.changeable(noun, self._definitions[noun]["settings"]):
                await self._change("PUT", f"/{self.alias(noun)}/_settings", {"index": wanted})

    async def _forbid_automatic_indices(self) -> None:
        """Make a late write to a removed index fail instead of making the index anew without its mappings."""
        forbidden = {"index_patterns": [f"*{_VERSION}*"], "priority": 500, "allow_auto_create": False, "template": {}}
        await self._change("PUT", "/_index_template/ioc-intelligence", forbidden)

    @retried(LOST_SECONDS)
    async def _change(self, method: str, path: str, body: dict[str, Any] | None = None, **params: Any) -> None:
        try:
            await self._cluster.ask_once(method, path, body, Patience.LONG_WRITE, **params)
        except AnswerLost:
            raise TryAgain from None


def _missing(wanted: dict[str, Any], present: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are missing, also within objects; an existing field cannot be changed and stays as it
    is.
    """
    found: dict[str, Any] = {name: field for name, field in wanted.items() if name not in present}
    for name in wanted.keys() & present.keys():
        inner = _missing(wanted[name].get("properties", {}), present[name].get("properties", {}))
        if inner:
            found[name] = {"properties": inner}
    return found
