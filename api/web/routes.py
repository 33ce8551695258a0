"""The table of pages, and how they are added to the application."""

from __future__ import annotations

from dataclasses import replace

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from api.problems import Problem
from api.routes.description import swagger_folder
from api.web.pages import (
    about,
    accounts,
    actors,
    administration,
    articles,
    awareness,
    bulk,
    display,
    feed_tokens,
    focus,
    home,
    iocs,
    keys,
    malware,
    open_id,
    relations,
    reports,
    saved_searches,
    search,
    selection,
    settings,
    sources,
    submissions,
    two_factor,
    weighed,
)
from api.web.rendering import Templates
from api.web.static_files import FOLDER, StaticFiles, fingerprints
from api.web.visit import VISIT, Entry, Visit, answer, error, private, recognised, stranger
from intel.errors import StoreUnavailable

_NOT_PAGES = ("/api/", "/mcp/", "/misp/", "/static/", "/taxii2/", "/healthz/", "/readyz/", "/metrics/")

PAGES = (
    Entry("/", home.show),
    Entry("/search", search.show),
    Entry("/selection", selection.show),
    Entry("/ioc/{type}/{value:path}", iocs.show, iocs.say, members_post=True),
    Entry("/malware", malware.show_all),
    Entry("/actors", actors.show_all),
    Entry("/actor/{name:path}", actors.show),
    Entry("/graph/{type}/{value:path}", relations.show),
    Entry("/bulk", bulk.show, bulk.look_up, members_post=True, largest_form=bulk.LARGEST_FORM),
    Entry("/articles", articles.show_all),
    Entry("/articles/{id:id}", articles.show_one, articles.say, members_post=True),
    Entry("/articles/{id:id}/weighed", weighed.show, weighed.say, members_post=True),
    Entry("/articles/{id:id}/remove", articles.show_remove, articles.remove, members=True),
    Entry("/articles/{id:id}/refetch", articles.show_elsewhere, articles.refetch, members_post=True),
    Entry("/weekly", reports.show_weeks),
    Entry("/weekly/{week}", reports.show_week),
    Entry("/focus", focus.show),
    Entry("/awareness", awareness.show_all),
    Entry("/awareness/{slug}", awareness.show_one),
    Entry("/sources", sources.show),
    Entry("/sources/{name:path}", sources.show_one, sources.trust, members_post=True),
    Entry("/status", about.show_status),
    Entry("/help", about.show_help),
    Entry("/help/mcp", about.show_mcp),
    Entry("/signup", accounts.show_sign_up, accounts.sign_up, before_sign_in=True),
    Entry("/signin", accounts.show_sign_in, accounts.sign_in, before_sign_in=True),
    Entry("/signin/oidc", open_id.begin),
    Entry("/signin/oidc/callback", open_id.finish),
    Entry("/signin/code", two_factor.show_code, two_factor.give_code, before_sign_in=True),
    Entry("/signout", accounts.show_sign_out, accounts.sign_out),
    Entry("/display", display.show, display.keep, before_sign_in=True),
    Entry("/theme", accounts.show_theme, accounts.keep_theme, before_sign_in=True),
    Entry("/submit", submissions.show, submissions.submit, members_post=True, fields=submissions.FIELDS),
    Entry("/submissions", submissions.show_all, members=True),
    Entry("/submissions/{id:id}", submissions.show_one, members=True),
    Entry("/settings", settings.show, members=True),
    Entry("/settings/password", settings.show_elsewhere, settings.change_password, members=True),
    Entry("/settings/two-factor", two_factor.show, two_factor.change, members=True),
    Entry("/settings/sessions", settings.show_elsewhere, settings.end_session, members=True),
    Entry("/settings/searches", saved_searches.show_all, saved_searches.save, members=True),
    Entry("/settings/searches/{id:id}", saved_searches.show_one, saved_searches.change, members=True),
    Entry("/settings/searches/{id:id}/do", saved_searches.show_elsewhere, saved_searches.act, members=True),
    Entry(
        "/unsubscribe/{id:id}/{token}",
        saved_searches.show_unsubscribe,
        saved_searches.unsubscribe,
        before_sign_in=True,
    ),
    Entry("/settings/api-keys", keys.show, keys.create, members=True),
    Entry("/settings/api-keys/revoke", keys.show_revoke, keys.revoke, members=True),
    Entry("/admin", administration.show, administrators=True),
    Entry("/admin/feeds", administration.show_feeds, administration.change_feeds, administrators=True),
    Entry("/admin/accounts", administration.show_accounts, administration.change_account, administrators=True),
    Entry("/admin/audit", administration.show_audit, administrators=True),
    Entry("/settings/feeds", feed_tokens.show, feed_tokens.create, members=True),
    Entry("/settings/feeds/revoke", feed_tokens.show_revoke, feed_tokens.revoke, members=True),
)


def add_pages(app: FastAPI) -> None:
    """Add all pages and the static files. `app.state.service` may be set before or after."""
    static = fingerprints()
    templates = Templates(static)
    app.state.templates = templates
    app.router.routes += [
        *(_route(entry, templates) for entry in PAGES),
        Route("/docs", _docs),
        Mount("/static/swagger", StaticFiles(directory=swagger_folder()), name="swagger"),
        Mount("/static", StaticFiles(directory=FOLDER, addresses=static), name="static"),
    ]


def is_page(path: str) -> bool:
    """Return whether a path is a page for people, whose errors are pages and not problem+json."""
    return not f"{path}/".startswith(_NOT_PAGES)


async def error_page(request: Request, problem: Problem) -> Response:
    """Return the page for an error that no page's handler answered: an unknown address, a wrong method."""
    visit: Visit = request.scope.get(VISIT) or stranger(request, request.app.state.templates)
    if visit.signed_in is None:
        try:
            visit = await recognised(visit)
        except StoreUnavailable:
            visit = replace(visit, signed_in=None)
    return error(visit, problem)


def failure_page(templates: Templates, request_id: str) -> Response:
    """Return the page for an unexpected error, without the store and the session, which may be what failed."""
    return private(HTMLResponse(templates.render("failure.html", {"request_id": request_id}), 500))


def _route(entry: Entry, templates: Templates) -> Route:
    async def respond(request: Request) -> Response:
        request.scope.setdefault("route", entry)
        return await answer(entry, request, templates)

    methods = ["GET", "POST"] if entry.post else ["GET"]
    return Route(entry.path, respond, methods=methods, include_in_schema=False)


async def _docs(_: Request) -> Response:
    return RedirectResponse("/api/v1/docs")
