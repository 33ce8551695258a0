"""`/help`, `/help/mcp` and `/status`: how to use the service, and how it is."""

from __future__ import annotations

from starlette.responses import Response

from api.web.pages.keys import curl_line, mcp_entry
from api.web.visit import Visit

_KEY = "<API_KEY>"


async def show_help(visit: Visit) -> Response:
    address = visit.own_address
    return visit.page("help.html", address=address, curl=curl_line(address, _KEY), tiers=visit.service.tiers)


async def show_mcp(visit: Visit) -> Response:
    return visit.page("help_mcp.html", address=visit.own_address, entry=mcp_entry(visit.own_address, _KEY))


async def show_status(visit: Visit) -> Response:
    service = visit.service
    await service.store.ping()
    return visit.page(
        "status.html",
        totals=await service.store.totals(),
        served=service.settings.served,
        lessons=len(service.lessons),
        catalogues=await service.store.catalogues.all(),
    )
