"""Tell the words that stand where names of malware do and are none: systems, vendors, peoples, headings, actors."""

from __future__ import annotations

import re
from importlib.resources import files
from json import loads
from typing import Final

from ingest.indicators.vocabulary import words
from intel.names import malware_names, spelling_key

_OF_HOSTS: Final = frozenset(
    host.split(".")[-2]
    for hosts in loads((files("ingest.indicators") / "known_hosts.json").read_text(encoding="utf-8")).values()
    for host in hosts
)
_WORDS: Final = frozenset(word.lower() for table in ("coined", "plain") for word in words(table, "not"))
# `Reference: https://…/a-backdoor`: the label of a line, as it heads sections too.
OF_HEADINGS: Final = words("headings", "references") | words("headings", "indicators") | words("headings", "other")
# `Nigerian`, `Japanese`, `Turkish`.
_PEOPLE: Final = re.compile(r"[A-Z][a-z]+(?:ian|ean|ese|ish)|[A-Z][a-z]*(?:19|20)[0-9]{2}")


# `UD9UN593Z4`: an identifier.
_IDENTIFIER: Final = re.compile(r"(?=(?:[A-Z]*[0-9]){4})[A-Z0-9]{8,}")


def is_plain_word(name: str) -> bool:
    """Tell whether `name`, or the first of its words, is known to be said of other things, or of a people."""
    return is_known_word(name) or is_of_a_people(name)


def is_of_a_people(name: str) -> bool:
    """Tell whether a name ends as those of peoples do, or in a year."""
    return _PEOPLE.fullmatch(name) is not None


def is_known_word(name: str) -> bool:
    """Tell whether `name`, or the first of its words, is known to be said of other things."""
    first = name.partition(" ")[0].lower()
    return (
        first in _WORDS
        or first in OF_HEADINGS
        or name.lower() in _WORDS
        or first in _OF_HOSTS
        or first.removesuffix("s") in _WORDS
        or spelling_key(name) in malware_names().actors
        or _IDENTIFIER.fullmatch(name) is not None
        or spelling_key(name).removesuffix("s") in malware_names().actors
    )
