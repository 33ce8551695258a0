"""Find every piece of a text that may be an indicator, with its place; linear on any input."""

from __future__ import annotations

import logging
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from ingest.indicators import broken_lines
from ingest.indicators.broken_lines import Joined, ends_open, joined_over_lines
from ingest.indicators.cutting import Place
from ingest.indicators.late import late
from ingest.indicators.naming import LONGEST_WORD
from ingest.indicators.other_roots import listed_names
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_signs import pieces_between
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.tokens import read_token
from ingest.indicators.walking import MOST_OF_ONE, Walk, may_hold_indicators
from intel.names import is_technique
from intel.refanging import DOT, SEPARATOR

log = logging.getLogger(__name__)

LONGEST_TOKEN: Final = 2048
LONGEST_TOLD: Final = 80
# Of a candidate that a fault of ours hits.
NOT_READ: Final = "could not be weighed"
MOST_SERIES: Final = 10_000

_OPEN_ENDS: Final = f".{DOT}"

_PIECE: Final = late(r"[^\s,;|<>\"'(){}\[\]\u3001\u3002\uff0c\uff1b]++")
_SPACED_CVE: Final = tuple(
    (
        word,
        re.compile(
            word + r"(?:(?:[ \xa0:#]{1,2}[-\u2010-\u2015\u2212]?|-[ \n])(?P<year>[0-9]{4})[-\u2010-\u2015\u2212 ]"
            r"|-(?P<above>[0-9]{4})-\n)"
            r"(?P<number>[0-9]{4,7})(?![0-9])"
        ),
    )
    for word in ("CVE", "cve")
)
_LETTER_OR_DIGIT: Final = late("[a-zA-Z0-9]")  # Chinese goes on with a CVE without a blank
# `CVE-2021-34473, -34523 and -31207`, also without the hyphens, and `CVE-2023-46805, 2024-21887`.
_AND: Final = "(?:and|und|et|y|e|och|en|и|і)"
_CVE_SERIES: Final = late(
    rf"CVE-([0-9]{{4}})-(?P<first>[0-9]{{4,7}})(?P<more>(?>(?:(?:[,/\u3001]\s?(?:{_AND} )?| {_AND} | & |[和与及])"
    r"(?:[-\u2010-\u2015]|20[0-9]{2}-(?=[0-9]{4})|(?!(?:19|20)[0-9]{2}(?![0-9])))[0-9]{4,7}(?![\w-]|\.[0-9])){1,50}))"
    r"(?=[\s,;:.!?)\]\u3000-\u3002\uff08-\uff0c|/*\"']|[^\x00-\x7f]|\Z)"
)
# Numbers that a noun counts are none of a series: `CVE-2021-34473, 34523 servers`.
_COUNTED: Final = late(
    r" (?!(?:were|was|are|is|have|has|had|in|to|by|for|from|on|with|as|at|can|may|wurden|sind|werden|ont|sont|son"
    r"|fueron|sono|foram|были|and|und|et|y|e|или|и)\b)[^\W\d_]"
)
_NUMBER_OF_A_SERIES: Final = late(r"(?:(?P<year>20[0-9]{2})-)?(?P<number>[0-9]{4,7})")
# `T1021.001, .002 and .006`
_MORE_OF_A_TECHNIQUE: Final = late(
    r", \.[0-9]{3}(?<=T[0-9]{4}\.[0-9]{3}, \.[0-9]{3})(?>(?:,? (?:and |& )?\.[0-9]{3})*)(?![0-9])"
)
_BEFORE_A_PART: Final = ", ."
# What must have been looked for in a text before anything here is asked of it.
# `tags: t1027, t1566`: in small letters only where a field of such is named.
_FIELDS_OF_TECHNIQUES: Final = (
    "tags",
    "Tags",
    "TAGS",
    "ttps",
    "TTPs",
    "TTPS",
    "techniques",
    "Techniques",
    "mitre",
    "MITRE",
)
_FIELD_OF_TECHNIQUES: Final = late(
    r"\w{2,10}(?:[_ -](?:tags|ids?|att&?ck|techniques?|ttps?)){0,2}[\"']?\s?[:=\uff1a]\s{0,4}"
    r"(?P<listed>(?>[\[\s\"'#-]{0,8}[\w.-]{2,40}[\]\s\"']{0,4}[,;|]?){1,60})"
)
_SMALL_TECHNIQUE: Final = late(r"(?<![\w.-])t[0-9]{4}(?:\.[0-9]{3})?(?![\w-]|\.[0-9])")
PIECES: Final = (*(word for word, _ in _SPACED_CVE), _BEFORE_A_PART, *_FIELDS_OF_TECHNIQUES, *broken_lines.PIECES)
_SUB_TECHNIQUE: Final = late(r"\.([0-9]{3})")
_SPACED_HEAD: Final = late(
    rf"(?P<head>[hH][tTxX*]{{2}}[pP][sS]?(?:://|:?{SEPARATOR}++))[ \t](?=(?P<following>\S{{1,2048}}))"
)


# A reading and where in the plain text it stands. (A tuple, for there are many.)
Sighting = tuple[TokenCandidate, int, int]


def sightings(walked: Walk, pieces: Places) -> tuple[list[Sighting], list[Place]]:
    """Return every possible indicator among the telling tokens of a text in order, and the places of the other tokens.

    In a script without blanks a token is many words: what stands between its indicators is a token of its own.
    `pieces`: where the `PIECES` stand.
    """
    read: dict[str, Sequence[TokenCandidate]] = dict.fromkeys(walked.namings, ())
    found: list[Sighting] = []
    others: list[Place] = []
    beside: dict[str, list[Place]] = {}
    opening: set[str] = set()
    for place in walked.places:
        start, token = place
        readings = read.get(token)
        if readings is None:
            readings = read[token] = _read(token)
            if (
                readings
                and ("](" in token or "," in token or ";" in token or "|" in token or not token.isascii())
                and (texts := _pieces_beside(token, readings))
            ):
                beside[token] = texts
            if token[-1] in _OPEN_ENDS and ends_open(token):
                opening.add(token)
        if readings:
            for reading in readings:
                found.append((reading, start + reading[2], start + reading[3]))
            if beside and token in beside:
                others += [(start + offset, piece) for offset, piece in beside[token]]
        else:
            others.append(_last_of_compact_json(place) if len(token) > LONGEST_WORD else place)
    open_places = (place for place in walked.places if place[1] in opening) if opening else ()
    joined = [
        (each, found_in)
        for each in joined_over_lines(walked.text, pieces, open_places)
        if (found_in := _read_joined(each))
    ]
    return (_with_joined(found, joined) if joined else found), others


def sightings_beside_tokens(walked: Walk, pieces: Places) -> list[Sighting]:
    """Return the indicators that no token tells: those with a blank inside, and names of other roots in a list.

    `pieces`: where the `PIECES` stand.
    """
    return [
        *_spaced_identifiers(walked.text, pieces),
        *_more_techniques(walked.text, pieces),
        *_tagged_techniques(walked.text, pieces),
        *(_spaced_urls(walked.text) if walked.has_heads else ()),
        *listed_names(walked.text),
    ]


def _read(token: str) -> Sequence[TokenCandidate]:
    """Return what a token may hold; one that no rule was made for is told as such, and the rest of its text is read
    on.
    """
    try:
        return read_token(token) if len(token) <= LONGEST_TOKEN else list(_read_pieces(token))
    except (ValueError, LookupError):
        log.exception("a token of %d characters could not be read", len(token))
        return (TokenCandidate("domain", token[:LONGEST_TOLD], 0, len(token), objection=NOT_READ),)


def _pieces_beside(token: str, readings: Sequence[TokenCandidate]) -> list[tuple[int, str]]:
    """Return what a token says beside its indicators, with its place: the text of a link, or a script without
    blanks.
    """
    if not token.isascii() or ";" in token or "|" in token or token.count(",") > 1 or ',"' in token:
        return pieces_between(token, readings)
    text = token.partition("](")[0]
    return [(0, text)] if len(text) <= readings[0].start else []


def _last_of_compact_json(place: Place) -> Place:
    """Return the place of what begins the last value of JSON without blanks: `{"id":"1","name":"Reedpipe`."""
    start, token = place
    opening = token.rfind('":"') + 3
    return place if opening < 3 else (start + opening, token[opening:])


def _read_joined(joined: Joined) -> list[Sighting]:
    """Return what stands on both sides of a line break."""
    sightings = [(reading, *joined.span(reading.start, reading.end)) for reading in _read(joined.token)]
    return sightings if any(end - start > reading.end - reading.start for reading, start, end in sightings) else []


def _with_joined(found: list[Sighting], joined: list[tuple[Joined, list[Sighting]]]) -> list[Sighting]:
    """Return the sightings with those of whole names in the place of their halves."""
    starts = [each.start for each, _ in joined]
    kept: list[Sighting] = []
    for sighting in found:
        index = bisect_right(starts, sighting[1]) - 1
        if index < 0 or sighting[1] >= joined[index][0].end:
            kept.append(sighting)
    whole = (sighting for _, sightings in joined for sighting in sightings)
    return sorted([*kept, *whole], key=lambda sighting: (sighting[1], -sighting[2]))


def _read_pieces(token: str) -> Iterator[TokenCandidate]:
    """Yield a token that is too long to be one, cut at the signs that part the items of a list."""
    read: dict[str, Sequence[TokenCandidate]] = {}
    times: Counter[str] = Counter()
    for match in _PIECE.finditer(token):
        for offset in range(match.start(), match.end(), LONGEST_TOKEN):
            piece = token[offset : min(match.end(), offset + LONGEST_TOKEN)]
            if len(piece) > 2 and piece not in read:
                read[piece] = read_token(piece) if may_hold_indicators(piece) else ()
            if len(piece) > 2 and read[piece] and times[piece] < MOST_OF_ONE:
                times[piece] += len(read[piece])
                for type, value, start, end, defanged, host, objection, source in read[piece]:
                    yield TokenCandidate(type, value, offset + start, offset + end, defanged, host, objection, source)


def _spaced_identifiers(text: str, pieces: Places) -> Iterator[Sighting]:
    """`CVE 2020-0601`, one that a line breaks in two, and what follows in `CVE-2021-26855, -26857 and -27065`."""
    for word, pattern in _SPACED_CVE:
        for start in pieces.get(word, ()):
            match = pattern.match(text, start)
            if match and not (start and _LETTER_OR_DIGIT.match(text, start - 1)):
                yield (
                    TokenCandidate("cve", f"CVE-{match['year'] or match['above']}-{match['number']}", 0, len(match[0])),
                    *match.span(),
                )
            elif series := _CVE_SERIES.match(text, start):
                yield from _more_cves(text, series)


def _more_cves(text: str, series: re.Match[str]) -> Iterator[Sighting]:
    if text[series.end() - 6] != "-" and _COUNTED.match(text, series.end()):
        return
    for each in _NUMBER_OF_A_SERIES.finditer(text, series.start("more"), series.end()):
        value = f"CVE-{each['year'] or series[1]}-{each['number']}"
        yield TokenCandidate("cve", value, 0, len(each[0])), *each.span()


def _more_techniques(text: str, pieces: Places) -> Iterator[Sighting]:
    """Yield what follows in `T1021.001, .002`."""
    for start in pieces.get(_BEFORE_A_PART, ())[:MOST_SERIES]:
        if match := _MORE_OF_A_TECHNIQUE.match(text, start):
            for part in _SUB_TECHNIQUE.finditer(text, *match.span()):
                value = f"{text[start - 9 : start - 4]}.{part[1]}"
                if is_technique(value):
                    yield TokenCandidate("mitre_attack", value, 0, len(part[0])), *part.span()


def _tagged_techniques(text: str, pieces: Places) -> Iterator[Sighting]:
    """Yield what stands in small letters in a field of tags or techniques."""
    past = 0
    for start in sorted(chain.from_iterable(pieces.get(word, ())[:MOST_SERIES] for word in _FIELDS_OF_TECHNIQUES)):
        field = _FIELD_OF_TECHNIQUES.match(text, start) if start >= past else None
        if field is None:
            continue
        past = field.end()
        for each in _SMALL_TECHNIQUE.finditer(text, *field.span("listed")):
            value = each[0].upper()
            if is_technique(value):
                yield TokenCandidate("mitre_attack", value, 0, len(each[0])), *each.span()


def _spaced_urls(text: str) -> Iterator[Sighting]:
    """`hxxp:// evil.example`."""
    read: dict[tuple[str, str], list[TokenCandidate]] = {}
    for match in _SPACED_HEAD.finditer(text):
        head, following = match["head"], match["following"]
        if (head, following) not in read:
            read[head, following] = [each for each in _read(head + following) if each.start == 0]
        for reading in read[head, following]:
            yield reading, match.start(), match.end("head") + 1 + reading.end - len(head)
