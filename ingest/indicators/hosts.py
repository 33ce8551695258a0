"""Read domains, addresses and mailboxes out of a token."""

from __future__ import annotations

from typing import Final

from ingest.indicators.late import late
from ingest.indicators.not_a_host import PART_OF_A_PATH, names_a_share, objection_to, objection_to_defanged
from ingest.indicators.token_candidate import TokenCandidate
from intel.canonical import canonical_domain, canonical_ip, canonical_ipv4
from intel.refanging import ANY_COLON, ANY_DOT, AT, COLON, DOT, without_marks
from intel.suffixes import is_other_root, is_top_level, may_end_a_name

HOST: Final = late(rf"[\w-]++(?>(?:{ANY_DOT}[\w-]++)+)")

_AFTER_A_DOT: Final = late(r"\.[-_]*([^\W_](?:[\w-]*[^\W_])?)")
_NOT_AT_AN_EDGE: Final = f"-.{DOT}"
_SIMPLE: Final = late(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){1,8}")
_DIGITS_AND_DOTS: Final = late(rf"[0-9.{DOT}]+")
_DOTNET: Final = late(r"(?<=[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3])\.(?:NET|net)\Z")
_ADDRESS_RANGE: Final = late(rf"([0-9.{DOT}]{{7,}})-([0-9.{DOT}]{{7,}})")
_UNGLUE: Final = late(r"(.+\.[a-z]{2,12}?)(?=[A-Z][a-z]).*")
# `45[.]9[.]1[.]2-9`: the addresses from the first one to that which ends so.
_LAST_OF_A_RANGE: Final = late(rf"([0-9.{DOT}]{{7,}})-[0-9]{{1,3}}")
_GLUED_ADDRESS: Final = late(rf"(?:[0-9]{{1,3}}{ANY_DOT}){{3}}[0-9]{{1,3}}(?=[A-Z])")
# `The login came from 45.9.20.71.That address`: the blank is missing.
_BEFORE_A_SENTENCE: Final = late(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?=\.[A-Z][a-z]{1,20}\Z)")
# `45.9.20.71/45.9.20.75`.
_BESIDE_AN_ADDRESS: Final = late(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}/\Z")
_MASK_OF_SIX: Final = late(r"/[0-9]{1,3}(?![\w.])")
_MASK: Final = late(r"/([0-9]{1,2})(?![a-z0-9_/]|[A-Z](?!S[0-9])|\.\w)")
# `user=drop@evil.example` of a configuration
_FIELD_OF_A_MAILBOX: Final = late(
    r"(?i)(?:[\w.%&=-]{0,40}?[.&_-])?(?:user(?:name)?|to|(?:mail)?from|e?-?mail(?:address)?|emailaddress|login|rcpt|recipient"
    r"|sender|cc|bcc|account|header\.i)=(?![\w.-]+=)"
)
# Hebrew joins `from` and `to` to what follows with a hyphen.
_GLUED_WORD: Final = late(r"[\u05d0-\u05ea]{1,3}-(?=[a-z0-9])")
_EMAIL: Final = late(rf"[\w.+%$=&'{DOT}-]++(?:\([^()]{{0,40}}\))?(?:@|{AT}++)(?=[\w-])")
_HANDLE: Final = late(r"(?<![\w\\.])@\Z")
_COMMENT: Final = late(r"\([^()]*\)")
_IPV6: Final = late(
    rf"(?:(?<![\w:.{COLON}])|(?<=[Ii][Pp][Vv]6:)|(?<=[Ii][Pp]6:))"
    rf"(?P<address>[0-9A-Fa-f]{{0,4}}(?:{ANY_COLON}[0-9A-Fa-f]{{0,4}}){{2,7}}(?:\.[0-9]{{1,3}}){{0,3}})(?![\w:])"
)


def is_address(host: str) -> bool:
    """Tell whether a canonical host is an IP address."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def is_host_in_use(host: str) -> bool:
    """Tell whether a canonical host is an address or stands under a top-level domain."""
    return is_address(host) or is_top_level(host.rpartition(".")[2])


def domain_of(spelled: str) -> str | None:
    """Return the canonical domain that a spelling with plain dots names, or None."""
    lowered = spelled.lower() if spelled.isascii() else ""
    if len(lowered) < 200 and _SIMPLE.fullmatch(lowered) and not lowered[-1].isdigit():
        return lowered
    return canonical_domain(spelled)


def may_hold_a_host(token: str) -> bool:
    """Tell whether anything after a dot is a top-level domain, or may end an address or a name with another glued to
    it.
    """
    return DOT in token or any(label[-1].isdigit() or may_end_a_name(label) for label in _AFTER_A_DOT.findall(token))


def hosts_in(token: str) -> list[TokenCandidate]:
    """Return the domains and IPv4 addresses of a token."""
    found: list[TokenCandidate] = []
    for match in HOST.finditer(token):
        start, end = match.span()
        if token.startswith("->", end - 1):
            end -= 1  # `45.9.20.71-> 45.9.20.75`
        spelled = token[start:end]
        if _DOTNET.search(spelled):
            continue
        if spelled[0].isdigit() and DOT in spelled and (glued := _GLUED_ADDRESS.match(spelled)):
            found += _address(token, start, start + glued.end())
        elif spelled[0].isdigit() and spelled[-1].islower() and (whole := _BEFORE_A_SENTENCE.match(spelled)):
            found += _address(token[: start + whole.end()], start, start + whole.end())
        elif not spelled[0].isdigit() or not (spelled[-1].isdigit()):
            found += _domain(token, start, end)
        elif both := _ADDRESS_RANGE.fullmatch(spelled):
            found += [*_address(token, start, start + len(both[1])), *_address(token, start + len(both[1]) + 1, end)]
        elif DOT in spelled and (first := _LAST_OF_A_RANGE.fullmatch(spelled)):
            found += _address(token, start, start + len(first[1]))
        elif _DIGITS_AND_DOTS.fullmatch(spelled):
            found += _address(token, start, end)
    return found


def _address(token: str, start: int, end: int) -> list[TokenCandidate]:
    spelled = token[start:end]
    value = canonical_ipv4(without_marks(spelled))
    before, after = token[start - 1 : start] if start else "", token[end : end + 2]
    if value is None or before == "." or before == "_" or (after[:1] in ("_", ".") and after[1:].isalnum()):
        return []
    defanged = DOT in spelled
    in_a_path = before and before in "/\\" and not defanged and not names_a_share(token, start)
    if in_a_path and _BESIDE_AN_ADDRESS.search(token[max(0, start - 17) : start]):
        in_a_path = False
    objection = PART_OF_A_PATH if in_a_path else ""
    mask = _MASK.match(token, end)
    if mask and _is_network(value, int(mask[1])):
        objection = "network"
    return [TokenCandidate("ip", value, start, end, defanged, objection=objection)]


def _is_network(address: str, bits: int) -> bool:
    """Tell whether `address/bits` names a network and no host in it: nothing is set beyond the mask."""
    number = int.from_bytes(bytes(int(octet) for octet in address.split(".")), "big")
    return bits < 32 and number & ((1 << (32 - bits)) - 1) == 0


def _domain(token: str, start: int, end: int) -> list[TokenCandidate]:
    raw = token[start:end]
    start += len(raw) - len(raw.lstrip(_NOT_AT_AN_EDGE))
    raw = raw.strip(_NOT_AT_AN_EDGE)
    if raw[:1] == "_" == raw[-1:]:
        framed, end = _frame(token, start, start + len(raw))
        start, raw = start + framed, token[start + framed : end]
    defanged = DOT in raw
    spelled = without_marks(raw) if defanged else raw
    top = spelled.rpartition(".")[2]
    if not may_end_a_name(top) and not (defanged and is_other_root(top.lower())):
        spelled = _unglued(spelled) if defanged else ""
    value = domain_of(spelled) if spelled else None
    if value is None:
        return []
    if defanged:
        objection = objection_to_defanged(value.split("."))
        return [TokenCandidate("domain", value, start, _end_of(token, start, len(spelled)), True, objection=objection)]
    end = start + len(raw)
    return [
        TokenCandidate(
            "domain", value, start, end, False, objection=objection_to(token, start, end, spelled.split("."))
        )
    ]


def _end_of(token: str, start: int, plain_length: int) -> int:
    """Return where a spelling ends of which `plain_length` characters remain when every mark counts as one."""
    position = start
    while plain_length:
        if token[position] == DOT:
            while token[position + 1 : position + 2] == DOT:
                position += 1
        position += 1
        plain_length -= 1
    return position


def _unglued(spelled: str) -> str:
    """Return `evil.comThe` without the word that a lost line break glued on, or nothing."""
    match = _UNGLUE.fullmatch(spelled)
    return match[1] if match and is_top_level(match[1].rpartition(".")[2]) else ""


def mailboxes_in(token: str) -> list[TokenCandidate]:
    """Return the e-mail addresses of a token."""
    found: list[TokenCandidate] = []
    behind_the_last = max(token.rfind("@"), token.rfind(AT)) + 2  # in front of a host, no sign is sought in vain
    for match in _EMAIL.finditer(token, 0, behind_the_last):
        host = HOST.match(token, match.end())
        if host is None:
            continue
        if _HANDLE.match(token, max(0, match.start() - 1), match.start()):
            continue  # `@gale@social.example`, which names somebody in a network of people
        framed, end = _frame(token, match.start(), host.end())
        written = match[0][framed:]
        local = _COMMENT.sub("", without_marks(written)[:-1]).strip(".'-=&%$")
        shift = framed + len(written) - len(written.lstrip(".'-=&%$"))
        if field := _FIELD_OF_A_MAILBOX.match(local):
            local, shift = local[field.end() :], shift + field.end()
        if glued := _GLUED_WORD.match(local):
            local, shift = local[glued.end() :], shift + glued.end()
        while token[end - 1] == "-":
            end -= 1
        domain = domain_of(without_marks(token[match.end() : end]))
        if domain is None or not 0 < len(local) <= 64 or not is_top_level(domain.rpartition(".")[2]):
            continue
        start = match.start() + shift
        defanged = DOT in token[start:end] or AT in token[start:end]
        found.append(TokenCandidate("email", f"{local}@{domain}", start, end, defanged, domain))
    return found


def _frame(token: str, start: int, end: int) -> tuple[int, int]:
    """Return how many signs of markup before `token[start:end]` stand after it too (`++`, `_`), and where it ends
    without.
    """
    if token.startswith("++", start) and token.startswith("++", end):
        return 2, end
    if token[start] != "_" or token[end - 1] != "_":
        return 0, end
    piece = token[start:end]
    return len(piece) - len(piece.lstrip("_")), start + len(piece.rstrip("_"))


def ipv6_in(token: str) -> list[TokenCandidate]:
    """Return the IPv6 addresses of a token."""
    found: list[TokenCandidate] = []
    for match in _IPV6.finditer(token):
        spelled = without_marks(match["address"])
        value = canonical_ip(spelled) if _looks_like_ipv6(spelled) else None
        if value is not None:
            start, end = match.span("address")
            # No machine has an address of one group.
            is_network = value.endswith("::") and (value.count(":") == 2 or _MASK_OF_SIX.match(token, end))
            objection = "network" if is_network else ""
            found.append(TokenCandidate("ip", value, start, end, COLON in match["address"], objection=objection))
    return found


def _looks_like_ipv6(spelled: str) -> bool:
    """Tell whether it is neither a time, nor `a::b` of a programming language."""
    if "::" not in spelled:
        return spelled.count(":") > 5 and any(len(group) > 2 for group in spelled.split(":"))  # no list of bytes
    if spelled == "::1":
        return True
    groups = [group for group in spelled.split(":") if group]
    if not any(character.isdigit() for character in spelled):
        return False
    return len(groups) >= 3 or (bool(groups) and len(groups[0]) >= 3 and groups[0][0] in "23fF")
