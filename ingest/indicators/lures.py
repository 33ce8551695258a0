"""Tell what the words of a lure, which a text quotes, lead their readers to."""

from __future__ import annotations

from functools import cache
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.vocabulary import pieces

_MESSAGE: Final = late(rf"(?i){pieces('lure', 'messages')}")
_FRAUD: Final = late(pieces("lure", "frauds"))
_ENDS_THE_QUOTE: Final = late('/?[.!]?[ \u00a0]?["\u201c\u201d\u00bb\u300d]')
_OPENING: Final = '"\u201c\u201e\u00ab\u300c\u201d'
_SHORTEST_LURE: Final = 20
_LONGEST_LURE: Final = 500
_REACH: Final = 120
_LONGEST_HEAD: Final = 20_000


def speaks_of_fraud(text: str) -> bool:
    """Tell whether a text calls messages of others a fraud."""
    head = text[:_LONGEST_HEAD].lower()
    return _signs_of_fraud().stands_in(head) and _FRAUD.search(head) is not None


@cache
def _signs_of_fraud() -> PieceSearch:
    return PieceSearch(required_pieces(pieces("lure", "frauds")))


def ends_a_lure(text: str, line_start: int, start: int, end: int) -> bool:
    """Tell whether `text[start:end]` ends what stands in quotes behind a word for a message, on its line."""
    if _ENDS_THE_QUOTE.match(text, end) is None:
        return False
    first = max(line_start, start - _LONGEST_LURE)
    opening = max(text.rfind(sign, first, start) for sign in _OPENING)
    if opening < 0 or start - opening < _SHORTEST_LURE:
        return False
    return _MESSAGE.search(text, max(line_start, opening - _REACH), opening) is not None
