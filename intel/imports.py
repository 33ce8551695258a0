"""What would be imported without need: packages that others import for what nobody here asks of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import LazyLoader, find_spec, module_from_spec
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


class _LoaderWithout(Loader):
    """Loads a package as if others that it would import were not installed."""

    def __init__(self, loader: Loader, names: tuple[str, ...]) -> None:
        self._loader = loader
        self._names = names

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with without(*self._names):
            self._loader.exec_module(module)


def put_off_without(name: str, *names: str) -> None:
    """Let a package be imported once something of it is used, and find these others not installed."""
    spec = find_spec(name) if name not in sys.modules else None
    if spec is None or spec.loader is None:
        return
    loader = LazyLoader(_LoaderWithout(spec.loader, names))
    spec.loader = loader
    sys.modules[name] = module = module_from_spec(spec)
    loader.exec_module(module)


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
