"""Tell the genuine host from those that imitate it, by their names alone: `orlenda.com` beside `orlenda-login.com`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.looks import looks_set_up
from intel.suffixes import site_domain

_OF_A_DEFANGED: Final = EVIDENCE["imitated by what the text defangs"]
_OF_ANOTHER: Final = EVIDENCE["imitated by another host"]
_MOST_NAMES: Final = 2_000
_SHORTEST_NAME: Final = 5  # of which a letter may be another
_SHORTEST_PART: Final = 4
_SHORTEST_ADDITION: Final = 2

# By name: the domains that bear it, with a letter more, less or other, or as a part.
_Bearers = dict[str, set[str]]


class Lookalikes:
    """The hosts of one text that imitate others of it."""

    def __init__(self, named: Iterable[str], defanged: frozenset[str]) -> None:
        """`named`: all hosts that the text names; `defanged`: those of them that it defangs somewhere."""
        self._named, self._defanged = named, defanged

    def against(self, host: str) -> Evidence | None:
        """Return what the hosts that imitate an undefanged one say: that it is the genuine one."""
        own, name = site_domain(host), _name_of(host)
        if len(name) < _SHORTEST_PART or any(map(str.isdigit, name)):  # `mist1.example` beside `mist2.example`
            return None
        if self._extending.get(name, set()) - {own} or any(
            self._alike.get(each, set()) - {own} for each in (name, *_shortened(name))
        ):
            return _OF_A_DEFANGED
        return _OF_ANOTHER if self._joining.get(name, set()) - {own} and not looks_set_up(own) else None

    @cached_property
    def _alike(self) -> _Bearers:
        return _bearers(self._defanged, lambda name: (name, *_shortened(name)))

    @cached_property
    def _extending(self) -> _Bearers:
        return _bearers(self._defanged, _parts)

    @cached_property
    def _joining(self) -> _Bearers:
        """Those of undefanged hosts: there the longer name, set up as for an attack, is the copy."""
        return _bearers(filter(looks_set_up, self._named), _parts_at_hyphens)


def _bearers(hosts: Iterable[str], names_in: Callable[[str], Iterable[str]]) -> _Bearers:
    found: _Bearers = {}
    for host in islice(hosts, _MOST_NAMES):
        for name in names_in(_name_of(host)):
            found.setdefault(name, set()).add(site_domain(host))
    return found


def _name_of(host: str) -> str:
    return site_domain(host).partition(".")[0]


def _shortened(name: str) -> Iterator[str]:
    """Yield a name without each of its letters: two names have one of these in common if one letter parts them."""
    if len(name) > _SHORTEST_NAME:
        yield from (name[:place] + name[place + 1 :] for place in range(len(name)))


def _parts(name: str) -> Iterator[str]:
    """Yield what a name begins or ends with, without so much that the rest is an addition."""
    for size in range(_SHORTEST_NAME, len(name) - _SHORTEST_ADDITION + 1):
        yield name[:size]
        yield name[-size:]
    yield from _parts_at_hyphens(name)


def _parts_at_hyphens(name: str) -> Iterator[str]:
    for place, sign in enumerate(name):
        if sign == "-":
            yield name[:place]
            yield name[place + 1 :]
