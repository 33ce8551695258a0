"""Tags: words that accounts put on indicators and articles, all of one shape.

    read_tag(" C2:Kestrel ") -> "c2:kestrel"

A tag may be of the form `namespace:predicate=value`. It stands for nothing but itself: nobody is asked what it means.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from intel.errors import InvalidQuery

TaggedKind = Literal["ioc", "article"]

MOST_TAGS: Final = 20
LONGEST_TAG: Final = 64
_SHAPE: Final = re.compile(rf"[^\W_][\w.:=+/@-]{{0,{LONGEST_TAG - 1}}}")
# How an article may be shared is what it says itself; a tag must not seem to say otherwise.
_RESERVED: Final = "tlp:"


def read_tag(raw: str, field: str = "tag") -> str:
    """Return a tag as it is stored: NFKC, lower case. Raises InvalidQuery for what is none."""
    text = raw.strip().encode(errors="replace").decode()
    tag = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    if _SHAPE.fullmatch(tag) is None:
        raise InvalidQuery(
            field,
            f"has 1 to {LONGEST_TAG} letters, digits and . _ : = + / @ - and begins with a letter or digit",
        )
    if tag.startswith(_RESERVED):
        raise InvalidQuery(field, f"must not begin with {_RESERVED} (an article's TLP is read from the article)")
    return tag


def read_tags(raw: Iterable[str], field: str = "tag") -> tuple[str, ...]:
    """Return several tags, each once, in the order in which they were given. Raises InvalidQuery."""
    return tuple(dict.fromkeys(read_tag(one, field) for one in raw))


def changed(before: Sequence[str], add: Iterable[str], remove: Iterable[str]) -> tuple[str, ...]:
    """Return the tags after a change, sorted. Raises InvalidQuery where it would leave more than there may be."""
    after = {*before}.difference(remove).union(add)
    if len(after) > max(MOST_TAGS, len(before)):
        raise InvalidQuery("add", f"too many: {len(after)} in all, and {MOST_TAGS} is the most")
    return tuple(sorted(after))
