"""`/articles/{id}/weighed`: why an article has these indicators: all candidates, kept or dropped, and the reason.

Who is signed in says with one click that a verdict is wrong; `ioc feedback export` gives what was said as examples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from starlette.responses import Response

from api.web.addresses import with_query
from api.web.pages.articles import known_article
from api.web.visit import Visit
from intel.canonical import defang
from intel.errors import NotFound
from intel.feedback import Feedback
from intel.ids import feedback_id
from intel.query import CandidateQuery
from intel.records import IOC_TYPES, Article

VERDICTS: Final = ("dropped", "kept")
_ROWS: Final = 200
_AROUND: Final = 240
_SENTENCE: Final = 120
_SENTENCE_END: Final = re.compile(r"[.!?\u3002][\"')\]\u201d\u2019]?\s+(?=[^a-z\s])|\u3002")
_LONGEST_RULE: Final = 100
_LONGEST_EXAMPLE: Final = 600


@dataclass(slots=True)
class Row:
    """A candidate with the words around it; `places` are the characters where it stands with the same reason."""

    candidate: dict[str, Any]
    shown: str
    before: str
    after: str
    places: list[int] = field(default_factory=list)
    wrong: bool = False


async def show(visit: Visit) -> Response:
    article = await known_article(visit)
    verdict, type = visit.query.get("verdict", ""), visit.query.get("type", "")
    verdict, type = verdict if verdict in VERDICTS else "", type if type in IOC_TYPES else ""
    start, rule = _start(visit), visit.query.get("rule", "")[:_LONGEST_RULE]
    kept = verdict == "kept" if verdict else None
    wanted = CandidateQuery(kept, type or None, limit=_ROWS, skip=start, rule=rule or None)
    page = await visit.service.store.readings.weighed(article.id, article.revision, wanted)
    said = await _said(visit, article) if page else frozenset[str]()
    path, asked = f"/articles/{article.id}/weighed", {"verdict": verdict, "type": type, "rule": rule}
    return await visit.large_page(
        "weighed.html",
        article=article,
        known=page is not None,
        kept=page.kept if page else 0,
        count=page.count if page else 0,
        verdict=verdict,
        type=type,
        rule=rule,
        total=page.total if page else 0,
        address=lambda **changes: with_query(path, asked | changes),
        rows=_rows(article, (each for _, each in page.items), said) if page else [],
        next_address=with_query(path, asked | {"from": str(start + _ROWS)}) if page and page.more else None,
    )


async def say(visit: Visit) -> Response:
    """Keep or take back that a verdict is wrong."""
    article, form, account_id = await known_article(visit), visit.form, visit.member.account.id
    type, value, kept = form.get("type", ""), form.get("value", ""), form.get("kept") == "yes"
    store, id = visit.service.store, feedback_id(article.id, type, value, kept=kept, account_id=account_id)
    if form.get("say") == "withdraw":
        await store.feedback.withdraw(id)
        return visit.go(visit.here)
    reading = await store.readings.get(article.id, article.revision)
    weighed = reading.candidates or () if reading else ()
    candidate = next((one for one in weighed if (one["type"], one["value"], one["kept"]) == (type, value, kept)), None)
    if candidate is None:
        raise NotFound("This article has no such candidate any more.")
    await store.feedback.put(
        Feedback(
            id=id,
            article_id=article.id,
            account_id=account_id,
            type=type,
            value=value,
            spelling=candidate["spelling"],
            text=_example(article.text or "", candidate),
            kept=kept,
            rule=candidate["rule"],
            title=article.title,
            url=article.url,
            said_at=visit.service.clock(),
        )
    )
    return visit.go(visit.here)


def _example(text: str, candidate: dict[str, Any]) -> str:
    """Return the line around a candidate, about 600 characters of it at most."""
    row = _row(text, candidate, _LONGEST_EXAMPLE // 2 - len(candidate["spelling"]) // 2)
    return f"{row.before}{candidate['spelling']}{row.after}"


async def _said(visit: Visit, article: Article) -> frozenset[str]:
    """Return the ids of what the reader called wrong in an article."""
    if visit.signed_in is None:
        return frozenset()
    account_id = visit.signed_in.account.id
    return frozenset(one.id for one in await visit.service.store.feedback.of(article.id, account_id))


def _start(visit: Visit) -> int:
    asked = visit.query.get("from", "0")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0


def _rows(article: Article, candidates: Iterable[dict[str, Any]], said: frozenset[str]) -> list[Row]:
    text = article.text or ""
    account_id = next((id.partition(":")[2] for id in said), "")
    rows: dict[tuple[Any, ...], Row] = {}
    for candidate in candidates:
        same = tuple(candidate[name] for name in ("type", "value", "kept", "rule"))
        row = rows.get(same) or rows.setdefault(same, _in_its_sentence(_row(text, candidate)))
        row.places.append(candidate["start"])
    for row in rows.values():
        type, value, kept = (row.candidate[name] for name in ("type", "value", "kept"))
        row.wrong = feedback_id(article.id, type, value, kept=kept, account_id=account_id) in said
    return list(rows.values())


def _in_its_sentence(row: Row) -> Row:
    """Return the row with the words of the candidate's own sentence; a long one is cut between words, as `…` tells."""
    before = _SENTENCE_END.split(row.before)[-1]
    end = _SENTENCE_END.search(row.after)
    after = row.after[: end.end()].rstrip() if end else row.after
    if len(before) > _SENTENCE:
        before = "…" + before[-_SENTENCE:].partition(" ")[2]
    if len(after) > _SENTENCE:
        after = after[:_SENTENCE].rpartition(" ")[0] + "…"
    return replace(row, before=before, after=after)


def _row(text: str, candidate: dict[str, Any], around: int = _AROUND) -> Row:
    spelling, start = candidate["spelling"], candidate["start"]
    shown = defang(candidate["type"], candidate["value"])
    if not text.startswith(spelling, start):
        # What stands around the article was weighed too, so that places differ from those in its text.
        start = text.find(spelling)
    if start < 0:
        return Row(candidate, shown, "", "")
    end = start + len(spelling)
    first, last = max(0, start - max(0, around)), end + max(0, around)
    before, after = text[first:start].rpartition("\n")[2], text[end:last].partition("\n")[0]
    # A word that the border cuts in two is left out.
    before = before.partition(" ")[2] if first and len(before) == start - first else before
    after = after.rpartition(" ")[0] if last < len(text) and len(after) == last - end else after
    return Row(candidate, shown, before, after)
