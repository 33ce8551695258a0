"""Tell what the words of a lure, which a text quotes, lead their readers to."""

from __future__ import annotations

from typing import Final

from ingest.indicators.late import late
from ingest.indicators.vocabulary import pieces

_MESSAGE: Final = late(rf"(?i){pieces('lure', 'messages')}")
_FRAUD: Final = late(rf"(?i){pieces('lure', 'frauds')}")
_ENDS_THE_QUOTE: Final = late('/?[.!]?[ \u00a0]?["\u201c\u201d\u00bb\u300d]')
_OPENING: Final = '"\u201c\u201e\u00ab\u300c\u201d'
_SHORTEST_LURE: Final = 20
_LONGEST_LURE: Final = 500
_REACH: Final = 120
_LONGEST_HEAD: Final = 20_000


def speaks_of_fraud(text: str) -> bool:
    """Tell whether a text calls messages of others a fraud."""
    return _FRAUD.search(text, 0, _LONGEST_HEAD) is not None


def ends_a_lure(text: str, line_start: int, start: int, end: int) -> bool:
    """Tell whether `text[start:end]` ends what stands in quotes behind a word for a message, on its line."""
    if _ENDS_THE_QUOTE.match(text, end) is None:
        return False
    first = max(line_start, start - _LONGEST_LURE)
    opening = max(text.rfind(sign, first, start) for sign in _OPENING)
    if opening < 0 or start - opening < _SHORTEST_LURE:
        return False
    return _MESSAGE.search(text, max(line_start, opening - _REACH), opening) is not None
