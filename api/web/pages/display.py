"""`/display`: how lists look to this browser, as a table or as cards, with values defanged or raw."""

from __future__ import annotations

from starlette.responses import Response

from api.problems import Problem
from api.web import cookies
from api.web.addresses import here
from api.web.visit import Visit


async def show(visit: Visit) -> Response:
    return visit.go("/search")


async def keep(visit: Visit) -> Response:
    """Remember the choices that the form holds, and return to where it stood."""
    chosen = {name: visit.form[name] for name in cookies.DISPLAYS if name in visit.form}
    if not chosen or any(value not in cookies.DISPLAYS[name] for name, value in chosen.items()):
        raise Problem(422, "invalid_parameter", "Lists are shown as table or cards, values defanged or raw.")
    response = visit.go(here(visit.form.get("next")))
    for name, value in chosen.items():
        cookies.keep_display(response, visit.request, visit.service.settings, name, value)
    return response
