"""`/articles/{id}/weighed`: all that was weighed in an article, kept or dropped, and why."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from api.web.addresses import with_query
from api.web.visit import Visit
from intel.canonical import defang
from intel.errors import NotFound

VERDICTS: Final = ("dropped", "kept")
_ROWS: Final = 200


async def show(visit: Visit) -> Response:
    id = visit.request.path_params["id"]
    store = visit.service.store
    article = await store.articles.get(id) if len(id) == 36 and id.isascii() else None
    if article is None:
        raise NotFound("There is no such article here.")
    reading = await store.readings.get(id, article.revision)
    weighed = reading.candidates if reading else None
    verdict = visit.query.get("verdict", "")
    wanted = [each for each in weighed or () if verdict not in VERDICTS or each["kept"] == (verdict == "kept")]
    start = _start(visit, len(wanted))
    onward = with_query(f"/articles/{id}/weighed", {"verdict": verdict, "from": str(start + _ROWS)})
    return visit.page(
        "weighed.html",
        article=article,
        known=weighed is not None,
        kept=sum(each["kept"] for each in weighed or ()),
        count=len(weighed or ()),
        verdict=verdict if verdict in VERDICTS else "",
        rows=[_row(each) for each in wanted[start : start + _ROWS]],
        next_address=onward if start + _ROWS < len(wanted) else None,
    )


def _start(visit: Visit, count: int) -> int:
    asked = visit.query.get("from", "0")
    start = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0
    return start if start < count else 0


def _row(candidate: dict[str, Any]) -> dict[str, Any]:
    return candidate | {"shown": defang(candidate["type"], candidate["value"])}
