"""What strangers wrote, made fit for showing: nothing invisible, nothing that turns the line around."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from typing import Final

from intel.unseen import UNSEEN

_RULES: Final = re.compile(r"\s*\|(?:[\s|:]|-(?=[\s|-]))*")
_NO_LETTER: Final = re.compile(r"[\W_]+")
_LINE_SIGN: Final = re.compile(r"\s*(?:#{1,6}|={1,6}|[*>\u2022-])\s+")


class Verbatim(str):
    """Text that must reach the browser as it is: what a copy button copies, what was typed into a field."""

    __slots__ = ()


def visible(text: str) -> str:
    """Return the text with what cannot be seen written out, for values in which every character counts."""
    return UNSEEN.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text)


def clipped(text: str, longest: int) -> str:
    """Return at most so many characters, an ellipsis in place of the rest."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def in_cells(text: str) -> str:
    """Return a row of a table without its rules: `| C2 | 192.0.2.7 |` -> `C2 · 192.0.2.7`."""
    cells = [cell.strip() for cell in text.split("|")] if text.lstrip().startswith("|") or " | " in text else [text]
    return " · ".join(cell for cell in cells if cell.strip(":- "))


def without_sign(text: str) -> str:
    """Return a line without the sign of a heading, item or quotation that it begins with: `## Hosts` -> `Hosts`."""
    return text[sign.end() :] if (sign := _LINE_SIGN.match(text)) else text


def says_more(context: str, value: str) -> bool:
    """Tell whether a context is more than the value by itself, defanged or not: a line of a list says nothing else."""
    return _letters(context) != _letters(value)


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text.lower()).replace("hxxp", "http", 1)


def without_title(summary: str, title: str) -> str:
    """Return a summary that begins with its article's title without it."""
    begun, title = summary.lstrip(":=#*- "), UNSEEN.sub("", title)
    rest = begun[len(title) :] if begun.casefold().startswith(title.casefold()) else summary
    return rest.strip(":=#*- ") if rest is not summary else summary


def parted(text: str, words: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is one of the words (any case): `evil-a.top` by `evil`."""
    pattern = "|".join(re.escape(word) for word in sorted(words.split(), key=len, reverse=True))
    pieces = re.split(f"({pattern})", text, flags=re.IGNORECASE) if pattern else [text]
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def cells_apart(text: str) -> str:
    """Return a piece of a text without the rules of a table: `sender | | 3 | lure` -> `sender · 3 · lure`."""
    return _RULES.sub(" · ", text)


def day(moment: datetime) -> str:
    """Return a day as `20 Nov 2026`."""
    return f"{moment.day} {moment:%b %Y}"


def minute(moment: datetime) -> str:
    """Return a time as `20 Nov 2026, 09:30 UTC`."""
    return f"{day(moment)}, {moment:%H:%M} UTC"


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago in the largest whole unit: `3 days ago`."""
    seconds = max(0, int((now - moment).total_seconds()))
    for unit, length in (("year", 31_536_000), ("month", 2_592_000), ("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(seconds // length, unit)} ago"
    return "just now"


def wait(seconds: int) -> str:
    """Return a wait in words: `40 seconds`, `6 minutes`."""
    return counted(seconds, "second") if seconds < 120 else counted(-(-seconds // 60), "minute")


_BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "a Mac"),
    ("Linux", "Linux"),
)


def browser(user_agent: str) -> str:
    """Return a browser as `Firefox on Linux`; one that is not known as what it says of itself."""
    name = next((name for sign, name in _BROWSERS if sign in user_agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), None)
    if name is None:
        return clipped(user_agent, 60) or "An unknown browser"
    return f"{name} on {system}" if system else name


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun: `1 article`, `1,204 articles`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def is_shown(text: str) -> bool:
    """Tell whether anything of the text can be seen."""
    return any(not unicodedata.category(c).startswith(("Z", "C")) for c in text)
