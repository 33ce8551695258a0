"""What a search reads from the full-text tables: expressions of quoted words alone, never text that somebody typed.

Two kinds of token can never be met by a word, which has no two underscores at its beginning: the one that separates
texts, so that no phrase spans two of them, and those that hosts and ids are written as.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intel.query import Clause, Network, host_names, value_words
from intel.words import encoded_words

ANYWHERE = "value article"
IN_VALUE = "value"
_SEPARATOR = " __ "


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of a statement and its parameters, in order."""

    text: str
    parameters: tuple[str | int | bytes, ...] = ()


def value_column(type: str, value: str) -> str:
    """Return the words of a value."""
    return _SEPARATOR.join(value_words(type, value))


def text_column(texts: Iterable[str]) -> str:
    """Return the words of several texts."""
    return _SEPARATOR.join(filter(None, map(encoded_words, dict.fromkeys(texts))))


def host_column(id: str, type: str, value: str) -> str:
    """Return the hosts that a value stands on, and its id."""
    return " ".join([_id_token(id), *map(_host_token, host_names(type, value))])


def ip_bytes(address: str) -> bytes | None:
    """Return an address in order within its version, which comes first; None for what is no address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    return bytes([ip.version]) + ip.packed


def matching_iocs(clauses: Sequence[Clause], columns: str, exact_ids: Sequence[str] = ()) -> Sql:
    """Selects `seq` of the indicators that match every clause in those columns, and of `exact_ids`."""
    sets = _sets(clauses, columns)
    text = " INTERSECT ".join(f"SELECT seq FROM ({one.text})" for one in sets)
    parameters = tuple(parameter for one in sets for parameter in one.parameters)
    if not exact_ids:
        return Sql(text, parameters)
    exact = _matching(_any_of(_named(exact_ids)))
    return Sql(f"SELECT seq FROM ({text}) UNION {exact.text}", parameters + exact.parameters)


def matching_articles(clauses: Sequence[Clause]) -> Sql:
    """Selects `seq` of the articles that hold a phrase of every clause."""
    expressions = [_any_of(_phrases(clause)) for clause in clauses]
    if not all(expressions) or not expressions:
        return _NOTHING
    return Sql("SELECT rowid AS seq FROM article_words WHERE article_words MATCH ?", (" AND ".join(expressions),))


_NOTHING = Sql("SELECT NULL AS seq WHERE FALSE")


def _sets(clauses: Sequence[Clause], columns: str) -> list[Sql]:
    plain = [_any_of(_ways(clause, columns)) for clause in clauses if clause.network is None]
    sets = [_in_network(clause.network, _ways(clause, columns)) for clause in clauses if clause.network is not None]
    if plain and all(plain):
        sets.append(_matching(" AND ".join(plain)))
    return sets if all(plain) and sets else [_NOTHING]


def _in_network(network: Network, ways: list[str]) -> Sql:
    bounds = (ip_bytes(network.first) or b"", ip_bytes(network.last) or b"")
    text = "SELECT seq FROM iocs WHERE ip BETWEEN ? AND ?"
    if not ways:
        return Sql(text, bounds)
    others = _matching(_any_of(ways))
    return Sql(f"{text} UNION {others.text}", (*bounds, *others.parameters))


def _matching(expression: str) -> Sql:
    return Sql("SELECT rowid AS seq FROM ioc_words WHERE ioc_words MATCH ?", (expression,))


def _ways(clause: Clause, columns: str) -> list[str]:
    words = [f"{{{columns}}} : {phrase}" for phrase in _phrases(clause)]
    hosts = [f"{{host}} : {_quoted(_host_token(host))}" for host in clause.hosts]
    return words + hosts + _named(clause.ids)


def _named(ids: Iterable[str]) -> list[str]:
    return [f"{{host}} : {_quoted(_id_token(id))}" for id in ids]


def _phrases(clause: Clause) -> list[str]:
    star = " *" if clause.prefix else ""
    return [_quoted(" ".join(phrase)) + star for phrase in clause.phrases]


def _any_of(expressions: list[str]) -> str:
    return f"({' OR '.join(expressions)})" if expressions else ""


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _host_token(host: str) -> str:
    return f"__h{host.encode().hex()}"


def _id_token(id: str) -> str:
    return f"__i{id.encode().hex()}"
