"""Refuse the pages of blocked domains, whoever submits, announces or redirects to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ingest.fetch.addresses import FetchAllow
from ingest.fetch.urls import SubmittableUrl, check_url
from intel.errors import BlockedDomain, IocError, RefusedUrl
from intel.store import Store

_ANYWHERE: Final = FetchAllow.parse("0.0.0.0/0, ::/0")


@dataclass(frozen=True, slots=True)
class Blocking:
    """The blocked domains of one store, asked anew each time, so that a block holds on every server at once."""

    store: Store

    async def check(self, url: SubmittableUrl) -> None:
        """Raise BlockedDomain where a URL's host, or a domain that it is below, is blocked."""
        if await self.store.domains.any_blocked(names_above(url)):
            raise BlockedDomain("blocked_domain", "An administrator of this service has blocked this domain.")


def names_above(url: SubmittableUrl) -> tuple[str, ...]:
    """Return a URL's host and the domains that it is below; of an address only itself."""
    if url.literal is not None:
        return (url.host,)
    labels = url.host.split(".")
    return tuple(".".join(labels[index:]) for index in range(len(labels)))


def read_domain(text: str) -> str:
    """Return a domain, or an address, as it is blocked. Raises IocError for what is none."""
    name = text.strip().removeprefix("*.")
    try:
        return check_url(f"https://[{name}]/" if ":" in name else f"https://{name}/", _ANYWHERE).host
    except RefusedUrl:
        raise IocError(f"{text[:80]!r} is not a domain; write it like evil.example") from None
