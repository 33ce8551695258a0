"""Read URLs out of a token, and above all where they end."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from ingest.indicators.hosts import HOST, domain_of, is_address, is_host_in_use
from ingest.indicators.late import late
from ingest.indicators.not_a_host import is_file_in_an_archive, lacks_its_scheme
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces
from intel.canonical import canonical_plain_url
from intel.defanged import refang_url
from intel.refanging import ANY_COLON, COLON, DOT, MARKS, SEPARATOR, SLASH, without_marks

LONGEST_URL: Final = 2048
MOST_NESTED: Final = 16  # URLs inside of one another; more are no address but a list or a trap

_DEFANGED: Final = (
    r"[hH](?:[xX]{2}[tT]|[xX][tT]{2}|[tT]{2}[xX]|[tTxX][xX][tTxX])[pP][sS]?"  # `hxxtp`
    r"|[hH][tTxXzZ*]{2}[pP](?:[sS]|[\[(][sS][\])])?|h__ps?|meows?|f[xX]ps?|[fF][tTxX][pP][sS]?"
)
_OTHERS: Final = (
    r"sftp|tftp|tcp|udp|tls|wss?|ssh|ldaps?|rmi|smb|rtsp|ircs?|socks[45]?h?|dns|git|telnet|rdp|vnc|nfs|mqtts?"
    r"|stratum\+(?:tcp|ssl)"
)
_BETWEEN: Final = rf"://|:\\\\|:?{SEPARATOR}++/?|{COLON}++//|{ANY_COLON}{SLASH}++/?{SLASH}*+|:/{SLASH}++"
_HEAD: Final = late(rf"(?<![A-Za-z0-9_])(?P<scheme>{_DEFANGED}|{_OTHERS})(?:{_BETWEEN}|__)")
_GLUED_HEAD: Final = late(rf"(?P<scheme>h(?:tt|xx|XX)ps?)(?:://|{SEPARATOR}++)")
_ONLY_HEAD: Final = late(r"(?:[(<\[\"'`]|[^\s:]{1,80}+\]\()?(?<![A-Za-z0-9_])(?P<scheme>h(?:tt|xx)ps?)://")
_ENCODED_HEAD: Final = late(
    r"(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2}))h(?:tt|xx|XX)ps?%3[aA]%2[fF]%2[fF](?>[\w.~+/-]|%(?!20|3[bB]))+"
)
_PLAIN_HEAD: Final = late(rf"[^:{MARKS}]{{0,80}}https?://[^{MARKS}]*\Z")
_USUAL: Final = late(r"(h(?:tt|xx)ps?)://([a-z0-9.-]{4,200})((?:/[!-~]*)?)")
_WITHOUT_BRACKETS: Final = str.maketrans("", "", "[]()")
_PLAIN_SCHEMES: Final = frozenset({"http", "https", "ftp", "ftps"})
_MARKED: Final = late(f"[{MARKS}]")
_STOP: Final = late(
    r"\\(?!_)|&(?:quot|[lg]t|apos|#3[49]);|[<>\"`{}|^\u201c\u201d\u2018\u2019\u00ab\u00bb\u2039\u203a\uff1c\uff1e\u2026\u3002\uff0c\u3001\x00-\x20\x7f\xa0]"
)
_TRAILING: Final = f".,;:!?'*+_~)]}}{COLON}{DOT}"
_SCRIPT_AT_END: Final = late(r"\.(?:php|aspx?|jsp|cgi|do)\Z")
_EMPTY_MARKS: Final = ("[:]", "[.]", "[/]")
_ENDING_OF_A_WORD: Final = late(pieces("glued_endings"))
_BREAKS: Final = late(r"[()\[\],;']")
_PARAMETER: Final = late(r"[\w.-]{1,30}=|amp;|(?![0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[)\uff09\u3001])[0-9/]")
_PORT: Final = late(rf"{ANY_COLON}[0-9]{{1,5}}(?![\w.])")
_AFTER_AUTHORITY: Final = late(rf"[/?#{SLASH}]")
_MASK: Final = late(r"/[0-9]{0,2}")
_NUMBERS_OF_A_LOG: Final = late(r"/[0-9]{0,5}(?:/[0-9]{0,5})?")
_PROTOCOL: Final = late(r"(?i)/(?:tcp|udp)(?![\w/?#&=-]|\.\w)")
# A row of values that commas part: the file before one is whole, and so is a field among others.
_FILE_AT_END: Final = late(
    r"(?i)/[^/?#,]{1,80}\.(?:exe|dll|ps1|zip|rar|7z|msi|vbs|hta|bat|cmd|scr|sh|elf|apk|jar|bin|dat|iso|img|lnk|php|txt|docx?"
    r"|docm|xlsx?|xlsm|rtf|pdf|gz|tar|cab|png|jpe?g|gif)\Z"
)
_FIELDS: Final = late(r"(?>(?:[\w-]*+,){1,40})[\w-]*+\Z")
# Of which one may name two things: `a.exe,Elknot/BillGates`.
_LAST_FIELDS: Final = late(r"(?:[\w,-]*+/?){1,40}+\Z")
_PATH: Final = late(rf"/|{SLASH}++")
# What a writer puts for the rest of a URL; behind the name of a file it ends the sentence.
_PATH_BEGINS: Final = late(rf"[/?#{SLASH}]")
_LEFT_OUT: Final = ("...", "\u2026", "[...]", "(...)")
_SENTENCE_BEHIND: Final = late(r"\.{4,}[A-Z][a-z]")
CUT_SHORT: Final = "its rest is left out"
_FILE_BEFORE_DOTS: Final = late(r"\.[A-Za-z0-9]{2,4}\Z")


def urls_in(token: str) -> list[TokenCandidate]:
    """Return the URLs of a token that have a scheme, each followed by its host."""
    found: list[TokenCandidate] = []
    if "%3" in token:
        for match in _ENCODED_HEAD.finditer(token):
            # `https://share.example/?url=https%3A%2F%2F…`: so a link holds another, which nobody defanged.
            is_defanged = _PLAIN_HEAD.match(token, 0, match.start()) is None
            found += _url(unquote(match[0]), *match.span(), is_defanged, match.span())
    position = 0
    for head in _heads(token):
        start, authority = head.start("scheme"), head.end()
        if start < position:
            continue
        end = _end_of_field(token, start, _end(token, authority))
        # In the query of a request `+` and `%20` are blanks: `?cmd=wget+http://…/a.sh+-O-`
        written = "+" if token[start - 1 : start] == "+" else "%20" if token[start - 3 : start] == "%20" else ""
        if written and (blank := token.find(written, authority, end)) >= 0:
            end = blank
        scheme = head["scheme"]
        defanged = _is_defanged(scheme) or _MARKED.search(token, start, end) is not None
        scheme = scheme.translate(_WITHOUT_BRACKETS)  # `hxxp(s)`
        plain = f"{scheme}://{_written_plainly(token[authority:end])}"
        spelled = _url(plain, start, end, defanged, _host_span(token, authority, end))
        found += _cut_short(spelled) if _is_cut_short(token, authority, end) else spelled
        position = max(end, authority)
    return found


def _heads(token: str) -> list[re.Match[str]]:
    """Yield where URLs begin: at a scheme, also at one that is glued to the word before it."""
    if token.count("//") == 1 and (only := _ONLY_HEAD.match(token)):
        return [only]
    heads = list(_HEAD.finditer(token))
    if glued := list(_GLUED_HEAD.finditer(token)):
        known = {head.end() for head in heads}
        heads = sorted([*heads, *(head for head in glued if head.end() not in known)], key=lambda head: head.start())
    return heads


def _is_defanged(scheme: str) -> bool:
    return scheme.lower() not in _PLAIN_SCHEMES and scheme[0] in "hHfm"


def bare_urls_in(token: str, hosts: list[TokenCandidate]) -> list[TokenCandidate]:
    """Return the URLs without a scheme (`evil.example/gate.php`) that begin with one of the `hosts` of a token."""
    found: list[TokenCandidate] = []
    addresses = {host.start for host in hosts if host.type == "ip"}
    nested = last = 0
    for host in hosts:
        nested += host.start < last
        if host.start < last and nested > MOST_NESTED:
            continue
        port = _PORT.match(token, host.end)
        path = _PATH.match(token, port.end() if port else host.end)
        if path is None or (host.type == "ip" and path.end() in addresses):
            continue
        if not _MARKED.search(token, host.start, host.end) and is_file_in_an_archive(host.value, token[path.start() :]):
            continue
        if host.objection == "network":
            continue
        if host.start and token[host.start - 1] in "/\\@." and not lacks_its_scheme(token, host.start):
            continue
        if _PROTOCOL.match(token, path.start()) and (port or host.type == "ip"):
            continue
        last = end = _end_of_field(token, host.start, _end(token, path.start()))
        if _is_cut_short(token, host.end, end):
            continue
        raw = token[host.start : end]
        value = (
            None
            if (_NUMBERS_OF_A_LOG if host.type == "ip" else _MASK).fullmatch(token, path.start(), end)
            else canonical_plain_url(f"http://{_written_plainly(raw)}")
        )
        if value is not None:
            defanged = _MARKED.search(raw) is not None
            found.append(
                TokenCandidate("url", value, host.start, end, defanged, host.value, "" if defanged else host.objection)
            )
    return found


def host_of(url: str) -> str:
    """Return the domain or address that a canonical URL stands on."""
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0].rpartition("@")[2]
    return authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]


def _is_cut_short(token: str, authority: int, end: int) -> bool:
    """Tell whether dots stand for the rest of a URL, so that nobody can search for it: `gale-post[.]com/track/...`."""
    if (
        not token.startswith(_LEFT_OUT, end)
        or _SENTENCE_BEHIND.match(token, end)
        or _PATH_BEGINS.search(token, authority, end) is None
    ):
        return False
    return _FILE_BEFORE_DOTS.search(token, max(authority, end - 6), end) is None


def _cut_short(spelled: list[TokenCandidate]) -> list[TokenCandidate]:
    """Return a URL that is none, and its host as one that was named for itself."""
    return [each._replace(objection=CUT_SHORT) if each.type == "url" else each._replace(source="") for each in spelled]


def _host_span(token: str, authority: int, end: int) -> tuple[int, int]:
    """Return where in a URL its host stands, without credentials and port."""
    path = _AFTER_AUTHORITY.search(token, authority, end)
    last = path.start() if path else end
    first = token.rfind("@", authority, last) + 1 or authority
    host = HOST.match(token, first, last)
    return host.span() if host else (first, last)


def _url(raw: str, start: int, end: int, defanged: bool, host_span: tuple[int, int]) -> list[TokenCandidate]:
    if "[" in raw or raw.count("://") > 1:
        raw = refang_url(raw)
    usual = _USUAL.fullmatch(raw)
    if usual and (host := usual[2]) and domain_of(host) == host:
        value: str | None = f"{'https' if usual[1][-1] == 's' else 'http'}://{host}{usual[3]}"
    else:
        value = canonical_plain_url(_plain_scheme(raw))
        host = host_of(value) if value is not None else ""
    if value is None or not is_host_in_use(host):
        return []
    type = "ip" if is_address(host) else "domain"
    return [
        TokenCandidate("url", value, start, end, defanged, host),
        TokenCandidate(type, host, *host_span, defanged, source=value),
    ]


def _written_plainly(piece: str) -> str:
    """Return a piece of a URL without defanging marks and without Markdown's backslash before an underscore."""
    piece = piece.replace("&amp;", "&") if "&amp;" in piece else piece
    return piece if piece.isascii() and "\\" not in piece else without_marks(piece).replace("\\_", "_")


def _plain_scheme(url: str) -> str:
    """Return `hxxps://...` as `https://...`."""
    scheme, separator, rest = url.partition("://")
    lowered = scheme.lower()
    if lowered in _PLAIN_SCHEMES:
        return url
    if lowered[:1] == "h" or lowered[:4] == "meow":
        return f"http{'s' * lowered.endswith('s')}{separator}{rest}"
    return f"ftp{'s' * lowered.endswith('s')}{separator}{rest}" if lowered[:1] == "f" else url


def _end(token: str, start: int) -> int:
    """Return where the URL ends whose authority begins at `start`: at a quote, a bracket that closes nothing, a new
    item.
    """
    limit = min(len(token), start + LONGEST_URL)
    stop = _STOP.search(token, start, limit)
    end = stop.start() if stop else limit
    glued = _GLUED_HEAD.search(token, start, end)
    if glued and token[glued.start() - 1] not in "=/":
        end = glued.start()
    end = _balanced_end(token, start, end)
    if (dots := token.find("...", start, end)) >= 0 and token[dots:end].lstrip(".")[:1].isalpha():
        end = dots
    if (next_command := token.find("&&", start, end)) >= 0 and "?" not in token[start:next_command]:
        end = next_command
    while token.endswith(_EMPTY_MARKS, start, end):
        end -= 3
    while end > start and token[end - 1] in _TRAILING and not _belongs(token, start, end):
        end -= 1
        while token.endswith(_EMPTY_MARKS, start, end):
            end -= 3
    return end


def _end_of_field(token: str, start: int, end: int) -> int:
    """Return where a URL ends that stands in a row of values with commas between them; elsewhere a comma may be part of
    it.
    """
    comma = token.find(",", start, end)
    if comma < 0:
        return end
    is_field = token[start - 1 : start] == "," and _LAST_FIELDS.match(token, comma + 1, end)
    in_row = is_field or (_FIELDS.match(token, comma + 1) and "?" not in token[start:comma])
    if in_row or _FILE_AT_END.search(token, max(start, comma - 90), comma):
        return comma
    return end


def _belongs(token: str, start: int, end: int) -> bool:
    """Tell whether the last character is a bracket whose partner stands inside, a line below that nothing opened, or
    begins the empty query of a script.
    """
    if token[end - 1] == "_":
        return "_" not in token[:start] and token[end : end + 1] != "_" and token[end - 2] not in "_*+"
    if token[end - 1] == "?" and end == len(token):
        return _SCRIPT_AT_END.search(token, max(start, end - 8), end - 1) is not None
    opening = {")": "(", "]": "["}.get(token[end - 1])
    return opening is not None and token.count(opening, start, end) >= token.count(token[end - 1], start, end)


def _balanced_end(token: str, start: int, end: int) -> int:
    round_brackets = square_brackets = 0
    for match in _BREAKS.finditer(token, start, end):
        character = match[0]
        round_brackets += (character == "(") - (character == ")")
        square_brackets += (character == "[") - (character == "]")
        if (
            round_brackets < 0
            or square_brackets < 0
            or (character in ",;'" and _parts_items(token, match.start(), end))
        ):
            return match.start()
    return end


def _parts_items(token: str, position: int, end: int) -> bool:
    """Tell whether a comma, semicolon or apostrophe ends the URL before it; in Turkish an apostrophe parts a word's
    ending from it: `/a.apk'yi`.
    """
    following = token[position + 1 : min(end, position + 60)]
    if token[position] == "'":
        return not following[:1].isalnum() or _ENDING_OF_A_WORD.fullmatch(following) is not None
    if token[position] == ";":
        return not _PARAMETER.match(following)
    host = HOST.match(following)
    return bool(_HEAD.match(following)) or (host is not None and DOT in host[0])


def spans_blanked(token: str, readings: list[TokenCandidate]) -> str:
    """Return the token with blanks where the readings stand, so that nothing is read twice."""
    pieces: list[str] = []
    position = 0
    for reading in readings:
        if reading.start >= position:
            pieces += (token[position : reading.start], " " * (reading.end - reading.start))
            position = reading.end
    pieces.append(token[position:])
    return "".join(pieces)
