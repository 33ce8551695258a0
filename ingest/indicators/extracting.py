"""Get the indicators of a document with their evidence: pure, and the only way in."""

from __future__ import annotations

import gc
import logging
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import merge
from operator import itemgetter
from typing import Final, NamedTuple

from ingest.indicators import coined, noise
from ingest.indicators.clauses import ids_of_roles
from ingest.indicators.coined import with_coined
from ingest.indicators.contexts import rules_of_others
from ingest.indicators.deciding import HOST_OF_AN_INDICATOR, Judge
from ingest.indicators.document import Document, Place
from ingest.indicators.evidence import EVIDENCE
from ingest.indicators.list_context import ASKED_FOR_LIST_CONTEXT, list_context_of
from ingest.indicators.mailboxes import of_refused_hosts
from ingest.indicators.malware import JudgedMalware, MalwareSighting, judge_malware, malware_sightings
from ingest.indicators.one_name import with_one_name_each
from ingest.indicators.owners import addresses_of_refused, as_its_host, is_of_prose, refused_by_their_owner
from ingest.indicators.piece_search import PieceSearch, Places
from ingest.indicators.sentences import LONGEST_LINE, Sentences
from ingest.indicators.series import kept_as_spoken_of_again, kept_with_their_series
from ingest.indicators.sightings import NOT_READ, PIECES, Sighting, sightings, sightings_beside_tokens
from ingest.indicators.text_context import TextContext
from ingest.indicators.verdict import THRESHOLD, Verdict
from ingest.indicators.walking import walk
from intel.names import MalwareNames, malware_names
from intel.refanging import PlainText, plain_text

log = logging.getLogger(__name__)

_FROZEN: Final[set[bool]] = set()

MOST_INDICATORS: Final = 20_000
MOST_MALWARE_NEAR: Final = 20
SENTENCES_NEAR: Final = 2
_FARTHEST_NEAR: Final = (SENTENCES_NEAR + 1) * LONGEST_LINE
MOST_WEIGHED: Final = 32

# Where in the plain text something stands that is kept, and why.
_KeptPlace = tuple[int, int, Verdict]
_Kept = dict[tuple[str, str], list[_KeptPlace]]
_OF_REFUSED_HOST: Final = Verdict(False, "mailbox at a host that is no indicator", 0)
# A fault of ours costs the one candidate that it happens to, and not the article; `ioc_candidates` counts it.
NOT_WEIGHED: Final = Verdict(False, NOT_READ, 0)
_SEARCH: Final = PieceSearch((*coined.PIECES, *PIECES))
# What the text says for a URL whose host it names as an indicator too.
_HOST_IS_LISTED: Final = EVIDENCE["host named as an indicator"]
_rule_of: Final = itemgetter(1)
_SPOKEN: Final = EVIDENCE["mailbox spoken of as part of an attack"]
# Who masks an own mailbox keeps it from collectors of addresses: `kgale[at]gale-labs.example`.
_MASKED: Final = "defanged"
_AUTHORS: Final = frozenset({"mailbox of whoever writes", "byline", "whoever wrote a rule or text"})
_HOST_OF_NOTHING: Final = Verdict(False, "host of something that is no indicator", 0)


class Indicator(NamedTuple):
    """One indicator of a text: `spelling` is `text[start:end]`, its first appearance that counts.

    `occurrences` are the spans of all that were kept, `rule` and `score` say why it was.
    """

    type: str
    value: str
    spelling: str
    start: int
    end: int
    place: Place
    rule: str
    score: int
    occurrences: tuple[tuple[int, int], ...]


class Candidate(NamedTuple):
    """Something that looks like an indicator, kept or not, with the rule that decided and all that were weighed."""

    type: str
    value: str
    start: int
    end: int
    kept: bool
    rule: str
    score: int
    evidence: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found: each (type, value) once, in order of first appearance.

    `dropped` counts the indicators beyond the limit, `limits_reached` names the limits that were hit.
    """

    document: Document
    indicators: tuple[Indicator, ...]
    limits_reached: tuple[str, ...]
    dropped: int
    _plain: PlainText = field(repr=False)
    _seen: list[Sighting] = field(repr=False)
    _verdicts: list[Verdict] = field(repr=False)
    _judged_malware: list[JudgedMalware] = field(repr=False)
    _named: _Named = field(repr=False)
    _text: Sentences = field(repr=False)

    def candidates(self) -> Iterator[Candidate]:
        """Yield everything that was looked at, in order of appearance."""
        others = (
            self._candidate(reading.type, reading.value, start, end, verdict)
            for (reading, start, end), verdict in zip(self._seen, self._verdicts, strict=True)
        )
        named = (self._candidate("malware", *each, verdict) for each, verdict in self._judged_malware)
        yield from merge(others, named, key=lambda candidate: candidate.start)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield where each candidate stands, in no order."""
        span = self._plain.span
        yield from (span(start, end) for _, start, end in self._seen)
        yield from (span(start, end) for (_, start, end), _ in self._judged_malware)

    def _candidate(self, type: str, value: str, start: int, end: int, verdict: Verdict) -> Candidate:
        kept, rule, score, evidence = verdict
        return Candidate(type, value, *self._plain.span(start, end), kept, rule, score, evidence)

    def sentence(self, indicator: Indicator) -> str:
        """Return the sentence that an indicator first stood in, in one line of at most 300 characters."""
        return self._text.sentence(indicator.start, indicator.end)

    def malware_near(self, indicator: Indicator) -> tuple[str, ...]:
        """Return the names of malware within two sentences of any appearance of an indicator, at most 20."""
        found: dict[str, None] = {}
        for start, end in indicator.occurrences:
            # Most have none at all as far as sentences can reach.
            if not self._named.between(start - _FARTHEST_NEAR, end + _FARTHEST_NEAR):
                continue
            first = self._text.start(start, SENTENCES_NEAR + 1)
            last = self._text.end(end, SENTENCES_NEAR + 1)
            found.update(dict.fromkeys(self._named.between(first, last)))
            if len(found) >= MOST_MALWARE_NEAR:
                break
        return tuple(found)[:MOST_MALWARE_NEAR]


class _Named(NamedTuple):
    """The names of malware that are kept, and where each stands in the original text, in order."""

    starts: list[int]
    names: list[str]

    def between(self, first: int, last: int) -> list[str]:
        low = bisect_left(self.starts, first)
        return self.names[low : bisect_left(self.starts, last, lo=low)]


def extract(document: Document, most_indicators: int = MOST_INDICATORS) -> Extraction:
    """Return the indicators of a document. Linear in the length of its text; never raises."""
    with _collector_at_rest():
        return _extract(document, most_indicators)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Switch the garbage collector off for the body: nothing made here is part of a cycle, and its passes would be a
    third of the time.

    What was made is handed to its oldest generation unread, for the first pass after it would be another tenth.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not _shares_its_memory():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _shares_its_memory() -> bool:
    """Tell whether objects are frozen, which a process that was forked shares with its parent; to count them takes
    milliseconds, so that it is asked until it holds.
    """
    if not _FROZEN and gc.get_freeze_count():
        _FROZEN.add(True)
    return True in _FROZEN


def _extract(document: Document, most_indicators: int) -> Extraction:
    plain = plain_text(document.text)
    names = malware_names()
    walked = walk(plain.text)
    pieces = _SEARCH.places(plain.text)
    found, others = sightings(walked, pieces)
    seen = _in_order(found, sightings_beside_tokens(walked, pieces))
    has_public = any(
        not noise.address_noise(address) and not noise.is_for_documentation(address)
        for address in dict.fromkeys(reading[1] for reading, _, _ in seen if reading[0] == "ip")
    )
    judged_malware = _judged_malware(document, plain, pieces, malware_sightings(walked, others, names), names)
    context = TextContext(document, plain, names_malware=any(verdict.kept for _, verdict in judged_malware))
    judge = Judge(context, seen, _defanged_hosts(seen), names_public_addresses=has_public)
    verdicts, kept = _judge_all(plain.text, seen, judge)
    indicators = _collect(document, plain, kept, judged_malware)
    dropped = max(0, len(indicators) - most_indicators)
    return Extraction(
        document,
        tuple(indicators[:most_indicators]),
        (*document.limits, *(("indicators",) if dropped else ())),
        dropped,
        plain,
        seen,
        verdicts,
        judged_malware,
        _named_in(plain, judged_malware),
        Sentences(document.text),
    )


def _judged_malware(
    document: Document, plain: PlainText, pieces: Places, named: list[MalwareSighting], names: MalwareNames
) -> list[JudgedMalware]:
    """Return the names of malware with their verdicts, those that only the text gives among them."""

    def is_furniture(position: int) -> bool:
        return document.structured and document.place(plain.original(position)) == "boilerplate"

    judged = judge_malware(plain.text, named, names, is_furniture)
    return with_coined(plain.text, pieces, with_one_name_each(plain.text, judged, names), is_furniture)


def _named_in(plain: PlainText, judged: list[JudgedMalware]) -> _Named:
    kept = [sighting for sighting, verdict in judged if verdict.kept]
    return _Named([plain.original(sighting.start) for sighting in kept], [sighting.name for sighting in kept])


def _defanged_hosts(seen: list[Sighting]) -> frozenset[str]:
    return frozenset([reading.host or reading.value for reading, _, _ in seen if reading.defanged])


def _in_order(found: list[Sighting], spaced: list[Sighting]) -> list[Sighting]:
    """Return all sightings by where they start, the longest first, as those that were found are already."""
    merged: list[Sighting] = []
    position = 0
    for sighting in sorted(spaced, key=_order):
        place = bisect_right(found, _order(sighting), lo=position, key=_order)
        merged += found[position:place]
        merged.append(sighting)
        position = place
    return [*merged, *found[position:]] if spaced else found


def _order(sighting: Sighting) -> tuple[int, int]:
    return sighting[1], -sighting[2]


def _judge_all(text: str, seen: list[Sighting], judge: Judge) -> tuple[list[Verdict], _Kept]:
    """Return the verdict on each sighting, and the places of what is kept; the host of a URL or mailbox shares its
    fate.

    One sighting that is kept for more than the words around it settles a value, and so do many of the others: what a
    text repeats endlessly is not weighed anew.
    """
    verdicts: list[Verdict] = []
    kept: _Kept = {}
    settled: dict[tuple[str, str, str], tuple[Verdict, list[_KeptPlace]]] = {}
    weighed: dict[tuple[str, str, str], int] = {}
    refused_urls: list[int] = []
    for index, ((type, value, _, _, _, _, _, source), start, end) in enumerate(seen):
        key = (type, value, source)
        known = settled.get(key)
        if known is not None:
            verdict, places = known
        else:
            verdict = _verdict(text, seen, index, judge, kept)
            if type == "ip" and verdict.kept and index and not verdicts[-1].kept:
                verdict = as_its_host(text, seen, index, verdicts[-1]) or verdict
            places = kept.setdefault((type, value), []) if verdict[0] else []
            if verdict[0] and not is_of_prose(type, verdict):
                settled[key] = verdict, places
            else:
                weighed[key] = times = weighed.get(key, 0) + 1
                if times >= MOST_WEIGHED:
                    settled[key] = verdict, places
        verdicts.append(verdict)
        if verdict[0]:
            places.append((start, end, verdict))
        elif type == "url":
            refused_urls.append(index)
    _refuse_mailboxes(seen, verdicts, kept)
    if refused_hosts := refused_by_their_owner(seen, verdicts, kept):
        _refuse(refused_hosts, seen, verdicts, kept)
        _refuse(addresses_of_refused(text, seen, verdicts, kept), seen, verdicts, kept)
    _keep_urls_at_listed_hosts(seen, refused_urls, verdicts, kept)
    for index, verdict in (*kept_with_their_series(text, seen, verdicts), *kept_as_spoken_of_again(seen, verdicts)):
        (type, value, *_), start, end = seen[index]
        verdicts[index] = verdict
        places = kept.setdefault((type, value), [])
        places.append((start, end, verdict))
        places.sort(key=itemgetter(0))
    return verdicts, kept


def _verdict(text: str, seen: list[Sighting], index: int, judge: Judge, kept: _Kept) -> Verdict:
    """Return the verdict on `seen[index]`, after those on all before it."""
    sighting = seen[index]
    type, _, _, _, defanged, _, objection, source = sighting[0]
    if objection == NOT_READ:
        return NOT_WEIGHED
    try:
        is_asked = objection or (type in ASKED_FOR_LIST_CONTEXT and not (defanged or source))
        verdict = judge.verdict(sighting, list_context_of(text, seen, index) if is_asked else "")
    except (ValueError, LookupError):
        log.exception("a candidate of type %s could not be weighed", type)
        return NOT_WEIGHED
    return _HOST_OF_NOTHING if source and verdict[0] and not _source_is_kept(source, kept) else verdict


def _refuse_mailboxes(seen: list[Sighting], verdicts: list[Verdict], kept: _Kept) -> None:
    """Take back the mailboxes at hosts that were refused wherever the text names them."""
    scores = {value: max(verdict.score for *_, verdict in kept[type, value]) for type, value in kept if type == "email"}
    if not scores:
        return
    others = (reading for (reading, _, _), verdict in zip(seen, verdicts, strict=True) if not verdict[0])
    refused = of_refused_hosts(scores, others, frozenset(value for type, value in kept if type == "domain"))
    refused |= _of_whom_it_hit(seen, verdicts, kept, set(scores) - refused)
    refused |= _of_authors(seen, verdicts, kept)
    _refuse({("email", value): _OF_REFUSED_HOST for value in refused}, seen, verdicts, kept)


def _refuse(
    refused: Mapping[tuple[str, str], Verdict], seen: list[Sighting], verdicts: list[Verdict], kept: _Kept
) -> None:
    """Take back what is kept, by type and value, with the hosts that were kept for it alone."""
    if not refused:
        return
    for key in refused:
        del kept[key]
    values = {value for _, value in refused}
    for index, (reading, _, _) in enumerate(seen):
        if verdict := refused.get((reading.type, reading.value)):
            verdicts[index] = verdict if verdicts[index].kept else verdicts[index]
        elif reading.source in values and verdicts[index].rule == HOST_OF_AN_INDICATOR:
            verdicts[index] = _HOST_OF_NOTHING
            _take_back(kept, seen[index])


def _take_back(kept: _Kept, sighting: Sighting) -> None:
    """Take one place of a value from those that are kept."""
    reading, start, _ = sighting
    key = reading.type, reading.value
    kept[key] = [place for place in kept[key] if place[0] != start]
    if not kept[key]:
        del kept[key]


def _of_whom_it_hit(seen: list[Sighting], verdicts: list[Verdict], kept: _Kept, mailboxes: set[str]) -> set[str]:
    """Return the `mailboxes` at hosts that, or others of whose mailboxes, belong to those whom an attack hit, unless
    something was sent from there.
    """
    of_others = rules_of_others() | ids_of_roles()
    hosts = {
        reading.host if reading.type == "email" else reading.value
        for (reading, _, _), verdict in zip(seen, verdicts, strict=True)
        if not verdict[0]
        and reading.type in ("email", "domain")
        and (reading.type, reading.value) not in kept
        and not of_others.isdisjoint(map(_rule_of, verdict[3]))
    }
    if not hosts:
        return set()
    return {
        mailbox
        for mailbox in mailboxes
        if mailbox.rpartition("@")[2] in hosts
        and not noise.is_mailbox_provider(mailbox.rpartition("@")[2])
        and all(verdict.evidence and _SPOKEN not in verdict.evidence for *_, verdict in kept["email", mailbox])
    }


def _of_authors(seen: list[Sighting], verdicts: list[Verdict], kept: _Kept) -> set[str]:
    """Return the mailboxes that a text only keeps as they are masked, and elsewhere gives as those of its authors."""
    return {
        reading.value
        for (reading, _, _), verdict in zip(seen, verdicts, strict=True)
        if reading.type == "email"
        and not verdict.kept
        and not _AUTHORS.isdisjoint(map(_rule_of, verdict.evidence))
        and all(each.rule == _MASKED for *_, each in kept.get(("email", reading.value), ((0, 0, verdict),)))
    }


def _keep_urls_at_listed_hosts(seen: list[Sighting], refused: list[int], verdicts: list[Verdict], kept: _Kept) -> None:
    """Keep those of the `refused` URLs with little against them whose host the text names as an indicator."""
    nearly: dict[str, int] = {}
    for index in refused:
        reading, score = seen[index][0], verdicts[index].score + _HOST_IS_LISTED[0]
        if score < THRESHOLD or reading.objection or ("url", reading.value) in kept or verdicts[index] is NOT_WEIGHED:
            continue
        if _is_listed(kept.get(("domain", reading.host), ())):
            nearly[reading.value] = max(score, nearly.get(reading.value, score))
    if not nearly:
        return
    added: set[tuple[str, str]] = set()
    for index, ((type, value, _, _, _, _, _, source), start, end) in enumerate(seen):
        score = nearly.get(value if type == "url" else source, 0)
        if score:
            verdict = verdicts[index] = Verdict(
                True, _HOST_IS_LISTED[1], score, (*verdicts[index].evidence, _HOST_IS_LISTED)
            )
            kept.setdefault((type, value), []).append((start, end, verdict))
            added.add((type, value))
    for key in added:
        kept[key].sort(key=itemgetter(0))


def _is_listed(places: Sequence[_KeptPlace]) -> bool:
    """Tell whether a host was kept for its own sake."""
    return any(verdict.rule != HOST_OF_AN_INDICATOR for _, _, verdict in places)


def _source_is_kept(source: str, kept: _Kept) -> bool:
    return ("url", source) in kept or ("email", source) in kept or source.startswith("looked")


def _collect(document: Document, plain: PlainText, kept: _Kept, malware: list[JudgedMalware]) -> list[Indicator]:
    for (name, start, end), verdict in malware:
        if verdict.kept:
            kept.setdefault(("malware", name), []).append((start, end, verdict))
    found = [_indicator(document, plain, type, value, places) for (type, value), places in kept.items()]
    return sorted(found, key=itemgetter(3, 4))


def _indicator(document: Document, plain: PlainText, type: str, value: str, places: list[_KeptPlace]) -> Indicator:
    if len(places) == 1:
        first, last, best = places[0]
        start, end = plain.span(first, last)
        spans: tuple[tuple[int, int], ...] = ((start, end),)
    else:
        spans = tuple([(first, last) for first, last, _ in plain.spans(places)])
        start, end = spans[0]
        best = max([verdict for _, _, verdict in places], key=itemgetter(2))
    place = document.place(start) if document.structured else "main"
    return Indicator(type, value, document.text[start:end], start, end, place, best.rule, best.score, spans)
