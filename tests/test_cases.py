"""Many cases in one test: each is tried, and each that fails is named."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable

import pytest

from tests.cases import each


def failures_of(run: Callable[[], object]) -> tuple[str, list[list[str]]]:
    with pytest.raises(BaseExceptionGroup) as failed:
        run()
    return failed.value.message, [failure.__notes__ for failure in failed.value.exceptions]


def test_every_case_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @each("number, word", [(1, "one"), (2, "two"), pytest.param(3, "three", id="the third"), (4, "four")])
    def small(number: int, word: str, most: int) -> None:
        tried.append(word)
        assert number <= most

    told = "2 of 4 cases failed: the third; 4, 'four'"
    assert failures_of(lambda: small(most=2)) == (told, [["in the case the third"], ["in the case 4, 'four'"]])
    assert tried == ["one", "two", "three", "four"]
    small(most=4)


def test_fixtures_are_asked_for_and_values_are_not() -> None:
    @each("number", [1, 2])
    @each("word", ["a"])
    async def both(number: int, word: str, store: object) -> None:
        assert (number, word, store) == (1, "a", "given")

    assert list(inspect.signature(both).parameters) == ["store"]
    told, _ = failures_of(lambda: asyncio.run(both(store="given")))
    assert told == "1 of 2 cases failed: 2"


def test_pytests_own_failure_is_one_and_a_test_that_is_left_out_is_none() -> None:
    @each("reason", ["a", "b"], ids=["first", "second"])
    def given_up(reason: str) -> None:
        pytest.fail(reason)

    assert failures_of(given_up)[0] == "2 of 2 cases failed: first; second"

    @each("reason", ["a", "b"])
    def left_out(reason: str) -> None:
        pytest.skip(reason)

    with pytest.raises(pytest.skip.Exception, match="a"):
        left_out()


def test_a_test_without_cases_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="has cases"):
        each("number", [])
