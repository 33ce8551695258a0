"""`/bulk`: what is known of every line that was pasted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from starlette.responses import PlainTextResponse, Response

from api.annotating import Annotations, annotate
from api.formats.tables import csv_bytes
from api.web.addresses import ioc_path
from api.web.exports import export, is_format
from api.web.hits import titled
from api.web.names import cve_names
from api.web.pasted import Pasted, Readings, names_in, read, reader
from api.web.text import counted
from api.web.visit import Visit, private
from ingest.warned import Caution, lasting_cautions
from intel.addresses import packed_address
from intel.canonical import refang
from intel.exact import exact_values
from intel.ids import ioc_id
from intel.query import IocQuery, host_names, parse_search
from intel.records import Ioc
from intel.store import Store
from intel.times import rfc3339

MOST_LINES: Final = 10_000
LARGEST_FORM: Final = 2_000_000
_LONGEST_TEXT: Final = 1_000_000
_SHOWN_AT_ONCE: Final = 200
_MOST_NAMES: Final = 2_000
_MOST_NETWORKS: Final = 50
_READ_AT_ONCE: Final = 2_000
_COLUMNS: Final = (
    "line", "pasted", "answer", "type", "value", "malware", "status", "warnings", "sources", "last_seen", "permalink",
)  # fmt: skip


# What is stored of the readings, and the hosts that a value stands on: both are asked for twice a line.
Known = dict[tuple[str, str], Ioc]
Hosts = Callable[[Readings], list[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one pasted value: the indicator, or a sentence where there is none, and what warns of it."""

    pasted: Pasted
    ioc: Ioc | None = None
    said: str = ""
    host: Ioc | None = None
    cautions: tuple[Caution, ...] = ()
    titled: tuple[str, ...] = ()

    @property
    def is_missing(self) -> bool:
        return bool(self.ioc is None and self.pasted.readings and not self.pasted.same_as)


async def show(visit: Visit) -> Response:
    text = visit.query.get("values", "")
    return visit.page("bulk.html", text="\n".join(text.split()), answers=None, most=MOST_LINES)


async def look_up(visit: Visit) -> Response:
    text = visit.form.get("values", "")[:_LONGEST_TEXT]
    lines = text.splitlines()
    text = "\n".join(lines[:MOST_LINES])
    store = visit.service.store
    apart, meaning = visit.service.apart, reader()
    asked = await apart.run(lambda: names_in(text.replace("\0", " "), _MOST_NAMES, meaning))
    names = await exact_values(store.iocs, asked)
    pasted = await apart.run(lambda: read(text, names, meaning))
    hosts = cache(_hosts)
    known = await _known(store, pasted, hosts)
    answers = await _answers(store, pasted, known, hosts)
    format = visit.form.get("format", "")
    if format == "all":
        noted = await _noted(visit, answers)
        return _as_table([_warned(one, noted) for one in answers], noted, visit.service.settings.base_url)
    if format == "missing":
        return _as_list(answers)
    if is_format(format):
        return await export(visit, format, list(dict.fromkeys(one.ioc for one in answers if one.ioc)))
    start = _start(visit.form.get("from", ""))
    shown = answers[start : start + _SHOWN_AT_ONCE]
    missing = len({one.pasted for one in answers if one.is_missing})
    noted = await _noted(visit, shown)
    return await visit.large_page(
        "bulk.html",
        text=text,
        answers=[_warned(replace(one, titled=titled(one.ioc)) if one.ioc else one, noted) for one in shown],
        cve_names=await cve_names(store, [one.ioc for one in shown if one.ioc]),
        start=start,
        next_start=start + _SHOWN_AT_ONCE if start + _SHOWN_AT_ONCE < len(answers) else None,
        count=len(answers),
        lines_left_out=max(0, len(lines) - MOST_LINES),
        known=len({one.pasted for one in answers if one.ioc}),
        missing=missing,
        totals=await store.articles.totals() if missing else None,
        noted=noted,
        most=MOST_LINES,
    )


def _start(asked: str) -> int:
    """Return the first answer that is asked for: those before it stood on earlier pages."""
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 0


async def _known(store: Store, pasted: Sequence[Pasted], hosts: Hosts) -> Known:
    """Return the stored indicators that the values may be, and for others the stored hosts that they stand on."""
    found = await _stored(store, (reading for one in pasted for reading in one.readings))
    others = [one.readings for one in pasted if one.readings and found.keys().isdisjoint(one.readings)]
    return found | await _stored(store, (host for readings in others for host in hosts(readings)))


async def _stored(store: Store, readings: Iterable[tuple[str, str]]) -> Known:
    named = dict.fromkeys(readings)
    ids = [ioc_id(*reading) for reading in named]
    found: dict[str, Ioc] = {}
    for start in range(0, len(ids), _READ_AT_ONCE):
        found |= await store.iocs.get_many(ids[start : start + _READ_AT_ONCE])
    return {reading: found[id] for reading, id in zip(named, ids, strict=True) if id in found}


def _hosts(readings: Readings) -> list[tuple[str, str]]:
    """Return the hosts that a value stands on, its own first, as indicators."""
    hosts = dict.fromkeys(host for reading in readings for host in host_names(*reading))
    named = (("domain" if packed_address(host) is None else "ip", host) for host in hosts)
    return [one for one in named if one not in readings and "." in one[1]]


async def _noted(visit: Visit, answers: Sequence[Answer]) -> Annotations:
    iocs = {one.ioc.id: one.ioc for one in answers if one.ioc}
    return await annotate(visit.service.store, list(iocs.values()), visit.service.clock())


def _warned(answer: Answer, noted: Annotations) -> Answer:
    """Return an answer with what warns of it, found or not."""
    if answer.ioc:
        return replace(answer, cautions=noted.cautions(answer.ioc))
    return replace(answer, cautions=lasting_cautions(*answer.pasted.readings[0])) if answer.is_missing else answer


async def _answers(store: Store, pasted: Sequence[Pasted], known: Known, hosts: Hosts) -> list[Answer]:
    answers: list[Answer] = []
    asked = Counter[str]()
    for one in pasted:
        if one.network and not one.same_as:
            asked["networks"] += 1
            answers.append(await _network(store, one, count=asked["networks"] <= _MOST_NETWORKS))
        else:
            answers += _answer(one, known, hosts)
    return answers


async def _network(store: Store, one: Pasted, *, count: bool) -> Answer:
    if not count:
        return Answer(one, said="a network: search for it by itself")
    page = await store.iocs.find(IocQuery(text=parse_search(one.network), limit=1))
    return Answer(one, said=f"a network: {counted(page.total or 0, 'address', 'addresses')} known")


def _answer(one: Pasted, known: Known, hosts: Hosts) -> list[Answer]:
    if one.same_as:
        return [Answer(one, said=f"same as line {one.same_as:,}")]
    if not one.is_one:
        return [Answer(one, said="not an indicator")]
    found = [known[reading] for reading in one.readings if reading in known]
    if found:
        return [Answer(one, ioc) for ioc in found]
    host = next((known[host] for host in hosts(one.readings) if host in known), None)
    return [Answer(one, said=_missing(one, host), host=host)]


def _missing(one: Pasted, host: Ioc | None) -> str:
    """Return what to say of a value that is not stored; `host` is the stored host that it is on or below."""
    if host is None:
        return "not found"
    own = {host_names(*reading)[:1] for reading in one.readings}
    return f"not found; its {'host' if (host.value,) in own else 'parent domain'} is known"


def _as_list(answers: Sequence[Answer]) -> Response:
    missing = dict.fromkeys(" ".join(refang(one.pasted.written).split()) for one in answers if one.is_missing)
    return _file(PlainTextResponse("".join(f"{value}\n" for value in missing)), "not-found.txt")


def _as_table(answers: Sequence[Answer], noted: Annotations, address: str) -> Response:
    rows = [_row(one, noted, address) for one in answers]
    return _file(Response(csv_bytes(_COLUMNS, rows), media_type="text/csv; charset=utf-8"), "lookup.csv")


def _row(one: Answer, noted: Annotations, address: str) -> tuple[str, ...]:
    ioc = one.ioc
    type, value = (ioc.type, ioc.value) if ioc else one.pasted.readings[0] if one.pasted.readings else ("", "")
    return (
        str(one.pasted.line),
        one.pasted.written,
        one.said or "found",
        type,
        value,
        "; ".join(ioc.malware) if ioc else "",
        noted.age(ioc).status if ioc else "",
        "; ".join(caution.list for caution in one.cautions),
        str(ioc.sources if ioc else 0),
        rfc3339(ioc.last_seen) if ioc else "",
        address + ioc_path(type, value) if ioc else "",
    )


def _file(response: Response, name: str) -> Response:
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return private(response)
