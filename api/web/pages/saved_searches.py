"""`/settings/searches`: the account's saved searches, what was sent of each, and the address that ends its mails."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from pydantic import ValidationError
from starlette.responses import Response

from api.search_models import SearchChangesBody
from api.searches.asked import address_of
from api.searches.keeping import MOST_SEARCHES, Keeping
from api.web.visit import Visit
from intel.errors import InvalidQuery, NotFound, SearchLimitReached
from intel.query import EXCLUSIONS
from intel.saved_searches import SavedSearch

_HERE: Final = "/settings/searches"
_DELIVERIES_SHOWN: Final = 20
_TEXTS: Final = ("name", "q", "webhook_url", "email", "every", "since", "until")
_LISTS: Final = ("type", "source", "malware", "tag", "tlp", "status", "exclude")
_TRIED: Final = 10
_UNKNOWN_LINK: Final = "This unsubscribe link is not valid: it may be incomplete, or the saved search was deleted."


async def show_all(visit: Visit) -> Response:
    return await _list(visit, form={name: visit.query.get(name, "") for name in (*_TEXTS, *_LISTS, "min_sources")})


async def save(visit: Visit) -> Response:
    """Save a search; its secret is on the answer, this once."""
    form = dict(visit.form)
    try:
        new = await _keeping(visit).save(_asked(form))
    except SearchLimitReached as full:
        return await _list(visit, 409, form=form, fault=str(full))
    except (InvalidQuery, ValidationError) as wrong:
        field, fault = _told(wrong)
        return await _list(visit, 422, form=form, field=field, fault=fault)
    return await _list(visit, form={}, new=new)


async def show_one(visit: Visit) -> Response:
    search = await _keeping(visit).get(visit.request.path_params["id"])
    return await _one(visit, search, form=_form_of(search))


async def change(visit: Visit) -> Response:
    id = visit.request.path_params["id"]
    search = await _keeping(visit).get(id)
    try:
        await _keeping(visit).change(id, _asked(visit.form))
    except (InvalidQuery, ValidationError) as wrong:
        field, fault = _told(wrong)
        return await _one(visit, search, 422, form=dict(visit.form), field=field, fault=fault)
    return visit.go(f"{_HERE}/{id}?done=change")


async def act(visit: Visit) -> Response:
    """Pause, resume or delete a search, or send one of its messages again: as the button says."""
    keeping, id, wanted = _keeping(visit), visit.request.path_params["id"], visit.form.get("do", "")
    if wanted == "delete":
        await keeping.remove(id)
        return visit.go(_HERE)
    if wanted == "again":
        await keeping.again(id, visit.form.get("delivery", ""))
    elif wanted in ("pause", "resume"):
        await keeping.change(id, {"enabled": wanted == "resume"})
    return visit.go(f"{_HERE}/{id}?done={quote(wanted, safe='')}")


async def show_elsewhere(visit: Visit) -> Response:
    return visit.go(f"{_HERE}/{visit.request.path_params['id']}")


async def show_unsubscribe(visit: Visit) -> Response:
    return visit.page("unsubscribe.html", search=await _by_link(visit), done=False)


async def unsubscribe(visit: Visit) -> Response:
    """End the mails of a search for whoever has the link that they hold."""
    for _ in range(_TRIED):
        search = await _by_link(visit)
        if search.email is None or await visit.service.store.searches.update(replace(search, email=None)):
            break
    return visit.page("unsubscribe.html", search=search, done=True)


async def _by_link(visit: Visit) -> SavedSearch:
    search = await visit.service.store.searches.get(visit.request.path_params["id"])
    token = visit.request.path_params["token"]
    if search is None or not hmac.compare_digest(search.mail_token.encode(), token.encode(errors="replace")):
        raise NotFound(_UNKNOWN_LINK)
    return search


def _asked(form: Any) -> dict[str, Any]:
    """Return what a form says, checked as a request's body is. Raises ValidationError."""
    given: dict[str, Any] = {name: form.get(name, "").strip() or None for name in _TEXTS}
    given |= {name: _words(form.get(name, "")) for name in _LISTS if name != "exclude"}
    given["exclude"] = [one for one in EXCLUSIONS if form.get(f"exclude_{one}")]
    count = form.get("min_sources", "").strip()
    given["min_sources"] = int(count) if count.isascii() and count.isdigit() and len(count) < 7 else count or None
    given["roundup"] = given["every"] == "roundup"
    given["every"] = "week" if given["roundup"] else given["every"] or "now"
    return SearchChangesBody.model_validate(given | {"name": given["name"] or ""}).asked()


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _told(wrong: InvalidQuery | ValidationError) -> tuple[str, str]:
    if isinstance(wrong, InvalidQuery):
        return wrong.field, f"{wrong.field} {wrong.message}"
    field = str(wrong.errors()[0]["loc"][0])
    return field, _WRONG.get(field, f"{field} cannot be read.")


_WRONG: Final = {
    "name": "Give the search a name of 1 to 200 characters.",
    "min_sources": "The number of sources is a whole number, 1 or more.",
}


def _filled(form: Mapping[str, str]) -> dict[str, str]:
    """Return every field of the form; what is left out is a tick for each."""
    left_out = _words(form.get("exclude", ""))
    ticks = {f"exclude_{one}": form.get(f"exclude_{one}", "yes" if one in left_out else "") for one in EXCLUSIONS}
    return {name: form.get(name, "") for name in (*_TEXTS, *_LISTS, "min_sources")} | ticks


def _form_of(search: SavedSearch) -> dict[str, str]:
    """Return a search as the fields of its form."""
    texts = {name: str(getattr(search, name, None) or search.filters.get(name) or "") for name in _TEXTS}
    lists = {name: ", ".join(search.filters.get(name) or ()) for name in _LISTS}
    if search.roundup:
        texts["every"] = "roundup"
    return texts | lists | {"min_sources": str(search.filters.get("min_sources") or "")}


async def _list(
    visit: Visit,
    status: int = 200,
    *,
    form: dict[str, str],
    new: SavedSearch | None = None,
    field: str = "",
    fault: str = "",
) -> Response:
    searches = await _keeping(visit).all()
    return visit.page(
        "saved_searches.html",
        status,
        searches=[(search, address_of(search)) for search in searches],
        most=MOST_SEARCHES,
        form=_filled(form),
        new=new,
        field=field,
        fault=fault,
        sends_mail=visit.service.settings.ioc_smtp_host is not None,
    )


async def _one(
    visit: Visit, search: SavedSearch, status: int = 200, *, form: dict[str, str], field: str = "", fault: str = ""
) -> Response:
    return visit.page(
        "saved_search.html",
        status,
        search=search,
        found_by=address_of(search),
        deliveries=await visit.service.store.deliveries.of(search.id, _DELIVERIES_SHOWN),
        form=_filled(form),
        field=field,
        fault=fault,
        done=visit.query.get("done", ""),
        sends_mail=visit.service.settings.ioc_smtp_host is not None,
    )


def _keeping(visit: Visit) -> Keeping:
    service = visit.service
    return Keeping(service.store, visit.member.account.id, service.submitting.fetch_allow, service.clock)
