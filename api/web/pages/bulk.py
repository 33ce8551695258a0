"""`/bulk`: what is known of every line that was pasted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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


Reading = tuple[str, str]
Known = dict[Reading, Ioc]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the answer: a pasted value, and the reading of it that is stored, if any is."""

    pasted: Pasted
    stored: Reading | None = None

    @property
    def is_missing(self) -> bool:
        return bool(self.stored is None and self.pasted.readings and not self.pasted.same_as)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of one pasted value: the indicator, or a sentence where there is none, and what warns of it."""

    pasted: Pasted
    ioc: Ioc | None = None
    said: str = ""
    host: Ioc | None = None
    cautions: tuple[Caution, ...] = ()
    titled: tuple[str, ...] = ()


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
    rows = await _rows(store, pasted)
    format = visit.form.get("format", "")
    if format == "all":
        answers = await _answers(store, rows)
        noted = await _noted(visit, answers)
        return _as_table([_warned(one, noted) for one in answers], noted, visit.service.settings.base_url)
    if format == "missing":
        return _as_list(rows)
    if is_format(format):
        return await export(visit, format, list((await _iocs(store, (one.stored for one in rows))).values()))
    start = _start(visit.form.get("from", ""))
    # Of all lines it is told whether they are stored; only what is shown is read.
    shown = await _answers(store, rows[start : start + _SHOWN_AT_ONCE])
    missing = len({one.pasted for one in rows if one.is_missing})
    noted = await _noted(visit, shown)
    return await visit.large_page(
        "bulk.html",
        text=text,
        answers=[_warned(replace(one, titled=titled(one.ioc)) if one.ioc else one, noted) for one in shown],
        cve_names=await cve_names(store, [one.ioc for one in shown if one.ioc]),
        start=start,
        next_start=start + _SHOWN_AT_ONCE if start + _SHOWN_AT_ONCE < len(rows) else None,
        count=len(rows),
        lines_left_out=max(0, len(lines) - MOST_LINES),
        known=len({one.pasted for one in rows if one.stored}),
        missing=missing,
        totals=await store.articles.totals() if missing else None,
        noted=noted,
        most=MOST_LINES,
    )


def _start(asked: str) -> int:
    """Return the first answer that is asked for: those before it stood on earlier pages."""
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 6 else 0


async def _rows(store: Store, pasted: Sequence[Pasted]) -> list[Row]:
    """Return the rows of the answer, in order: a value that has several stored readings has a row for each."""
    asked = _ids(reading for one in pasted if not one.same_as for reading in one.readings)
    ids = list(asked.values())
    found: set[str] = set()
    for start in range(0, len(ids), _READ_AT_ONCE):
        found |= await store.iocs.stored(ids[start : start + _READ_AT_ONCE])
    rows: list[Row] = []
    for one in pasted:
        stored = () if one.same_as else [reading for reading in one.readings if asked[reading] in found]
        rows += [Row(one, reading) for reading in stored] or [Row(one)]
    return rows


def _ids(readings: Iterable[Reading | None]) -> dict[Reading, str]:
    return {reading: ioc_id(*reading) for reading in dict.fromkeys(readings) if reading}


async def _iocs(store: Store, readings: Iterable[Reading | None]) -> Known:
    """Return the stored indicators among the readings."""
    asked, found = _ids(readings), dict[str, Ioc]()
    ids = list(asked.values())
    for start in range(0, len(ids), _READ_AT_ONCE):
        found |= await store.iocs.get_many(ids[start : start + _READ_AT_ONCE])
    return {reading: found[id] for reading, id in asked.items() if id in found}


def _hosts(readings: Readings) -> list[Reading]:
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
    one = answer.pasted
    return replace(answer, cautions=lasting_cautions(*one.readings[0])) if one.readings and not one.same_as else answer


async def _answers(store: Store, rows: Sequence[Row]) -> list[Answer]:
    hosts = {one.pasted.readings: _hosts(one.pasted.readings) for one in rows if one.is_missing}
    known = await _iocs(store, [*(one.stored for one in rows), *(host for each in hosts.values() for host in each)])
    answers: list[Answer] = []
    networks = 0
    for row in rows:
        if row.pasted.network and not row.pasted.same_as:
            networks += 1
            answers.append(await _network(store, row.pasted, count=networks <= _MOST_NETWORKS))
        else:
            answers.append(_answer(row, known, hosts.get(row.pasted.readings, [])))
    return answers


async def _network(store: Store, one: Pasted, *, count: bool) -> Answer:
    if not count:
        return Answer(one, said="a network: search for it by itself")
    page = await store.iocs.find(IocQuery(text=parse_search(one.network), limit=1))
    return Answer(one, said=f"a network: {counted(page.total or 0, 'address', 'addresses')} known")


def _answer(row: Row, known: Known, hosts: Sequence[Reading]) -> Answer:
    one = row.pasted
    if one.same_as:
        return Answer(one, said=f"same as line {one.same_as:,}")
    if not one.is_one:
        return Answer(one, said="not an indicator")
    if row.stored and (ioc := known.get(row.stored)):
        return Answer(one, ioc)
    host = next((known[host] for host in hosts if host in known), None)
    return Answer(one, said=_missing(one, host), host=host)


def _missing(one: Pasted, host: Ioc | None) -> str:
    """Return what to say of a value that is not stored; `host` is the stored host that it is on or below."""
    if host is None:
        return "not found"
    own = {host_names(*reading)[:1] for reading in one.readings}
    return f"not found; its {'host' if (host.value,) in own else 'parent domain'} is known"


def _as_list(rows: Sequence[Row]) -> Response:
    missing = dict.fromkeys(" ".join(refang(one.pasted.written).split()) for one in rows if one.is_missing)
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
