"""The picture of when an indicator was seen: bars of one width, drawn from the moments of its articles.

One period may have so much that beside it all others would be flat. Its bar is then drawn broken and bears its number,
and the scale ends at the highest of the others, which leave it room at the top.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median_low

from api.web.text import day as written_day

_MOST_BARS = 60
_HEIGHT = 64.0
_HEIGHT_BESIDE_BROKEN = 48.0
_WIDTH = 600.0
_LEAST_BARS = 30
_WIDEST_BAR = 9.0
_LOWEST_BAR = 1.0
# What is broken has more than so many times as much as a usual period, is as much higher than all others, and rare.
_TIMES_USUAL, _TIMES_OTHERS, _ONE_OF = 6, 2, 4
# As much of the picture's width as the number above a broken bar takes.
_NUMBER_WIDTH = 90.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One period: its words, how many articles, and its place in the picture (units of the view box).

    A broken one is higher than the scale of the picture.
    """

    label: str
    count: int
    x: float
    y: float
    width: float
    height: float
    broken: bool = False

    @property
    def middle(self) -> float:
        """Where its middle stands, in hundredths of the picture's width."""
        return round((self.x + self.width / 2) / _WIDTH * 100, 2)


@dataclass(frozen=True, slots=True)
class Picture:
    """Bars in a view box of 600 by 64; `unit` is what one bar stands for, `scale` the count at the top."""

    bars: tuple[Bar, ...]
    unit: str
    first: str
    last: str
    scale: int

    @property
    def broken(self) -> tuple[Bar, ...]:
        """Return the broken bars that bear their number: of those that stand close the first."""
        bearing: list[Bar] = []
        for bar in self.bars:
            if bar.broken and (not bearing or bar.x - bearing[-1].x >= _NUMBER_WIDTH):
                bearing.append(bar)
        return tuple(bearing)

    @property
    def seen(self) -> tuple[Bar, ...]:
        return tuple(bar for bar in self.bars if bar.count)


def picture(moments: Sequence[datetime]) -> Picture:
    """Return the chart of at least one time: by day, or by as many days as keep it at 60 bars."""
    days = [moment.date() for moment in moments]
    span = (max(days) - min(days)).days + 1
    step = max(1, -(-span // _MOST_BARS))
    number = max(_LEAST_BARS, -(-span // step))
    start = max(days) - timedelta(days=number * step - 1)
    counts = Counter((seen - start).days // step for seen in days)
    unit = "day" if step == 1 else f"{step} days"
    counted = [(_label(start, i, step), counts[i]) for i in range(number)]
    return drawn(counted, unit, written_day(_noon(start)), written_day(_noon(max(days))))


def drawn(counted: Sequence[tuple[str, int]], unit: str, first: str, last: str) -> Picture:
    """Return the chart of periods in order, each with its words and its count."""
    scale = _scale([count for _, count in counted if count])
    top = _HEIGHT_BESIDE_BROKEN if any(count > scale for _, count in counted) else _HEIGHT
    bars = tuple(_bar(i, len(counted), label, count, top * count / scale) for i, (label, count) in enumerate(counted))
    return Picture(bars, unit, first, last, scale)


def _scale(counts: Sequence[int]) -> int:
    """Return where the scale ends: at the highest count, or at the highest but few that would flatten all others."""
    if not counts:
        return 1
    usual = median_low(counts)
    heavy = [count for count in counts if count > _TIMES_USUAL * usual]
    others = max(count for count in counts if count <= _TIMES_USUAL * usual)
    is_rare = 0 < len(heavy) <= max(1, len(counts) // _ONE_OF)
    return others if is_rare and min(heavy) > _TIMES_OTHERS * others else max(counts)


def _bar(index: int, number: int, label: str, count: int, high: float) -> Bar:
    """Return one of that many bars; what was counted at all is seen, however low beside the highest."""
    pitch = _WIDTH / number
    height = min(_HEIGHT, max(_LOWEST_BAR, high)) if count else 0.0
    x, width = round(index * pitch, 2), min(_WIDEST_BAR, round(pitch * 0.8, 2))
    return Bar(label, count, x, round(_HEIGHT - height, 2), width, round(height, 2), broken=high > _HEIGHT)


def _label(start: date, index: int, step: int) -> str:
    first = start + timedelta(days=index * step)
    label = written_day(_noon(first))
    return label if step == 1 else f"{label} to {written_day(_noon(first + timedelta(days=step - 1)))}"


def _noon(date: date) -> datetime:
    return datetime(date.year, date.month, date.day, 12)
