"""Find names that are written as any word beside a kind of malware: `the Quillon backdoor`, `троян Снегирь`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import Places, start_of_word
from ingest.indicators.plain_words import is_plain_word
from ingest.indicators.vocabulary import pieces, table, words_pattern

_ROOTS: Final = tuple(chain.from_iterable(roots.split("|") for roots in table("plain", "roots").values()))
# Names in letters that have no capitals, which stand whole in a list of their own.
_KNOWN: Final = tuple(chain.from_iterable(names.split("|") for names in table("plain", "known").values()))
PIECES: Final = (*_ROOTS, *_KNOWN)
_NAME: Final = r"(?P<name>[A-Z](?=[A-Za-z0-9]?[a-z0-9]*[a-zà-öø-ÿ]{2}|[A-Z0-9]{5})[A-Za-z0-9à-öø-ÿ]{2,23})(?!-)"
_ENGLISH: Final = pieces("plain", "kinds")
_ABROAD: Final = pieces("plain", "kinds_abroad")
# `the Quillon backdoor`.
_THE_NAME: Final = re.compile(
    rf"(?:\A|[\s(\"'\u201c])(?:{pieces('plain', 'before')}) [\"'*_`\u201c]{{0,3}}{_NAME}[\"'*_`\u201d]{{0,3}} "
    rf"(?:(?:{pieces('plain', 'made_for')}) )?\Z"
)
_KIND: Final = late(rf"(?:{_ENGLISH})\b(?!-)(?! (?:{pieces('plain', 'events')}))", re.IGNORECASE)
# `(Hollowtree loader)`, `| Marlin backdoor`, `#Fernwhip ransomware`: at the edge of what it stands in.
_AT_AN_EDGE: Final = late(rf"(?:\A|#(?=\w)|[|(/\t]|[\w`] [\u2013\u2014-] )[ ]?[*_`\"]{{0,3}}{_NAME}[*_`\"]{{0,3}} \Z")
_AS_ADJECTIVES_END: Final = late(r"(?:ed|ing|ive|ary|al|able|ible|ate|ous|ic|ful|less|er|or|ly|ion|ment|ty)\Z")
# `SILKSPOOL, a dropper that`.
_AND_WHAT_IT_IS: Final = late(
    rf"(?:\A|[\s(]){_NAME}[*_`\"]{{0,3}}(?: \([^()]{{2,30}}\))?,"
    r" (?:an?|une?|un[ao]?|eine?n?) (?:[\w-]{2,14} ){0,3}\Z"
)
_GOES_ON: Final = late(r"[,.;)\n]|\Z| (?:that|which|used|written|sold|with|for|on|by|in|qui|que|che|der|die|das)\b")
# `Sosano后门`, `勒索软件CACTUS`, `名为 SnowReed 的新型后门`: names in Latin letters, amid others.
_LATIN: Final = (
    r"(?P<name>[A-Z](?=[A-Za-z0-9]*[a-z]{2}|[A-Z0-9]{4})[A-Za-z0-9-]{3,22}(?: [A-Z][a-z][A-Za-z0-9]{1,16})?)"
)
_LATIN_AND_KIND: Final = late(
    rf"(?<![\w@./\\#-])(?<![A-Za-z] ){_LATIN}[*”」)\]]{{0,3}} ?(?:的|という|라는)? ?"
    rf"(?:{pieces('plain', 'said_of_kinds')})? ?\Z",
    re.ASCII,
)
_KIND_AND_LATIN: Final = late(
    rf"(?:{pieces('plain', 'kinds_beside')})(?:家族|的|の|인)?[ :：*“「\"']{{0,3}}{_LATIN}(?![\w@./\\-]| [A-Z])",
    re.ASCII,
)
_KIND_IN_ENGLISH: Final = late(rf"(?:{_ENGLISH})", re.IGNORECASE)
# `Ashvale (ransomware)`.
_NAME_AND_BRACKET: Final = late(rf"(?:\A|[\s(,;:]){_NAME}[*_`\"']{{0,3}} \((?:an? |the )?(?:[a-z]+ )?\Z")
_KIND_AND_BRACKET: Final = late(rf"(?:{_ENGLISH}|{_ABROAD})\)", re.IGNORECASE)
# `a wiper dubbed Blotter`, `the loader is Glimmerkit`, `track the malware as Sandgrouse`.
_AND_NAMED: Final = late(
    rf"(?:,? (?!(?i:{pieces('coining', 'plain_others')})\b)"
    rf"[a-z][\w\u2019'-]{{0,14}}){{0,6}}?,? (?:(?i:{words_pattern('malware', 'naming')}))"
    rf" [\"'*_`\u201c\u201e\u00ab]{{0,3}} ?{_NAME}(?![\w@/\\-]|\.\w| [A-Z])"
)
_IS_NAMED: Final = late(rf" (?:is|was|as) {_NAME}(?=[,;.] |[,;.]?\n|[,;.]?\Z)")
# `le cheval de Troie Brumaire`, `Ransomware Krwawnik szyfruje`: not `Ransomware Protection` in English.
_ARTICLE_ABROAD: Final = late(rf"(?i:(?:\A|[\s\"'(\u201c])(?:{words_pattern('plain', 'articles')})\s\Z)")
_LETTER_ABROAD: Final = late(r"[\u00c0-\u024f\u0400-\u04ff]")
_GOES_ON_SMALL: Final = late(r"[\"'*_`\u201d\u00bb]{0,3} ?(?:[(,.;:]|[^\W\dA-Z])")
_OF_GERMAN: Final = late(r"(?i:\b(?:d(?:er|ie|as|en|em|es)|eine?[rnms]?|vom|zum) )\Z")
_KIND_ABROAD: Final = late(
    rf"(?i:{_ABROAD})(?: (?:banc[aá]ri[oa]|bancaire|bankow\w+|Android|Linux|Windows))?"
    rf" [\"'*_`\u201c\u201e\u00ab]{{0,3}} ?{_NAME}(?![\w@/\\-]|\.\w| [A-Z])"
)
# `Le code malveillant, baptisé Grenouille`.
_KIND_NAMED_ABROAD: Final = late(
    rf"(?i:{_ABROAD}),?(?: (?!(?i:{pieces('coining', 'plain_others')})\b)[a-zà-ÿ’'-]{{1,14}}){{0,3}}"
    rf" (?i:{words_pattern('malware', 'naming')})"
    rf" [\"'*_`“„«]{{0,3}} ?{_NAME}(?![\w@/\\-]|\.\w)"
)
_KIND_IN_RUSSIAN: Final = late(
    rf"(?i:{pieces('plain', 'kinds_in_russian')})"
    r" [\"\u00ab]?(?P<name>(?<=[\"\u00ab])[А-ЯЁ][А-ЯЁа-яё-]{2,20}(?=[\"\u00bb])|[А-ЯЁ][а-яё]{3,20})(?![\w-]| [А-ЯЁ])"
)
# `Poyraz adlı zararlı yazılım`, `Karakulak fidye yazılımı`.
_KIND_IN_TURKISH: Final = late(r"(?i:zararlı|fidye yazılım|kötü amaçlı|truva at)")
_NAMED_IN_TURKISH: Final = late(rf"(?:\A|[\s\"'“]){_NAME}[\"'”]? (?:(?:adlı|isimli) (?:\w+ )?\Z|\Z)")
# `マルウェア「X」`, `“黑潮”勒索软件`, `'몽구스' 랜섬웨어`.
_IN_QUOTES: Final = (
    r"[\"'\u2018\u201c\u300c\u300e\u300a](?P<name>[A-Z][A-Za-z0-9-]{2,20}|[\u3040-\u9fff\uac00-\ud7a3]{2,8})"
    r"[\"'\u2019\u201d\u300d\u300f\u300b]"
)
_KIND_AND_QUOTED: Final = re.compile(
    rf"(?:{pieces('plain', 'kinds_beside')})(?:家族|的|の|인|变种)?"
    rf"(?:[^。，\n]{{0,4}}(?P<named>命名为|名为|叫做|称为|取名为))?{_IN_QUOTES}"
)
_QUOTED_AND_KIND: Final = late(rf"{_IN_QUOTES} ?(?:(?:と呼ばれる|という|远控|新型|家族|银行|手机|라는|이라는) ?)?\Z")
_HAN_ONLY: Final = late(r"[\u3400-\u9fff]+")
_NOT_QUOTED: Final = late(pieces("plain", "not_quoted"))
_ACTORS_BEHIND: Final = late("|".join(table("plain", "actors").values()))
# `# Nimbuspaw Stealer v2`, `Inside Hellodoor: a backdoor`, `httpMalice \u2014 analysis of a modular implant`.
_TITLE_NAME: Final = r"(?P<name>[A-Za-z0-9][A-Za-z0-9_-]{2,24})"
_TITLE: Final = late(
    rf"[#=*\s]{{0,8}}(?:(?:{pieces('plain', 'titles')})"
    rf" {_TITLE_NAME}"
    rf"|{_TITLE_NAME.replace('name', 'first')}(?= ?[:\u2013\u2014]| - | (?i:{_ENGLISH})\b))(?P<rest>[^\n]{{0,120}})"
)
_KIND_IN_TITLE: Final = late(rf"(?i)\b(?:{_ENGLISH})\b")
_TITLE_AT: Final = late(r"(?:\A|\n)(?:Title: |title: \"?)?(?=[#=*]|[^\n]{4,120}\n)")
_IS_MADE_UP: Final = late(r"(?=\S*[A-Za-z])(?:\S*[a-z0-9][A-Z]\S*|\S*[A-Za-z][0-9]\S*[A-Za-z]\S*)")
# `SOC104`, `INC-2231`: the number of a case.
_OF_A_CASE: Final = late(r"[A-Z]{2,8}[-_]?[0-9]{2,6}")
_REACH: Final = 70
_MOST: Final = 2_000
_LONGEST_HEAD: Final = 400


def plain_names(text: str, places: Places) -> Iterator[tuple[str, int]]:
    """Yield the names beside kinds of malware that are written as other words are, and how often each must stand there.

    `places`: where the `PIECES` stand.
    """
    yield from _names_of_title(text)
    for root in _ROOTS:
        for place in places.get(root, ())[:_MOST]:
            found = _name_beside(text, start_of_word(text, place))
            if found[0] and not is_plain_word(found[0]):
                yield found
    for name in _KNOWN:
        if any(not _ACTORS_BEHIND.match(text, place + len(name)) for place in places.get(name, ())[:_MOST]):
            yield name, 1


def _name_beside(text: str, start: int) -> tuple[str, int]:
    """Return the name before or behind the kind of malware that begins at `start`, and how often it must stand."""
    first = max(0, start - _REACH)
    before = text[text.rfind("\n", first, start) + 1 or first : start]
    end = start + _REACH
    if _holds_no_capital(before) and _holds_no_capital(text[start:end]):
        return "", 1
    if _KIND_AND_BRACKET.match(text, start, end) and (found := _NAME_AND_BRACKET.search(before)):
        return found["name"], 1
    if kind := _KIND.match(text, start, end):
        if found := _AND_NAMED.match(text, kind.end(), end) or _IS_NAMED.match(text, kind.end(), end):
            return found["name"], 1
        is_apart = before[-1:] == " "
        if is_apart and (found := _THE_NAME.search(before) or _AND_WHAT_IT_IS.search(before)):
            is_sure = found.re is _THE_NAME or _GOES_ON.match(text, kind.end(), end)
            return found["name"] if is_sure else "", 2 if kind[0][0].isupper() else 1
        found = _AT_AN_EDGE.search(before) if is_apart and kind[0].lower() != "malware" else None
        if found and not _AS_ADJECTIVES_END.search(found["name"]):
            begins_the_line = not before[: found.start("name")].strip(' *_`"')
            return found["name"], 2 if kind[0][0].isupper() or begins_the_line else 1
    return _name_abroad(text, start, end, before) or _name_in_quotes(text, start, end, before)


def _holds_no_capital(piece: str) -> bool:
    """Tell whether there is nothing in a piece of text with which a name begins."""
    return piece.isascii() and piece == piece.lower()


def _name_in_quotes(text: str, start: int, end: int, before: str) -> tuple[str, int]:
    """Return the name in quotes, or in Latin letters amid others."""
    found = _KIND_AND_LATIN.match(text, start, end)
    if found is None and text[start] > "\u3000":
        found = _LATIN_AND_KIND.search(before)
    found = found or _KIND_AND_QUOTED.match(text, start, end) or _QUOTED_AND_KIND.search(before)
    if found is None or _NOT_QUOTED.search(found["name"]):
        return "", 1
    in_chinese = _HAN_ONLY.fullmatch(found["name"]) and found.string[found.start("name") - 1] not in "\u300c\u300e"
    is_sure = found.re is _KIND_AND_QUOTED and found["named"] is not None
    return found["name"], 2 if in_chinese and not is_sure else 1


def _name_abroad(text: str, start: int, end: int, before: str) -> tuple[str, int] | None:
    """Return the name behind or before a kind in another language."""
    if found := _KIND_IN_RUSSIAN.match(text, start, end) or _KIND_NAMED_ABROAD.match(text, start, end):
        return found["name"], 1
    if _KIND_IN_TURKISH.match(text, start, end) and (found := _NAMED_IN_TURKISH.search(before)):
        return found["name"], 1
    found = _KIND_ABROAD.match(text, start, end)
    return _name_behind(text, found, before) if found else None


def _name_behind(text: str, found: re.Match[str], before: str) -> tuple[str, int]:
    """Return the name behind a kind that English has as well, if the words around are of another language."""
    if _ARTICLE_ABROAD.search(before) or not _KIND_IN_ENGLISH.match(text, found.start()):
        return found["name"], 2 if _OF_GERMAN.search(before) else 1
    goes_on = _GOES_ON_SMALL.match(text, found.end())
    line_end = text.find("\n", found.end(), found.end() + _REACH)
    end = line_end if line_end >= 0 else found.end() + _REACH
    in_another = _LETTER_ABROAD.search(before) or _LETTER_ABROAD.search(text, found.end(), end)
    return (found["name"], 1) if goes_on and in_another else ("", 1)


def _names_of_title(text: str) -> Iterator[tuple[str, int]]:
    """Yield what the title, or the first headings, name a kind of malware."""
    for at in _TITLE_AT.finditer(text, 0, _LONGEST_HEAD):
        title = _TITLE.match(text, at.end(), at.end() + 160)
        if title is None:
            continue
        name = title["name"] or title["first"]
        if _KIND_IN_TITLE.search(title["rest"]) is None or any(map(is_plain_word, name.split("-"))):
            continue
        if not _OF_A_CASE.fullmatch(name) and (_IS_MADE_UP.fullmatch(name) or name[0].isupper()):
            yield name, 1 if _IS_MADE_UP.fullmatch(name) else 2
