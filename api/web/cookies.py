"""The cookies: who is signed in, and which colours are wanted."""

from __future__ import annotations

from typing import Literal

from starlette.requests import Request
from starlette.responses import Response

from api.accounts.sessions import LIFETIME
from intel.settings import Settings

Theme = Literal["auto", "light", "dark"]

_THEME = "ioc_theme"
_YEAR_SECONDS = 365 * 24 * 3600


def is_https(request: Request, settings: Settings) -> bool:
    """Whether people reach the service by HTTPS, here or at a proxy before it."""
    return request.url.scheme == "https" or settings.base_url.startswith("https://")


def session_secret(request: Request, settings: Settings) -> str | None:
    """What the session cookie holds."""
    return request.cookies.get(_session_name(is_https(request, settings)))


def keep_session(response: Response, request: Request, settings: Settings, secret: str) -> None:
    """Hands the session's secret to the browser."""
    secure = is_https(request, settings)
    response.set_cookie(
        _session_name(secure),
        secret,
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def drop_session(response: Response, request: Request, settings: Settings) -> None:
    """Takes the session cookie back."""
    secure = is_https(request, settings)
    response.delete_cookie(_session_name(secure), path="/", secure=secure, httponly=True, samesite="lax")


def theme(request: Request) -> Theme:
    """The colours that were asked for; `auto` follows the system."""
    wanted = request.cookies.get(_THEME)
    return "light" if wanted == "light" else "dark" if wanted == "dark" else "auto"


def keep_theme(response: Response, request: Request, settings: Settings, wanted: str) -> None:
    """Remembers the colours; scripts may write this cookie too, so that they change without a reload."""
    secure = is_https(request, settings)
    if wanted in ("light", "dark"):
        response.set_cookie(_THEME, wanted, max_age=_YEAR_SECONDS, path="/", secure=secure, samesite="lax")
    else:
        response.delete_cookie(_THEME, path="/", secure=secure, samesite="lax")


def _session_name(secure: bool) -> str:
    # The prefix makes browsers refuse the cookie from a sub-domain or from plain HTTP.
    return "__Host-ioc_session" if secure else "ioc_session"
