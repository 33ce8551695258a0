"""Pages of made-up sites, and bounded waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_PATIENCE_SECONDS = 90.0
_PARAGRAPHS = (
    "We observed the loader contacting hxxps://cdn-update[.]kestrel-files[.]net/gate.php over port 8443 at night.",
    "The sample exploits CVE-2024-3400 and persists through a scheduled task (T1053.005) that runs every hour.",
    "The operators registered the domain login-kestrel[.]org in March and used it against shipping companies.",
)
KESTREL = (
    ("cve", "CVE-2024-3400"),
    ("domain", "cdn-update.kestrel-files.net"),
    ("domain", "login-kestrel.org"),
    ("mitre_attack", "T1053.005"),
    ("url", "https://cdn-update.kestrel-files.net/gate.php"),
)


def article_page(title: str = "Kestrel targets shipping firms", *paragraphs: str) -> str:
    """An article as a blog would publish it; without paragraphs, one that names the indicators in KESTREL."""
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs or _PARAGRAPHS)
    return (
        f"<!doctype html><html lang='en'><head><title>{title}</title></head><body><nav><a href='/about'>About</a></nav>"
        f"<main><article><h1>{title}</h1>{body}</article></main><footer>© the site</footer></body></html>"
    )


async def eventually(look: Callable[[], Awaitable[T | None]], seconds: float = _PATIENCE_SECONDS) -> T:
    """What `look` finds as soon as it is something true; the test fails where that takes too long."""
    end, pause = time.monotonic() + seconds, 0.02
    while True:
        found = await look()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"still {found!r} after {seconds:.0f} s")
        await asyncio.sleep(pause)
        # So that a long wait on a busy machine does not use up a key's requests.
        pause = min(pause * 1.3, 0.5)
