"""The rules of the port, written out as plainly as can be: slow, in memory, and sure."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from intel.ageing import age
from intel.ids import ioc_id
from intel.query import ArticleQuery, Clause, IocQuery, SearchText, host_names, value_words
from intel.records import NEWEST_ARTICLES, Article, Facets, Ioc, Sighting
from intel.times import to_milliseconds
from intel.tlp import strictest
from intel.words import encoded_words
from tests.contract.store.corpus import Saved

Texts = list[list[str]]


@dataclass(frozen=True, slots=True)
class Known:
    """An indicator and what it is found by."""

    ioc: Ioc
    own: Texts
    others: Texts
    hosts: tuple[str, ...]
    source_names: frozenset[str]
    warned: bool
    voted: bool


class Oracle:
    """What a store must answer after these saves."""

    def __init__(
        self, saves: Iterable[Saved], voted: Collection[str] = (), tagged: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        """`voted` are the ids of indicators that are called false positives, `tagged` the tags of others by id."""
        self._voted = voted
        self._tagged = tagged or {}
        self._saved = {saved.article.id: saved for saved in saves}
        seen: dict[tuple[str, str], list[tuple[Article, Sighting]]] = {}
        for saved in self._saved.values():
            for sighting in saved.sightings:
                seen.setdefault((sighting.type, sighting.value), []).append((saved.article, sighting))
        self._known = [self._know(*indicator, found) for indicator, found in seen.items()]

    def iocs(self, query: IocQuery) -> tuple[Ioc, ...]:
        """Every indicator of a list or search, in order."""
        found = [known for known in self._known if _passes(query, known)]
        if query.text is None:
            return tuple(sorted((known.ioc for known in found), key=_ORDERS[query.sort or "last_seen"]))
        text = query.text
        if query.sort is not None:
            matching = (known.ioc for known in found if _rank(text, known) is not None)
            return tuple(sorted(matching, key=_ORDERS[query.sort]))
        ranked = [(rank, known.ioc) for known in found if (rank := _rank(text, known)) is not None]
        ranked.sort(key=lambda pair: (pair[0], -pair[1].sources, _newest(pair[1])))
        return tuple(ioc for _, ioc in ranked)

    def facets(self, query: IocQuery) -> Facets:
        """How those indicators divide."""
        ids = {ioc.id for ioc in self.iocs(query)}
        found = [known for known in self._known if known.ioc.id in ids]
        types = Counter(known.ioc.type for known in found)
        sources = Counter(name for known in found for name in known.source_names)
        weeks = Counter(_week(known.ioc) for known in found)
        return Facets(
            types=dict(sorted(types.items(), key=_most_first)),
            sources=dict(sorted(sources.items(), key=_most_first)[:20]),
            weeks=dict(sorted(weeks.items(), reverse=True)[:26]),
        )

    def articles(self, query: ArticleQuery) -> tuple[str, ...]:
        """The id of every article of a list or search, in order."""
        articles = [saved.article for saved in self._saved.values()]
        found = [
            article
            for article in articles
            if query.source in (None, article.source_name) and (query.text is None or _holds(query.text, article))
        ]
        return tuple(article.id for article in sorted(found, key=lambda a: (-to_milliseconds(a.seen_at), a.id)))

    def _know(self, type: str, value: str, found: list[tuple[Article, Sighting]]) -> Known:
        found.sort(key=lambda pair: (-to_milliseconds(pair[0].seen_at), pair[0].id))
        newest = found[:NEWEST_ARTICLES]
        malware = tuple(dict.fromkeys(name for _, sighting in newest for name in sighting.malware))
        texts = [text for article, _ in newest for text in (article.title, article.source_name)]
        ioc = Ioc(
            id=ioc_id(type, value),
            type=type,
            value=value,
            first_seen=found[-1][0].seen_at,
            last_seen=found[0][0].seen_at,
            sightings=len(found),
            sources=len({self._counted_source(article) for article, _ in found}),
            context=found[0][1].context,
            malware=malware,
            article=found[0][0].ref,
            added_at=found[0][0].seen_at,
            changed_at=found[0][0].seen_at,
            tags=self._tagged.get(ioc_id(type, value), ()),
            tlp=strictest(article.tlp for article, _ in found),
        )
        own = [text.split() for text in value_words(type, value)]
        sources = frozenset(article.source_name for article, _ in found)
        warned = found[0][1].warned
        others, hosts = _texts([*texts, *malware]), host_names(type, value)
        return Known(ioc, own, others, hosts, sources, warned, ioc.id in self._voted)

    def _counted_source(self, article: Article) -> str:
        mates = [s.article for s in self._saved.values() if s.article.cluster_id == article.cluster_id]
        return min(mates, key=lambda mate: (mate.seen_at, mate.id)).counted_source


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def _week(ioc: Ioc) -> str:
    year, week, _ = ioc.last_seen.isocalendar()
    return f"{year:04}-W{week:02}"


def _newest(ioc: Ioc) -> tuple[int, str]:
    return -to_milliseconds(ioc.last_seen), ioc.id


_ORDERS: dict[str, Callable[[Ioc], tuple[int | str, ...]]] = {
    "last_seen": _newest,
    "first_seen": lambda ioc: (-to_milliseconds(ioc.first_seen), ioc.id),
    "sources": lambda ioc: (-ioc.sources, *_newest(ioc)),
}


def _passes(query: IocQuery, known: Known) -> bool:
    ioc, only = known.ioc, query.filter
    status = age(ioc.type, ioc.last_seen, only.now).status if only.now else None
    named = {name.casefold() for name in ioc.malware}
    return (
        (query.ids is None or ioc.id in query.ids)
        and (not only.types or ioc.type in only.types)
        and (only.since is None or ioc.last_seen >= only.since)
        and (only.until is None or ioc.last_seen <= only.until)
        and (not only.sources or not known.source_names.isdisjoint(only.sources))
        and (not only.malware or not {name.casefold() for name in only.malware}.isdisjoint(named))
        and (not only.tags or not set(only.tags).isdisjoint(ioc.tags))
        and (not only.tlps or ioc.tlp in only.tlps)
        and ioc.sources >= only.min_sources
        and (not only.statuses or status in only.statuses)
        and not (status == "expired" and "expired" in only.exclude)
        and not (known.warned and "warned" in only.exclude)
        and not (known.voted and "false_positive" in only.exclude)
    )


def _rank(text: SearchText, known: Known) -> int | None:
    """The class of the match; None where there is none."""
    if known.ioc.id in text.exact_ids:
        return 0
    if not text.clauses or not all(_matches(clause, known, known.own + known.others) for clause in text.clauses):
        return None
    return 1 if all(_matches(clause, known, known.own) for clause in text.clauses) else 2


def _matches(clause: Clause, known: Known, texts: Texts) -> bool:
    return (
        _in_texts(clause, texts)
        or not set(clause.hosts).isdisjoint(known.hosts)
        or known.ioc.id in clause.ids
        or _in_network(clause, known.ioc)
    )


def _in_network(clause: Clause, ioc: Ioc) -> bool:
    if clause.network is None or ioc.type != "ip":
        return False
    first, ip, last = map(ipaddress.ip_address, (clause.network.first, ioc.value, clause.network.last))
    return first.version == ip.version and int(first) <= int(ip) <= int(last)


def _holds(text: SearchText, article: Article) -> bool:
    texts = _texts([article.title, article.summary, article.text or "", article.source_name])
    return bool(text.clauses) and all(_in_texts(clause, texts) for clause in text.clauses)


def _in_texts(clause: Clause, texts: Texts) -> bool:
    if clause.prefix:
        return any(word.startswith(clause.phrases[0][0]) for text in texts for word in text)
    return any(_side_by_side(phrase, text) for phrase in clause.phrases for text in texts)


def _side_by_side(phrase: tuple[str, ...], text: list[str]) -> bool:
    length = len(phrase)
    return any(tuple(text[start : start + length]) == phrase for start in range(len(text) - length + 1))


def _texts(texts: Sequence[str]) -> Texts:
    return [encoded_words(text).split() for text in texts]
