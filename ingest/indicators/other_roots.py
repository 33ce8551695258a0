"""Read the names of other roots than the public one where a text lists them: their endings are everyday words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ingest.indicators.hosts import domain_of
from ingest.indicators.token_candidate import TokenCandidate
from intel.suffixes import OPENNIC

# Fewer may be files, or members of objects.
FEWEST_LISTED: Final = 3
_ROOTS: Final = "|".join(sorted(OPENNIC))
_ALONE_ON_A_LINE: Final = re.compile(
    rf"^[ \t>*\u2022-]{{0,8}}+(?P<name>(?:[a-z0-9-]{{1,63}}+\.){{1,4}}(?:{_ROOTS}))[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
# What has a plain sign at its front is found fastest.
_ENDS_A_LINE: Final = re.compile(rf"\.(?:{_ROOTS})[ \t]*$", re.IGNORECASE | re.MULTILINE)


def listed_names(text: str) -> Iterator[tuple[TokenCandidate, int, int]]:
    """Yield the names alone on their lines, with their places, where there are enough of them."""
    if _ENDS_A_LINE.search(text) is None:
        return
    lines = list(_ALONE_ON_A_LINE.finditer(text))
    if len({line["name"].lower() for line in lines}) < FEWEST_LISTED:
        return
    for line in lines:
        if value := domain_of(line["name"]):
            yield TokenCandidate("domain", value, 0, len(line["name"])), *line.span("name")
