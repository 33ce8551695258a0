"""Articles as MISP events, in the MISP core format; ids are deterministic, so that exporting again gives the same ones.

indicator            an attribute; for detection (`to_ids`) where no warning list holds it
CVE                  an attribute `vulnerability`, never for detection
technique, malware   galaxy tags, of the event and of the attributes that were named with a malware
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import orjson

from api.annotating import Annotations
from api.formats.markdown import escaped_lines
from api.web.addresses import ioc_path
from intel.ids import NAMESPACE
from intel.indicator_types import TYPES
from intel.names import technique_name
from intel.notes import Note
from intel.records import Article, Ioc
from intel.times import from_milliseconds, to_milliseconds
from intel.tlp import Tlp, strictest

Object = dict[str, Any]

_SERVICE: Final = "IOC Intelligence"
_UNNAMED: Final = ("other", "Other")
_ANALYSIS_COMPLETED, _THREAT_UNDEFINED = "2", "4"


class MispEvent:
    """Writes one event: an article, or without one whatever is exported, told with each indicator's newest article."""

    def __init__(self, address: str, article: Article | None = None, notes: Sequence[Note] = ()) -> None:
        self._address = address
        self._article = article
        self._notes = notes
        self._tags: dict[str, None] = {}
        self._tlp = article.tlp if article else None
        self._newest = 0
        self._digest = hashlib.sha256()
        self._is_first = True

    def begin(self) -> bytes:
        return b'{"Event":{"Attribute":['

    def some(self, iocs: Sequence[Ioc], noted: Annotations) -> bytes:
        return b"".join(self._written(ioc, noted) for ioc in iocs)

    def end(self) -> Iterator[bytes]:
        event = outline(self._article) if self._article else _collection(self._digest.hexdigest(), self._newest)
        own = self._article.tags if self._article else ()
        tags = [_tag(name) for name in dict.fromkeys([_marked(self._tlp), *self._tags, *own])]
        reports = {"EventReport": [*map(_event_report, self._notes)]} if self._notes else {}
        yield b"]," + orjson.dumps({"Tag": tags, **event, **reports})[1:] + b"}"

    def _written(self, ioc: Ioc, noted: Annotations) -> bytes:
        self._newest = max(self._newest, _seconds(ioc.changed_at))
        self._digest.update(ioc.id.encode())
        if self._article is None:
            self._tlp = strictest([self._tlp, ioc.tlp])
        if tag := galaxy_tag(ioc.type, ioc.value):
            self._tags.setdefault(tag)
        if not is_attribute(ioc.type):
            return b""
        comma, self._is_first = b"" if self._is_first else b",", False
        return comma + orjson.dumps(self._attribute(ioc, noted))

    def _attribute(self, ioc: Ioc, noted: Annotations) -> Object:
        article = self._article.ref if self._article else ioc.article
        kind, category = TYPES[ioc.type].misp or _UNNAMED
        cautions = noted.cautions(ioc)
        told = [ioc.context] if article.id == ioc.article.id and ioc.context else []
        told += [f"On a warning list: {caution.list} ({caution.reason})" for caution in cautions]
        told += [f"{_title(note)}: {note.text}" for note in noted.notes.get(ioc.id, ())]
        return {
            "uuid": attribute_uuid(article.id, ioc.id),
            "type": kind,
            "category": category,
            "value": ioc.value,
            "to_ids": not (TYPES[ioc.type].is_subject or cautions),
            "comment": "\n".join([*told, self._address + ioc_path(ioc.type, ioc.value)]),
            "timestamp": str(_seconds(ioc.changed_at)),
            "first_seen": ioc.first_seen.isoformat(timespec="microseconds"),
            "last_seen": ioc.last_seen.isoformat(timespec="microseconds"),
            "disable_correlation": False,
            "deleted": False,
            "Tag": [
                *([_tag(_marked(ioc.tlp))] if ioc.tlp else []),
                *(_tag(tag) for name in ioc.malware if (tag := galaxy_tag("malware", name))),
                *map(_tag, ioc.tags),
            ],
        }


def outline(article: Article) -> Object:
    """Return an article as an event without its attributes and tags."""
    return {
        "uuid": article.id,
        "info": " ".join(article.title.split()) or "untitled",
        "date": f"{article.seen_at:%Y-%m-%d}",
        "timestamp": str(_seconds(article.changed_at)),
        "publish_timestamp": str(_seconds(article.fetched_at)),
        "published": True,
        "analysis": _ANALYSIS_COMPLETED,
        "threat_level_id": _THREAT_UNDEFINED,
        "extends_uuid": "",
        "Orgc": _organisation(article.counted_source or "unknown"),
    }


def _event_report(note: Note) -> Object:
    """Return a note on an article as MISP keeps texts of an event, where its characters are not markup."""
    said = {"uuid": note.id, "name": _title(note), "content": escaped_lines(note.text)}
    return said | {"timestamp": str(_seconds(note.written_at)), "distribution": "5", "deleted": False}


def _title(note: Note) -> str:
    return f"Note of {note.written_at:%Y-%m-%d}"


def manifest_entry(article: Article) -> Object:
    """Return what a feed's manifest says of an article's event."""
    event = outline(article)
    shown = ("Orgc", "analysis", "date", "info", "threat_level_id", "timestamp")
    return {name: event[name] for name in shown} | {"Tag": [_tag(_marked(article.tlp)), *map(_tag, article.tags)]}


def is_attribute(type: str) -> bool:
    """Tell whether indicators of a type are attributes of an event; the others are its tags."""
    return TYPES[type].misp is not None


def galaxy_tag(type: str, value: str) -> str | None:
    """Return the tag by which MISP knows a technique or a malware; None for any other indicator."""
    if type == "mitre_attack":
        name = technique_name(value)
        return _galaxy("mitre-attack-pattern", f"{name} - {value}" if name else value)
    return _galaxy("malpedia", value) if type == "malware" else None


def attribute_uuid(article_id: str, ioc_id: str) -> str:
    """Return the id of an indicator's attribute in an article's event."""
    return str(uuid.uuid5(NAMESPACE, f"misp\nattribute\n{article_id}\n{ioc_id}"))


def _galaxy(galaxy: str, value: str) -> str:
    # A quote would end the value.
    return f'misp-galaxy:{galaxy}="{value.replace(chr(34), chr(39))}"'


def _collection(digest: str, newest: int) -> Object:
    """Return an event for what is exported without an article, as of the newest change in it.

    Its id stands for all that is in it: MISP takes an event of the same id for another version.
    """
    return {
        "uuid": str(uuid.uuid5(NAMESPACE, f"misp\nevent\n{digest}")),
        "info": f"Indicators of {_SERVICE}",
        "date": _day(newest),
        "timestamp": str(newest),
        "published": True,
        "analysis": _ANALYSIS_COMPLETED,
        "threat_level_id": _THREAT_UNDEFINED,
        "Orgc": _organisation(_SERVICE),
    }


def _organisation(name: str) -> Object:
    return {"name": name, "uuid": str(uuid.uuid5(NAMESPACE, f"misp\norganisation\n{name}"))}


def _marked(tlp: Tlp | None) -> str:
    """Return the tag of a level; what nothing is said of is clear, as it came from where anybody reads."""
    return f"tlp:{tlp or 'clear'}"


def _tag(name: str) -> Object:
    return {"name": name}


def _seconds(moment: datetime) -> int:
    return to_milliseconds(moment) // 1000


def _day(seconds: int) -> str:
    return f"{from_milliseconds(seconds * 1000):%Y-%m-%d}"
