"""What would be imported without need: packages that others import for what nobody here asks of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class _PutOff(ModuleType):
    """Stands for a package that is imported once something of it is used."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


@contextmanager
def put_off(*names: str) -> Iterator[None]:
    """Let what is imported meanwhile import these packages only once it uses something of them."""
    with _instead({name: _PutOff(name) for name in names}):
        yield


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Let what is imported meanwhile find these packages not installed."""
    with _instead(dict.fromkeys(names)):
        yield


@contextmanager
def _instead(others: Mapping[str, ModuleType | None]) -> Iterator[None]:
    """Let packages that are not imported yet be these; None for one that there is not."""
    modules: dict[str, Any] = sys.modules
    placed = {name: other for name, other in others.items() if name not in modules}
    modules.update(placed)
    try:
        yield
    finally:
        for name in placed:
            del modules[name]
