"""Tell a version of four numbers from an address, by the words around it."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators.late import late
from ingest.indicators.tables import head_of_column

_LEADS: Final = frozenset(
    {
        "version", "versions", "ver", "v", "ядро", "ядра", "ядром", "tag", "lot", "norme", "norm",
        "build", "builds", "firmware", "release", "releases", "released", "revision",
        "rev", "patch", "patched", "patch in", "patched in", "patch to", "update", "updated", "updates", "update to",
        "updated to", "updates to", "sp", "before", "prior to", "up to", "through", "earlier than", "later than",
        "fixed in", "fixed it in", "patched it in", "upgrade to", "upgraded to", "upgrade from",
        "upgraded from", "update from", "updated from", "schema", "exhibit", "affects", "affected", "chrome",
        "firefox", "safari", "openssl", "office", "oid", "section",
        "sections", "table", "tables", "figure", "annex", "chapter", "clause", "paragraph", "appendix",
        "requirement", "step", "and", "kernel", "linux", "rv", "vers", "ios", "macos", "android", "history", "running",
        "ran", "runs",
        "versionen", "versione", "versioni", "versión", "versiones", "versie", "wersja", "wersji",
        "версия", "версии", "версию", "версией", "версий", "версиях", "прошивка", "прошивки", "прошивку",
        "сборка", "сборки", "micrologiciel", "compilación", "compilação", "versão", "versões",
        *(f"sp{number}" for number in range(10)),
    }
)  # fmt: skip
_SURE_LEADS: Final = frozenset(
    {
        "version", "versions", "build", "firmware", "kernel", "v", "rv", "ядро", "ядра", "ядром",
        "versionen", "versione", "versioni", "versión", "versiones", "versie", "wersja", "wersji",
        "версия", "версии", "версию", "версией", "версий", "версиях",
    }
)  # fmt: skip
_WEAK_LEADS: Final = frozenset({"and", "through"})
# `versions prior to 5.0.3.117`.
_BOUNDS: Final = frozenset({"before", "prior to", "up to", "through", "earlier than", "later than", "fixed in"})
# Written without a blank before them.
_GLUED_LEADS: Final = ("バージョン", "版本")
_COMPARED: Final = ("==", ">=", "<=", "~=")
_SOCKETS: Final = ("/dev/tcp/", "/dev/udp/")
_BETWEEN: Final = " \t\r\n\xa0:=(\"'"
_LONGEST_BETWEEN: Final = 3
_SET_TO: Final = late(r"[\"']?[ \t]{0,20}[:=][ \t]{0,20}[\"']\Z")
_TAIL: Final = late(
    r"(?i)[\s)]{0,2}(?:\(?(?:and|or) (?:earlier|later|below|above|newer|older|prior)|before the|\(?version"
    r"|\(?build|or (?:later|newer)|(?:und|oder) (?:älter|früher|neuer)|и (?:ранее|старше|ниже|новее)"
    r"|\(?(?:eol|end[- ]of[- ](?:life|support))\b)"
    r"|/(?:19|20)[0-9]{2}(?![0-9/.])"  # the number of a letter: `5.6.7.8/2024`
)
# `2.14.0.3 (2024-11-02)`, and below it what was mended.
_BEGINS_A_CHANGE: Final = late(
    r"(?i)\]?(?: [-\u2013\u2014]| )? ?\(?[0-9]{4}-[0-9]{2}-[0-9]{2}\)?\s{1,4}(?:#+ [^\n]{1,20}\s{1,3})?[-*+] "
    r"(?:fix|bump|add|improv|chang|remov|updat|merg|support|initial|new|drop|allow|mak|refactor|revert)"
)
# `from 22.7.2.3 to 22.7.2.5`: what changed its last numbers, where a change of versions is spoken of.
_BECOMES: Final = r" (?:to|auf|à|a|para|até|do|до|на|naar|till?|->|\u2192|=>) v?"
_BEFORE_THE_NEXT: Final = late(rf"{_BECOMES}(?P<other>[0-9]{{1,3}}\.[0-9]{{1,3}}\.)")
_BEHIND_THE_FORMER: Final = late(rf"(?P<other>\b[0-9]{{1,3}}\.[0-9]{{1,3}}\.)[0-9]{{1,3}}\.[0-9]{{1,3}}{_BECOMES}\Z")
_PRODUCT: Final = late(r"(?<![^\s(\"'\[])([A-Z](?:[A-Za-z]|[-+0-9](?=[A-Za-z0-9+]))*[A-Za-z+])[ \xa0]\Z")
# `PRTG 24.1.92.1`: four numbers that grow as those of versions do, right behind the name of something.
_OF_A_VERSION: Final = late(r"(?:[0-9]|[1-3][0-9])\.(?:0|[1-9][0-9]?)\.[0-9]{1,3}\.[0-9]{1,3}")
_NO_PRODUCTS: Final = frozenset(
    {
        "ip", "ips", "address", "addresses", "server", "servers", "host", "hosts", "c2", "c2s", "c&c", "cnc",
        "the", "panel", "from", "to", "at", "on", "by", "in", "and", "or", "via", "contacts", "connects",
        "node", "proxy", "gateway", "sinkhole", "infrastructure", "dns", "socks", "http", "https", "tcp", "udp",
        "ssh", "rdp", "ftp", "vpn", "tor", "vps", "a", "an", "it", "malicious", "attacker", "actor", "beacon",
        "payload", "source", "destination", "src", "dst", "ioc", "iocs", "network",
    }
)  # fmt: skip
_OF_A_SERVER: Final = late(
    r"(?i)\b(?:c2s?|c&c|ips?|ipv4|address(?:es)?|servers?|hosts?|connect\w*|contact\w*|beacon\w*|resolv\w*|sinkhol\w*"
    r"|infrastructure)\b"
)
# `Version history: 1.0.0.1 (Feb), 1.2.0.7 (April)`, `程序版本号显示为 4.0.2.1`.
_SPEAKS_OF_ONE: Final = late(
    r"(?i)\b(?:versi(?:on|one|oni|ons|onen|ones|oner|ón|e|es)|versão|versões|bijgewerkt|firmware|builds?|releases?|changelog|upgraded?|updated?|patched|diffed|ver|vers)\b"
    r"|版本|バージョン|버전|верси|updat|actuali[zc]|aktualis|atualiz|업데이트|패치|补丁|修補|パッチ|升级|wersj|גרס"
    r"|\b(?:fw|hotfix|installer|driver|plug-?in|agent|schema|verze|verzi[jió]|verzió|versiune\w*|versi|s[üu]r[üu]m\w*|έκδοση\w*"
    r"|phiên bản|o?ppdat\w+|opdat\w+|uppdat\w+|uppgrad\w+|oppgrad\w+|päivit\w+|upgrad\w+|frissít\w*|ažurir\w*)\b"
    r"|เวอร์ชัน|รุ่น|韌體|固件|ファームウェア|펌웨어|升級|إصدار|прошивк|сборк|оновл|обновл"
)
_SPEAKS_OF_A_SERVER: Final = late(
    r"(?i)\b(?:c2s?|c&c|ips?|ipv4|address(?:es)?|adresse|hosts?|connect\w*|contact\w*|beacon\w*|resolv\w*|sinkhol\w*"
    r"|infrastructure|proxy|gateway|from|via)\W{0,3}\Z|(?:адрес|地址|服务器|アドレス|サーバ|주소|서버)\W{0,3}\Z"
)
# `| CVE-2026-1340 | Druckdienst 6.5.4.3 |`, `Gestor de impresi\u00f3n 6.5.4.3 corrige el fallo`: beside a word.
_SPEAKS_OF_A_FLAW: Final = late(
    r"(?i)cve-[0-9]{4}|vulnerab|patch|parche|correctif|\b(?:fix|clos|address|corrig|solucion|beheb|schlie\u00df|corre[g\u00e7])\w*"
    r"|\u0443\u044f\u0437\u0432\u0438\u043c|\u0438\u0441\u043f\u0440\u0430\u0432\u043b|\u6f0f\u6d1e|\u8106\u5f31\u6027|\ucde8\uc57d"
)
_BESIDE_A_WORD: Final = late(r"[^\W\d_]{2}[),]?[ \xa0]\Z")
_REACH_OF_A_SENTENCE: Final = 110
# Two small numbers of the first three.
_LIKE_A_VERSION: Final = late(
    r"(?:[0-9]|[1-3][0-9])\.(?:(?:[0-9]|1[0-9])\.[0-9]{1,3}|[0-9]{1,3}\.(?:[0-9]|1[0-9]))\.[0-9]{1,3}"
)
_REACH_OF_A_WORD: Final = 36
_SMALL: Final = late(r"(?:[0-9]|1[0-9]|2[0-6])\.(?:[0-9]|1[0-2])\.(?:[0-9]|1[0-9])\.[0-9]{1,3}")
_SET_AS_A_VERSION: Final = late(
    r"(?<![A-Za-z])vers?(?:ion)?(?:_?\w{1,3})?[\"']?\s{0,20}[:=]\s{0,20}[\"'(]?\Z", re.IGNORECASE
)
_LABELLED_A_VERSION: Final = late(r"(?i)\b(?:versi[oó]n|versão|versione|версия|сборка)\b[^.\n:]{0,30}:\s\Z")
# `RFC 5424, 6.3.1.1`, `п. 4.1.1.3`, `eq. (4.5.6.7)`.
_NUMBERED_TEXT: Final = late(
    r"\bRFC ?[0-9]{3,5},? \Z|(?i:(?<!\w)(?:§{1,2}|пп?\.|пункт\w*|eqs?\.|ziff(?:er|\.)|abschnitt|kapitel|rubrik|apartado"
    r"|capítulo|sezione|paragrafo|bod|rozdz\.|afdeling|item|row)[ \xa0(]{1,3})\Z"
)
_BEGINS_A_SECTION: Final = late(r"\.?[ \t]{1,4}(?=[^\W\d_])(?!\w+[ \t]*(?:\n|\Z))")
_REACH_OF_SECTIONS: Final = 700
_FILE: Final = late(r"(?i)\w\.(?:dll|exe|sys|apk|jar|so|ocx|msi|dmg|pkg)[ \t,]{1,4}\Z")
_PROGRAM_FIELD: Final = late(r"(?i)\b(?:x-mailer|user-agent):[^\n:]{1,40}\Z")
# `Build numbers seen: `, `The version is `.
_CALLED_A_VERSION: Final = late(
    r"(?i)\b(?:versions?|builds?|firmware|releases?)"
    r"(?:\s(?:numbers?|strings?|seen|found|observed|used|so far|in use)){0,3}"
    r"(?:\s(?:is|are|was|were)|\s?[:=])[\s\"'(]{1,3}\Z"
    r"|(?i:\b(?:upgrad|updat|mis)\w*(?: [\w-]{1,20}){1,4} to )\Z"
)
_SPEAKS_OF_VERSIONS: Final = late(
    r"(?i)\b(?:versions?|firmware|builds?|releases?|(?:fixed|patched) in|affect(?:s|ed)|upgrade)\b"
)
_OTHER_VERSION: Final = late(r"v?[0-9]{1,3}(?:\.[0-9]{1,5}){1,2}(?![\w.])")
_CELL_ENDS: Final = late(r"[\t|]")
_LONGEST_ROW: Final = 400
_HEAD_OF_AN_ADVISORY: Final = late(r"(?i)\W{0,9}(?:affected|vulnerable|unaffected|(?:fixed|patched)(?: in)?)\W*")
_VERSION_WORD: Final = late(r"(?i)\b(?:version|firmware|build|release)s?\b")
# Numbers and what joins each to the next: `11.12.0.5, `, `12.3.0.2 or `, `7.4.0.1 - `.
_SERIES: Final = late(
    r"(?<![\w.])(?>(?:v?[0-9]{1,5}(?:\.[0-9]{1,5}){1,4}"
    r"(?:[ \t]{0,2}[,/|&\u2010-\u2015-]\s{0,2}(?:(?:and|or|und|oder)\s)?"
    r"|\s(?:and|or|to|through|und|oder|bis|et|ou|y|и|или)\s))+)\Z"
)
_JOINING: Final = frozenset(",/|&-drohtuesytи\u2010\u2011\u2012\u2013\u2014\u2015")
_CALLED_AN_ADDRESS: Final = late(r"(?i)\b(?:ips?|ipv4|address(?:es)?|adresse|c2s?|c&c|servers?|hosts?)\b\W{0,4}\Z")
_PORT: Final = late(r":[0-9]")
# Numbers, blanks and what parts them say nothing of what stands behind them.
_SAYS_ANYTHING: Final = late(r"[^\s\d.,:|]")
# `Ticket #`, and not the `#` of a row that is left out of a list.
_NUMBERED: Final = late(r"[^\W\d_] #\Z")
_REACH: Final = 60
_REACH_OF_A_SERIES: Final = 160
_LARGEST_OF_A_PRODUCT: Final = 40
_LARGEST_OF_A_LEAD: Final = 100


def is_version(text: str, address: str, start: int, end: int) -> bool:
    """Tell whether the words around `text[start:end]`, which reads as the IPv4 `address`, make it a version."""
    if _TAIL.match(text, end, end + 30) or _BEGINS_A_CHANGE.match(text, end, end + _REACH):
        return True
    before = text[max(0, start - _REACH) : start]
    if before[-1:] == "#" and _NUMBERED.search(before):  # `Ticket #48.112.7.3`
        return True
    if _is_changed(text, address, start, end):
        return True
    largest = largest_part(address)
    if _SAYS_ANYTHING.search(before) and _is_called_a_version(text, address, largest, before, end):
        return True
    if largest < _LARGEST_OF_A_LEAD and _HEAD_OF_AN_ADVISORY.fullmatch(head_of_column(text, start)):
        return True
    if largest < _LARGEST_OF_A_PRODUCT and (
        _in_a_column_of_versions(text, start)
        or _SPEAKS_OF_ONE.search(head_of_column(text, start))
        or _numbers_a_section(text, address, start, end)
    ):
        return True
    if _reads_as_a_version(text, start, end, _reach_of_versions(address)):
        return True
    return before.rstrip()[-1:] in _JOINING and _ends_a_series(text, address, largest, start)


def _is_changed(text: str, address: str, start: int, end: int) -> bool:
    """Tell whether the number beside this one is an earlier or later version of it."""
    before = text[max(0, start - _REACH_OF_A_SENTENCE) : start].rpartition("\n")[2]
    beside = _BEFORE_THE_NEXT.match(text, end, end + _REACH_OF_A_WORD) or _BEHIND_THE_FORMER.search(before)
    return beside is not None and address.startswith(beside["other"]) and _SPEAKS_OF_ONE.search(before) is not None


def _is_called_a_version(text: str, address: str, largest: int, before: str, end: int) -> bool:
    """Tell whether the words right before a number make it a version."""
    if _is_led(before, largest) or (largest < _LARGEST_OF_A_PRODUCT and _follows_a_product(before)):
        return True
    if largest < _LARGEST_OF_A_LEAD and (
        _CALLED_A_VERSION.search(before)
        or _NUMBERED_TEXT.search(before)
        or _FILE.search(before)
        or (_SPEAKS_OF_VERSIONS.search(before) and _follows_a_product(before))
    ):
        return True
    if _OF_A_VERSION.fullmatch(address) and not _PORT.match(text, end) and _is_of_a_product(before):
        return True
    if ("ver" in before.lower() and _SET_AS_A_VERSION.search(before)) or (
        before[-2:-1] == ":" and _LABELLED_A_VERSION.search(before)
    ):
        return True
    return "-" in before and _PROGRAM_FIELD.search(before) is not None


def _reach_of_versions(address: str) -> int:
    """Return how far before a number words may make it a version: the farther, the smaller it is."""
    if _SMALL.fullmatch(address):
        return _REACH_OF_A_SENTENCE
    return _REACH_OF_A_WORD if _LIKE_A_VERSION.fullmatch(address) else 0


def _reads_as_a_version(text: str, start: int, end: int, reach: int) -> bool:
    """Tell whether the sentence speaks of versions, at most `reach` before a number as small as theirs or right behind
    it, and nothing calls it an address.
    """
    if not reach or _PORT.match(text, end) or text[end : end + 1] == "/":
        return False
    before = text[max(0, start - reach) : start].rstrip("\n").rpartition("\n")[2]
    if _SPEAKS_OF_A_SERVER.search(before) or _OF_A_SERVER.search(before[-_REACH:]):
        return False
    after = text[end : end + _REACH].partition("\n")[0]
    if _SPEAKS_OF_ONE.search(before) or _SPEAKS_OF_ONE.search(after):
        return True
    if _BESIDE_A_WORD.search(before) is None or _word_at_end(before.rstrip(" \xa0),")).lower() in _NO_PRODUCTS:
        return False
    return _SPEAKS_OF_A_FLAW.search(before) is not None or _SPEAKS_OF_A_FLAW.search(after) is not None


def may_be_a_version(text: str, address: str, start: int, end: int) -> bool:
    """Tell whether nothing around a number as small as those of versions calls it an address."""
    if largest_part(address) >= _LARGEST_OF_A_PRODUCT or _PORT.match(text, end):
        return False
    return _CALLED_AN_ADDRESS.search(text, max(0, start - 20), start) is None


def largest_part(address: str) -> int:
    """Return the largest of the four numbers of an IPv4 address."""
    return max(map(int, address.split(".")))


def _is_led(before: str, largest: int) -> bool:
    """Tell whether the word or words right before a number say that it is a version."""
    lead = _lead(before.lower())
    if not lead:
        return False
    if lead in (_WEAK_LEADS if largest < _LARGEST_OF_A_LEAD else _BOUNDS):
        return _VERSION_WORD.search(before) is not None
    return largest < _LARGEST_OF_A_LEAD or lead in _SURE_LEADS or before[-1] == "/"


def _ends_a_series(text: str, address: str, largest: int, start: int) -> bool:
    """Tell whether other numbers come right before, the first of which is led by words that make it a version."""
    before = text[max(0, start - _REACH_OF_A_SERIES) : start]
    if largest >= _LARGEST_OF_A_LEAD and f"{address.partition('.')[0]}." not in before:
        return False
    series = _SERIES.search(before)
    if series is None:
        return False
    before = before[: series.start()][-_REACH:]
    return (
        _is_led(before, 0)
        or _CALLED_A_VERSION.search(before) is not None
        or (largest < _LARGEST_OF_A_PRODUCT and _follows_a_product(before))
    )


def _in_a_column_of_versions(text: str, start: int) -> bool:
    """Tell whether right above or below `start`, in the same column, stands a version of two or three numbers."""
    first = text.rfind("\n", max(0, start - _LONGEST_ROW), start) + 1
    last = text.find("\n", start, start + _LONGEST_ROW)
    if not first or not text[first:start].strip():
        return False
    above = text[text.rfind("\n", max(0, first - _LONGEST_ROW), first - 1) + 1 : first - 1]
    below = text[last + 1 : last + _LONGEST_ROW].partition("\n")[0] if last >= 0 else ""
    return any(_has_a_version_at(row, text[first:start]) for row in (above, below))


def _numbers_a_section(text: str, address: str, start: int, end: int) -> bool:
    """Tell whether a number begins a line of prose, as those of the sections above or below it begin theirs."""
    before = text[max(0, start - _REACH_OF_SECTIONS) : start]
    if before.rpartition("\n")[2].strip(" \t#*") or _BEGINS_A_SECTION.match(text, end) is None:
        return False
    chapter, section, *_ = address.split(".")
    number = re.compile(rf"(?m)^[ \t#*]{{0,6}}{chapter}\.(?:{section}\.?|[0-9]{{1,2}}\.?)?[ \t]+[^\W\d_]")
    return number.search(before) is not None or number.search(text, end, end + _REACH_OF_SECTIONS) is not None


def _has_a_version_at(row: str, before: str) -> bool:
    """Tell whether a row of a table has a version in the column that has `before` on its left in another row."""
    left = _CELL_ENDS.findall(before)
    if left:
        cells = _CELL_ENDS.split(row)
        return len(cells) > len(left) and _OTHER_VERSION.fullmatch(cells[len(left)].strip()) is not None
    names, words = before.split(), row.split()
    is_item = len(words) == len(names) + 1 and names[-1].lower() not in _NO_PRODUCTS
    if is_item and _OTHER_VERSION.fullmatch(words[-1]):
        return True  # `svgo-loader 1.0.2`
    return (
        before[-2:] == "  "
        and row[len(before) - 1 : len(before)] == " "
        and (_OTHER_VERSION.match(row, len(before)) is not None)
    )


def _lead(before: str) -> str:
    """Return the one to three words right before a number of four parts that make it a version, or nothing."""
    rest = before.rstrip(_BETWEEN)
    if before.endswith(_COMPARED):
        return "version"
    if rest[-1:] == "/" and rest[-2:-1].isalpha() and len(rest) == len(before):
        return "" if rest.endswith(_SOCKETS) else rest[-2:]
    if not rest or not (rest[-1].isalpha() or rest[-3:-1] == "sp"):
        return ""
    if len(before) - len(rest) > _LONGEST_BETWEEN and not _SET_TO.fullmatch(before, len(rest)):
        return ""
    if rest.endswith(_GLUED_LEADS):
        return "version"
    words = ""
    for _ in range(3):
        word = _word_at_end(rest)
        if word.endswith("version"):  # `ProductVersion`
            return "version"
        words = f"{word} {words}" if words else word
        if not word or words in _LEADS:
            break
        rest = rest[: -len(word)].rstrip()
    led = words in (_SURE_LEADS if before[-1] == "\t" else _LEADS)  # the cell before may hold a system or a status
    return words if led else ""


def _is_of_a_product(before: str) -> bool:
    """Tell whether the name right before a number is one of a product, in a sentence that speaks of no server."""
    return _follows_a_product(before) and _OF_A_SERVER.search(before) is None


def _word_at_end(text: str) -> str:
    start = len(text)
    while start and text[start - 1].isalnum():
        start -= 1
    return text[start:]


def _follows_a_product(before: str) -> bool:
    """Tell whether a name comes right before: `Acme 9.1.0.2`."""
    product = _PRODUCT.search(before) if before[-1:].isspace() else None
    return product is not None and product[1].lower() not in _NO_PRODUCTS
