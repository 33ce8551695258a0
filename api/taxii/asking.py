"""What a request asks of a collection: filters, how many objects, and after which one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from api.formats.stix import STIX_TYPES, Object

_MOST_MATCHES = 1_000
_MATCHED = ("id", "type", "version", "spec_version")
_SPEC_VERSION = "2.1"
# We keep the newest version of every object, which is the first and the only one.
_ANY_VERSION = frozenset({"first", "last", "all"})


class NotUnderstood(Exception):
    """A parameter that means nothing; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Match:
    """The `match[…]` of a request; a member that is None asks for nothing."""

    id: tuple[str, ...] | None = None
    type: tuple[str, ...] | None = None
    version: tuple[str, ...] | None = None
    spec_version: tuple[str, ...] | None = None

    @property
    def ioc_ids(self) -> list[str] | None:
        """The ids of the indicators that the objects asked for may stand for."""
        if self.id is None:
            return None
        parts = (id.partition("--") for id in self.id)
        return list(dict.fromkeys(number for kind, _, number in parts if kind in STIX_TYPES))

    def types_among(self, types: Sequence[str]) -> tuple[str, ...]:
        """Return those of our types whose objects have a type that is asked for."""
        kinds = STIX_TYPES if self.type is None else self.type
        wanted = {type for kind in kinds for type in STIX_TYPES.get(kind, ())}
        return tuple(type for type in types if type in wanted)

    def admits(self, made: Object) -> bool:
        """Tell whether an object is asked for."""
        return (
            (self.id is None or made["id"] in self.id)
            and (self.type is None or made["type"] in self.type)
            and (self.spec_version is None or _SPEC_VERSION in self.spec_version)
            and (self.version is None or self._admits_version(version_of(made)))
        )

    def _admits_version(self, version: str) -> bool:
        assert self.version is not None  # noqa: S101 - asked before
        return not _ANY_VERSION.isdisjoint(self.version) or version in self.version

    def members(self) -> dict[str, Any]:
        """Return what is asked as JSON values."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def version_of(made: Object) -> str:
    """Return the version of an object: when it was last modified, or made where it never is."""
    version: str = made.get("modified") or made["created"]
    return version


def read_match(parameters: Mapping[str, str]) -> Match:
    """Read the filters of a request: comma lists of values, any of which may be met. NotUnderstood for too many."""
    given = {name: _values(name, parameters[f"match[{name}]"]) for name in _MATCHED if f"match[{name}]" in parameters}
    if "version" in given:
        given["version"] = tuple(map(_read_version, given["version"]))
    return Match(**given)


def read_limit(text: str | None, most: int) -> int:
    """Read how many objects are asked for, at most `most`, which is the default too. NotUnderstood below 1."""
    if text is None:
        return most
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise NotUnderstood("limit must be a whole number from 1 on.")
    return min(int(text.lstrip("0")[:9]), most)


def read_time(name: str, text: str) -> datetime:
    """Read a time of RFC 3339, in microseconds. NotUnderstood for anything else."""
    # A plus sign that was not percent-encoded arrives as a space.
    text = text.strip().replace(" ", "+")
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        if not 1000 <= moment.year < 9999:
            raise ValueError
    except (ValueError, OverflowError):
        raise NotUnderstood(f"{name} must be a time like 2026-11-20T09:00:00.000000Z.") from None
    return moment


def _values(name: str, text: str) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(value.strip() for value in text.split(",")))
    if len(values) > _MOST_MATCHES:
        raise NotUnderstood(f"match[{name}] may have at most {_MOST_MATCHES:,} values.")
    return values


def _read_version(text: str) -> str:
    if text in _ANY_VERSION:
        return text
    moment = read_time("match[version]", text)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
