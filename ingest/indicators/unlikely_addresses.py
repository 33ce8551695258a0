"""Tell numbers that hardly are an address of somebody's: as small as those of versions, or set apart for examples."""

from __future__ import annotations

from typing import Final

from ingest.indicators.late import late
from ingest.indicators.vocabulary import pieces

_EXAMPLE: Final = late(pieces("example"))
_CALLED_AN_ADDRESS: Final = late(pieces("address"))
# Of 900 labelled addresses, none in a report is as small as this, nor ends in 0 below 40.
_SMALL: Final = late(
    r"(?:[0-9]|1[0-9]|2[0-6])\.(?:[0-9]|1[0-2])\.(?:[0-9]|1[0-9])\.[0-9]{1,3}"
    r"|(?:[0-9]|[1-3][0-9])\.[0-9]{1,3}\.[0-9]{1,3}\.0"
)
_JOINED: Final = r"(?:\s?[,;/&]\s?|\s)(?:(?:and|or|und|oder|et|ou|y|o|e|и|или)\s)?"
_ADDRESS: Final = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
_BEHIND_ANOTHER: Final = late(rf"(?P<address>{_ADDRESS}){_JOINED}\Z")
_BEFORE_ANOTHER: Final = late(rf"{_JOINED}(?P<address>{_ADDRESS})(?![\w.])")
# `FileZilla Server 1.8.2.0`, `Connect Secure (9.1.18.3`: the name of a product, and no server.
_PRODUCT: Final = late(
    r"(?:\A|(?<=[\s(\"']))(?:(?!(?:C2|IPs?|Attack\w*|Control|Malicious|Der|Die|Das|Den|Dem|Ein|Eine|The|This|El|La|Le"
    r"|Il|O|A)\b)[A-Z][\w+-]+[ \xa0(]{1,2}){2,5}\Z"
)
_OF_AN_ADDRESS: Final = late(r"[:/][0-9]|[\])]?:\s?[0-9]{2,5}\b| ?(?:->|=>|→)")
_END_OF_A_SENTENCE: Final = late(r"[.!?](?=\s)|[\u3002\uff01\uff1f\n]")
_OF_A_SERIES: Final = "0123456789.,&/ (\"'"
_REACH: Final = 110
_REACH_OF_AN_EXAMPLE: Final = 160


def is_too_small(text: str, address: str, start: int, end: int) -> bool:
    """Tell whether an IPv4 address in a sentence is as small as a version, and nothing calls it an address."""
    if _SMALL.fullmatch(address) is None or text[start - 1 : start] in ("@", "/") or _OF_AN_ADDRESS.match(text, end):
        return False
    before = text[max(0, start - _REACH) : start]
    before = before[before.rfind("\n") + 1 :]
    if sentences := list(_END_OF_A_SENTENCE.finditer(before)):
        before = before[sentences[-1].end() :]
    said = before.rstrip(_OF_A_SERIES) + " "
    if product := _PRODUCT.search(said):
        said = said[: product.start()]
    if _CALLED_AN_ADDRESS.search(said.lower()):
        return False
    beside = (_BEHIND_ANOTHER.search(before), _BEFORE_ANOTHER.match(text, end))
    return all(found is None or _SMALL.fullmatch(found["address"]) for found in beside)


def stands_in_an_example(text: str, start: int, end: int) -> bool:
    """Tell whether the words around an address set apart for documentation say that they show an example."""
    around = text[max(0, start - _REACH_OF_AN_EXAMPLE) : end + _REACH_OF_AN_EXAMPLE]
    return _EXAMPLE.search(around.lower()) is not None
