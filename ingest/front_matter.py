"""The fields that stand before the text of a Markdown file, between two lines of dashes."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_FRONT_MATTER: Final = re.compile(r"\s*---\r?\n(.{0,20000}?)\r?\n---\r?\n", re.S)
# A value stands on the line of its name or, after a sign that says so, on lines further in.
_FIELD: Final = re.compile(
    r"(?m)^(title|author|date|lang|description)[ \t]*:[ \t]*"
    r"(?:[|>][+-]?[ \t\r]*((?:\n[ \t]+[^\n]*)+)|[\"']?([^\n]*?)[\"']?[ \t\r]*$)"
)
# What a person reads, and what marks it as a field.
_SAID: Final = re.compile(r"(?m)^((?:title|description)\s*:[ \t]*[\"']?)(.*?)([\"']?[ \t\r]*)$")


class FrontMatter(NamedTuple):
    """Its fields by name, and how many characters of the text it takes."""

    fields: dict[str, str]
    length: int


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a text, without fields and of no length where it has none."""
    front = _FRONT_MATTER.match(text)
    if not front:
        return FrontMatter({}, 0)
    return FrontMatter(
        {name: " ".join(lines.split()) or value for name, lines, value in _FIELD.findall(front[1])}, front.end()
    )


def front_matter_length(text: str) -> int:
    """Return how many characters of a text are front matter; 0 where it names no field."""
    fields, length = read_front_matter(text)
    return length if fields else 0


def with_plain_fields(text: str) -> str:
    """Return a text, as long as before, with title and description of its front matter without keys and quotes."""
    length = front_matter_length(text)
    return _SAID.sub(lambda said: " " * len(said[1]) + said[2] + " " * len(said[3]), text[:length]) + text[length:]
