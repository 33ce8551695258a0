"""What a search reads from the full-text tables: expressions of quoted words alone, never text that somebody typed.

Two kinds of token can never be met by a word, which has no two underscores at its beginning: the one that separates
texts, so that no phrase spans two of them, and those that hosts are written as.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from intel.addresses import IPV4_BYTES, packed_address
from intel.query import Clause, host_names, value_words
from intel.store.sqlite.rows import id_bytes
from intel.words import encoded_words, is_plain

ANYWHERE = "value article"
IN_VALUE = "value"
_SEPARATOR = " __ "
# Many indicators have the title and the source of one article.
_words_of = lru_cache(maxsize=1_024)(encoded_words)
# A host as one token: what the tokenizer would break at, or fold, is spelled out.
_HOST_CHARACTERS = {code: f"_{code:02x}" for code in range(128) if not (chr(code).isdigit() or chr(code).islower())}
_SIMPLE_HOST = re.compile(r"[a-z0-9.-]*+")


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of a statement and its parameters, in order."""

    text: str
    parameters: tuple[str | int | bytes, ...] = ()


def value_column(type: str, value: str) -> str:
    """Return the words of a value; the tokenizer itself parts and folds those of a plain one, but for underscores."""
    if is_plain(value) and "xn--" not in value:
        return value.replace("_", " ")
    return _SEPARATOR.join(value_words(type, value))


def text_column(texts: Iterable[str]) -> str:
    """Return the words of several texts."""
    return _SEPARATOR.join(filter(None, map(_words_of, dict.fromkeys(texts))))


def host_column(type: str, value: str) -> str:
    """Return the hosts that a value stands on."""
    return " ".join([_host_token(host) for host in host_names(type, value)])


def ip_bytes(address: str) -> bytes | None:
    """Return an address in order within its version, which comes first; None for what is no address."""
    packed = packed_address(address)
    return None if packed is None else (b"\x04" if len(packed) == IPV4_BYTES else b"\x06") + packed


def matching_iocs(clauses: Sequence[Clause], columns: str, exact_ids: Sequence[str] = ()) -> Sql:
    """Select `seq` of the indicators that match every clause in those columns, and of `exact_ids`."""
    sets = _sets(clauses, columns)
    text = " INTERSECT ".join(f"SELECT seq FROM ({one.text})" for one in sets)
    parameters = tuple(parameter for one in sets for parameter in one.parameters)
    if not exact_ids:
        return Sql(text, parameters)
    exact = of_ids(exact_ids)
    # The words mostly match it too. A UNION would keep all that they match, to compare it with one or two.
    beside = f"{exact.text} AND NOT EXISTS (SELECT 1 FROM ({text}) AS matching WHERE matching.seq = iocs.seq)"
    return Sql(f"SELECT seq FROM ({text}) UNION ALL {beside}", (*parameters, *exact.parameters, *parameters))


def of_ids(ids: Sequence[str]) -> Sql:
    """Select `seq` of those of the given indicators that exist."""
    return Sql(f"SELECT seq FROM iocs WHERE id IN ({', '.join('?' * len(ids))})", tuple(map(id_bytes, ids)))


def matching_articles(clauses: Sequence[Clause]) -> Sql:
    """Select `seq` of the articles that hold a phrase of every clause."""
    expressions = [_any_of(_phrases(clause)) for clause in clauses]
    if not all(expressions) or not expressions:
        return _NOTHING
    return Sql("SELECT rowid AS seq FROM article_words WHERE article_words MATCH ?", (" AND ".join(expressions),))


_NOTHING = Sql("SELECT NULL AS seq WHERE FALSE")


def _sets(clauses: Sequence[Clause], columns: str) -> list[Sql]:
    """Return a set for all that words alone decide, and one for each other clause."""
    of_words = [_any_of(_ways(clause, columns)) for clause in clauses if not _others(clause)]
    sets = [_union(clause, columns, others) for clause in clauses if (others := _others(clause))]
    if of_words and all(of_words):
        sets.append(_matching(" AND ".join(of_words)))
    return sets if all(of_words) and sets else [_NOTHING]


def _others(clause: Clause) -> list[Sql]:
    """Return what a clause finds without words: the addresses of a network, and values that have no word (`::`)."""
    wordless = [id for id, name in zip_longest(clause.ids, clause.names) if name is None or not encoded_words(name[1])]
    others = [of_ids(wordless)] if wordless else []
    if clause.network is not None:
        bounds = (ip_bytes(clause.network.first) or b"", ip_bytes(clause.network.last) or b"")
        others.append(Sql("SELECT seq FROM iocs WHERE ip BETWEEN ? AND ?", bounds))
    return others


def _union(clause: Clause, columns: str, others: list[Sql]) -> Sql:
    ways = _any_of(_ways(clause, columns))
    sets = [*others, _matching(ways)] if ways else others
    parameters = tuple(parameter for one in sets for parameter in one.parameters)
    return Sql(" UNION ".join(one.text for one in sets), parameters)


def _matching(expression: str) -> Sql:
    return Sql("SELECT rowid AS seq FROM ioc_words WHERE ioc_words MATCH ?", (expression,))


def _ways(clause: Clause, columns: str) -> list[str]:
    # Nothing of the third column can be met by a word, and to name the two others costs a fifth more.
    words = [phrase if columns == ANYWHERE else f"{{{columns}}} : {phrase}" for phrase in _phrases(clause)]
    return words + [f"{{host}} : {_quoted(_host_token(host))}" for host in clause.hosts]


def _phrases(clause: Clause) -> list[str]:
    star = " *" if clause.prefix else ""
    return [_quoted(" ".join(phrase)) + star for phrase in clause.phrases]


def _any_of(expressions: list[str]) -> str:
    return f"({' OR '.join(expressions)})" if expressions else ""


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _host_token(host: str) -> str:
    if _SIMPLE_HOST.fullmatch(host):
        return f"__h{host.replace('-', '_2d').replace('.', '_2e')}"  # as below, in a fifth of the time
    return f"__h{host.translate(_HOST_CHARACTERS)}"
