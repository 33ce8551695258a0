"""An indicator as a list of results shows it: why it was found, how old the news is, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from api.annotating import Annotations, Caution
from api.web.said_of import family_in_title
from intel.ageing import Age
from intel.canonical import defang
from intel.matching import Match, reason
from intel.query import SearchText
from intel.records import Ioc

_NAMES: Final = ("malware", "mitre_attack", "cve")
_IN_VALUE: Final = ("word", "prefix")


@dataclass(frozen=True, slots=True)
class Hit:
    """One result; `why` says in words how it met the search, empty in a list.

    `met` are the words of its value that the search met, where it met these: who sees the value needs no other reason.
    `titled` is the family that the title of its newest article names, where no malware is associated with it.
    """

    ioc: Ioc
    age: Age
    cautions: tuple[Caution, ...]
    false_positives: int
    why: str = ""
    titled: tuple[str, ...] = ()
    met: str = ""


def hits(iocs: Iterable[Ioc], noted: Annotations, text: SearchText | None = None) -> list[Hit]:
    """Return the results of a search, or of a list where there is no text."""
    return [_hit(ioc, noted, reason(text, ioc) if text else None) for ioc in iocs]


def _hit(ioc: Ioc, noted: Annotations, match: Match | None) -> Hit:
    return Hit(
        ioc,
        noted.age(ioc),
        noted.cautions(ioc),
        noted.votes(ioc),
        why=why(match) if match else "",
        titled=titled(ioc),
        met=match.on if match and match.how in _IN_VALUE else "",
    )


def titled(ioc: Ioc) -> tuple[str, ...]:
    """Return the family that the title of its newest article names, where no malware is associated with it."""
    return () if ioc.malware or ioc.type in _NAMES else family_in_title(ioc.article.title)


def why(match: Match) -> str:
    """Return how a search met an indicator, in words; hosts defanged."""
    match match.how:
        case "exact":
            return "exact match"
        case "host":
            return f"on {defang('domain', match.on)}"
        case "subdomain":
            return f"subdomain of {defang('domain', match.on)}"
        case "network":
            return f"in {match.on}"
        case "word" | "prefix":
            return f"value contains “{match.on}”"
        case "malware":
            return f"associated with {match.on}"
        case "title":
            return "in the latest article's title"
        case "source":
            return f"source: {match.on}"
        case _:
            return "mentioned in an earlier article"
