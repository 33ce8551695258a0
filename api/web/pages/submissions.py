"""`/submit` and `/submissions/{id}`: handing an article in, and watching what becomes of it."""

from __future__ import annotations

from pydantic import ValidationError
from starlette.responses import Response

from api.models import SubmitBody
from api.service import check_may_submit
from api.web.visit import Visit
from intel.errors import NotFound, RefusedUrl


async def show(visit: Visit) -> Response:
    return _page(visit)


async def submit(visit: Visit) -> Response:
    check_may_submit(visit.member.account.role)
    url, source_name = visit.form.get("url", "").strip(), visit.form.get("source_name", "").strip()
    try:
        body = SubmitBody(url=url, source_name=source_name or None)
        submission = await visit.service.submitting.submit(visit.member.account.id, body.url, body.source_name)
    except RefusedUrl as refused:
        return _page(visit, 422, url, source_name, "url", refused.detail)
    except ValidationError as wrong:
        field = str(wrong.errors()[0]["loc"][0])
        return _page(visit, 422, url, source_name, field, _WRONG.get(field, "This cannot be read."))
    return visit.go(f"/submissions/{submission.id}")


async def show_one(visit: Visit) -> Response:
    id = visit.request.path_params["id"]
    found = await visit.service.store.submissions.get(id)
    if found is None or found.account_id != visit.member.account.id:
        raise NotFound("Your account has no such submission.")
    article = await visit.service.store.articles.get(found.article_id) if found.article_id else None
    return visit.page("submission.html", submission=found, article=article)


_WRONG = {
    "url": "Give the address of one article, at most 2,048 characters long.",
    "source_name": "A source's name has 1 to 200 characters, none of them invisible.",
}


def _page(
    visit: Visit, status: int = 200, url: str = "", source_name: str = "", field: str = "", fault: str = ""
) -> Response:
    return visit.page("submit.html", status, url=url, source_name=source_name, field=field, fault=fault)
