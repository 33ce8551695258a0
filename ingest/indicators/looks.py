"""Tell whether a host's name looks as those do that are set up for attacks, or as anybody's.

Among undefanged hosts in prose, those that attackers set up bear a hyphen, a digit, a word that promises something, or
an ending that costs little far more often than those of employers, authors, customers and makers do.
"""

from __future__ import annotations

from typing import Final

from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.late import late
from ingest.indicators.vocabulary import pieces, words
from intel.suffixes import registered_domain

_CHEAP: Final = words("looks", "endings")
_PROMISE: Final = late(pieces("looks"))
_DIGIT: Final = late("[0-9]")
_LETTERS_OF_A_COUNTRY: Final = 2
_FEWEST_SIGNS: Final = 2
_SET_UP: Final = EVIDENCE["name like those set up for attacks"]
_PLAIN: Final = EVIDENCE["plain name"]
_PLAIN_OF_A_COUNTRY: Final = EVIDENCE["plain name of a country"]
# The most that a name can say for a value, and against it.
MOST_FOR: Final = _SET_UP[0]
MOST_AGAINST: Final = -_PLAIN_OF_A_COUNTRY[0]


def of_its_looks(host: str, local: str = "") -> Evidence | None:
    """Return what the name of a host, or of a mailbox `local` at it, says for or against it in prose."""
    shown = _signs_in(host, local)
    if shown >= _FEWEST_SIGNS:
        return _SET_UP
    if shown:
        return None
    return _PLAIN_OF_A_COUNTRY if len(host.rpartition(".")[2]) == _LETTERS_OF_A_COUNTRY else _PLAIN


def looks_set_up(host: str) -> bool:
    """Tell whether the name of a host bears what those bear which are set up for attacks."""
    return _signs_in(host) >= _FEWEST_SIGNS


def _signs_in(host: str, local: str = "") -> int:
    name, _, _ = (registered_domain(host) or host).partition(".")
    is_cheap = host.rpartition(".")[2] in _CHEAP
    return is_cheap + ("-" in name) + bool(_DIGIT.search(name + local)) + bool(_PROMISE.search(name))
