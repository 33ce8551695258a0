"""Write a text so that defanged signs can be told from plain ones, without moving a character."""

from __future__ import annotations

import re
import tomllib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from importlib.resources import files
from itertools import accumulate
from string import ascii_letters, digits
from typing import Final, TypeVar

from intel.full_stops import FULL_STOP, with_dots
from intel.odd_signs import CUT, in_usual_signs
from intel.suffixes import is_top_level

# Invisible characters: copy-and-paste brings them along, or someone hides a name from a search with them.
INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

STRETCH: Final = 32_000  # what is written anew of it time and again stays close to the processor
MOST_TRIED: Final = 16  # places of a sign, one at a time; where there are more of them, it is not rare
# Every character of a mark becomes one of these private ones: `[.]` is three times DOT. The text keeps its length, so
# positions stay true, and the scanner sees both where a dot is and that somebody defanged it.
DOT: Final = "\ue001"
AT: Final = "\ue002"
COLON: Final = "\ue003"
SEPARATOR: Final = "\ue004"
SLASH: Final = "\ue005"
MARKS: Final = DOT + AT + COLON + SEPARATOR + SLASH
ANY_DOT: Final = f"(?:\\.|{DOT}++)"
ANY_COLON: Final = f"(?::|{COLON}{{3}}|{COLON}++)"

_SPOKEN: Final = tomllib.loads((files("intel") / "refanging.toml").read_text(encoding="utf-8"))
# `evil[point]example`, `drop[arroba]evil[punto]example`
_WORDS_FOR_A_DOT: Final = "|".join(_SPOKEN["dot"].values())
_WORDS_FOR_AN_AT: Final = "|".join(_SPOKEN["at"].values())
_SIGNS: Final = {
    ".": DOT, DOT * 3: DOT, "dot": DOT, "@": AT, "at": AT, ":": COLON, "/": SLASH,
    **dict.fromkeys(_WORDS_FOR_A_DOT.split("|"), DOT), **dict.fromkeys(_WORDS_FOR_AN_AT.split("|"), AT),
}  # fmt: skip
_PLAIN: Final = {DOT: ".", AT: "@", COLON: ":", SEPARATOR: "://", SLASH: "/"}
_MARK_RUN: Final = re.compile(f"([{MARKS}])\\1*")
_FOREIGN_MARK: Final = re.compile(f"[{MARKS}]")
# A search for one plain character is the fastest there is, and next comes that for a pattern which begins with a plain
# character: so each way to defang is first sought by the rarest sign it has, and the rest is asked of the few it finds.
_AFTER_AN_OPENING: Final = (
    rf"(?:[\[({{\\]{{0,3}}+[ \t]?(?P<sign>[.@/]|{DOT * 3}|:(?://?|\\\\)?|//|(?i:dot|at)"
    rf"|(?i:{_WORDS_FOR_A_DOT}|{_WORDS_FOR_AN_AT})(?=[\])}}]\w))"
    r"[ \t]?\\?[\])}]{1,3}+|(?<=[^\W_].)[\[({\\]{0,3}(?P<half>\.)(?=[^\W_]|[\[({])"
    r"|(?<!\\)[dD](?P<zero>0)[tT][\])}](?=[\w&/.]))"
)
_BRACKETED: Final = tuple((opening, re.compile(re.escape(opening) + _AFTER_AN_OPENING)) for opening in "[({\\")
# Who parts a text into sentences breaks `gale-post[.]com` behind the full stop that he sees in it.
_BROKEN_DOT: Final = re.compile(r"\[\.\n\](?<=\w\[\.\n\])(?=\w)")
_ESCAPED_DOT: Final = re.compile(r"\\\.(?<=[^\W_]\\\.)(?=[^\W_]|[\[({])")
_HALF_CLOSED: Final = re.compile(r"\.[\])}](?=[a-z0-9]{2}|[0-9])")
_ANGLED: Final = re.compile(r"<(?P<sign>dot|DOT|\.|at|AT|@)>(?=[\w&/.])")
_ENTITY: Final = re.compile(r"&(?P<sign>#(?:46|47|58|64|x2[eEfF]|x3[aA]|x40)|period|commat|colon|sol);(?=[\w&/.])")
_OF_ENTITY: Final = {
    "#46": DOT, "#x2e": DOT, "period": DOT, "#47": SLASH, "#x2f": SLASH, "sol": SLASH,
    "#58": COLON, "#x3a": COLON, "colon": COLON, "#64": AT, "#x40": AT, "commat": AT,
}  # fmt: skip
_WIDE_SIGNS: Final = ("\uff0f", "\uff0e", "\u2024", "\uff1a", "\uff20")
_WIDE_DOT: Final = re.compile(r"[\uff0e\u2024](?a:(?<=[\w-].)(?=\w))")
_WIDE_SLASH: Final = re.compile(rf"\uff0f(?a:(?<=[\w:/\uff0f{COLON}].)(?=[\w/\uff0f]))")
_WIDE_AT: Final = re.compile(r"\uff20(?a:(?<=[\w-].)(?=[\w-]))")
_WIDE_COLON: Final = re.compile(r"\uff1a(?=//|\uff0f)")
# `h\u0445\u0445p`: letters of Cyrillic script in a scheme look like those that stand for them.
_CYRILLIC_SCHEMES: Final = ("h\u0445", "h\u0442", "xx\u0440", "tt\u0440")
_CYRILLIC_SCHEME: Final = re.compile(rf"h[tx\u0442\u0445]{{2}}[p\u0440][s\u0455]?(?=:|{SEPARATOR}|{COLON})")
_AS_LATIN: Final = str.maketrans("\u0442\u0445\u0440\u0455", "txps")
_ODD_SCHEME: Final = re.compile(r"//(?:(?<=[ps]//)|(?<=\]://))")
_WITHOUT_COLON: Final = re.compile(rf"(?<![A-Za-z0-9])(h(?:xx|XX)ps?)//(?=[\w\[{DOT}])")
_BRACKETED_SCHEME: Final = re.compile(r"(?i)(\[h(?:tt|xx)ps?)\]://")
_SLASHES_OF_JSON: Final = re.compile(r"\\/\\/(?<=:\\/\\/)")
_BRACKETED_HOST: Final = re.compile(r"//\[(?<=://\[)([\w-]{1,63}+(?>(?:\.[\w-]{1,63}+){1,9}))\]")
_LABEL: Final = r"[A-Za-z0-9-]{1,63}+"
# What follows a dot with a blank at both sides, to the end of the name.
_REST: Final = rf"{_LABEL}(?>(?:(?: (?:{DOT}{{3}}|dot|_dot_) |\.|{DOT}++){_LABEL}){{0,4}})(?![A-Za-z0-9])"
_NUMBERS: Final = re.compile(r"[0-9]{1,3}(?:[^A-Za-z0-9]{1,5}(?:dot )?[0-9]{1,3}){0,2}")
_AFTER_A_NAME: Final = re.compile(rf" AT (?=[\w-]{{1,63}}+(?:\.|{DOT}))")
_STEP_OF_A_PATH: Final = re.compile(r"\\[A-Za-z0-9]")
# Of the name of a file in the path of a URL.
_LONGEST_ENDING: Final = 5
_DOT_BESIDE_A_BLANK: Final = re.compile(rf"{DOT * 3}(?: |(?<= {DOT * 3}))")
_DOT_AFTER_A_BLANK: Final = re.compile(rf" {DOT}++(?:(?<={DOT}{DOT}{DOT}{DOT}) )?(?=\w)")
_AT_AFTER_A_BLANK: Final = re.compile(rf" {AT}++ ?(?=\w)")
_HANDLE: Final = re.compile(rf" @ ?(?=[\w-]{{1,63}}+{DOT})")
_WIDE_IN_A_MAILBOX: Final = re.compile(rf" {DOT}{{3}} (?=[a-z]{{2}})")
_WIDE_IN_A_NAME: Final = re.compile(rf" {DOT}{{3}} (?=(?P<rest>{_REST}))")
_BEFORE_A_BLANK: Final = re.compile(rf"{DOT} (?=[a-z]{{2}})")
_IN_CAPITALS: Final = re.compile(r"T(?:(?<= AT) |(?<=[ /]DOT)[ /])")
_SPOKEN_DOT_IN_CAPITALS: Final = re.compile(r" DOT (?=[a-zA-Z]{2,24}\b)")
_SPOKEN_DOT: Final = re.compile(rf" (?:dot|_dot_) (?=(?P<rest>{_REST}))")
_OF_A_LABEL: Final = f"{ascii_letters}{digits}-"
_LONGEST_LABEL: Final = 63
# Names end so, and so do sentences that speak of dots.
_EVERYDAY_TOPS: Final = frozenset(_SPOKEN["prose"]["behind_a_dot"].split())
_BEFORE_A_DOT_OF_PROSE: Final = frozenset(_SPOKEN["prose"]["before_a_dot"].split())
_SPOKEN_AT: Final = re.compile(rf" (?:at|AT) (?=[\w-]{{1,63}}+{DOT}{{5}})")
# `evil-post punto example`: without brackets only beside a name that is no word of a sentence.
_SPOKEN_ABROAD: Final = tuple(
    (f" {word} ", re.compile(rf" {word} (?=(?P<rest>{_REST}))")) for word in f"{_WORDS_FOR_A_DOT}".split("|")
)
# `45.76.222\u30c9\u30c3\u30c8130`: in scripts that write no blanks around it.
_GLUED: Final = tuple(
    (word, re.compile(rf"{word}(?=(?P<rest>[0-9]{{1,3}}(?!\.?[A-Za-z0-9])))"))
    for word in _WORDS_FOR_A_DOT.split("|")
    if not word.isascii()
)
_AT_ABROAD: Final = tuple(
    (f" {word} ", re.compile(rf" {word} (?=[\w-]{{1,63}}+{DOT}{{4}})")) for word in _WORDS_FOR_AN_AT.split("|")
)
_SLASHED: Final = re.compile(r"/(?P<sign>AT|DOT)/(?=\w)")

_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True)
class PlainText:
    """`text` with marks as private characters; `removed` are the places where others were cut out."""

    text: str
    removed: Sequence[int] = ()

    def original(self, position: int) -> int:
        """Return where the character at `position` stands in the original text."""
        return position + bisect_right(self.removed, position) if self.removed else position

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of the characters `start:end`."""
        return start + bisect_right(self.removed, start), end + bisect_right(self.removed, end - 1)

    def spans(self, places: list[tuple[int, int, _Of]]) -> list[tuple[int, int, _Of]]:
        """Return the original spans of many, each with what it is the place of."""
        removed = self.removed
        if not removed:
            return places
        return [
            (start + bisect_right(removed, start), end + bisect_right(removed, end - 1), of)
            for start, end, of in places
        ]


def without_marks(piece: str) -> str:
    """Return a piece of a `PlainText` written plainly."""
    plain = piece.replace(COLON * 3, ":")
    plain = plain if DOT * 4 in plain else plain.replace(DOT * 3, ".")
    return plain if plain.isascii() else _MARK_RUN.sub(lambda run: _PLAIN[run[1]], plain)


def plain_text(original: str) -> PlainText:
    """Return `original` with its defanging made visible; linear in its length."""
    text = _FOREIGN_MARK.sub("\ufffd", original) if any(mark in original for mark in MARKS) else original
    removed: Sequence[int] = ()
    text = _with_cuts(_in_stretches(text, in_usual_signs))
    if invisible := list(filter(text.__contains__, INVISIBLE)):
        text, removed = _without(text, invisible)
    return PlainText(_in_stretches(text, _with_marks), removed)


def _in_stretches(text: str, written: Callable[[str], str]) -> str:
    """Return a text written anew stretch by stretch: what one of them has costs the others nothing."""
    return "".join(map(written, _stretches(text))) if len(text) > STRETCH else written(text)


def _stretches(text: str) -> Iterator[str]:
    """Yield a text in stretches that end in a blank line: every step copies no more than one of them."""
    start = 0
    while start < len(text):
        end = text.find("\n\n", start + STRETCH) + 1 or len(text)
        yield text[start:end]
        start = end


def _with_marks(text: str) -> str:
    text = _BROKEN_DOT.sub(DOT * 4, text.replace("[.]", DOT * 3))
    if "\\." in text:
        text = _ESCAPED_DOT.sub(_escaped_dot if _STEP_OF_A_PATH.search(text) else DOT * 2, text)
    text = _replaced(text, _marks_in(text), _marked)
    text = _rarely_written(text)
    text = _HALF_CLOSED.sub(_half_closed, text)
    capitals = _IN_CAPITALS.search(text) is not None
    return _spoken_plainly(_joined_over_blanks(text, capitals), capitals)


def _with_cuts(text: str) -> str:
    """Return `text` with something invisible for each character that keeps the parts of a URL apart."""
    if _SLASHES_OF_JSON.search(text):
        text = text.replace("\\/", f"{CUT}/")
    return _BRACKETED_HOST.sub(rf"//{CUT}\1{CUT}", text)


def _without(text: str, characters: Iterable[str]) -> tuple[str, array[int]]:
    """Return `text` without the `characters`, and the places where one was."""
    for character in characters:
        text = text.replace(character, CUT)
    pieces = text.split(CUT)
    return "".join(pieces), array("Q", accumulate(map(len, pieces[:-1])))


def places_of(text: str, sought: str) -> Iterator[int]:
    """Yield where each `sought` begins."""
    place = text.find(sought)
    while place >= 0:
        yield place
        place = text.find(sought, place + 1)


def _replaced(text: str, matches: Iterable[re.Match[str]], written: Callable[[re.Match[str]], str]) -> str:
    """Return `text` with each match replaced; of two that overlap, the first one counts."""
    pieces: list[str] = []
    position = 0
    for match in matches:
        start, end = match.span()
        if start >= position:
            pieces += (text[position:start], written(match))
            position = end
    return "".join([*pieces, text[position:]]) if pieces else text


def _matches(text: str, sign: str, pattern: re.Pattern[str], ahead: int = 0) -> Iterator[re.Match[str]]:
    """Yield where `pattern` matches that has the `sign` after `ahead` characters.

    A plain search is what runs fastest where a sign is rare, and the engine's own where it stands everywhere.
    """
    for count, place in enumerate(places_of(text, sign)):
        if count == MOST_TRIED:
            yield from pattern.finditer(text, max(0, place - ahead))
            break
        if place >= ahead and (match := pattern.match(text, place - ahead)):
            yield match


def _marks_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the bracketed marks in order of appearance; some may overlap."""
    return merge(*(_matches(text, opening, mark) for opening, mark in _BRACKETED), key=re.Match.start)


def _rarely_written(text: str) -> str:
    """Replace the ways to defang that few people use."""
    text = _replaced(text, _matches(text, "<", _ANGLED), _angled)
    text = _replaced(text, _matches(text, "&", _ENTITY), _entity)
    if any(sign in text for sign in _WIDE_SIGNS):
        text = _WIDE_COLON.sub(COLON, _WIDE_DOT.sub(DOT, text))
        text = _WIDE_AT.sub(AT, _WIDE_SLASH.sub(SLASH, text))
    if any(scheme in text for scheme in _CYRILLIC_SCHEMES):
        text = _CYRILLIC_SCHEME.sub(lambda scheme: scheme[0].translate(_AS_LATIN), text)
    if _ODD_SCHEME.search(text):
        text = _replaced(text, _matches(text, "p//", _WITHOUT_COLON, ahead=3), _scheme)
        text = _replaced(text, _matches(text, "ps//", _WITHOUT_COLON, ahead=3), _scheme)
        text = _replaced(text, _matches(text, "[", _BRACKETED_SCHEME), _scheme)
    return text


def _angled(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return _SIGNS[match["sign"].lower()] * len(match[0]) if before.isalnum() else match[0]


def _entity(match: re.Match[str]) -> str:
    return _OF_ENTITY[match["sign"].lower()] * len(match[0])


def _scheme(match: re.Match[str]) -> str:
    return match[1] + SEPARATOR * (len(match[0]) - len(match[1]))


def _spoken_plainly(text: str, capitals: bool) -> str:
    """Replace spoken dots, and then a spoken `at` too; without a spoken dot, `at` is a word of the sentence."""
    spoken = _replaced(text, _matches(text, " DOT ", _SPOKEN_DOT_IN_CAPITALS), _spoken_dot) if capitals else text
    spoken = _replaced(spoken, _matches(spoken, " dot ", _SPOKEN_DOT), _spoken_between_words)
    spoken = _replaced(spoken, _matches(spoken, " _dot_ ", _SPOKEN_DOT), _spoken_between_words)
    for sign, pattern in _SPOKEN_ABROAD:
        if sign in spoken:
            spoken = _replaced(spoken, _matches(spoken, sign, pattern), _spoken_abroad)
    if not text.isascii():
        for sign, pattern in _GLUED:
            if sign in spoken:
                spoken = _replaced(spoken, _matches(spoken, sign, pattern), _spoken_in_an_address)
        if FULL_STOP in spoken:
            spoken = with_dots(spoken, DOT, _EVERYDAY_TOPS)
    if spoken is not text:
        for sign, pattern in _AT_ABROAD:
            spoken = _replaced(spoken, _matches(spoken, sign, pattern), _spoken_at_abroad)
        spoken = _replaced(spoken, _matches(spoken, " at ", _SPOKEN_AT), _spoken_at)
        spoken = _replaced(spoken, _matches(spoken, " AT ", _SPOKEN_AT), _spoken_at)
    return _SLASHED.sub(_spoken, spoken) if capitals and "/DOT/" in spoken else spoken


def _spoken_dot(match: re.Match[str]) -> str:
    return DOT * len(match[0])


def _spoken_between_words(match: re.Match[str]) -> str:
    """`evil dot shop`, and no `polka dot design`."""
    before = _word_before(match)
    if not before or before.lower() in _BEFORE_A_DOT_OF_PROSE or not _ends_a_name(before, match["rest"]):
        return match[0]
    return DOT * len(match[0])


def _spoken_abroad(match: re.Match[str]) -> str:
    """`evil-post punto shop`, and no `un punto in comune`."""
    before = _word_before(match)
    is_a_name = "-" in before.strip("-") or (any(map(str.isdigit, before)) and not before.isdigit())
    return DOT * len(match[0]) if is_a_name and _ends_a_name(before, match["rest"]) else match[0]


def _spoken_in_an_address(match: re.Match[str]) -> str:
    """`45.76.222` and a spoken dot, and no number of a sentence."""
    before = _word_before(match)
    at = match.start() - len(before) - 1
    is_of_one = before.isdigit() and at >= 0 and match.string[at] in (".", DOT)
    return DOT * len(match[0]) if is_of_one else match[0]


def _word_before(match: re.Match[str]) -> str:
    """Return the label that stands right before a match, or nothing where it is too long or the end of `don't`."""
    piece = match.string[max(0, match.start() - _LONGEST_LABEL - 1) : match.start()]
    lead = piece.rstrip(_OF_A_LABEL)
    label = piece[len(lead) :]
    return "" if len(label) > _LONGEST_LABEL or lead[-1:] in ("'", "\u2019") else label


def _ends_a_name(label: str, rest: str) -> bool:
    """Tell whether what follows a spaced dot after `label` ends as names or addresses do."""
    if rest[0].isdigit() and label.isdigit() and _NUMBERS.fullmatch(rest):
        return True
    top = rest[len(rest.rstrip(_OF_A_LABEL)) :]
    if not top.islower() or not is_top_level(top):
        return False
    # A word of everyday speech ends a name only where the rest of it can be nothing else.
    return top not in _EVERYDAY_TOPS or top != rest or "-" in label or any(map(str.isdigit, label))


def _spoken_at(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return AT * len(match[0]) if before.isalnum() or (before and before in "-_") else match[0]


def _spoken_at_abroad(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return AT * len(match[0]) if before.isalnum() else match[0]


def _spoken(match: re.Match[str]) -> str:
    return _SIGNS[match["sign"].lower()] * len(match[0])


def _joined_over_blanks(text: str, capitals: bool) -> str:
    if DOT in text:
        if _DOT_BESIDE_A_BLANK.search(text):
            text = _replaced(text, _matches(text, f" {DOT}", _DOT_AFTER_A_BLANK), _joined)
            text = _replaced(text, _matches(text, f" {DOT * 3} ", _WIDE_IN_A_MAILBOX), _joined_in_a_mailbox)
            text = _replaced(text, _matches(text, f" {DOT * 3} ", _WIDE_IN_A_NAME), _joined_in_a_name)
            text = _replaced(text, _matches(text, f"{DOT} ", _BEFORE_A_BLANK), _joined_on_the_left)
        text = _replaced(text, _matches(text, "@", _HANDLE, ahead=1), _joined)
    if capitals:
        text = _replaced(text, _matches(text, " AT ", _AFTER_A_NAME), _at_after_a_name)
    return _replaced(text, _matches(text, AT, _AT_AFTER_A_BLANK, ahead=1), _joined)


def _at_after_a_name(match: re.Match[str]) -> str:
    """`drop AT evil.example`; a whole line in capitals speaks of a place."""
    before = match.string[match.start() - 1 : match.start()]
    return AT * len(match[0]) if before.islower() or before.isdigit() else match[0]


def _joined(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    sign = DOT if DOT in match[0] else AT
    return sign * len(match[0]) if before.isalnum() else match[0]


def _joined_in_a_mailbox(match: re.Match[str]) -> str:
    lead, _, name = match.string[max(0, match.start() - 64) : match.start()].rpartition(" ")
    return DOT * 5 if "@" in name or AT in name or lead[-1:] in ("@", AT) else match[0]


def _joined_in_a_name(match: re.Match[str]) -> str:
    """`45 [.] 77`, `update [.] evil [.] club`, `/index [.] html`; a number ends no sentence that a number begins."""
    before = _word_before(match)
    if not before:
        return match[0]
    rest = match["rest"]
    at = match.start() - len(before) - 1
    if at >= 0 and match.string[at] == "/" and rest.isalnum() and len(rest) <= _LONGEST_ENDING:
        return DOT * 5
    joins = before.isdigit() if rest[0].isdigit() else _ends_a_name(before, rest)
    return DOT * 5 if joins or (rest[0].isdigit() and _ends_a_name(before, rest)) else match[0]


def _joined_on_the_left(match: re.Match[str]) -> str:
    run = match.start()
    while match.string[run - 1] == DOT:
        run -= 1
    return DOT * 2 if match.string[run - 1].isalnum() else match[0]


def _half_closed(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    return DOT * 2 if before.isalnum() else match[0]


def _escaped_dot(match: re.Match[str]) -> str:
    return match[0] if _in_a_path(match.string, match.start()) else DOT * 2


def _marked(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    if match.lastgroup == "half":
        return match[0] if match[0] == "\\." else DOT * (end - start)
    if match.lastgroup == "zero":
        return DOT * (end - start)
    before, after = text[start - 1 : start], text[end : end + 1]
    sign = match["sign"]
    mark = _SIGNS.get(sign) or _SIGNS.get(sign.lower())
    if mark is None:
        return SEPARATOR * (end - start) if sign != "//" or before == ":" else match[0]
    if before.isspace() or after.isspace() or not before or not after:
        return _marked_beside_a_blank(match, sign, mark, before, after)
    return mark * (end - start)


def _in_a_path(text: str, position: int) -> bool:
    r"""Tell whether other backslashes before one part a path: `HKLM\Software\Microsoft\.NET`."""
    first = max(0, position - 64)
    if _STEP_OF_A_PATH.search(text, first, position) is None:
        return False
    return _STEP_OF_A_PATH.search(text[first:position].split()[-1]) is not None


def _marked_beside_a_blank(match: re.Match[str], sign: str, mark: str, before: str, after: str) -> str:
    """Signs with a blank at one side join what they part; with blanks at both, only words do."""
    length = match.end() - match.start()
    if mark is COLON and before in ("]", ")", "}"):
        return mark * length  # `2001[:]db8[:][:]`
    if (
        not before
        or not after
        or sign in ":/"
        or (sign == "." and before.isspace() and after.isspace() and length != 3)
    ):
        return match[0]
    return mark * length
