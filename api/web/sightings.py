"""The picture of when an indicator was seen: bars of one width, drawn from the moments of its articles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from api.web.text import day as written_day

_MOST_BARS = 60
_HEIGHT = 64.0
_WIDTH = 600.0
_LEAST_BARS = 30
_WIDEST_BAR = 9.0
_LOWEST_BAR = 1.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One period: its words, how many articles, and its place in the picture (units of the view box)."""

    label: str
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Bars in a view box of 600 by 64; `unit` is what one bar stands for."""

    bars: tuple[Bar, ...]
    unit: str
    first: str
    last: str

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
    highest = max(counts.values())
    bars = tuple(drawn_bar(i, number, counts[i], highest, _label(start, i, step)) for i in range(number))
    unit = "day" if step == 1 else f"{step} days"
    return Picture(bars, unit, written_day(_noon(start)), written_day(_noon(max(days))))


def drawn_bar(index: int, number: int, count: int, highest: int, label: str) -> Bar:
    """Return one of that many bars; what was counted at all is seen, however low beside the highest."""
    pitch = _WIDTH / number
    height = max(_LOWEST_BAR, _HEIGHT * count / highest) if count else 0.0
    x, width = round(index * pitch, 2), min(_WIDEST_BAR, round(pitch * 0.8, 2))
    return Bar(label, count, x, round(_HEIGHT - height, 2), width, round(height, 2))


def _label(start: date, index: int, step: int) -> str:
    first = start + timedelta(days=index * step)
    label = written_day(_noon(first))
    return label if step == 1 else f"{label} to {written_day(_noon(first + timedelta(days=step - 1)))}"


def _noon(date: date) -> datetime:
    return datetime(date.year, date.month, date.day, 12)
