"""The picture of indicators by week: bars drawn from counts, and the same as rows that lead to their lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from api.web.addresses import with_query
from api.web.sightings import Picture, drawn

MOST_WEEKS = 26
_LEAST_WEEKS = 12


@dataclass(frozen=True, slots=True)
class Row:
    """A week, how many indicators were last seen in it, and where they are listed."""

    week: str
    count: int
    address: str


@dataclass(frozen=True, slots=True)
class WeeklyBars:
    """A picture of 12 to 26 weeks, and its weeks that have indicators, newest first."""

    picture: Picture
    rows: tuple[Row, ...]
    highest: int


def article_bars(counts: Mapping[datetime, int]) -> WeeklyBars | None:
    """Return the bars of articles by the Monday of their week, whose rows lead to the weekly roundups; None where there
    is none.
    """
    bars = weekly_bars({_week_id(monday.date()): count for monday, count in counts.items()})
    return bars and replace(bars, rows=tuple(replace(row, address=f"/weekly/{row.week}") for row in bars.rows))


def weekly_bars(counts: Mapping[str, int], **asked: str) -> WeeklyBars | None:
    """Return the bars of counts by ISO week (`2026-W47`); None where there is none.

    `asked` are the parameters of the search that was counted. The picture ends with the newest week that has a count.
    """
    if not counts:
        return None
    last = _monday(max(counts, key=_monday))
    span = (last - min(map(_monday, counts))).days // 7 + 1
    number = min(MOST_WEEKS, max(_LEAST_WEEKS, span))
    weeks = [_week_id(last - timedelta(weeks=number - 1 - i)) for i in range(number)]
    highest = max(counts.get(week, 0) for week in weeks)
    rows = (Row(week, counts[week], _address(week, asked)) for week in reversed(weeks) if counts.get(week))
    picture = drawn([(week, counts.get(week, 0)) for week in weeks], "week", weeks[0], weeks[-1])
    return WeeklyBars(picture, tuple(rows), highest)


def week_days(week: str) -> tuple[str, str]:
    """Return Monday and Sunday of `2026-W47`, as dates."""
    monday = _monday(week)
    return monday.isoformat(), (monday + timedelta(days=6)).isoformat()


def _monday(week: str) -> date:
    year, number = week.split("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def _week_id(monday: date) -> str:
    year, number, _ = monday.isocalendar()
    return f"{year:04}-W{number:02}"


def _address(week: str, asked: Mapping[str, str]) -> str:
    since, until = week_days(week)
    return with_query("/search", {**asked, "since": since, "until": until})
