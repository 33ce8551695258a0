"""Which top-level domains exist, and what of a host someone registered: the one file that knows publicsuffixlist."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import idna

# Not in the public root, but names that resolve for their users; RFC 2606's are here for what is written about.
_BESIDE_THE_ROOT: Final = frozenset({"onion", "i2p", "bit", "bazar", "example", "test", "invalid"})
_HOSTING_BEGINS: Final = "===BEGIN PRIVATE DOMAINS==="
_RULE: Final = re.compile(r"^(?!//)\S+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The public suffix list: names that registries give out under, and those of hosting companies, as U-labels."""

    registries: frozenset[str]
    hosting: frozenset[str]
    top_level: frozenset[str]


@cache
def _rules() -> _Rules:
    text = (files("publicsuffixlist") / "public_suffix_list.dat").read_text(encoding="utf-8")
    registries, _, hosting = text.partition(_HOSTING_BEGINS)
    given = frozenset(_RULE.findall(registries))
    top_level = _BESIDE_THE_ROOT.union(name.rpartition(".")[2] for name in given)
    return _Rules(given, frozenset(_RULE.findall(hosting)), top_level)


def is_top_level(label: str) -> bool:
    """Whether `label` (lower-case A-label) is a top-level domain in use, or one beside the public root."""
    return label in _rules().top_level or (label.startswith("xn--") and _spelled(label) in _rules().top_level)


def may_end_a_name(label: str) -> bool:
    """The same of a label as somebody wrote it, before anything costly is asked about the rest of its name."""
    if label.isascii():
        return is_top_level(label.lower())
    return unicodedata.normalize("NFKC", label).lower() in _rules().top_level


@lru_cache(maxsize=8192)
def registered_domain(host: str) -> str:
    """The part of `host` that someone registered: `evil.co.uk` of `cdn.evil.co.uk`, the last two labels at least."""
    registries = _rules().registries
    labels, spelled = host.split("."), _spelled(host).split(".")
    for index in range(len(labels)):
        suffix = ".".join(spelled[index:])
        if suffix in registries or _is_wild(".".join(spelled[index + 1 :]), suffix, registries):
            return ".".join(labels[max(0, index - 1) :])
    return ".".join(labels[-2:])


def _is_wild(above: str, suffix: str, registries: frozenset[str]) -> bool:
    return f"*.{above}" in registries and f"!{suffix}" not in registries


def is_shared_suffix(host: str) -> bool:
    """Whether `host` itself is a suffix under which anyone may register (`co.uk`, `ddns.net`, `github.io`)."""
    rules, spelled = _rules(), _spelled(host)
    return spelled in rules.hosting or spelled in rules.registries


def _spelled(host: str) -> str:
    """A host with its A-labels as U-labels: as the list has them."""
    return ".".join(map(_as_unicode, host.split("."))) if "xn--" in host else host


def _as_unicode(label: str) -> str:
    try:
        return idna.decode(label) if label.startswith("xn--") else label
    except (idna.IDNAError, UnicodeError):
        return label
