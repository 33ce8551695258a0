"""Tell by the few characters at a place which of many patterns may match there, all of them asked by one look.

Many rules ask what stands right before a value: each is a pattern that ends there. What they may end with is told from
the patterns themselves, as an automaton of all of them that reads a text away from the place; it is made as texts
ask for it. Bounds, assertions and what refers to another part are left out: it lets pass too much, never too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Final, NamedTuple

EVERY: Final = -1  # the bits of all patterns

# Made once there is so much to save; most texts are short.
_TIMES_ASKED: Final = 200
_REACH: Final = 24
# What a hostile text could fill is emptied.
_MOST_STATES: Final = 4_000
_MOST_ANSWERS: Final = 20_000
# A step that nobody took before costs as much as to try some ten patterns: no more of them than pay, whatever stands in
# a text.
_LOOKS_FOR_A_STEP: Final = 2
_MOST_STEPS_AHEAD: Final = 3_000

# Nothing public tells what a pattern is made of.
_parser: Final[Any] = import_module("re._parser")
_compiler: Final[Any] = import_module("re._compiler")
_REPEATS: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})
_SIGNS: Final = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_WITHOUT_WIDTH: Final = frozenset({"AT", "ASSERT", "ASSERT_NOT"})


class Edge:
    """Patterns that all end (`is_before`) or all begin at one place of a text."""

    def __init__(self, *, is_before: bool) -> None:
        self._is_before = is_before
        self._patterns: list[tuple[str, int]] = []
        self._asked = 0
        self._answers: dict[str, int] = {}
        self._automaton: _Automaton | None = None

    def bit_of(self, pattern: str, flags: int = 0) -> int:
        """Add a pattern, before the first question, and return its bit; one that ends at the place ends in `\\Z`."""
        self._patterns.append((pattern, flags))
        return 1 << len(self._patterns) - 1

    def at(self, text: str, place: int) -> int:
        """Return the bits of the patterns that may match at a place."""
        key = text[max(0, place - _REACH) : place] if self._is_before else text[place : place + _REACH]
        found = self._answers.get(key)
        return found if found is not None else self._new_answer(key)

    def _new_answer(self, key: str) -> int:
        if self._automaton is None:
            self._asked += 1
            if self._asked < _TIMES_ASKED:
                return EVERY
            self._automaton = _Automaton(self._patterns, is_before=self._is_before)
        answer = self._automaton.may_match(reversed(key) if self._is_before else key)
        if answer != EVERY:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[key] = answer
        return answer


class _Part(NamedTuple):
    """A part of a pattern: whether it may match nothing, and with which signs of the pattern it begins and ends."""

    may_be_empty: bool
    first: int
    last: int


_NOTHING: Final = _Part(True, 0, 0)
_NEVER: Final = _Part(False, 0, 0)


class _State:
    """The signs that may come next, what has matched on the way, and where each character leads."""

    __slots__ = ("matched", "moves", "next")

    def __init__(self, next: int, matched: int) -> None:
        self.next, self.matched = next, matched
        self.moves: dict[str, _State] = {}


class _Automaton:
    """The signs of all patterns, each a bit, with those that may follow it away from the place."""

    def __init__(self, patterns: Iterable[tuple[str, int]], *, is_before: bool) -> None:
        self._follow: list[int] = []
        self._alike: dict[tuple[str, str, int], list[Any]] = {}
        self._matching: dict[str, int] = {}
        self._signs_of: list[int] = []
        self._complete = 0
        always = begin = 0
        for number, (pattern, flags) in enumerate(patterns):
            parsed = _parser.parse(pattern, flags)
            first_sign = len(self._follow)
            part = self._sequence(parsed, parsed.state.flags)
            if is_before:
                self._turn_around(first_sign)
                part = _Part(part.may_be_empty, part.last, part.first)
            begin |= part.first
            self._complete |= part.last
            always |= part.may_be_empty << number
            self._signs_of.append((1 << len(self._follow)) - (1 << first_sign))
        self._begin = _State(begin, always)
        self._states = {(begin, always): self._begin}
        self._steps_left = _MOST_STEPS_AHEAD
        self._looks = 0

    def may_match(self, characters: Iterable[str]) -> int:
        """Return the bits of the patterns that may match along these characters, or all where that costs too much."""
        self._looks += 1
        state = self._begin
        for character in characters:
            following = state.moves.get(character)
            if following is None:
                following = self._step(state, character)
                if following is None:
                    return EVERY
            state = following
            if not state.next:
                return state.matched
        return state.matched | self._patterns_of(state.next)

    def _step(self, state: _State, character: str) -> _State | None:
        met = state.next & self._signs_matching(character)
        following = matched = 0
        if met:
            self._steps_left += self._looks // _LOOKS_FOR_A_STEP
            self._looks %= _LOOKS_FOR_A_STEP
            if self._steps_left <= 0:
                return None
            self._steps_left = min(self._steps_left, _MOST_STEPS_AHEAD) - 1
            for sign in _bits(met):
                following |= self._follow[sign]
            matched = self._patterns_of(met & self._complete)
        matched |= state.matched
        if len(self._states) >= _MOST_STATES:
            self._states.clear()
            self._begin = _State(self._begin.next, self._begin.matched)
        known = self._states.setdefault((following, matched), _State(following, matched))
        state.moves[character] = known
        return known

    def _patterns_of(self, signs: int) -> int:
        found = 0
        for number, of_it in enumerate(self._signs_of):
            if signs & of_it:
                found |= 1 << number
        return found

    def _signs_matching(self, character: str) -> int:
        found = self._matching.get(character)
        if found is None:
            found = 0
            for alike in self._alike.values():
                if alike[1] is None:
                    alike[1] = _compiled(alike[2], alike[3])
                if alike[1].fullmatch(character):
                    found |= alike[0]
            if len(self._matching) >= _MOST_STATES:
                self._matching.clear()
            self._matching[character] = found
        return found

    def _turn_around(self, first_sign: int) -> None:
        """Make what follows each sign of the last pattern what comes before it."""
        before = [0] * (len(self._follow) - first_sign)
        for sign in range(first_sign, len(self._follow)):
            for other in _bits(self._follow[sign]):
                before[other - first_sign] |= 1 << sign
        self._follow[first_sign:] = before

    def _sequence(self, parsed: Iterable[Any], flags: int) -> _Part:
        may_be_empty, first, last = _NOTHING
        for operation, argument in parsed:
            part = self._part(operation.name, argument, flags)
            self._join(last, part.first)
            if may_be_empty:
                first |= part.first
            last = part.last | (last if part.may_be_empty else 0)
            may_be_empty = may_be_empty and part.may_be_empty
        return _Part(may_be_empty, first, last)

    def _join(self, before: int, behind: int) -> None:
        if behind:
            for sign in _bits(before):
                self._follow[sign] |= behind

    def _part(self, name: str, argument: Any, flags: int) -> _Part:
        if name in _WITHOUT_WIDTH:
            return _NOTHING
        if name in _SIGNS:
            return self._sign(name, argument, flags)
        if name == "BRANCH":
            each = [self._sequence(branch, flags) for branch in argument[1]]
            empty, first, last = zip(*each, strict=True)
            return _Part(any(empty), _union(first), _union(last))
        if name == "SUBPATTERN":
            return self._sequence(argument[3], _compiler._combine_flags(flags, argument[1], argument[2]))
        if name == "ATOMIC_GROUP":
            return self._sequence(argument, flags)
        if name in _REPEATS:
            least, most, repeated = argument
            part = self._sequence(repeated, flags)
            if most > 1:
                self._join(part.last, part.first)
            return part._replace(may_be_empty=part.may_be_empty or not least)
        if name == "FAILURE":
            return _NEVER
        # What refers to another part may be anything.
        part = self._sign("ANY", None, re.DOTALL)
        self._join(part.last, part.first)
        return part._replace(may_be_empty=True)

    def _sign(self, name: str, argument: Any, flags: int) -> _Part:
        bit = 1 << len(self._follow)
        self._follow.append(0)
        alike = self._alike.setdefault((name, str(argument), flags), [0, None, (_named(name), argument), flags])
        alike[0] |= bit
        return _Part(False, bit, bit)


def _named(name: str) -> Any:
    return getattr(import_module("re._constants"), name)


def _compiled(sign: Any, flags: int) -> re.Pattern[str]:
    """Return the pattern of a single sign, as the engine itself has it."""
    state = _parser.State()
    state.flags = flags
    compiled: re.Pattern[str] = _compiler.compile(_parser.SubPattern(state, [sign]), flags)
    return compiled


def _union(bits: Iterable[int]) -> int:
    found = 0
    for each in bits:
        found |= each
    return found


def _bits(number: int) -> Iterator[int]:
    """Yield which bits of a number are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
