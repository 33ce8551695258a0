"""Tell by its place that a dotted name is that of a file: in a list of files, or at the end of a URL of the text."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.not_a_host import FILE, may_name_a_file
from ingest.indicators.sightings import Sighting
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces

_LISTED: Final = EVIDENCE["name in a list of files"]
_FETCHED: Final = EVIDENCE["name of a file that is fetched"]
_IN_A_LIST: Final = late(
    rf"(?i)(?:{pieces('file_nouns')})[^.;:(\n]{{0,16}}"
    r"(?:[(\uff08][^()\n]{0,120}|[:\uff1a][*_` ]{0,4}[^\n:]{0,160})\Z"
)
_SHORTEST_NAME: Final = 3
_REACH: Final = 200


class FileNames:
    """The names of files in one text."""

    def __init__(self, text: str, seen: Iterable[Sighting]) -> None:
        self._text, self._seen = text, seen

    def of(self, reading: TokenCandidate, start: int) -> list[Evidence]:
        """Return what the place of a host that nobody defanged says for its being a file."""
        if reading.type != "domain":
            return []
        is_like_one = reading.objection == FILE or may_name_a_file(reading.value)
        if (is_like_one or reading.value.find(".") < _SHORTEST_NAME) and reading.value in self._ends_of_urls:
            return [_FETCHED]
        if not is_like_one:
            return []
        before = self._text[max(0, start - _REACH) : start].rpartition("\n")[2]
        return [_LISTED] if _IN_A_LIST.search(before) else []

    @cached_property
    def _ends_of_urls(self) -> frozenset[str]:
        paths = (
            reading.value.partition("://")[2].partition("/")[2] for reading, _, _ in self._seen if reading.type == "url"
        )
        return frozenset(path.rpartition("/")[2].lower() for path in paths)
