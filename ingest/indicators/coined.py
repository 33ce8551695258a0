"""Find where the names stand that a text gives to malware and no list has: `a backdoor that we call QuietHarbor`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import chain, islice
from typing import Final

from ingest.indicators import family_trees, maker_labels, placed_names, unlisted_names
from ingest.indicators.cited_names import without_cited
from ingest.indicators.coordinated import names_in_series
from ingest.indicators.glued_names import PIECES as PIECES_OF_GLUED
from ingest.indicators.glued_names import names_glued
from ingest.indicators.late import late
from ingest.indicators.malware import EVERYDAY, NAMED, JudgedMalware, MalwareSighting
from ingest.indicators.name_rows import words_of_sign
from ingest.indicators.piece_search import NamePlaces, Places
from ingest.indicators.verdict import Verdict, sum_of
from ingest.indicators.vocabulary import pieces
from intel.names import malware_names, spelling_key

MOST_COINED: Final = 60
MOST_LABELLED: Final = 120
MOST_WEIGHED: Final = 2000
MOST_PLACES: Final = 1000

# What must have been looked for in a text before anything here is asked of it.
PIECES: Final = (
    *placed_names.PIECES,
    *maker_labels.PIECES,
    *family_trees.PIECES,
    *unlisted_names.PIECES,
    *PIECES_OF_GLUED,
)

_SHORTEST_MISSPELLED: Final = 8
_NEARLY: Final = 0.93
_PART_OF_A_NAME: Final = late(rf" (?:{pieces('malware', 'parts_of_names')})(?![\w-])")
_LONGEST_PART: Final = 12
_MOST_LOOKED_AT: Final = 20
_COINED: Final = "name that the text gives to malware"
_FURNITURE: Final = Verdict(False, "boilerplate", 0)


def _is_misspelled(name: str, known: set[str]) -> bool:
    """Tell whether a name is nearly one that the text writes as well: `SquirrelWafle`."""
    alike = [each for each in known if each[:3] == name[:3].lower()]
    return len(name) >= _SHORTEST_MISSPELLED and bool(get_close_matches(name.lower(), alike, 1, _NEARLY))


def with_coined(
    text: str, places: Places, judged: list[JudgedMalware], is_furniture: Callable[[int], bool]
) -> list[JudgedMalware]:
    """Return `judged` and the names beside it that the text gives to malware, in order; linear in its length.

    `places`: where the `PIECES` stand.
    """
    judged = without_cited(text, _with_glued(text, places, judged, is_furniture))
    known = {sighting.name.lower() for sighting, verdict in judged[:MOST_WEIGHED] if verdict.kept}
    coined = coined_names(text, places, judged)
    families = maker_labels.families_of(coined)
    known.update(family.lower() for family in families.values())
    names = {
        name: verdict
        for name, verdict in coined.items()
        if name.lower() in known or name in families or not _is_misspelled(maker_labels.without_variant(name), known)
    }
    if not names:
        return judged
    starts = [sighting.start for sighting, _ in judged]
    found: list[JudgedMalware] = []
    standing = NamePlaces(text, names)
    for name, verdict in names.items():
        known_as = families.get(name) or malware_names().families.get(spelling_key(name))
        listed = known_as or _with_its_kind(text, standing, name)
        for start, end in _places_of_name(text, standing, name):
            index = bisect_right(starts, start) - 1
            if index < 0 or judged[index][0].end <= start or judged[index][1] is EVERYDAY:
                found.append((MalwareSighting(listed, start, end), _FURNITURE if is_furniture(start) else verdict))
    return sorted([*judged, *found], key=lambda each: each[0].start)


def _with_glued(
    text: str, places: Places, judged: list[JudgedMalware], is_furniture: Callable[[int], bool]
) -> list[JudgedMalware]:
    """Return `judged` with the names that signs join to other words, in order."""
    starts = {sighting.start for sighting, _ in judged}
    glued = {
        each.start: (each, _FURNITURE if is_furniture(each.start) else NAMED)
        for each in names_glued(text, places)
        if each.start not in starts
    }
    return sorted([*judged, *glued.values()], key=lambda each: each[0].start) if glued else judged


def _with_its_kind(text: str, standing: NamePlaces, name: str) -> str:
    """Return a name that no list has with the kind that is a part of it, where that is so: `Prefire Stealer`."""
    if words_of_sign("ends in a kind of malware").search(name):
        return name
    for _, end in islice(_places_of_name(text, standing, name), _MOST_LOOKED_AT):
        if found := _PART_OF_A_NAME.match(text, end, end + _LONGEST_PART):
            return f"{name}{found[0]}"
    return name


def coined_names(text: str, places: Places, judged: list[JudgedMalware]) -> dict[str, Verdict]:
    """Return the names that a text gives to malware and that no list has, or only as everyday words; at most 60."""
    labelled = chain(
        placed_names.names_placed(text, places),
        maker_labels.names_labelled(text, places),
        maker_labels.names_of_titles(text, places),
        family_trees.names_in_trees(text, places),
    )
    in_series = dict.fromkeys(islice(names_in_series(text, judged), MOST_COINED))
    found = unlisted_names.unlisted_names(text, places, dict.fromkeys(islice(labelled, MOST_LABELLED)), in_series)
    return {
        name: Verdict(True, _COINED, sum_of(evidence), tuple(evidence))
        for name, evidence in islice(found.items(), MOST_COINED)
    }


def _is_of_a_word(letter: str) -> bool:
    """Tell whether a letter is one of those that blanks part from names."""
    return letter.isalnum() and letter < "\u3000"


def _places_of_name(text: str, standing: NamePlaces, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a name stands as a word of its own, and in no path or host, at most 1,000 times."""
    count = 0
    for start in standing.of(name):
        end = start + len(name)
        if not name.isascii() and not name[0].isupper():
            yield start, end  # scripts without blanks
            continue
        before, after, beyond = text[start - 1 : start], text[end : end + 1], text[end + 1 : end + 2]
        if _is_of_a_word(before) or _is_of_a_word(after) or (before and before in "./\\@_-"):
            continue
        if (after and after in "@/\\_") or (after in ("-", ".") and beyond.isalnum()):
            continue
        yield start, end
        count += 1
        if count == MOST_PLACES:
            break
