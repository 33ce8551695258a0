"""Read CVSS scores as texts state them: `CVSS 9.8`, `CVSS v3.1 base score of 9.8`, or a vector."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypedDict

from ingest.wording.sentences import Sentence

_VECTOR: Final = re.compile(
    r"\b(?:cvss:(?P<version>[34]\.[01])/)?(?P<vector>av:[nalp]/ac:[lh](?:/[a-z]{1,3}:[a-z]{1,6}){4,30})", re.I
)
_NAMED: Final = re.compile(r"\bcvss")
_TOKEN: Final = re.compile(r"[a-z]+|[0-9]+(?:\.[0-9]+)*|[^\s\w]|_")
_FILLER: Final = frozenset(
    [
        "v",
        "version",
        "ver",
        "base",
        "score",
        "scores",
        "scored",
        "rating",
        "rated",
        "severity",
        "of",
        "is",
        "was",
        "at",
        "a",
        "an",
        "has",
        "with",
        "the",
        "and",
        "critical",
        "high",
        "medium",
        "low",
        "maximum",
        "perfect",
        "overall",
        "vector",
        "ss",
        ":",
        "=",
        ",",
        "(",
        "/",
        ";",
        "-",
        ")",
        "nvd",
        "cna",
        "cve",
        "_",
        "temporal",
        "assigned",
        "gets",
        "got",
        "received",
        "earned",
    ]
)
_SAYS_SCORE: Final = frozenset(["score", "scores", "scored", "rating", "rated", "severity", "base"])
_VERSIONS: Final = frozenset({"2", "3", "4", "2.0", "3.0", "3.1", "4.0"})
_VALUE: Final = re.compile(r"10(?:\.0)?|[0-9]\.[0-9]")
_FARTHEST: Final = 60
_BEFORE: Final = re.compile(
    r"(?<![0-9.])(?P<score>10(?:\.0)?|[0-9]\.[0-9])(?: ?/ ?10| out of 10)?(?: \(\w+\))?,?"
    r"(?: on| under| in| by| according to)?(?: the)? cvss\b"
)
_OUT_OF_TEN: Final = re.compile(
    r"\b(?:score|scored|scores|rated|rating|severity)(?: \w+){0,4}? (?P<score>10(?:\.0)?|[0-9]\.[0-9]) ?"
    r"(?:/ ?10\b|out of (?:10|ten)\b)"
)
_PLACE: Final = re.compile(r"cve_(\d+)")
_WEIGHTS: Final = {
    "av": {"n": 0.85, "a": 0.62, "l": 0.55, "p": 0.2},
    "ac": {"l": 0.77, "h": 0.44},
    "ui": {"n": 0.85, "r": 0.62},
    "cia": {"h": 0.56, "l": 0.22, "n": 0.0},
}
_PRIVILEGES: Final = {"u": {"n": 0.85, "l": 0.62, "h": 0.27}, "c": {"n": 0.85, "l": 0.68, "h": 0.5}}


class StatedScore(TypedDict):
    """A CVSS score that an article states."""

    score: float
    version: str | None
    vector: str | None


@dataclass(frozen=True, slots=True)
class _Stated:
    """A score where it stands in a sentence."""

    start: int
    end: int
    score: float
    version: str | None


def scores_in(sentence: Sentence, about: tuple[str, ...]) -> Iterator[tuple[str, StatedScore]]:
    """Yield (CVE, {"score", "version", "vector"}) for each score a sentence states; without CVEs it is about
    `about`.
    """
    plain = sentence.plain
    if "cvss" not in plain and "/ac:" not in plain and "out of" not in plain and "/10" not in plain:
        return
    vector = _VECTOR.search(plain)
    for stated in _stated(_VECTOR.sub(lambda match: " " * len(match[0]), plain)):
        members: StatedScore = {"score": stated.score, "version": stated.version, "vector": None}
        if vector is not None and _agrees(vector, stated.score):
            members |= {"version": vector["version"] or stated.version, "vector": _written(vector)}
        for cve in _about(plain, stated.start, stated.end, about, bool(sentence.cves)):
            yield cve, members
    if vector is not None and (computed := base_score(vector)) is not None:
        members = {"score": computed, "version": vector["version"] or "3.1", "vector": _written(vector)}
        for cve in _about(plain, vector.start(), vector.end(), about, bool(sentence.cves)):
            yield cve, members


def _stated(plain: str) -> list[_Stated]:
    """Return the scores of a sentence, by the first of the ways to write them that gives any."""
    found = [stated for match in _NAMED.finditer(plain) if (stated := _after_name(plain, match))]
    for pattern in (_BEFORE, _OUT_OF_TEN):
        found = found or [_Stated(m.start(), m.end(), float(m["score"]), None) for m in pattern.finditer(plain)]
    return found


def _after_name(plain: str, name: re.Match[str]) -> _Stated | None:
    """`cvss v3.1 base score of 9.8`: at most one version, then the score, with nothing but usual words between."""
    version: str | None = None
    says_score = False
    for token in _TOKEN.finditer(plain, name.end(), name.end() + _FARTHEST):
        text = token[0]
        if not text[0].isdigit():
            if text not in _FILLER:
                break
            says_score = says_score or text in _SAYS_SCORE
        elif text in _VERSIONS and version is None and not says_score:
            version = text
        elif _VALUE.fullmatch(text) and plain[token.end() : token.end() + 1] != "%":
            return _Stated(name.start(), token.end(), float(text), version)
        else:
            break
    return None


def _about(plain: str, start: int, end: int, about: tuple[str, ...], named: bool) -> tuple[str, ...]:
    """Return the CVEs that a score belongs to: the one before it, else the one after; all of them if it says so."""
    if not named:
        return about if len(about) == 1 or "both" in plain else ()
    places = [(match.start(), int(match[1])) for match in _PLACE.finditer(plain)]
    before = [number for place, number in places if place < start]
    if re.search(r"\b(?:both|all|each)\b", plain[:end]) and len(before) > 1:
        return tuple(about[number] for number in dict.fromkeys(before))
    after = [number for place, number in places if place >= end]
    number = before[-1] if before else after[0] if after else None
    return (about[number],) if number is not None else ()


def _agrees(vector: re.Match[str], score: float) -> bool:
    computed = base_score(vector)
    return computed is None or math.isclose(computed, score, abs_tol=0.05)


def _written(vector: re.Match[str]) -> str:
    prefix = f"CVSS:{vector['version']}/" if vector["version"] else ""
    return (prefix + vector["vector"].upper())[:200]


def base_score(vector: re.Match[str]) -> float | None:
    """Return the base score of a version 3 vector (FIRST's specification, section 7.1); None for other versions."""
    given = dict(metric.split(":", 1) for metric in vector["vector"].lower().split("/"))
    if vector["version"] == "4.0" or "s" not in given or not {"av", "ac", "pr", "ui", "c", "i", "a"} <= set(given):
        return None
    try:
        changed = given["s"] == "c"
        lost = [_WEIGHTS["cia"][given[name]] for name in ("c", "i", "a")]
        ease = 8.22 * _WEIGHTS["av"][given["av"]] * _WEIGHTS["ac"][given["ac"]] * _WEIGHTS["ui"][given["ui"]]
        ease *= _PRIVILEGES[given["s"]][given["pr"]]
    except KeyError:
        return None
    base = 1 - math.prod(1 - each for each in lost)
    impact = 7.52 * (base - 0.029) - 3.25 * (base - 0.02) ** 15 if changed else 6.42 * base
    if impact <= 0:
        return 0.0
    return _round_up(min(10.0, 1.08 * (impact + ease) if changed else impact + ease))


def _round_up(value: float) -> float:
    whole = round(value * 100_000)
    return whole / 100_000 if whole % 10_000 == 0 else (whole // 10_000 + 1) / 10
