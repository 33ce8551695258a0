"""`/articles/{id}/weighed`: why an article has these indicators: all candidates, kept or dropped, and the reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.responses import Response

from api.web.addresses import with_query
from api.web.pages.articles import known_article
from api.web.visit import Visit
from intel.canonical import defang
from intel.query import CandidateQuery
from intel.records import IOC_TYPES

VERDICTS: Final = ("dropped", "kept")
_ROWS: Final = 200
_AROUND: Final = 90


@dataclass(slots=True)
class Row:
    """A candidate with the words around it; `places` are the characters where it stands with the same reason."""

    candidate: dict[str, Any]
    shown: str
    before: str
    after: str
    places: list[int] = field(default_factory=list)


async def show(visit: Visit) -> Response:
    article = await known_article(visit)
    verdict, type = visit.query.get("verdict", ""), visit.query.get("type", "")
    verdict, type = verdict if verdict in VERDICTS else "", type if type in IOC_TYPES else ""
    start = _start(visit)
    wanted = CandidateQuery(verdict == "kept" if verdict else None, type or None, limit=_ROWS, skip=start)
    page = await visit.service.store.readings.weighed(article.id, article.revision, wanted)
    path, asked = f"/articles/{article.id}/weighed", {"verdict": verdict, "type": type}
    return await visit.large_page(
        "weighed.html",
        article=article,
        known=page is not None,
        kept=page.kept if page else 0,
        count=page.count if page else 0,
        verdict=verdict,
        type=type,
        address=lambda **changes: with_query(path, asked | changes),
        rows=_rows(article.text or "", (each for _, each in page.items)) if page else [],
        next_address=with_query(path, asked | {"from": str(start + _ROWS)}) if page and page.more else None,
    )


def _start(visit: Visit) -> int:
    asked = visit.query.get("from", "0")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0


def _rows(text: str, candidates: Iterable[dict[str, Any]]) -> list[Row]:
    rows: dict[tuple[Any, ...], Row] = {}
    for candidate in candidates:
        same = tuple(candidate[name] for name in ("type", "value", "kept", "rule"))
        row = rows.get(same) or rows.setdefault(same, _row(text, candidate))
        row.places.append(candidate["start"])
    return list(rows.values())


def _row(text: str, candidate: dict[str, Any]) -> Row:
    spelling, start = candidate["spelling"], candidate["start"]
    shown = defang(candidate["type"], candidate["value"])
    if not text.startswith(spelling, start):
        # What stands around the article was weighed too, so that places differ from those in its text.
        start = text.find(spelling)
    if start < 0:
        return Row(candidate, shown, "", "")
    end = start + len(spelling)
    first, last = max(0, start - _AROUND), end + _AROUND
    before, after = text[first:start].rpartition("\n")[2], text[end:last].partition("\n")[0]
    # A word that the border cuts in two is left out.
    before = before.partition(" ")[2] if first and len(before) == start - first else before
    after = after.rpartition(" ")[0] if last < len(text) and len(after) == last - end else after
    return Row(candidate, shown, before, after)
