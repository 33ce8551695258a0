"""Tell whether a note speaks of harm at all: what one names that does not is no indicator."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.piece_search import PieceSearch
from ingest.indicators.rows import data
from ingest.indicators.spoken import Spoken
from ingest.indicators.vocabulary import pieces

# Words of a sentence, and signs of scripts that part none.
_WORDS: Final = late(r"(?:(?<=[\s(])|\A)[^\W\d_A-Z]{2,}(?=[\s,;!?)\u2019']|[.:](?!\w)|\Z)")
_SIGNS: Final = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ORDINARY: Final = late(pieces("ordinary"))
_HOST: Final = late(
    r"(?<![\w.@-])(?:https?://|[\w.+-]{1,64}@)?[a-z][\w-]{0,62}(?:\.[a-z][\w-]{0,62})+(?!\()(?:/[^\s\"'<>]*)?"
)
_FEWEST_WORDS: Final = 5
_FEWEST_SIGNS: Final = 14


@cache
def words_of_a_threat() -> Spoken:
    """Return what speaks of an attack, of fraud or of malware, in lower case."""
    return Spoken({language: "|".join(words) for language, words in data("harm.toml")["threat"].items()}, "")


@cache
def _hints() -> PieceSearch:
    return PieceSearch(chain.from_iterable(data("harm.toml")["hint"].values()))


def without_hosts(said: str) -> str:
    """Return what is said without hosts, URLs and mailboxes, which are no words: `abuse.ch` speaks of no abuse."""
    return _HOST.sub(" ", said)


def is_of_no_harm(text: str) -> bool:
    """Tell whether nothing in a text speaks of harm, and it is prose, or what those who build and run things write."""
    said = f" {text.lower()} "
    if _hints().stands_in(said) or words_of_a_threat().search(without_hosts(said)):
        return False
    return _is_prose(text) or _ORDINARY.search(said) is not None


def _is_prose(text: str) -> bool:
    return len(_WORDS.findall(text)) >= _FEWEST_WORDS or len(_SIGNS.findall(text)) >= _FEWEST_SIGNS
