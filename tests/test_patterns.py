"""Regular expressions keep to what every supported Python reads right."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _parser as parser  # nothing public tells what a pattern is made of
from typing import Any

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


def test_nothing_but_a_single_sign_is_repeated_possessively() -> None:
    """Before Python 3.11.5 `(?:ab)*+` also takes the `a` of `ac`; an atomic group, `(?>(?:ab)*)`, is right in all."""
    every = list(patterns())
    several = [
        f"{name}: {pattern.pattern}"
        for name, pattern in every
        for repeated in possessive_repeats(parser.parse(pattern.pattern, pattern.flags))
        if len(repeated) != 1 or repeated[0][0].name not in SINGLE
    ]
    assert len(every) > 100
    assert several == []
