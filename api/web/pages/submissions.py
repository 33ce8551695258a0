"""`/submit` and `/submissions`: handing an article in, and watching what becomes of it."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError
from starlette.responses import Response

from api.models import SubmitBody, SubmitFileBody
from api.service import check_may_submit
from api.web.addresses import with_query
from api.web.visit import Visit
from intel.errors import InvalidQuery, NotFound, RefusedUrl
from intel.records import Submission
from intel.tlp import LEVELS

FIELDS: Final = frozenset({"url", "text", "source_name", "tlp"})
_LIST: Final = "page of submissions"
_SHOWN: Final = 50
_PASTED: Final = "pasted text"
_ONE_OF: Final = "Give one of these: an address, a text, or a file."


async def show(visit: Visit) -> Response:
    return _page(visit)


async def submit(visit: Visit) -> Response:
    check_may_submit(visit.member.account.role)
    url, text, source_name = (visit.form.get(name, "").strip() for name in ("url", "text", "source_name"))
    if sum(map(bool, (url, text, visit.file))) != 1:
        return _page(visit, 422, "url", _ONE_OF)
    try:
        submission = await _submitted(visit, url, text, source_name or None, visit.form.get("tlp", "").strip() or None)
    except RefusedUrl as refused:
        return _page(visit, 422, "url", refused.detail)
    except InvalidQuery as refused:
        return _page(visit, 422, refused.field, f"The TLP {refused.message}.")
    except ValidationError as wrong:
        field = str(wrong.errors()[0]["loc"][0])
        return _page(visit, 422, field, _WRONG.get(field, "This cannot be read."))
    return visit.go(f"/submissions/{submission.id}")


async def _submitted(visit: Visit, url: str, text: str, source_name: str | None, tlp: str | None) -> Submission:
    submitting, account_id = visit.service.submitting, visit.member.account.id
    if url:
        asked = SubmitBody.model_validate({"url": url, "source_name": source_name, "tlp": tlp})
        return await submitting.submit(account_id, asked.url, asked.source_name, tlp=asked.tlp)
    body = SubmitFileBody.model_validate({"source_name": source_name, "tlp": tlp})
    name, content = _PASTED, text.encode(errors="replace")
    if visit.file is not None:
        name, content = visit.file.name or "file", visit.file.body
    return await submitting.submit_file(account_id, name, content, body.source_name, body.tlp)


async def show_all(visit: Visit) -> Response:
    """Show the account's submissions, newest first, a page at a time."""
    cursors, cursor = visit.service.cursors, visit.query.get("cursor")
    after = cursors.read(_LIST, cursor)[1] if cursor else None
    page = await visit.service.store.submissions.page_of(visit.member.account.id, _SHOWN, after)
    next_address = with_query("/submissions", {"cursor": cursors.write(_LIST, {}, page.next)}) if page.next else None
    return visit.page("submissions.html", page=page, next_address=next_address)


async def show_one(visit: Visit) -> Response:
    id = visit.request.path_params["id"]
    found = await visit.service.store.submissions.get(id)
    if found is None or found.account_id != visit.member.account.id:
        raise NotFound("Your account has no such submission.")
    article = await visit.service.store.articles.get(found.article_id) if found.article_id else None
    return visit.page("submission.html", submission=found, article=article)


_WRONG = {
    "url": "Give the address of one article, at most 2,048 characters long.",
    "tlp": "The TLP is clear, green or amber; RED and AMBER+STRICT are refused: what is stored here anybody may read.",
    "source_name": "A source's name has 1 to 200 characters, none of them invisible.",
}


def _page(visit: Visit, status: int = 200, field: str = "", fault: str = "") -> Response:
    given = {name: visit.form.get(name, "").strip() for name in sorted(FIELDS)}
    return visit.page("submit.html", status, **given, levels=LEVELS, field=field, fault=fault)
