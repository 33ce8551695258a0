"""Which top-level domains exist, and what of a host someone registered: the one file that knows publicsuffixlist."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import idna

# Not in the public root, but names that resolve for their users; RFC 2606's are here for what is written about.
_BESIDE_THE_ROOT: Final = frozenset({"onion", "i2p", "bit", "bazar", "example", "test", "invalid"})
_HOSTING_BEGINS: Final = "===BEGIN PRIVATE DOMAINS==="


@dataclass(frozen=True, slots=True)
class _Rules:
    """The public suffix list: names that registries give out under, and those of hosting companies."""

    registries: frozenset[str]
    hosting: frozenset[str]
    top_level: frozenset[str]


@cache
def _rules() -> _Rules:
    text = (files("publicsuffixlist") / "public_suffix_list.dat").read_text(encoding="utf-8")
    registries, _, hosting = text.partition(_HOSTING_BEGINS)
    given = frozenset(_names(registries))
    return _Rules(given, frozenset(_names(hosting)), _BESIDE_THE_ROOT | {name for name in given if "." not in name})


def _names(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    rules = [line for line in lines if line and not line.startswith("//")]
    return [rule if rule.isascii() else idna.encode(rule.removeprefix("*.")).decode("ascii") for rule in rules]


def is_top_level(label: str) -> bool:
    """Whether `label` (lower-case A-label) is a top-level domain in use, or one beside the public root."""
    return label in _rules().top_level


@lru_cache(maxsize=8192)
def registered_domain(host: str) -> str:
    """The part of `host` that someone registered: `evil.co.uk` of `cdn.evil.co.uk`, the last two labels at least."""
    labels = host.split(".")
    for index in range(len(labels)):
        suffix = ".".join(labels[index:])
        if suffix in _rules().registries or _is_wild(labels, index, suffix):
            return ".".join(labels[max(0, index - 1) :])
    return ".".join(labels[-2:])


def _is_wild(labels: list[str], index: int, suffix: str) -> bool:
    above = ".".join(labels[index + 1 :])
    return f"*.{above}" in _rules().registries and f"!{suffix}" not in _rules().registries


def is_shared_suffix(host: str) -> bool:
    """Whether `host` itself is a suffix under which anyone may register (`co.uk`, `ddns.net`, `github.io`)."""
    rules = _rules()
    return host in rules.hosting or host in rules.registries
