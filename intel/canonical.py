"""Define the one spelling of every indicator that is stored, compared and looked up."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import compress
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import idna

from intel.defanged import UNSEEN, defang, refang, refang_url, refang_value
from intel.errors import NotAnIndicator
from intel.indicator_types import INDICATOR_TYPES, IndicatorType
from intel.names import malware_aliases, malware_name

__all__ = ["canonical", "canonical_domain", "canonical_url", "defang", "readings", "refang", "unlisted_name"]

LONGEST_INDICATOR: Final = 4096
LONGEST_NAME: Final = 200

# A value is read as one type after the other: most of them ask for it without its defanging.
_plainly = lru_cache(maxsize=8)(refang_value)
_plain_url = lru_cache(maxsize=8)(refang_url)
# Defanged in its scheme at most, as most values.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/@?=#%+,;~!$*-]++")
# What a plain value in lower case begins with if it may be of a type; a form of a pattern is a sign itself.
_SIGNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ip": "[0-9a-f]*[.:]",
        "domain": r"(?![0-9.:]+\Z)[a-z0-9_-]+\.[a-z0-9_.-]*(?::[0-9]{1,5})?\Z",
        "url": "[^/]*/",
        "cve": "cve",
        "mitre_attack": "t[0-9]",
        "email": "[^@]*@",
    }
)
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_TOP_LABEL: Final = re.compile(r"xn--[a-z0-9-]{1,59}|[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PLAIN_DOMAIN: Final = re.compile(rf"(?:{_LABEL.pattern}\.)+(?=(?:{_TOP_LABEL.pattern})\Z){_LABEL.pattern}")
_DOTS: Final = re.compile(r"[.\u3002\uff0e\uff61]")
_IPV4: Final = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}")
_IPV4_AND_PORT: Final = re.compile(r"([0-9.]{7,15}):[0-9]{1,5}")
_BRACKETED_IP: Final = re.compile(r"\[([0-9A-Fa-f:.]{2,45})\](?::[0-9]{1,5})?")
_CVE: Final = re.compile(r"CVE[-_ \u2010-\u2015\u2212]?([0-9]{4})[-_ \u2010-\u2015\u2212]([0-9]{4,19})", re.IGNORECASE)
_TECHNIQUE: Final = re.compile(r"T([0-9]{4})(?:[./]([0-9]{3}))?", re.IGNORECASE)
# Those that hold an IPv4 address begin with zeros, which are written in many ways.
_FIRST_OF_MOST_IPV6: Final = tuple("123456789abcdefABCDEF")
_LOCAL_PART: Final = re.compile(r"[^\s@\"(),:;<>\[\]\\\x00-\x1f\x7f]{1,64}")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://([^/?#]*)([/?#].*)?", re.DOTALL)
_NOT_IN_A_URL: Final = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")
_NETWORK: Final = re.compile(r"[0-9.]{7,15}/[0-9]{1,2}")
_PORT: Final = re.compile(r"[0-9]{1,5}")
_PORT_OF_A_HOST: Final = re.compile(r":[0-9]{1,5}\Z")
_DEFAULT_PORTS: Final[Mapping[str, str]] = MappingProxyType(
    {"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443", "ssh": "22", "sftp": "22"}
)
_TRACKING: Final = re.compile(
    r"utm_[a-z_]+|(?:mtm|pk|piwik|matomo|hsa)_[a-z_]+|fbclid|gclid|gclsrc|gad_source|gad_campaignid|dclid|gbraid|wbraid"
    r"|msclkid|yclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_cid|mc_eid|_hsenc|_hsmi|__hs[a-z]{2}|hsctatracking|mkt_tok"
    r"|ref_src|ref_url|srsltid|_openstat|__twitter_impression|_branch_match_id|oly_anon_id|oly_enc_id|vero_id|vero_conv"
    r"|wickedid|cmpid|s_cid|ncid|spm|_ga|_gl|ml_subscriber(?:_hash)?|rb_clickid|epik|trk|trkcampaign",
    re.IGNORECASE,
)
# The same article in the form that phones were once sent.
_AMP: Final = re.compile(r"amp(?:=(?:1|true|yes)?)?|(?:outputtype|view|_amp)=amp|_amp=(?:1|true)", re.IGNORECASE)


def canonical(type: str, raw: str) -> str:
    """Return the canonical spelling of the indicator `raw` of type `type`; `raw` may be defanged.

    Lenient for looking up: any well-formed domain and any address passes, also private and reserved ones.
    `canonical(type, canonical(type, raw))` is `canonical(type, raw)`. Raises `NotAnIndicator`.
    """
    value = _settled(type, raw) if type in _RULES and len(raw) <= LONGEST_INDICATOR else None
    if value is None:
        raise NotAnIndicator(type, raw)
    return value


@lru_cache(maxsize=8)
def readings(raw: str) -> tuple[tuple[str, str], ...]:
    """Return every (type, canonical value) that a pasted string may mean, most specific first; `()` if there is
    none.

    A URL without a scheme reads as `http` and `https`, one without a path also with `/`; a name of malware as every
    name of its family, with that one first.
    """
    if not raw.strip() or len(raw) > LONGEST_INDICATOR:
        return ()
    usual = usual_type(raw)
    return ((usual, raw),) if usual is not None else _readings_of_all(raw)


def _readings_of_all(raw: str) -> tuple[tuple[str, str], ...]:
    """Return what `readings` does, from the rules of all types."""
    found: list[tuple[str, str]] = []
    aliases: tuple[str, ...] = ()
    sisters: list[str] = []
    for type in _may_be(raw):
        if type == "malware" and malware_name(_name(raw)) is None:
            continue  # a name must be in a list
        if (value := _settled(type, raw)) is None:
            continue
        found.append((type, value))
        if type == "malware":
            aliases = malware_aliases(value)
        elif type == "url":
            sisters = _sister_urls(raw, value)
    if not aliases and not sisters:
        return tuple(found)
    more = [("malware", alias) for alias in aliases] + [("url", url) for url in sisters]
    return tuple(dict.fromkeys(found + more))


def _may_be(raw: str) -> Iterable[str]:
    """Return the types that a value is worth reading as, most specific first."""
    is_plain = _PLAIN.fullmatch(raw) and "__" not in raw and "/AT/" not in raw and "/DOT/" not in raw
    signs = _SIGN_OF_EACH.match(raw.lower()) if is_plain else None
    return compress(_LOOKUP_ORDER, signs.group(*_LOOKUP_ORDER)) if signs else _LOOKUP_ORDER


def unlisted_name(raw: str) -> str | None:
    """Return a name of malware that stands in no list, as it is stored, or None where `raw` can be no name."""
    name = _name(raw)
    return name if name and len(name) <= LONGEST_NAME and name.isprintable() else None


def canonical_url(url: str) -> str:
    """Return the identity of an article: `url` without fragment, tracking parameters and default port,
    percent-encoded.

    Idempotent. Raises `NotAnIndicator` for what is no `http` or `https` URL.
    """
    parts = _url_parts(url.strip()) if len(url) <= LONGEST_INDICATOR else None
    if parts is None or parts[0] not in ("http", "https"):
        raise NotAnIndicator("url", url)
    scheme, authority, tail = parts
    path, _, query = tail.partition("#")[0].partition("?")
    kept = "&".join(pair for pair in query.split("&") if not _is_beside_the_point(pair))
    return f"{scheme}://{authority}{_encoded(path) or '/'}{'?' if kept else ''}{_encoded(kept)}"


def _is_beside_the_point(pair: str) -> bool:
    """Tell whether a `name=value` of a query says only how a reader came or which form of the page is wanted."""
    pair = pair.removeprefix("amp;")  # of `&amp;` that was never unescaped
    return bool(_TRACKING.fullmatch(pair.partition("=")[0]) or _AMP.fullmatch(pair))


def canonical_domain(host: str) -> str | None:
    """Return a well-formed domain name (two labels or more) in lower case and A-labels, or None."""
    name = host.rstrip(".\u3002\uff0e\uff61")
    if name.isascii():
        lowered = name.lower()
        return lowered if 4 <= len(name) <= 253 and _PLAIN_DOMAIN.fullmatch(lowered) else None
    labels = [_canonical_label(label) for label in _DOTS.split(name)] if 4 <= len(name) <= 253 else []
    if len(labels) < 2 or not all(labels) or not _TOP_LABEL.fullmatch(labels[-1]):
        return None
    joined = ".".join(labels)
    return joined if len(joined) <= 253 else None


def canonical_ipv4(text: str) -> str | None:
    """Return an IPv4 address in dotted form without anything around it, or None."""
    return text if _IPV4.fullmatch(text) else None


def canonical_ip(text: str) -> str | None:
    """Return an IPv4 or IPv6 address in compressed form without port, brackets or full-length mask, or None."""
    if _IPV4.fullmatch(text):
        return text
    bare = text.strip()
    match = _IPV4_AND_PORT.fullmatch(bare) or _BRACKETED_IP.fullmatch(bare)
    address = match[1] if match else bare.removesuffix("/128" if ":" in bare else "/32")
    if ":" not in address:
        return canonical_ipv4(address)
    if address[:1] in _FIRST_OF_MOST_IPV6:
        return _usual_ipv6(address)
    try:
        ip = ipaddress.IPv6Address(address)
    except ValueError:
        return None
    if ip.scope_id is not None:
        return None
    return f"::ffff:{ip.ipv4_mapped}" if ip.ipv4_mapped else ip.compressed


def _usual_ipv6(address: str) -> str | None:
    """Return an IPv6 address that holds no IPv4 one as the system's own reader and writer of them have it, or None."""
    try:
        return socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, address))
    except (OSError, ValueError):
        return None


def _canonical_label(label: str) -> str:
    if label.isascii():
        lowered = label.lower()
        return lowered if _LABEL.fullmatch(lowered) else ""
    # What is written as it is registered needs no mapping, whose tables are large: they are loaded where one is needed.
    written = unicodedata.normalize("NFC", label.lower())
    return _encoded_label(written, False) or _encoded_label(label, True)


@lru_cache(maxsize=4096)
def _encoded_label(label: str, mapped: bool) -> str:
    try:
        return idna.encode(label, uts46=mapped).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ""


def _domain(raw: str) -> str | None:
    return canonical_domain(_PORT_OF_A_HOST.sub("", _plainly(raw).strip()))


def _ip(raw: str) -> str | None:
    return canonical_ip(_plainly(raw))


def _email(raw: str) -> str | None:
    local, _, host = _plainly(raw).strip().removeprefix("mailto:").rpartition("@")
    domain = canonical_domain(host) if _LOCAL_PART.fullmatch(local) else None
    return f"{local}@{domain}" if domain is not None else None


def _url(raw: str) -> str | None:
    plain = _plain_url(raw)
    if "://" not in plain[:34]:
        plain = f"http://{plain}" if "/" in plain and not _NETWORK.fullmatch(plain) else ""
    return canonical_plain_url(plain)


def canonical_plain_url(url: str) -> str | None:
    """Return the canonical form of a URL that is not defanged, or None."""
    parts = _url_parts(url)
    return None if parts is None else f"{parts[0]}://{parts[1]}{parts[2]}"


def _url_parts(url: str) -> tuple[str, str, str] | None:
    """Split a URL whose host is a domain or an address into scheme, authority and the rest."""
    match = _URL.fullmatch(url)
    is_printed = url.isascii() and url.isprintable() and " " not in url
    if match is None or (not is_printed and _NOT_IN_A_URL.search(url)):
        return None
    scheme = match[1].lower()
    credentials, at, host_and_port = match[2].rpartition("@")
    authority = _authority(scheme, host_and_port)
    return None if authority is None else (scheme, f"{credentials}{at}{authority}", match[3] or "")


def _authority(scheme: str, host_and_port: str) -> str | None:
    end = host_and_port.find("]") + 1
    name, colon, port = host_and_port[end:].partition(":")
    if colon and port and not (_PORT.fullmatch(port) and int(port) < 65536):
        return None
    if end:
        bracketed = host_and_port[:end].lower()
        host = bracketed if not name and canonical_ip(bracketed) is not None else None
    else:
        host = canonical_ip(name) if name[-1:].isdigit() else canonical_domain(name)
    return None if host is None else host + (f":{port}" if port and port != _DEFAULT_PORTS.get(scheme) else "")


def _of_form(kind: IndicatorType) -> Callable[[str], str | None]:
    form, case = re.compile(kind.form), kind.case

    def rule(raw: str) -> str | None:
        text = raw.strip()
        if not text.isascii():
            return None
        settled = text.lower() if case == "lower" else text.upper() if case == "upper" else text
        return settled if form.fullmatch(settled) else None

    return rule


def _cve(raw: str) -> str | None:
    match = _CVE.fullmatch(raw.strip())
    return f"CVE-{match[1]}-{match[2]}" if match else None


def _technique(raw: str) -> str | None:
    match = _TECHNIQUE.fullmatch(raw.strip())
    return f"T{match[1]}{'.' if match[2] else ''}{match[2] or ''}" if match else None


def _name(raw: str) -> str:
    """Return a name without invisible characters, its words separated by one space each."""
    if raw.isascii() and raw.isprintable():
        return " ".join(raw.split())  # nothing to take out and nothing to compose
    return " ".join(unicodedata.normalize("NFC", raw.translate(UNSEEN)).split())


def _malware(raw: str) -> str | None:
    name = unlisted_name(raw)
    return name and (malware_name(name) or name)


_OWN_RULES: Final[Mapping[str, Callable[[str], str | None]]] = MappingProxyType(
    {
        "ip": _ip,
        "domain": _domain,
        "url": _url,
        "cve": _cve,
        "mitre_attack": _technique,
        "email": _email,
        "malware": _malware,
    }
)
_RULES: Final[Mapping[str, Callable[[str], str | None]]] = MappingProxyType(
    {kind.name: _OWN_RULES.get(kind.name) or _of_form(kind) for kind in INDICATOR_TYPES}
)
_LOOKUP_ORDER: Final = tuple(kind.name for kind in sorted(INDICATOR_TYPES, key=lambda kind: kind.lookup_rank))


def _sign(kind: IndicatorType) -> str:
    form = kind.form if kind.case == "lower" else f"(?i:{kind.form})"
    sign = _SIGNS.get(kind.name, form + r"\Z" if kind.form else ".")
    return f"(?=(?P<{kind.name}>{sign})?)"


_SIGN_OF_EACH: Final = re.compile("".join(map(_sign, INDICATOR_TYPES)))
# Canonical values that can be nothing else, as most are that are asked for: told sooner than by rules.
_USUAL_HOST: Final = r"(?=[^/]{4,253}(?:/|\Z))(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}"
_USUAL_FORMS: Final = {
    **{kind.name: kind.form for kind in INDICATOR_TYPES if kind.judgement == "hash" and kind.case == "lower"},
    "ip": _IPV4.pattern,
    "domain": _USUAL_HOST,
    "url": rf"https?://{_USUAL_HOST}/[A-Za-z0-9_.:=#%+,;~!$*?/-]*[A-Za-z0-9]",
    "email": rf"[A-Za-z0-9.+-]{{1,64}}@{_USUAL_HOST}",
    "cve": "CVE-[0-9]{4}-[0-9]{4,19}",
}
_OTHER_FORMS: Final = [kind.form for kind in INDICATOR_TYPES if kind.form and kind.name not in _USUAL_FORMS]
_USUAL: Final = re.compile(
    "".join(rf"(?!(?i:{form})\Z)" for form in _OTHER_FORMS)
    + f"(?:{'|'.join(f'(?P<{type}>{form})' for type, form in _USUAL_FORMS.items())})"
)


def usual_type(raw: str) -> str | None:
    """Return the type of a value that is canonical, plain, and reads as nothing else, as most that are asked for; None
    where rules have to tell.
    """
    usual = _USUAL.fullmatch(raw)
    if usual is None or malware_name(raw) is not None:
        return None
    type = usual.lastgroup
    if type == "url" and ("//" in raw[8:] or "__" in raw or "/AT/" in raw or "/DOT/" in raw):
        return None
    return type


def _settled(type: str, raw: str) -> str | None:
    """Return the value that a rule makes of `raw`, if it makes the same of that again."""
    rule = _RULES[type]
    value = rule(raw)
    return value if value is None or value == raw or rule(value) == value else None


def _sister_urls(raw: str, url: str) -> list[str]:
    """Return the other URLs that a value which reads as one may mean."""
    urls = [url] if "://" in _plain_url(raw) else [url, f"https://{url.removeprefix('http://')}"]
    sisters = [url + "/" for url in urls if url.count("/") == 2 and "?" not in url and "#" not in url]
    return urls[1:] + sisters + [url[:-1] for url in urls if url.count("/") == 3 and url.endswith("/")]


def _encoded(text: str) -> str:
    return quote(text, safe="%/:=&?~!$'()*+,;@[]|-._")
