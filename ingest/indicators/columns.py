"""Know what the head of a table says of what stands in a column of it: that it names victims, or references."""

from __future__ import annotations

from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.tables import head_of_table
from ingest.indicators.vocabulary import pieces, table

_VICTIMS: Final = late(pieces("victims"))
_REFERENCE_COLUMN: Final = late(rf"\W*(?:{pieces('reference_columns')})\W*")
_LINK_COLUMN: Final = late(r"\W*(?:links?|urls?|hyperlinks?|链接|連結|リンク|링크|ссылк[аи]|enlaces?|liens?)\W*")
_OTHER_COLUMN: Final = late(rf"\W*(?:{table('row_types', 'pieces')['other']})\W*")
_COLUMN_OF_RECEIVERS: Final = late(rf"\W*(?:{table('row_types', 'pieces')['received']})\W*")
_BESIDE_LINKS: Final = late(rf"\b(?:{'|'.join(table('reference_columns', 'beside').values())})\b")
_OFFERED: Final = late(rf"\b(?:{pieces('reference_columns', 'beside_links')})\b")
_LINKS: Final = late(r"\W*(?:links?|链接|連結|リンク|링크|ссылк[аи]|enlaces?|liens?)\W*")
_FETCHED_COLUMN: Final = late(r"\b(?:payload|destination|target|file|hash|md5|sha-?256)")
_INDICATORS: Final = late(r"\b(?:ioc|indicator|c2|c&c|domains?|hash|sha-?256|payload|type)\b")


def said_in_its_column(text: str, type: str, start: int) -> Evidence | None:
    """Return what the head of the table says against a value: that it names victims, or references in its column."""
    cells, column = head_of_table(text, start)
    head = [cell.lower() for cell in cells]
    whole = " | ".join(head)
    if _VICTIMS.search(whole) is not None and _INDICATORS.search(whole) is None:
        return EVIDENCE["table of victims"]
    others_of = {"domain": _OTHER_COLUMN, "email": _COLUMN_OF_RECEIVERS}.get(type)
    if others_of and column < len(head) and others_of.fullmatch(head[column]):
        return EVIDENCE["its row says that it is something else"]
    if type == "url" and column < len(head):
        return EVIDENCE["column of references"] if _holds_references(head, column) else None
    if type == "domain" and column < len(head) and _names_who_offers(head, column):
        return EVIDENCE["column of references"]
    return None


def _holds_references(head: list[str], column: int) -> bool:
    """Tell whether the head of a column calls what stands in it references, or links beside what they lead to."""
    others = " | ".join(head[:column] + head[column + 1 :])
    if _REFERENCE_COLUMN.fullmatch(head[column]):
        return _FETCHED_COLUMN.search(others) is None
    if _INDICATORS.search(others) is not None:
        return False
    if _BESIDE_LINKS.search(others) is not None:
        return _LINK_COLUMN.fullmatch(head[column]) is not None
    return _OFFERED.search(others) is not None and _LINKS.fullmatch(head[column]) is not None


def _names_who_offers(head: list[str], column: int) -> bool:
    """Tell whether a column names those to whose pages the links of another lead."""
    if _BESIDE_LINKS.search(head[column]) is None and _OFFERED.search(head[column]) is None:
        return False
    return any(_LINKS.fullmatch(cell) and _holds_references(head, other) for other, cell in enumerate(head))
