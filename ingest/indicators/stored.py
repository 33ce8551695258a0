"""Tell what somebody put where anyone may put files, forms or texts, as far as its URL shows."""

from __future__ import annotations

from typing import Final

from ingest.indicators.late import late
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import words

_STORES: Final = words("stores")
_CODE: Final = words("stores", "code")
_BUCKETS: Final = late(r"(?:s3[.-][a-z0-9-]{1,20}\.amazonaws\.com|[a-z0-9-]{1,40}\.r2\.dev)")
_PATH: Final = late(r"//[^/?#]++/[^/?#\s][^\s]{3}")
_FETCHED: Final = late(
    r"/(?:raw|downloads?|releases/download)/|\.(?:exe|dll|msix?|ps1|vbs|hta|bat|scr|jar|apk|elf|sh|iso|lnk|bin|zip|rar|7z)\Z"
)
_PICTURE: Final = late(r"\.(?:png|jpe?g|gif|svg|ico|webp)\Z")


def is_stored(reading: TokenCandidate, host: str) -> bool:
    """Tell whether a URL leads to what anyone may put on its host; where people write programs, to a file alone."""
    if reading.type != "url" or _PATH.search(reading.value) is None:
        return False
    host = host.removeprefix("www.")
    if host in _CODE:
        return _FETCHED.search(reading.value.lower()) is not None
    return host in _STORES or _BUCKETS.fullmatch(host) is not None


def is_picture(url: str) -> bool:
    """Tell whether a URL leads to a picture, as pages show many for no harm."""
    return _PICTURE.search(url.lower()) is not None
