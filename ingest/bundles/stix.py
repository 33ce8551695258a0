"""Read STIX 2.1 bundles: every report is an article; what no report refers to becomes one more.

An indicator's pattern states what its comparisons with `=` and `IN` name. Observables count only if a report has no
indicator: beside indicators they are what was seen, not what to look for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ingest.bundles.members import Object, moment, objects, strings, text
from ingest.bundles.report import Report, Statement
from intel.indicator_types import read_from_stix

_TYPES: Final = read_from_stix()
_COMPARISON: Final = re.compile(
    r"(?P<object>[a-z][a-z0-9-]{0,60}+):(?P<path>(?>(?:[^\s'=!<>()\]]|'[^'\n]{0,60}+'){1,200}))\s*+"
    r"(?P<operator>=|IN)\s*+(?P<values>'(?>(?:[^'\\]|\\.)*)'"
    r"|\((?>(?:\s*+'(?>(?:[^'\\]|\\.)*)'\s*+,?)+)\s*+\))"
)
_QUOTES: Final = re.compile("['\"]")
_LITERAL: Final = re.compile(r"'((?>(?:[^'\\]|\\.)*))'")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_NEGATED: Final = re.compile(r"NOT\s*\Z")
_LONGEST_PATTERN: Final = 200_000
# Version 1.0, then 2.0, of TLP.
_TLP: Final = MappingProxyType(
    {
        "marking-definition--613f2e26-407d-48c7-9eca-b8e91df99dc9": "tlp:white",
        "marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da": "tlp:green",
        "marking-definition--f88d31f6-486f-44da-b317-01333bde0b82": "tlp:amber",
        "marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed": "tlp:red",
        "marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487": "tlp:clear",
        "marking-definition--bab4a63c-aed9-4cf5-a766-dfca5abac2bb": "tlp:green",
        "marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421": "tlp:amber",
        "marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003": "tlp:amber+strict",
        "marking-definition--e828b379-4e03-4974-9ac4-e53a884c97c1": "tlp:red",
    }
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle's objects by id, in their order."""

    id: str
    by_id: Mapping[str, Object]

    @property
    def reports(self) -> tuple[Object, ...]:
        return tuple(each for each in self.by_id.values() if text(each, "type") == "report")


def stix_bundle(parsed: Any) -> Bundle | None:
    """Return the bundle that a JSON value is; None if it is something else."""
    if not isinstance(parsed, Mapping) or parsed.get("type") != "bundle":
        return None
    live = [each for each in objects(parsed, "objects") if each.get("revoked") is not True]
    return Bundle(text(parsed, "id"), {text(each, "id"): each for each in live})


def stix_reports(bundle: Bundle) -> list[Report]:
    """Return what its reports say, and the rest if it states anything."""
    reports = [_report(bundle, each) for each in bundle.reports]
    spoken_for = {ref for each in bundle.reports for ref in _reach(bundle, each)}
    rest = [each for id, each in bundle.by_id.items() if id not in spoken_for and text(each, "type") != "report"]
    statements = tuple(_statements(bundle, rest))
    if statements:
        count = f"{len(statements)} objects outside of any report"
        title, marks = f"STIX bundle: {count}", _marks(bundle, rest)
        maker, newest = _maker(bundle, rest), _newest(rest)
        reports.append(Report(f"stix:{bundle.id}", title, maker, newest, (), statements, marks=marks))
    return reports


def stix_marks(bundle: Bundle) -> frozenset[str]:
    """Return the sharing marks of a bundle's objects, or parts of them, such as `tlp:red`.

    A marking is told by its standard id, or by what the bundle's own definition says.
    """
    return _marks(bundle, bundle.by_id.values())


def _marks(bundle: Bundle, made: Iterable[Object]) -> frozenset[str]:
    refs = (ref for each in made for ref in _marking_refs(each))
    return frozenset(_TLP.get(ref) or _defined_mark(bundle.by_id.get(ref, {})) for ref in refs)


def _marking_refs(each: Object) -> Iterator[str]:
    yield from strings(each, "object_marking_refs")
    yield from (text(part, "marking_ref") for part in objects(each, "granular_markings"))


def _defined_mark(definition: Object) -> str:
    """Return what a marking definition of TLP says; nothing for any other."""
    stated = definition.get("definition")
    color = text(stated, "tlp") if isinstance(stated, Mapping) and text(definition, "definition_type") == "tlp" else ""
    return f"tlp:{color}".lower() if color else text(definition, "name").lower()


def _report(bundle: Bundle, report: Object) -> Report:
    reached = [bundle.by_id[ref] for ref in _reach(bundle, report)]
    return Report(
        identity=f"stix:{text(report, 'id')}",
        title=text(report, "name"),
        source_name=_maker(bundle, [report]),
        published_at=moment(text(report, "published")) or moment(text(report, "created")),
        paragraphs=tuple(filter(None, (text(report, "description"), *_references(report)))),
        statements=tuple(_statements(bundle, reached)),
        marks=_marks(bundle, [report, *reached]),
    )


def _reach(bundle: Bundle, report: Object) -> list[str]:
    """Return what a report refers to, and the ends of the relationships among that."""
    refs = dict.fromkeys(ref for ref in strings(report, "object_refs") if ref in bundle.by_id)
    for ref in tuple(refs):
        each = bundle.by_id[ref]
        if text(each, "type") == "relationship":
            ends = (text(each, "source_ref"), text(each, "target_ref"))
            refs.update(dict.fromkeys(end for end in ends if end in bundle.by_id))
        refs.update(dict.fromkeys(seen for seen in strings(each, "object_refs") if seen in bundle.by_id))
    return [ref for ref in refs if text(bundle.by_id[ref], "type") != "report"]


def _references(report: Object) -> Iterator[str]:
    for each in objects(report, "external_references"):
        if described := text(each, "description"):
            yield described


def _maker(bundle: Bundle, made: Iterable[Object]) -> str | None:
    """Return the name of the identity that made the first of these."""
    for each in made:
        identity = bundle.by_id.get(text(each, "created_by_ref"))
        if identity and text(identity, "name"):
            return text(identity, "name")
    return None


def _newest(made: Iterable[Object]) -> Any:
    times = [time for each in made if (time := moment(text(each, "modified") or text(each, "valid_from")))]
    return max(times, default=None)


def _statements(bundle: Bundle, reached: list[Object]) -> Iterator[Statement]:
    names = _malware_of(bundle)
    patterns = [each for each in reached if text(each, "type") == "indicator"]
    for each in patterns:
        said = text(each, "description") or text(each, "name")
        for kind, raw in pattern_values(text(each, "pattern")):
            yield Statement(kind, raw, said, names.get(text(each, "id"), ()))
    for each in reached:
        yield from _named(each)
        if not patterns:
            yield from (Statement(kind, raw) for kind, raw in _observed(each))


def _malware_of(bundle: Bundle) -> dict[str, tuple[str, ...]]:
    """Return the malware that each indicator indicates."""
    found: dict[str, tuple[str, ...]] = {}
    for each in bundle.by_id.values():
        target = bundle.by_id.get(text(each, "target_ref"))
        if text(each, "relationship_type") == "indicates" and target and text(target, "type") == "malware":
            source = text(each, "source_ref")
            found[source] = (*found.get(source, ()), text(target, "name"))
    return found


def _named(each: Object) -> Iterator[Statement]:
    kind, ids = text(each, "type"), [text(ref, "external_id") for ref in objects(each, "external_references")]
    said = text(each, "description")
    if kind == "vulnerability":
        cves = [id for id in (*ids, text(each, "name")) if id.upper().startswith("CVE-")]
        yield from (Statement("cve", id, said) for id in cves[:1])
    elif kind == "attack-pattern":
        yield from (Statement("mitre_attack", id, text(each, "name")) for id in ids if id.upper().startswith("T"))
    elif kind == "malware" and text(each, "name"):
        yield Statement("malware", text(each, "name"), said)


def _observed(each: Object) -> Iterator[tuple[str, str]]:
    kind = text(each, "type")
    if (type := _TYPES.get(f"{kind}:value")) is not None:
        yield type, text(each, "value")
    hashes = each.get("hashes") if kind == "file" else None
    for name, value in hashes.items() if isinstance(hashes, Mapping) else ():
        if (type := _TYPES.get(f"file:hashes.{name}")) is not None and isinstance(value, str):
            yield type, value


def pattern_values(pattern: str) -> Iterator[tuple[str, str]]:
    """Return the (type, value) pairs that a pattern's comparisons name; negated ones name nothing."""
    for match in _COMPARISON.finditer(pattern[:_LONGEST_PATTERN]):
        kind = _compared(match["object"], match["path"])
        if kind and not _NEGATED.search(pattern[max(0, match.start() - 8) : match.start()]):
            for literal in _LITERAL.findall(match["values"]):
                yield _typed(kind, _ESCAPE.sub(r"\1", literal))


def _compared(object: str, path: str) -> str | None:
    if (type := _TYPES.get(f"{object}:{_QUOTES.sub('', path)}")) is not None:
        return type
    if object == "network-traffic" and path in ("dst_ref.value", "src_ref.value"):
        return "host"
    if object == "email-message" and path.endswith(("from_ref.value", "sender_ref.value")):
        return "email"
    return None


def _typed(kind: str, raw: str) -> tuple[str, str]:
    if kind != "host":
        return kind, raw
    return ("ip" if ":" in raw or raw.replace(".", "").isdigit() else "domain"), raw
