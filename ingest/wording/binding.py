"""Decide which CVEs of a sentence a claim is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_CVE: Final = re.compile(r"cve_(\d+)")
# What stands between CVEs that share a fate: `cve_0 (9.8), cve_1 and cve_2`.
_SHARED: Final = re.compile(
    r"(?: ?\([^()]{0,60}\))?(?:[\s,;/&()+|]|and\b|or\b|as well as\b|with\b|alongside\b|along with\b|together\b|"
    r"plus\b|the\b|a\b|"
    r"another\b){1,12}"
)
_APART: Final = re.compile(
    r";|\bunlike\b|\bin contrast to\b|\bas opposed to\b|\bcompared (?:to|with)\b|\bwhile\b|\bwhereas\b|\bbut\b|"
    r"\balthough\b|\bthough\b|\bhowever\b|, (?:and )?(?=(?:only )?cve_\d+,? (?:is|"
    r"was|has|"
    r"which|remains|does|did|had|can|could|may)\b)| and (?=cve_\d+,? (?:is|was|has|which|remains|does|did|had)\b)|"
    r"\btogether with\b|\. "
)
_RELATIVE: Final = re.compile(r"^,? ?(?:\([^()]{0,60}\) ?)?(?:which|that)\b")
_APPOSED: Final = re.compile(
    r"^[\s:(,\"-]*(?:(?:(?:zero|0)-day|flaws?|bugs?|vulnerabilit(?:y|ies)|issues?|is|are|tracked|as|was|the|of|"
    r"[a-z]+-day|rce|"
    r"called|assigned|identified|known)[\s:(,\"-]+){0,6}$"
)
_BACKWARD: Final = re.compile(r"\b(?:for|of|to|than|like|as|with|unlike)\s*$")


def bound(certain: str, span: tuple[int, int]) -> set[int]:
    """Return the numbers of the CVEs that a claim at `span` is about."""
    groups = _groups(certain)
    if len(groups) < 2:
        return {number for group in groups for number in group.numbers}
    start, end = span
    inside = [group for group in groups if start <= group.start < end]
    if inside:
        return _numbers(inside)
    low, high = _segment(certain, start, end)
    near = [group for group in groups if low <= group.start < high]
    if not near:
        before = [group for group in groups if group.start < start]
        return set(before[-1].numbers) if before else set(groups[0].numbers)
    following = next((group for group in near if group.start >= end), None)
    if following and _APPOSED.match(certain[end : following.start]):
        return set(following.numbers)
    preceding = [group for group in near if group.end <= start]
    if preceding and _is_own(certain, preceding[-1], start):
        return set(preceding[-1].numbers)
    return _numbers(near)


class _Group:
    __slots__ = ("end", "numbers", "start")

    def __init__(self, start: int, end: int, numbers: tuple[int, ...]) -> None:
        self.start, self.end, self.numbers = start, end, numbers


def _groups(certain: str) -> list[_Group]:
    groups: list[_Group] = []
    for match in _CVE.finditer(certain):
        number = int(match[1])
        if (
            groups
            and _SHARED.fullmatch(certain, groups[-1].end, match.start())
            and not _APART.search(certain, groups[-1].end - 1, match.end() + 12)
        ):
            groups[-1].end = match.end()
            groups[-1].numbers += (number,)
        else:
            groups.append(_Group(match.start(), match.end(), (number,)))
    return groups


def _segment(certain: str, start: int, end: int) -> tuple[int, int]:
    """Return the part of the sentence around a claim that makes one statement."""
    low, high = 0, len(certain)
    for match in _APART.finditer(certain):
        if match.end() <= start:
            low = match.end()
        elif match.start() >= end:
            high = match.start()
            break
    return low, high


def _is_own(certain: str, group: _Group, start: int) -> bool:
    """Tell whether what follows a CVE is about it alone: `…, which was …`, or `for cve_0 exploited …`."""
    between = certain[group.end : start]
    if _RELATIVE.match(between):
        return True
    return len(between.split()) <= 1 and bool(_BACKWARD.search(certain[: group.start]))


def _numbers(groups: Iterable[_Group]) -> set[int]:
    return {number for group in groups for number in group.numbers}
