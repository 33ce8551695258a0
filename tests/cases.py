"""Many cases of one sentence in one test: to set up, run and tell of a test of its own takes longer than most do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., Any]
Cases = list[tuple[str, dict[str, Any]]]
_LONGEST_NAME = 80
_PARAM = type(pytest.param())


def each(
    names: str | Sequence[str], values: Iterable[Any], ids: Iterable[str] | Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """Run a test with each of these values, as `pytest.mark.parametrize` does, but within one test and on the same
    fixtures. All cases are tried, and those that fail are told by name.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = _cases(named, list(values), ids)

    def decorated(test: Test) -> Test:
        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def tried(**fixtures: Any) -> None:
                failures: list[tuple[str, BaseException]] = []
                for name, arguments in cases:
                    with _noted(name, failures):
                        await test(**fixtures, **arguments)
                _tell(failures, cases)

        else:

            @wraps(test)
            def tried(**fixtures: Any) -> None:
                failures: list[tuple[str, BaseException]] = []
                for name, arguments in cases:
                    with _noted(name, failures):
                        test(**fixtures, **arguments)
                _tell(failures, cases)

        asked = inspect.signature(test)
        given = {name for _, arguments in cases for name in arguments}
        fixtures = [parameter for name, parameter in asked.parameters.items() if name not in given]
        tried.__signature__ = asked.replace(parameters=fixtures)  # type: ignore[attr-defined]  # what pytest looks at
        return tried

    return decorated


def _cases(names: list[str], values: list[Any], ids: Iterable[str] | Callable[[Any], object] | None) -> Cases:
    """Return each case's name and its arguments; a value may be a `pytest.param` with an id."""
    given = [
        value if isinstance(value, _PARAM) else pytest.param(*(value if len(names) > 1 else (value,)))
        for value in values
    ]
    if not given or any(param.marks for param in given):
        raise ValueError("a test has cases, and these have no marks of their own")
    own = [", ".join(str(ids(value)) for value in param.values) for param in given] if callable(ids) else ids
    told = [
        name or str(param.id or "") or ", ".join(map(_shown, param.values))
        for name, param in zip(own or [""] * len(given), given, strict=True)
    ]
    return [(name, dict(zip(names, param.values, strict=True))) for name, param in zip(told, given, strict=True)]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


@contextmanager
def _noted(name: str, failures: list[tuple[str, BaseException]]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as failure:
        failure.add_note(f"in the case {name}")
        failures.append((name, failure))


def _tell(failures: list[tuple[str, BaseException]], cases: Cases) -> None:
    if failures:
        told = f"{len(failures)} of {len(cases)} cases failed: {'; '.join(name for name, _ in failures)}"
        raise BaseExceptionGroup(told, [failure for _, failure in failures])
