"""Know which top-level domains exist, and which part of a host someone registered: the one file that knows
publicsuffixlist.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

# Not in the public root, but names that resolve for their users; RFC 2606's are here for what is written about.
_BESIDE_THE_ROOT: Final = frozenset({"onion", "i2p", "bit", "bazar", "example", "test", "invalid"})
# Of other roots: everyday words, so that they count only where somebody defanged a name, or lists several.
OPENNIC: Final = frozenset(
    {
        "bbs", "chan", "cyb", "dyn", "epic", "fur", "geek", "glue", "gopher", "indy", "libre", "neo", "oss", "oz",
        "parody", "pirate", "opennic",
    }
)  # fmt: skip
# Emercoin's and others', most of which are endings of files, too: they count only where somebody defanged a name.
_OTHER_ROOTS: Final = OPENNIC | frozenset(
    {
        "o", "coin", "emc", "lib", "ku", "te", "ti", "uu", "ko", "rm", "crypto", "eth", "hns", "loki", "lmao", "mirai",
        "dns",
    }
)  # fmt: skip
_HOSTING_BEGINS: Final = "===BEGIN PRIVATE DOMAINS==="


@dataclass(frozen=True, slots=True)
class _Rules:
    """The public suffix list as A-labels: names that registries give out under, and those of hosting companies."""

    registries: frozenset[str]
    wild: frozenset[str]  # below which whatever stands is one: `ck` of `*.ck`
    hosting: frozenset[str]
    top_level: frozenset[str]


@cache
def _rules() -> _Rules:
    text = (files("publicsuffixlist") / "public_suffix_list.dat").read_text(encoding="utf-8")
    registries, _, hosting = text.partition(_HOSTING_BEGINS)
    given = _read(registries)
    top_level = _BESIDE_THE_ROOT.union([name.rpartition(".")[2] for name in given])
    wild = frozenset([name.removeprefix("*.") for name in given if name.startswith("*.")])
    return _Rules(given, wild, _read(hosting), top_level)


def _read(text: str) -> frozenset[str]:
    """Return the rules of a part of the list, which writes them as U-labels in their one spelling."""
    lines = [line for line in text.split("\n") if line[:1].strip() and not line.startswith("//")]
    rules = [line.split(maxsplit=1)[0] for line in lines]
    return frozenset([rule if rule.isascii() else ".".join(map(_as_ascii, rule.split("."))) for rule in rules])


def _as_ascii(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"


@lru_cache(maxsize=8192)
def is_top_level(label: str) -> bool:
    """Tell whether `label` (lower-case A-label) is a top-level domain in use, or one beside the public root."""
    return label in _rules().top_level


def is_other_root(label: str) -> bool:
    """Tell whether `label` is a top-level domain of one of the roots beside the public one."""
    return label in _OTHER_ROOTS


def may_end_a_name(label: str) -> bool:
    """Tell whether a label, as somebody wrote it, is a top-level domain, before anything costly is asked about its
    name.
    """
    if label.isascii():
        return is_top_level(label.lower())
    return _as_ascii(unicodedata.normalize("NFKC", label).lower()) in _rules().top_level


@lru_cache(maxsize=8192)
def registered_domain(host: str) -> str:
    """Return the part of `host` that someone registered: `evil.co.uk` of `cdn.evil.co.uk`, the last two labels at
    least.
    """
    rules = _rules()
    registered = suffix = host
    while suffix:
        above = suffix.partition(".")[2]
        if suffix in rules.registries or (above in rules.wild and f"!{suffix}" not in rules.registries):
            return registered
        registered, suffix = suffix, above
    return ".".join(host.rsplit(".", 2)[-2:])


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=8192)
def site_domain(host: str) -> str:
    """Return the domain of `host` that one owner answers for: `one.github.io` of `www.one.github.io`.

    Names under which strangers host their pages are no site: each name below them is one of its own.
    """
    return _suffixes().privatesuffix(host) or host


def domain_of_url(url: str) -> str:
    """Return the site domain of a web address, or the host itself where that is an address of the internet."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        return str(ip_address(host))
    except ValueError:
        return site_domain(host)


def is_shared_suffix(host: str) -> bool:
    """Tell whether `host` itself is a suffix under which anyone may register (`co.uk`, `ddns.net`, `github.io`)."""
    rules = _rules()
    return host in rules.hosting or host in rules.registries


def is_under_a_shared_suffix(host: str) -> bool:
    """Tell whether `host` belongs to whoever rents it at a provider of names (`gale.github.io`, `gale.ddns.net`)."""
    above = host.partition(".")[2]
    while "." in above:
        if above in _rules().hosting:
            return True
        above = above.partition(".")[2]
    return False
