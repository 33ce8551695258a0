"""Read one token (a piece of text without white space) into what it may hold; knows nothing of its context."""

from __future__ import annotations

from typing import Final

from ingest.indicators import noise
from ingest.indicators.hosts import hosts_in, ipv6_in, mailboxes_in, may_hold_a_host
from ingest.indicators.late import late
from ingest.indicators.not_a_host import (
    FILE,
    NOT_BEFORE_A_PATH,
    is_file_in_an_archive,
    objection_to,
    objection_to_defanged,
)
from ingest.indicators.plain_signs import in_plain_signs, with_versions_told
from ingest.indicators.readers import HASH_TYPES, SHORTEST_HASH, read_shapes
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.urls import bare_urls_in, spans_blanked, urls_in
from intel.canonical import canonical_ipv4
from intel.names import is_technique
from intel.refanging import AT, COLON, DOT, MARKS, SEPARATOR, SLASH, without_marks
from intel.suffixes import is_top_level, registered_domain

_MASK_AND_NETWORK: Final = late(r"/[0-9]{1,2}AS[0-9]{1,10}")  # `45.9.148.0/24AS49870`
_HEX: Final = late(r"[0-9a-fA-F]++")
_WHOLE_TECHNIQUE: Final = late(r"T[0-9]{4}(?:\.[0-9]{3})?")
_ADDRESS_SEGMENT: Final = late(r"(?<=[/=])((?:[0-9]{1,3}\.){3}[0-9]{1,3})(?=[/?&#]|$)")
_DEFANGED_DOT: Final = DOT * 3
_DOTTED: Final = rf"[A-Za-z0-9][A-Za-z0-9-]*+(?>(?:(?:\.|{DOT}{{3}})[A-Za-z0-9-]++)+)"
_USUAL_PATH: Final = rf"/(?:[A-Za-z0-9/._~%=&?#+{DOT}-]*[A-Za-z0-9/=&#%-])?"
_WHOLE_HOST: Final = late(
    rf"[`'\"(\[|*+<]{{0,4}}+(?P<host>{_DOTTED})(?:(?P<port>:[0-9]{{1,5}})?(?P<path>{_USUAL_PATH})?|{COLON}{{3}}[0-9]{{1,5}})"
    r"(?>(?:[`'\"\]|*+,;:>]|\)[.,]?|\.$){0,4})"
)
_WHOLE_URL: Final = late(
    rf"(?:[`'\"(\[|*+<\u201c]{{1,4}}+|!?\[?[^\s:./@\\\]{MARKS}]{{0,80}}+\]\()?"
    rf"(?P<scheme>h(?:tt|xx|XX)p)(?P<secure>s?)(?:://|{SEPARATOR}++|{COLON}{{3}}//)(?P<host>{_DOTTED})(?P<port>:[0-9]{{1,5}})?"
    rf"(?P<path>{_USUAL_PATH})?(?>(?:[`'\"\]|*+,;:>.\u201d]|\)[.,]?){{0,4}})"
)
_WHOLE_MAILBOX: Final = late(
    rf"[`\"(\[|*+<]{{0,4}}+(?P<local>[A-Za-z0-9](?:[A-Za-z0-9.+{DOT}-]{{0,60}}[A-Za-z0-9])?)(?:@|{AT}++)(?P<host>{_DOTTED})"
    r"(?>(?:[`'\"\]|*+,;:>.]|\)[.,]?){0,4})"
)
_SIGN_OF_A_URL: Final = late(rf"//|[{SEPARATOR}{COLON}]|:[\\{SLASH}]|__|%3")
_HAS_NAME: Final = late(r"[^\W_]")
_LONGEST_USUAL: Final = 63  # no label of a shorter name can be too long
_LOOKUP_ENDS: Final = tuple(noise.LOOKUP_SERVICES)
_AROUND_A_HASH: Final = "`'\"()[],;|*+-.<>{}\u201c\u201d"
_BEFORE_A_TECHNIQUE: Final = "`'\"()[],;:|*+<>{}\u201c\u201d"
_AFTER_A_TECHNIQUE: Final = _BEFORE_A_TECHNIQUE + "."


def read_token(token: str) -> list[TokenCandidate]:
    """Return everything that `token` may hold, in order of appearance."""
    found: list[TokenCandidate] | None = None
    if DOT in token or "." in token:
        if "//" in token or SEPARATOR in token:
            found = _whole_url(token)
        elif "@" in token or AT in token:
            found = _whole_mailbox(token)
        else:
            found = _whole_host(token)
    if found is None:
        found = _whole_hash(token) if len(token) >= SHORTEST_HASH else _whole_technique(token)
    return _read_closely(token) if found is None else found


def _read_closely(token: str) -> list[TokenCandidate]:
    """Read a token that is none of the usual ones."""
    if token.isascii():
        return _read_parts(token)
    plain = in_plain_signs(token)
    found = _read_parts(plain)
    return with_versions_told(token, found) if plain is not token else found


def _read_parts(token: str) -> list[TokenCandidate]:
    """Return the URLs of a token, then what is left of it."""
    found: list[TokenCandidate] = []
    if not _HAS_NAME.search(token):
        return found
    rest = token
    if _may_hold_a_url(token):
        found = urls_in(token)
        if found:
            found += _addresses_looked_up(token, found)
            rest = spans_blanked(token, found)
            if not _HAS_NAME.search(rest):
                rest = ""
    if "@" in rest or AT in rest:
        mailboxes = mailboxes_in(rest)
        found += mailboxes
        found += [_host_of_mailbox(rest, mailbox) for mailbox in mailboxes]
        rest = spans_blanked(rest, mailboxes)
    if ("." in rest or DOT in rest) and may_hold_a_host(rest):
        hosts = hosts_in(rest)
        bare = bare_urls_in(rest, hosts) if "/" in rest or SLASH in rest else []
        found += _outside(hosts, bare)
    if rest.count(":") + rest.count(COLON) > 1:
        found += ipv6_in(rest)
    return _with_named(token, found)


def _may_hold_a_url(token: str) -> bool:
    if token.isascii():
        return "//" in token or "__" in token or "%3" in token or ":\\" in token
    return _SIGN_OF_A_URL.search(token) is not None


def _with_named(token: str, found: list[TokenCandidate]) -> list[TokenCandidate]:
    named = read_shapes(token)
    if named:
        found += named
    if len(found) > 2 or (len(found) == 2 and found[0].start >= found[1].start):
        found.sort(key=lambda reading: (reading.start, -reading.end))
    return found


def _whole_hash(token: str) -> list[TokenCandidate] | None:
    """Read the commonest token first: a hash, maybe in quotes or brackets."""
    bare = token.strip(_AROUND_A_HASH)
    type = HASH_TYPES.get(len(bare))
    if type is None or _HEX.fullmatch(bare) is None or bare.isdigit():
        return None
    start = token.index(bare)
    return [TokenCandidate(type, bare.lower(), start, start + len(bare))]


def _whole_technique(token: str) -> list[TokenCandidate] | None:
    """Read a token that is the identifier of an ATT&CK technique, maybe in brackets."""
    bare = token.lstrip(_BEFORE_A_TECHNIQUE).rstrip(_AFTER_A_TECHNIQUE)
    if bare[:1] != "T" or _WHOLE_TECHNIQUE.fullmatch(bare) is None or not is_technique(bare):
        return None
    start = token.index(bare)
    return [TokenCandidate("mitre_attack", bare, start, start + len(bare))]


def _whole_mailbox(token: str) -> list[TokenCandidate] | None:
    """Read a token that is an e-mail address, maybe in quotes."""
    match = _WHOLE_MAILBOX.fullmatch(token)
    if match is None or len(token) > _LONGEST_USUAL:
        return None
    local, spelled = match.groups()
    host = spelled.replace(_DEFANGED_DOT, ".")
    if _type_of_usual(host) != "domain":
        return None
    (start, _), (first, end) = match.span("local"), match.span("host")
    defanged = not token[start:end].isascii()
    mailbox = f"{local if local.isascii() else without_marks(local)}@{host}"
    return _with_named(
        token,
        [
            TokenCandidate("email", mailbox, start, end, defanged, host),
            TokenCandidate("domain", host, first, end, defanged, source=mailbox),
        ],
    )


def _whole_host(token: str) -> list[TokenCandidate] | None:
    """Read the next commonest token: a domain or an IPv4 address, maybe in quotes, with a port or a path."""
    match = _WHOLE_HOST.fullmatch(token)
    if match is None or len(token) > _LONGEST_USUAL or "..." in token:
        return None
    spelled, port, path = match.groups()
    defanged = not spelled.isascii()
    value = spelled.replace(_DEFANGED_DOT, ".") if defanged else spelled
    start, end = match.span("host")
    type = _type_of_usual(value)
    if not type:
        return [] if _holds_nothing(token, value, defanged) else None
    objection = ""
    if type == "domain":
        labels = value.split(".")
        objection = objection_to_defanged(labels) if defanged else objection_to(token, start, end, labels)
        if path and objection in NOT_BEFORE_A_PATH:
            objection = ""
    host = TokenCandidate(type, value, start, end, defanged, "", objection)
    if not path:
        return [host]
    if not defanged and is_file_in_an_archive(value, path):
        return [host._replace(objection=FILE)]
    if _is_protocol(path) and (port or type == "ip"):
        return [host]
    if _may_be_a_mask(path) or (port and not _is_other_port(port, "")):
        return None
    plain_path = path if path.isascii() else without_marks(path)
    is_defanged = defanged or plain_path is not path
    url = TokenCandidate(
        "url",
        f"http://{value}{port or ''}{plain_path}",
        start,
        match.end("path"),
        is_defanged,
        value,
        "" if is_defanged else objection,
    )
    return _with_named(token, [url, host])


def _type_of_usual(host: str) -> str:
    """Return what a host of ASCII letters, digits and hyphens is that is short enough, or nothing."""
    if is_top_level(host[host.rfind(".") + 1 :]):
        return "domain" if host.islower() and "-." not in host and ".-" not in host else ""
    return "ip" if host[-1].isdigit() and canonical_ipv4(host) else ""


def _holds_nothing(token: str, value: str, defanged: bool) -> bool:
    """Tell whether a dotted name that ends in nothing known is nothing else either: `Setup.exe`, and `2.0`."""
    if defanged or "/" in token or "T" in token or "-" in token or len(token) >= SHORTEST_HASH:
        return False
    return not is_top_level(value.rpartition(".")[2].lower()) and not value[-1].isdigit()


def _is_protocol(path: str) -> bool:
    """Tell whether what follows a port is no path: `45.9.1.2:53/udp`."""
    return len(path) == 4 and path.lower() in ("/tcp", "/udp")


def _may_be_a_mask(path: str) -> bool:
    """Tell whether what follows a slash is the mask of a network, two numbers of a log, or another address."""
    if len(path) < 7:
        return len(path) == 1 or path.replace("/", "").isdigit()
    if not (path[1].isdigit() and path[-1].isdigit()):
        return False
    return _MASK_AND_NETWORK.fullmatch(path) is not None or canonical_ipv4(without_marks(path[1:])) is not None


def _whole_url(token: str) -> list[TokenCandidate] | None:
    """Read a token that is a usual URL, maybe in quotes, brackets or a link of Markdown."""
    match = _WHOLE_URL.fullmatch(token)
    if match is None or "..." in token or "%3" in token or "__" in token or "&&" in token:
        return None
    scheme, secure, spelled, port, path = match.groups()
    host = spelled.replace(_DEFANGED_DOT, ".")
    if len(host) > _LONGEST_USUAL or (port and not _is_other_port(port, secure)):
        return None
    start, end = match.start("scheme"), match.end("path" if path else "port" if port else "host")
    defanged = scheme != "http" or not token[start:end].isascii()
    type = _type_of_usual(host)
    if not type:
        return None
    plain_path = path if not path or path.isascii() else without_marks(path)
    value = f"http{secure}://{host}{port or ''}{plain_path or ''}"
    found = [
        TokenCandidate("url", value, start, end, defanged, host),
        TokenCandidate(type, host, *match.span("host"), defanged, "", "", value),
    ]
    if host.endswith(_LOOKUP_ENDS):
        found += _addresses_looked_up(token, found)
    return _with_named(token, found)


def _is_other_port(port: str, secure: str) -> bool:
    """Tell whether `:8080` is a port, and not the one that the scheme means anyway."""
    return int(port[1:]) < 65536 and port != (":443" if secure else ":80")


def _host_of_mailbox(token: str, mailbox: TokenCandidate) -> TokenCandidate:
    start = 1 + max(token.rfind("@", mailbox.start, mailbox.end), token.rfind(AT, mailbox.start, mailbox.end))
    return TokenCandidate("domain", mailbox.host, start, mailbox.end, mailbox.defanged, source=mailbox.value)


def _outside(hosts: list[TokenCandidate], bare: list[TokenCandidate]) -> list[TokenCandidate]:
    """Read URLs without a scheme, and the hosts that stand in no URL's path."""
    kept = [host for host in hosts if not any(url.start < host.start < url.end for url in bare)]
    return [*bare, *kept]


def _addresses_looked_up(token: str, urls: list[TokenCandidate]) -> list[TokenCandidate]:
    """Return the addresses that a link to a look-up service asks about."""
    found: list[TokenCandidate] = []
    for url in urls:
        if (
            url.type == "url"
            and url.host.endswith(_LOOKUP_ENDS)
            and registered_domain(url.host) in noise.LOOKUP_SERVICES
        ):
            for match in _ADDRESS_SEGMENT.finditer(token, url.start, url.end):
                if all(int(octet) < 256 for octet in match[1].split(".")):
                    found.append(TokenCandidate("ip", match[1], *match.span(1), source=f"looked up at {url.host}"))
    return found
