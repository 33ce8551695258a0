"""Long made-up reports, their copies, and other reports about the same thing."""

from __future__ import annotations

import random

_SUBJECTS = ("operators", "loader", "implant", "campaign", "backdoor", "stager", "script", "mailer", "dropper", "worm")
_VERBS = ("contacted", "abused", "replaced", "encrypted", "uploaded", "disabled", "renamed", "copied", "inspected")
_THINGS = ("archives", "accounts", "printers", "backups", "tickets", "servers", "macros", "invoices", "routers")
_ENDS = ("overnight", "quietly", "twice", "again", "slowly", "remotely", "afterwards", "everywhere", "together")


def prose(seed: int, sentences: int = 40) -> str:
    """Sentences that another seed has not."""
    dice = random.Random(seed)
    return " ".join(
        f"The {dice.choice(_SUBJECTS)} {dice.choice(_VERBS)} {dice.choice(_THINGS)} and {dice.choice(_VERBS)} "
        f"{dice.choice(_THINGS)} {dice.choice(_ENDS)}."
        for _ in range(sentences)
    )


def table(first: int, rows: int = 30) -> str:
    """A list of indicators, one a line."""
    return "\n".join(
        f"host{n}[.]kestrel-files[.]net 45.77.{n % 250}.{n // 250 + 1} {n:064x}" for n in range(first, first + rows)
    )


def reworded(text: str, share: float, seed: int = 1) -> str:
    """The text with this share of its words replaced, but none of its indicators."""
    dice = random.Random(seed)
    return " ".join("reportedly" if dice.random() < share and word.isalpha() else word for word in text.split(" "))
