"""What is named together: a graph of two steps around anything that articles name, weighed by shared articles, and its
picture.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from api.web.addresses import ioc_path
from intel.canonical import defang
from intel.records import Ioc
from intel.store import Store

MOST_NODES: Final = 60
WIDTH: Final = 1200
HEIGHT: Final = 900
_FIRST_RING: Final = 16
_BRANCHES: Final = 8
_TWIGS: Final = 4
_ARTICLES: Final = 20
_ARTICLES_OF_A_BRANCH: Final = 4
_NAMED: Final = 40
_LABEL: Final = 22
# Those of the second step stand in turns on two rings, so that their labels keep apart.
_RINGS: Final = (0.0, 190.0, 310.0, 370.0)
_SQUEEZED: Final = 1.2
_LETTER: Final = (0.0, 8.0, 6.8)
_MARGIN: Final = 24
_ABOVE_LINE, _BELOW_LINE = 10, 3
# How far a label may move up or down to stand clear, the least first.
_SHIFTS: Final = (0.0, 7.0, -7.0, 13.0, -13.0, 19.0, -19.0)

Ranked = tuple[Ioc, int]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Node:
    """One indicator of the graph: `shared` articles name it together with `parent`; None is what all turns around.

    `x`, `y` and `radius` are its place in a view box of 1,200 by 900, `anchor` and `shift` how its label stands there.
    """

    ioc: Ioc
    step: int
    shared: int
    parent: Node | None
    angle: float = 0.0
    ring: int = 0
    shift: float = 0.0

    @property
    def address(self) -> str:
        return ioc_path(self.ioc.type, self.ioc.value)

    @property
    def label(self) -> str:
        written = defang(self.ioc.type, self.ioc.value)
        return written if len(written) <= _LABEL else written[: _LABEL - 1] + "…"

    @property
    def x(self) -> float:
        return round(WIDTH / 2 + _RINGS[self.ring] * _SQUEEZED * math.cos(self.angle), 1)

    @property
    def y(self) -> float:
        return round(HEIGHT / 2 + _RINGS[self.ring] * math.sin(self.angle), 1)

    @property
    def radius(self) -> float:
        return round(5 + 3 * math.sqrt(min(self.shared, 16)), 1)

    @property
    def anchor(self) -> str:
        return "start" if self.x >= WIDTH / 2 else "end"

    @property
    def label_x(self) -> float:
        return self.x + (self.radius + 4 if self.anchor == "start" else -self.radius - 4)

    @property
    def label_y(self) -> float:
        return self.y + 4 + self.shift

    @property
    def label_box(self) -> Box:
        width = _LETTER[self.step] * len(self.label)
        left = self.label_x if self.anchor == "start" else self.label_x - width
        return left, self.label_y - _ABOVE_LINE, left + width, self.label_y + _BELOW_LINE

    @property
    def circle_box(self) -> Box:
        return self.x - self.radius, self.y - self.radius, self.x + self.radius, self.y + self.radius

    @property
    def from_x(self) -> float:
        return self.parent.x if self.parent else WIDTH / 2

    @property
    def from_y(self) -> float:
        return self.parent.y if self.parent else HEIGHT / 2


def view_box(nodes: Sequence[Node]) -> str:
    """Return the part of the picture that holds all nodes and their labels, as an SVG view box."""
    sides, heights = [WIDTH / 2], [HEIGHT / 2 - 40, HEIGHT / 2 + 14]
    for node in nodes:
        for left, top, right, bottom in (node.label_box, node.circle_box):
            sides += [left, right]
            heights += [top, bottom]
    x, y = math.floor(min(sides)) - _MARGIN, math.floor(min(heights)) - _MARGIN
    return f"{x} {y} {math.ceil(max(sides)) + _MARGIN - x} {math.ceil(max(heights)) + _MARGIN - y}"


async def relations(store: Store, article_ids: Sequence[str], center: Ioc | None) -> tuple[Node, ...]:
    """Return at most 60 nodes: what the newest 20 of these articles name, and what is named with the first 8 of those.

    Of each article the first 40 indicators count. Most shared articles first; the two rings have places already.
    """
    looked = _Looked(store)
    known = {center.id} if center else set[str]()
    first = _ranked(await looked.at(article_ids[:_ARTICLES]), known)[:_FIRST_RING]
    known |= {ioc.id for ioc, _ in first}
    twigs: list[list[Ranked]] = []
    for articles in await looked.around([ioc for ioc, _ in first[:_BRANCHES]]):
        twigs.append(_ranked(articles, known)[:_TWIGS])
        known |= {ioc.id for ioc, _ in twigs[-1]}
    return _placed(first, twigs + [[] for _ in first[_BRANCHES:]])


def _placed(first: Sequence[Ranked], twigs: Sequence[Sequence[Ranked]]) -> tuple[Node, ...]:
    """Return the nodes with their places: each branch has as much of the circle as it has twigs, but room for two."""
    room = [max(2, len(some)) for some in twigs]
    branches, leaves, begun = list[Node](), list[Node](), 0
    for (ioc, shared), some, share in zip(first, twigs, room, strict=True):
        slot = 2 * math.pi / sum(room)
        branch = Node(ioc, 1, shared, None, slot * (begun + (share - 1) / 2) - math.pi / 2, 1)
        branches.append(branch)
        leaves += [
            Node(leaf, 2, count, branch, slot * (begun + place) - math.pi / 2, 2 + (begun + place) % 2)
            for place, (leaf, count) in enumerate(some)
        ]
        begun += share
    return _parted((*branches, *leaves)[: MOST_NODES - 1])


def _parted(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes, each label moved as little as keeps it clear of circles and of the labels before it."""
    taken, parted = [node.circle_box for node in nodes], list[Node]()
    for node in nodes:
        moved = (replace(node, shift=shift) for shift in _SHIFTS)
        clear = next((one for one in moved if not any(_overlap(one.label_box, box) for box in taken)), node)
        parted.append(clear)
        taken.append(clear.label_box)
    return tuple(parted)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class _Looked:
    """The indicators of articles, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[str, tuple[Ioc, ...]] = {}

    async def at(self, article_ids: Iterable[str]) -> list[tuple[Ioc, ...]]:
        ids = list(dict.fromkeys(article_ids))
        new = [id for id in ids if id not in self._found]
        pages = await asyncio.gather(*(self._store.articles.iocs_of(id, _NAMED) for id in new))
        self._found |= {id: page.items for id, page in zip(new, pages, strict=True)}
        return [self._found[id] for id in ids]

    async def around(self, iocs: Sequence[Ioc]) -> list[list[tuple[Ioc, ...]]]:
        """Return, for each indicator, what its newest articles name."""
        mentions = await asyncio.gather(*(self._store.iocs.mentions_of(ioc.id, _ARTICLES_OF_A_BRANCH) for ioc in iocs))
        return [await self.at(mention.article.id for mention in found) for found, _ in mentions]


def _ranked(articles: Iterable[Iterable[Ioc]], without: set[str]) -> list[Ranked]:
    """Return what articles name: most of them first, then what is rarer elsewhere, then by id."""
    shared: Counter[str] = Counter()
    iocs: dict[str, Ioc] = {}
    for named in articles:
        for ioc in named:
            if ioc.id not in without:
                shared[ioc.id] += 1
                iocs[ioc.id] = ioc
    order = sorted(iocs.values(), key=lambda ioc: (-shared[ioc.id], ioc.sightings, ioc.id))
    return [(ioc, shared[ioc.id]) for ioc in _mixed(order)]


def _mixed(order: Sequence[Ioc]) -> list[Ioc]:
    """Return indicators so that no type crowds out the others: the first of each, then the second of each."""
    places: defaultdict[str, int] = defaultdict(int)
    ranks = {}
    for ioc in order:
        ranks[ioc.id] = places[ioc.type]
        places[ioc.type] += 1
    return sorted(order, key=lambda ioc: ranks[ioc.id])
