"""Find the name that a text's authors say they give to malware, in any of the languages: `Nous l'appelons Corbeau`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final

from ingest.indicators.kinds_beside import is_written_otherwise
from ingest.indicators.late import late
from ingest.indicators.piece_search import Places
from ingest.indicators.plain_words import OF_HEADINGS
from ingest.indicators.vocabulary import pieces, table
from intel.refanging import places_of

_BY_LANGUAGE: Final = {language: roots.split("|") for language, roots in table("coining", "before").items()}
_ROOTS: Final = tuple(chain.from_iterable(_BY_LANGUAGE.values()))
# The others are not written without a letter beyond ASCII for long.
_ROOTS_OF_ASCII: Final = (*_BY_LANGUAGE["en"], *_BY_LANGUAGE["it"])
_BEHIND: Final = tuple(chain.from_iterable(roots.split("|") for roots in table("coining", "behind").values()))
PIECES: Final = (*_ROOTS, *_BEHIND)
_KIND: Final = late(f"(?i:{pieces('coining', 'kinds')})")
# What others name as well: only if it is `we` who do.
_SAID_OF_OTHERS: Final = frozenset({" nennen", " noemen", " bezeichnen"})
# People and what they do get names as well.
_OTHER: Final = late(f"(?i:{pieces('coining', 'others')})")
_CAPITAL: Final = r"[^\W\d_a-zà-öø-ÿа-яё]"
_NAME: Final = rf"(?P<name>{_CAPITAL}[^\W\d_][\w-]{{1,23}}[^\W_](?: {_CAPITAL}[\w-]{{2,16}})?)"
# `the group behind the malware`: it is the group that gets the name.
_WITH: Final = late(
    r"[^.!?]{0,20} (?:behind|using|us(?:es|ed)|deploy\w*|operat\w*|of|with|hinter|derrière|detrás|dietro|за)"
    r" [^.!?]{0,12}"
)
_QUOTES: Final = "[\"'`*_\\[\\u201c\\u201e\\u2018\\u00ab\\u00bb\\u300c ]"
_CLOSING: Final = "[\"'`*_\\]\\u201d\\u201c\\u2019\\u00bb\\u00ab\\u300d ]"
# What ends the name: a sign, the end, or what explains it.
_ENDS: Final = (
    rf"(?={_CLOSING}{{0,3}}(?:[.,;:()\u2013\u2014\n]|\Z|-\s)|{_CLOSING}{{1,3}}(?:{pieces('coining', 'reasons')})\b"
    r"|[\u3040-\u30ff\u3400-\u9fff])"
)
_STEP: Final = r"(?!(?:that|because|when|if)\b)"
_GIVEN: Final = late(
    rf"(?P<gap>\w{{0,6}}(?: {_STEP}(?!{_CAPITAL})[\w\u2019'-]{{1,24}}){{0,6}}?){_QUOTES}{{1,4}}{_NAME}{_ENDS}"
)
# `Wir nennen die Schadsoftware Nebelkrähe`: behind a noun.
_GIVEN_A_NOUN: Final = late(
    rf"(?P<gap>\w{{0,6}}(?: {_STEP}[\w\u2019'-]{{1,24}}){{1,6}}?){_QUOTES}{{1,4}}{_NAME}{_ENDS}"
)
_GIVEN_BEFORE: Final = late(rf"{_QUOTES}{_NAME}{_CLOSING}{{0,4}}\Z")
_TITLE: Final = late(
    r"(?:\A|\n)[#=*\s]{0,8}[\"\u201c\u201e\u00ab]?(?P<name>[^\W\d_a-zа-яё][^\W\d_A-Z][\w]{2,23})"
    r"[\"\u201d\u201c\u00bb]?(?:[:,]| [\u2013\u2014-]) (?P<rest>[^\n]{4,80})"
)
_ARTICLE: Final = late(r"(?i)\b(?:der|die|das|den|dem|des|eine?[rnms]?|the|an?|our|this) \Z")
_WE: Final = late(r"\b(?:wir|we)\b")
_LONGEST_TITLE_AT: Final = 400
_LONGEST_WITHOUT_AN_ACCENT: Final = 1_000
_REACH: Final = 160
_REACH_AHEAD: Final = 120
_MOST: Final = 400


def names_given(text: str, places: Places) -> Iterator[str]:
    """Yield each name that the authors say they give to malware, and the one that the title explains.

    `places`: where the `PIECES` stand.
    """
    is_english = text.isascii() and len(text) > _LONGEST_WITHOUT_AN_ACCENT
    for root in _ROOTS_OF_ASCII if is_english else _ROOTS:
        yield from _names_behind(text, root, places.get(root, ()))
    for root in () if is_english else _BEHIND:
        yield from _names_before(text, root, places.get(root, ()))
    title = _TITLE.search(text, 0, _LONGEST_TITLE_AT)
    if title is None or title["name"].lower() in OF_HEADINGS or _KIND.search(title["rest"]) is None:
        return
    if _comes_in_a_sentence(text, title["name"], title.end()):
        yield title["name"]


def _names_behind(text: str, root: str, places: Sequence[int]) -> Iterator[str]:
    for place in places[:_MOST]:
        given = _given(text, place + len(root)) if _begins_a_word(text, place) else None
        if given is None:
            continue
        first, _, second = given["name"].partition(" ")
        if second and _KIND.match(first):
            yield second  # `Wir nennen die Schadsoftware Nebelkrähe`
        elif _is_of_malware(text, place, given.end(), given["gap"]):
            yield given["name"]


def _names_before(text: str, root: str, places: Sequence[int]) -> Iterator[str]:
    for place in places[:_MOST]:
        given = _GIVEN_BEFORE.search(text, max(0, place - 40), place)
        if root in _SAID_OF_OTHERS and not _WE.search(text, max(0, place - _REACH // 2), place):
            continue
        if given and _is_of_malware(text, given.start(), place, ""):
            yield given["name"]


def _given(text: str, end: int) -> re.Match[str] | None:
    """Return what is named behind a verb that ends there, with the words between."""
    if given := _GIVEN.match(text, end, end + _REACH_AHEAD):
        return given
    noun = _GIVEN_A_NOUN.match(text, end, end + _REACH_AHEAD)
    return noun if noun and _KIND.search(noun["gap"]) else None


def _begins_a_word(text: str, place: int) -> bool:
    """Tell whether at most the first letter, which may be a capital, is missing at the front of a root."""
    return not text[max(0, place - 1) : place].isalnum() or not text[max(0, place - 2) : max(0, place - 1)].isalnum()


def _is_of_malware(text: str, start: int, end: int, gap: str) -> bool:
    """Tell whether the words around a name speak of a kind of malware, and neither they nor the `gap` of a group."""
    if _OTHER.search(gap):
        return False
    if _KIND.search(gap):
        return True
    before = text[max(0, start - _REACH) : start]
    kinds, others = list(_KIND.finditer(before)), list(_OTHER.finditer(before))
    if kinds and (not others or others[-1].start() < kinds[-1].start()):
        return not others or _WITH.fullmatch(before, others[-1].end(), kinds[-1].start()) is None
    return not others and _KIND.search(text, end, end + _REACH_AHEAD // 2) is not None


def _comes_in_a_sentence(text: str, name: str, first: int) -> bool:
    """Tell whether a name stands behind a word of a sentence further down, or begins one, and never in lower case."""
    if is_written_otherwise(text, name):
        return False
    places = (place for place in islice(places_of(text, name), _MOST) if place > first)
    return any(text[place - 1] == " " and not _ARTICLE.search(text, max(0, place - 10), place) for place in places)
