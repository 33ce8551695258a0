"""Regular expressions keep to what every supported Python reads right."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _parser as parser  # nothing public tells what a pattern is made of
from typing import Any

import pytest

ROOMS = ("intel", "ingest")
SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY")


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for room in ROOMS:
        for module in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                for each in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(each, re.Pattern) and isinstance(each.pattern, str):
                        yield f"{module.name}.{name}", each


def possessive_repeats(parsed: Any) -> Iterator[Any]:
    """What is repeated possessively in a parsed pattern, at any depth."""
    if isinstance(parsed, parser.SubPattern):
        for operation, argument in parsed:
            if operation.name == "POSSESSIVE_REPEAT":
                yield argument[2]
            yield from possessive_repeats(argument)
    elif isinstance(parsed, (tuple, list)):
        for each in parsed:
            yield from possessive_repeats(each)


@pytest.mark.parametrize(("name", "pattern"), [pytest.param(*each, id=each[0]) for each in patterns()])
def test_nothing_but_a_single_sign_is_repeated_possessively(name: str, pattern: re.Pattern[str]) -> None:
    """Before Python 3.11.5 `(?:ab)*+` also takes the `a` of `ac`; an atomic group, `(?>(?:ab)*)`, is right in all."""
    repeated = list(possessive_repeats(parser.parse(pattern.pattern, pattern.flags)))
    assert all(len(each) == 1 and each[0][0].name in SINGLE for each in repeated)
