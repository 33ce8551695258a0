"""The cookies: who is signed in, which account the browser has signed in to before, and how pages should look."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from starlette.requests import Request
from starlette.responses import Response

from api.accounts.open_id import LIFETIME as OPEN_ID_LIFETIME
from api.accounts.sessions import LIFETIME
from intel.settings import Settings

Theme = Literal["auto", "light", "dark"]

_SESSION, _DEVICE, _THEME, _OPEN_ID = "ioc_session", "ioc_device", "ioc_theme", "ioc_oidc"
_YEAR_SECONDS = 365 * 24 * 3600
# How lists look: each choice with its values, the first of which holds until another one is chosen.
DISPLAYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"view": ("table", "cards"), "values": ("defanged", "raw")}
)


def is_https(request: Request, settings: Settings) -> bool:
    """Tell whether people reach the service by HTTPS, here or at a proxy before it."""
    return request.url.scheme == "https" or settings.base_url.startswith("https://")


def session_secret(request: Request, settings: Settings) -> str | None:
    """Return the value of the session cookie."""
    return request.cookies.get(_name(_SESSION, is_https(request, settings)))


def keep_session(response: Response, request: Request, settings: Settings, secret: str) -> None:
    """Hand the session's secret to the browser."""
    secure = is_https(request, settings)
    response.set_cookie(
        _name(_SESSION, secure),
        secret,
        max_age=int(LIFETIME.total_seconds()),
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )


def open_id(request: Request, settings: Settings) -> str:
    """Return what has to be remembered while somebody signs in through the provider."""
    return request.cookies.get(_name(_OPEN_ID, is_https(request, settings)), "")


def keep_open_id(response: Response, request: Request, settings: Settings, sealed: str) -> None:
    """Have the browser remember that for ten minutes."""
    secure = is_https(request, settings)
    seconds = int(OPEN_ID_LIFETIME.total_seconds())
    response.set_cookie(
        _name(_OPEN_ID, secure), sealed, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax"
    )


def drop_open_id(response: Response, request: Request, settings: Settings) -> None:
    """Have the browser forget that: each is good for one sign-in."""
    secure = is_https(request, settings)
    response.delete_cookie(_name(_OPEN_ID, secure), path="/", secure=secure, httponly=True, samesite="lax")


def device(request: Request, settings: Settings) -> str:
    """Return the value of a known browser's cookie."""
    return request.cookies.get(_name(_DEVICE, is_https(request, settings)), "")


def keep_device(response: Response, request: Request, settings: Settings, token: str) -> None:
    """Let the browser remember that it has signed in here."""
    secure = is_https(request, settings)
    response.set_cookie(
        _name(_DEVICE, secure), token, max_age=_YEAR_SECONDS, path="/", secure=secure, httponly=True, samesite="lax"
    )


def drop_session(response: Response, request: Request, settings: Settings) -> None:
    """Take the session cookie back."""
    secure = is_https(request, settings)
    response.delete_cookie(_name(_SESSION, secure), path="/", secure=secure, httponly=True, samesite="lax")


def theme(request: Request) -> Theme:
    """Return the colours that were asked for; `auto` follows the system."""
    wanted = request.cookies.get(_THEME)
    return "light" if wanted == "light" else "dark" if wanted == "dark" else "auto"


def keep_theme(response: Response, request: Request, settings: Settings, wanted: str) -> None:
    """Remember the colours; scripts may write this cookie too, so that they change without a reload."""
    secure = is_https(request, settings)
    if wanted in ("light", "dark"):
        response.set_cookie(_THEME, wanted, max_age=_YEAR_SECONDS, path="/", secure=secure, samesite="lax")
    else:
        response.delete_cookie(_THEME, path="/", secure=secure, samesite="lax")


def display(request: Request, choice: str) -> str:
    """Return the value of one choice of `DISPLAYS`."""
    wanted = request.cookies.get(f"ioc_{choice}", "")
    return wanted if wanted in DISPLAYS[choice] else DISPLAYS[choice][0]


def keep_display(response: Response, request: Request, settings: Settings, choice: str, wanted: str) -> None:
    """Remember one choice of `DISPLAYS`."""
    secure = is_https(request, settings)
    response.set_cookie(f"ioc_{choice}", wanted, max_age=_YEAR_SECONDS, path="/", secure=secure, samesite="lax")


def _name(cookie: str, secure: bool) -> str:
    # The prefix makes browsers refuse the cookie from a sub-domain or from plain HTTP.
    return f"__Host-{cookie}" if secure else cookie
