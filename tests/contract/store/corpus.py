"""A made-up corpus, the same on every run: a few names that occur everywhere, in every type, in several scripts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from intel.records import Article, Sighting
from tests.contract.store.builders import make_article

WORDS = (
    "evil", "loader", "corp", "update", "bank", "mail", "cdn", "login", "Überfall", "münchen", "вирус", "分析",
    "ランサム", "o'neil", "x_y", "AND", "OR", "NOT", "c2", "2024", "naïve", "ﬁle", "ǅ", "straße",
)  # fmt: skip
HOSTS = (
    "evil.example", "evil-corp.example", "cdn.evil.example", "loader.test", "a.b.c.loader.test", "update.example.net",
    "xn--mnchen-3ya.example", "login.xn--mnchen-3ya.example", "bank.co.uk", "sub.bank.co.uk",
)  # fmt: skip
SOURCES = ("Example Blog", "example blog", "Agency", "Evil Watch", "Loader Daily", "分析 Times")
MALWARE = ("Emotet", "Cobalt Strike", "Evil Ransomware", "LoaderBot", "QakBot")


@dataclass(frozen=True, slots=True)
class Saved:
    """One call of `save`."""

    article: Article
    sightings: tuple[Sighting, ...]


def make_corpus(articles: int = 60) -> tuple[Saved, ...]:
    """So many saves; some articles come a second time, changed, and some are copies of others."""
    random = Random(47)
    pool = _indicators(random)
    made = [_saved(random, pool, n) for n in range(articles)]
    again = [_saved(random, pool, random.randrange(articles)) for _ in range(articles // 6)]
    return (*made, *again)


def _saved(random: Random, pool: list[tuple[str, str]], n: int) -> Saved:
    article = make_article(
        f"a{n}",
        at=random.choice((n, n / 4, 10, 20.5)),
        source=random.choice(SOURCES),
        title=_sentence(random, 5),
        text=_sentence(random, 40),
        summary=_sentence(random, 8),
        cluster=f"c{random.randrange(40)}",
    )
    if n % 11 == 0:
        article = replace(article, published_at=None)
    if n % 6 == 0:
        article = replace(article, source_domain=random.choice(("one.example", "two.example")))
    chosen = random.sample(pool, random.randrange(18))
    return Saved(article, tuple(_sighting(random, *indicator, position) for position, indicator in enumerate(chosen)))


def _sighting(random: Random, type: str, value: str, position: int) -> Sighting:
    malware = tuple(random.sample(MALWARE, random.choice((0, 0, 1, 2))))
    return Sighting(type, value, _sentence(random, 6), malware, position)


def _sentence(random: Random, words: int) -> str:
    return " ".join(random.choice((*WORDS, *MALWARE, random.choice(HOSTS))) for _ in range(words))


def _indicators(random: Random) -> list[tuple[str, str]]:
    found = [("malware", name) for name in MALWARE] + [("domain", host) for host in HOSTS]
    for n in range(30):
        host = random.choice(HOSTS)
        found += [
            ("domain", f"{random.choice(('evil', 'cdn', 'mail'))}{n}.{host}"),
            ("url", f"http{random.choice(('', 's'))}://{host}/{random.choice(('login', 'x', 'Evil'))}?n={n}"),
            ("url", f"http://198.51.100.{n}:8080/evil"),
            ("email", f"user{n}@{host}"),
            ("ip", f"198.51.{random.choice((99, 100))}.{n}"),
            ("ip", f"2001:db8::{random.choice((1, 2))}:{n:x}"),
            ("cve", f"CVE-2024-{1000 + n}"),
            ("mitre_attack", f"T{1000 + n}"),
            ("hash_sha256", f"{random.getrandbits(256):064x}"),
            ("hash_md5", f"{random.getrandbits(128):032x}"),
        ]
    return found
