"""One visit to a page: who comes, what it costs, and that its form was not forged; then the page's own handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import parse_qsl, quote

import structlog
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from api.accounts.back_off import BackOff
from api.accounts.sessions import Sessions, SignedIn
from api.auditing import Auditing
from api.bodies import media_type, read_body
from api.limits.bucket import Decision
from api.limits.client_address import client_address
from api.limits.headers import limit_headers, retry_after
from api.limits.policy import is_search
from api.limits.tiers import Tier, results_limit
from api.multipart import MULTIPART, SentFile, read_form
from api.problems import Problem, problem_of
from api.service import Service, service_of
from api.streaming import Pieces, streamed
from api.uploads import LARGEST_UPLOAD
from api.web import cookies, forgery
from api.web.addresses import here_of, own_address
from api.web.rendering import Templates
from api.web.text import ago
from api.web.text import wait as wait_words
from intel.errors import IocError

log = structlog.get_logger()

_FORM = "application/x-www-form-urlencoded"
_LARGEST_FORM: Final = 256_000
_OUT_OF_DATE = "This form is out of date, so nothing was done. Open the page again and repeat it."
_MOST_FIELDS = 100
_PIECE_BYTES = 64 * 1024
# More of them than any cap has.
_DIGITS = 9
VISIT = "ioc.visit"


@dataclass(frozen=True, slots=True)
class Visit:
    """What a page's handler works with. `form` holds the fields of a posted form, the last of each name, and
    `file` its file. `untold` says that somebody may be signed in: a session came, and whose it is was not told.
    """

    request: Request
    service: Service
    templates: Templates
    address: str
    tier: Tier
    signed_in: SignedIn | None = None
    untold: bool = False
    decision: Decision | None = None
    form: Mapping[str, str] = field(default_factory=dict)
    file: SentFile | None = None

    @property
    def member(self) -> SignedIn:
        """Who is signed in; only for pages that are not shown to others."""
        assert self.signed_in is not None  # noqa: S101 - `answer` sends everybody else to the sign-in page
        return self.signed_in

    @property
    def audit(self) -> Auditing:
        """What notes what the account that is signed in does."""
        return Auditing(self.service.store, self.member.account.email, self.service.clock)

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def here(self) -> str:
        """Where the visitor is: path and query as they came, still encoded."""
        return here_of(self.request)

    @property
    def own_address(self) -> str:
        return own_address(self.request, self.service.settings)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.service.store, self.service.clock)

    @property
    def back_off(self) -> BackOff:
        return BackOff(self.service.limiter)

    def limit(self, usual: int | None = None) -> int:
        """Return how many results this visitor gets, as asked for by `limit` or `usual`, and lowered to the cap."""
        asked = self.query.get("limit", "").strip()
        if not asked:
            return results_limit(usual, self.tier.results_cap)
        if not (asked.isascii() and asked.isdigit() and asked.strip("0")):
            raise Problem(422, "invalid_parameter", "limit must be a whole number from 1 on.")
        return results_limit(int(asked.lstrip("0")[:_DIGITS]), self.tier.results_cap)

    def page(self, template: str, status: int = 200, **context: Any) -> Response:
        """Answer with the page that the template makes of the context."""
        return private(HTMLResponse(self._rendered(template, context), status))

    async def large_page(self, template: str, status: int = 200, **context: Any) -> Response:
        """Answer with a page that is made beside the event loop and sent in pieces."""
        html = await self.service.apart.run(lambda: self._rendered(template, context).encode())
        response = await streamed(_cut(html), {"Content-Type": "text/html; charset=utf-8"})
        response.status_code = status
        return private(response)

    def _rendered(self, template: str, context: dict[str, Any]) -> str:
        now = self.service.clock()
        common: dict[str, Any] = {
            "visit": self,
            "account": self.signed_in.account if self.signed_in else None,
            "form_token": self._form_token(),
            "theme": cookies.theme(self.request),
            "view": cookies.display(self.request, "view"),
            "raw_values": cookies.display(self.request, "values") == "raw",
            "signup_open": self.service.settings.ioc_signup == "open",
            "path": self.request.url.path,
            "here": self.here,
            "ago": lambda moment: ago(moment, now),
            "now": now,
            "cve_names": {},
            "q": "",
        }
        return self.templates.render(template, common | context)

    def go(self, path: str) -> Response:
        """Send the browser on to another page of this service."""
        return private(RedirectResponse(path, 303))

    def _form_token(self) -> str:
        if self.signed_in is None:
            return ""
        return forgery.form_token(self.service.cursors.secret, self.signed_in.session.id)


async def _cut(html: bytes) -> Pieces:
    # Each piece is compressed in one go.
    for start in range(0, len(html), _PIECE_BYTES):
        yield html[start : start + _PIECE_BYTES]


Handler = Callable[[Visit], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the table of pages.

    `members`: only for who is signed in; `members_post`: only its form is; `administrators`: only for those.
    `before_sign_in`: its form needs no token, for there may be no session yet. `largest_form` is in bytes. `fields`:
    its form may bring a file, and then has these fields beside it.
    """

    path: str
    show: Handler
    post: Handler | None = None
    members: bool = False
    members_post: bool = False
    administrators: bool = False
    before_sign_in: bool = False
    largest_form: int = _LARGEST_FORM
    fields: frozenset[str] = frozenset()


def private(response: Response) -> Response:
    """Add the headers of a page that is for one reader: nobody keeps it, and no other site learns its address.

    `same-origin`, not `no-referrer`: under that one browsers send forms with the origin `null`.
    """
    response.headers["Cache-Control"] = "no-store"
    response.headers["Vary"] = "Cookie"
    response.headers["Referrer-Policy"] = "same-origin"
    return response


def stranger(request: Request, templates: Templates) -> Visit:
    """Return a visit of which nothing is known but the request."""
    service = service_of(request)
    peer = request.client.host if request.client else None
    forwarded = request.headers.getlist("x-forwarded-for")
    address = client_address(peer, forwarded, service.settings.ioc_trusted_proxies)
    untold = cookies.session_secret(request, service.settings) is not None
    return Visit(request, service, templates, address, service.tiers.list, untold=untold)


async def recognised(visit: Visit) -> Visit:
    """Return the visit with who is signed in. StoreUnavailable where that cannot be told."""
    secret = cookies.session_secret(visit.request, visit.service.settings)
    found = await visit.sessions.find(secret) if secret else None
    return replace(visit, signed_in=found, tier=visit.service.tiers.account if found else visit.tier, untold=False)


async def answer(entry: Entry, request: Request, templates: Templates) -> Response:
    """Return what a request to that page gets."""
    visit = stranger(request, templates)
    try:
        visit = await _charged(await recognised(visit))
        request.scope[VISIT] = visit
        response = await _admitted(entry, visit)
    except Problem as problem:
        response = error(visit, problem)
    except IocError as fault:
        told = problem_of(fault)
        if told.status == 500:
            log.error("an error without an answer of its own", error=repr(fault))
        response = error(visit, told)
    if visit.decision is not None:
        response.headers.raw.extend(limit_headers(visit.decision))
    return response


def error(visit: Visit, problem: Problem) -> Response:
    """Return the page that tells what went wrong."""
    wait, detail = problem.headers.get("Retry-After", ""), problem.detail
    if detail.startswith("q "):
        detail = f"The search {detail.removeprefix('q ')}"
    response = visit.page(
        "error.html",
        problem.status,
        code=problem.status,
        detail=detail if detail.endswith((".", ")")) else f"{detail}.",
        wait_words=wait_words(int(wait)) if wait.isdigit() else "",
    )
    response.headers.update(problem.headers)
    return response


def too_many(decision: Decision, detail: str) -> Problem:
    """Return the refusal of a bucket that is empty."""
    return Problem(429, "rate_limited", detail, headers=retry_after(decision))


async def _charged(visit: Visit) -> Visit:
    """Take the request's token: the account's, or the address's where nobody is signed in."""
    request, tiers = visit.request, visit.service.tiers
    if visit.signed_in is not None:
        charge = tiers.for_account(visit.signed_in.account.id)
    elif request.method in ("GET", "HEAD"):
        charge = tiers.for_visitor(visit.address, searching=is_search(request.url.query))
    else:
        return visit
    decision = await visit.service.limiter.take(charge.bucket, charge.tier.rate)
    return replace(visit, tier=charge.tier, decision=decision)


def _spent(visit: Visit) -> str:
    if visit.signed_in is not None:
        return "Your account has opened too many pages within a minute."
    tiers = visit.service.tiers
    what = "searches" if visit.tier is tiers.search else "pages"
    return (
        f"{visit.tier.rate.capacity:,} {what} {_every(visit.tier)} without an account; "
        f"sign in for {tiers.account.rate.capacity:,} requests {_every(tiers.account)}."
    )


def _every(tier: Tier) -> str:
    units = {1: "a second", 60: "a minute", 3600: "an hour", 86_400: "a day"}
    return units.get(tier.rate.seconds, f"every {tier.rate.seconds} seconds")


async def _admitted(entry: Entry, visit: Visit) -> Response:
    if visit.decision is not None and not visit.decision.allowed:
        raise too_many(visit.decision, _spent(visit))
    request = visit.request
    posted = request.method == "POST"
    if posted:
        _refuse_strangers_form(visit)
        visit = await _with_form(entry, visit)
        _refuse_old_form(entry, visit)
    members = entry.members or entry.administrators
    if (members or (posted and entry.members_post)) and visit.signed_in is None:
        back = visit.here.partition("?")[0] if posted else visit.here
        return visit.go(f"/signin?next={quote(back, safe='/')}")
    if entry.administrators and visit.member.account.role != "administrator":
        raise Problem(403, "forbidden", "Only administrators may open this page.")
    if posted and entry.post is not None:
        return await entry.post(visit)
    return await entry.show(visit)


async def _with_form(entry: Entry, visit: Visit) -> Visit:
    request = visit.request
    # What strangers send is not taken in: they are sent to sign in.
    if entry.fields and media_type(request) == MULTIPART:
        if visit.signed_in is None:
            return visit
        with visit.service.uploads.room(visit.signed_in.account.id):
            sent = await read_form(request, "file", entry.fields | {forgery.TOKEN_FIELD}, LARGEST_UPLOAD)
        return replace(visit, form=sent.fields, file=sent.file)
    return replace(visit, form=await _form(request, entry.largest_form))


async def _form(request: Request, largest: int) -> Mapping[str, str]:
    if media_type(request) != _FORM:
        raise Problem(415, "unsupported_media_type", "This page takes forms only.")
    body = await read_body(request, largest)
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Problem(400, "invalid_form", "This form cannot be read.") from None


def _refuse_strangers_form(visit: Visit) -> None:
    headers = {name.lower(): value for name, value in visit.request.headers.items()}
    if not forgery.comes_from_here(headers, visit.service.settings.ioc_base_url):
        raise Problem(403, "forbidden", "This form was sent from another site, so nothing was done.")


def _refuse_old_form(entry: Entry, visit: Visit) -> None:
    if entry.before_sign_in or visit.signed_in is None:
        return
    token = visit.form.get(forgery.TOKEN_FIELD, "")
    if not forgery.is_form_token(visit.service.cursors.secret, visit.signed_in.session.id, token):
        raise Problem(403, "forbidden", _OUT_OF_DATE)
