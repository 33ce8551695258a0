"""Tell whether a note speaks of harm at all: what one names that does not is no indicator."""

from __future__ import annotations

from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.vocabulary import pieces, table

_PIECES: Final = tuple(chain.from_iterable(spoken.split("|") for spoken in table("harm").values()))
# Words of a sentence, and signs of scripts that part none.
_WORDS: Final = late(r"(?:(?<=[\s(])|\A)[^\W\d_A-Z]{2,}(?=[\s,;!?)\u2019']|[.:](?!\w)|\Z)")
_SIGNS: Final = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ORDINARY: Final = late(pieces("ordinary"))
_FEWEST_WORDS: Final = 5
_FEWEST_SIGNS: Final = 14


def is_of_no_harm(text: str) -> bool:
    """Tell whether nothing in a text speaks of harm, and it is prose, or what those who build and run things write."""
    said = f" {text.lower()} "
    return not any(map(said.__contains__, _PIECES)) and (_is_prose(text) or _ORDINARY.search(said) is not None)


def _is_prose(text: str) -> bool:
    return len(_WORDS.findall(text)) >= _FEWEST_WORDS or len(_SIGNS.findall(text)) >= _FEWEST_SIGNS
