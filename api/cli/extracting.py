"""`ioc extract`: the pure core on one file, nothing else."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Mapping, Sequence
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from ingest.body import MAIL, PDF, WORD, file_type
from ingest.indicators import Document, Extraction, document_from_html, document_from_text
from ingest.indicators import extract as extract_from
from ingest.indicators.candidate_records import all_candidate_records, candidate_records
from ingest.indicators.lines import document_from_bytes, lines_of
from intel.errors import IocError

if TYPE_CHECKING:  # a tenth of the time in which `ioc extract` starts
    from intel.candidate_records import CandidateRecord

_ROWS_OF_A_KIND: Final = 1_000
_NOT_INSTALLED: Final = "iocextract is not installed, so no line was read a second time: `pip install iocextract`."

Json = dict[str, Any]


class _Second(NamedTuple):
    """What a second reader added: the records of its indicators, each with how many stand before it, and of its
    candidates.
    """

    lines: Sequence[tuple[int, Json]] = ()
    candidates: Sequence[CandidateRecord] = ()
    note: str = ""


def extract(path: str, *, explain: bool, as_json: bool, iocextract: bool, wide: bool) -> None:
    """Write one JSON object a line for each indicator, in order of first appearance.

    With `explain`: all candidates, kept or not, as a table or (`as_json`) one JSON object a line. With
    `iocextract`: also what that reads in defanged lines that our own reader left unread.
    """
    gc.disable()  # what one file leaves in cycles, the end of the process frees
    document, notes = _read(path)
    extraction = extract_from(document, most_indicators=sys.maxsize)
    second = _read_again(extraction) if iocextract else _Second()
    if not explain:
        _write_lines(_with_second(lines_of(extraction), second.lines))
    elif as_json:
        weighed: Iterable[CandidateRecord] = merge(all_candidate_records(extraction), second.candidates, key=_start)
        _write_lines(weighed)
    else:
        _show_table(extraction, second, wide=wide)
    _say_all([*notes, *(f"Limit reached: {limit}." for limit in extraction.limits_reached), second.note])


def _read(path: str) -> tuple[Document, Sequence[str]]:
    """Return the document in a file, and sentences about the limits that were reached."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise IocError(f"{path} cannot be read ({error.strerror})") from None
    kind = file_type(data)
    if kind not in (PDF, WORD, MAIL):
        return document_from_bytes(data), ()
    from ingest.article_text import read_article

    article = read_article(data, kind, None, None)
    if article.html is not None:
        return document_from_html(article.html, None, article.text), article.notes
    return document_from_text(article.text), article.notes


def _read_again(extraction: Extraction) -> _Second:
    import asyncio

    from ingest.indicators.iocextract_step import is_installed
    from ingest.indicators.missed_defanging import missed_pieces
    from ingest.isolated import Isolation
    from ingest.second_extractor import CUT_SHORT, RULE, read_pieces, second_record

    if not is_installed():
        return _Second(note=_NOT_INSTALLED)

    async def read() -> _Second:
        pieces = missed_pieces(extraction)
        isolation = Isolation(at_once=1, preload=("ingest.indicators.iocextract_step:start",))
        try:
            found, complete = await read_pieces(pieces, isolation)
        finally:
            await isolation.close()
        known = {(indicator.type, indicator.value) for indicator in extraction.indicators}
        new = [each for each in found if (each.type, each.value) not in known]
        lines = [
            (pieces[each.piece].before, _line(each.type, each.value, pieces[each.piece].sentence, RULE)) for each in new
        ]
        records = sorted((second_record(each, pieces) for each in new), key=_start)
        return _Second(lines, records, "" if complete else CUT_SHORT)

    return asyncio.run(read())


def _line(type: str, value: str, context: str, rule: str) -> Json:
    return {"type": type, "value": value, "context": context, "rule": rule}


def _with_second(lines: Iterable[Json], second: Sequence[tuple[int, Json]]) -> Iterable[Json]:
    """Yield the records of both extractors in order of appearance."""
    if not second:
        return lines
    ours = (((number, 1), line) for number, line in enumerate(lines))
    others = (((before, 0), line) for before, line in second)
    return (line for _, line in merge(others, ours, key=lambda entry: entry[0]))


def _write_lines(lines: Iterable[Mapping[str, Any]]) -> None:
    sys.stdout.buffer.writelines(orjson.dumps(line) + b"\n" for line in lines)
    sys.stdout.buffer.flush()


def _show_table(extraction: Extraction, second: _Second, *, wide: bool) -> None:
    from api.cli.running import print_table, say

    found = candidate_records(extraction, _ROWS_OF_A_KIND, _ROWS_OF_A_KIND)
    weighed: Iterable[CandidateRecord] = merge(found.records, second.candidates, key=_start)
    print_table(
        "Candidates", ("verdict", "value, as written", "type", "at", "place", "why"), map(_row, weighed), wide=wide
    )
    if found.left_out:
        say(f"{found.left_out:,} more candidates; --json lists all of them.")


def _row(each: CandidateRecord) -> tuple[object, ...]:
    from intel.canonical import defang

    value, spelling = defang(each["type"], each["value"]), each["spelling"]
    spelled = value if spelling in (value, each["value"]) else f"{value}, {spelling}"
    verdict = "kept" if each["kept"] else "dropped"
    spoke = ", ".join(f"{row['points']:+} {row['rule']}" for row in each.get("evidence", ()))
    why = f"{each['rule']}: {each['reason']}{f' ({spoke})' if spoke else ''}"
    return f"{verdict} {each['score']}", spelled, each["type"], each["start"], each["place"], why


def _say_all(notes: Iterable[str]) -> None:
    """Say sentences for a person, beside what a program reads."""
    told = [note for note in notes if note]
    if told:
        from api.cli.running import say

        for note in told:
            say(note)


def _start(record: CandidateRecord) -> int:
    return record["start"]
