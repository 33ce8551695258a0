"""Know what a URL or mailbox says for or against itself, wherever it stands."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Final

from ingest.indicators import noise
from ingest.indicators.evidence import EVIDENCE, Evidence
from ingest.indicators.hosts import domain_of, is_address
from ingest.indicators.late import late
from ingest.indicators.token_candidate import TokenCandidate
from ingest.indicators.vocabulary import pieces
from intel.refanging import DOT
from intel.suffixes import registered_domain

_REACH_OF_AN_ITEM: Final = 400
_HASH_IN_A_PATH: Final = late(r"[/=](?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})(?![0-9A-Za-z])")
_OF_A_SAMPLE: Final = late(
    r"/(?:samples?|analys[ei]s|reports?|submissions?|scans?)/(?:[\w-]{1,20}/){0,2}[0-9a-fA-F]{32,64}/?\Z"
)
_PAYLOAD: Final = late(
    r"\.(?:exe|dll|msi|ps1|vbs|vbe|jse?|hta|bat|cmd|scr|jar|apk|elf|bin|dat|iso|img|lnk|zip|rar|7z|sh|xll|docm?|dot[mx]?"
    r"|xls[mb]?|xla[mx]?|pp[ts][mx]?|one|chm|wsf|sct|cpl|vhdx?|iqy|cab|gz|tgz|tar|mips(?:el)?|arm[4-8]?|x86(?:_64)?|rtf|php|txt)(?:$|[?#])"
)
# It begins with a class of two signs, which the engine skips to at full speed.
_READING_MATTER: Final = late(
    r"[/.](?:(?<=/)(?:blogs?|news|articles?|posts?|research|docs?|wiki|reports?|papers?|advisor(?:y|ies)|alerts?|en-us"
    r"|20[0-3][0-9]/[01]?[0-9])/"
    # Words joined by hyphens, and no identifier.
    r"|(?<=/)(?![0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:$|[/?#]))(?:[a-z0-9]{1,30}-){3,12}[a-z0-9]{1,30}/?(?:$|[?#])"
    # Who signs in somewhere reads nothing there.
    r"|(?<=\.)(?<!login\.)(?<!logon\.)(?<!signin\.)(?<!sign-in\.)(?:pdf|html?|aspx)(?:$|[?#]))"
)
# A title as the path of an article, under the date or the section of a site.
_SLUG: Final = late(
    r"/(?:blogs?|news|articles?|posts?|research|reports?|advisor(?:y|ies)|insights?|threats?|labs?|20[0-3][0-9](?:/[01]?[0-9]){0,2}(?:/[0-3]?[0-9])?)"
    r"(?:/[a-z0-9-]{1,40}){0,3}/(?=[a-z])(?:[a-z0-9]{1,30}-){2,20}[a-z0-9]{1,30}/?(?:\.html?)?(?:$|[?#])"
)
# `smallsec.example/gale-stealer-analysis`: what only they have in an address who write about an attack.
_WRITE_UP: Final = late(
    r"/(?=[a-z0-9-]{0,80}(?:analysis|analy[sz]ing|malware|ransomware|stealer|botnet|backdoor|campaign|teardown|unpacking|reversing"
    r"|deep-dive|in-the-wild|exploitation|threat-|advisory|write-?up|cve-[0-9]))(?:[a-z0-9]{1,30}-){1,20}[a-z0-9]{1,30}"
    r"/?(?:\.html?)?(?:$|[?#])"
)
# Of others, on a service where anyone may keep files: `/iocs/main/gale.txt`.
_LIST_OF_OTHERS: Final = late(
    r"/(?:[\w.-]{1,60}/){0,8}[\w.-]{0,60}(?<![a-z])(?:iocs?|indicators?|feeds?|block-?lists?|black-?lists?|(?:ip|domain|url|host)s?-?lists?"
    r"|maltrail|threat-?(?:intel(?:ligence)?|research|feed)|malware-iocs?|cti)(?![a-z])[\w./-]{0,120}(?<!\.exe)(?<!\.zip)(?<!\.ps1)\Z"
)
_CHANNEL_OF_A_BOT: Final = late(
    r"//(?:discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]{6}|api\.telegram\.org/bot[0-9]{6,}:|webhook\.site/[0-9a-f]{8}-[0-9a-f]{4}-|hooks\.slack\.com/services/t)"
)
_ENDS_OF_PAGES: Final = frozenset({"php", "html", "htm", "asp", "aspx", "jsp", "pdf", "txt", "sh", "py", "zip"})
_LICENCE: Final = late(r"/licen[cs]es?(?:\.txt|\.md|\.html?)?/?\Z")
_PORT_OF_A_URL: Final = late(r"://[^/?#]{1,260}:[0-9]{2,5}(?:[/?#]|$)")
# `https://gale-scan.example/report?url=orlop.example`, `https://gale-names.example/whois/orlop.example`.
_ABOUT_A_HOST: Final = late(
    r"[/?&](?:report|sitereport|site|domain|host|whois|lookup|search|scan|check|query|webfilter|info|q|url|d)[/=.]"
    r"(?:[\w-]{1,24}[/=?])*(?:url=|q=|domain=|host=|d=)?(?P<host>(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,12})/?(?:$|[&#])"
)
PATTERN: Final = "part of a pattern of names"
_OF_A_FORMAT: Final = late(rf"[disux][.{DOT}]")
# `dc.****69.gale.example`, `ww0[base36(id)]30.gale.example`: the rest of a name that a writer masked or described.
_MASKED_BEFORE: Final = late(r"(?:\w[.-]?\*{3,}|(?://|\.)[a-z0-9-]{1,20}\*\*|\w\[[^\s\[\]]{2,40}\])\Z")
_REACH_OF_A_MASK: Final = 48
_ENDS_OF_A_PATTERN: Final = frozenset(f"{bracket}{dot}" for bracket in "}]" for dot in f".{DOT}")
_LAST_OF_A_PATTERN: Final = frozenset(f".{DOT}%]*")
NUMBER: Final = "number of something else"
# `ticket T1190`, `Room T1110`, `the heat pump T1059-B`.
_COUNTED: Final = late(rf"(?i)(?:{pieces('numbered')})(?: (?:no\.?|nr\.?|#))?[ #]{{1,2}}\Z")
_OF_A_PRODUCT: Final = late(r"-[A-Z](?![\w-])")


def numbers_something(text: str, type: str, start: int, end: int) -> bool:
    """Tell whether the word before what reads as a technique, or the letter behind it, makes it another number."""
    if type != "mitre_attack" or text[start - 1 : start] == "(":
        return False
    return _COUNTED.search(text, max(0, start - 24), start) is not None or _OF_A_PRODUCT.match(text, end) is not None


def part_of_something(text: str, value: str, start: int) -> str:
    """Return of what a name is only a part, or nothing: of a pattern, or of the numbering of a list."""
    if _continues_a_pattern(text, start):
        return PATTERN
    return NUMBER if value[0].isdecimal() and _numbers_an_item(text, value, start) else ""


def _continues_a_pattern(text: str, start: int) -> bool:
    """Tell whether a name goes on from a pattern, so that it is a part of many: `node-{1..9}.evil.example`,
    `node%d.evil.example`.
    """
    last = text[start - 1 : start]
    if last not in _LAST_OF_A_PATTERN:
        return False
    if last == "%" and _OF_A_FORMAT.match(text, start):
        return True
    if last in "*]" and _MASKED_BEFORE.search(text, max(0, start - _REACH_OF_A_MASK), start):
        return True
    return text[max(0, start - 2) : start] in _ENDS_OF_A_PATTERN or text[max(0, start - 3) : start] == "[-]"


def _numbers_an_item(text: str, value: str, start: int) -> bool:
    """Tell whether what looks like a name is the number of an item, glued to its first word: `1.info: the machine`, and
    `2.live` below it.
    """
    number, _, word = value.partition(".")
    if not number.isdecimal() or "." in word or text[start - 1 : start] not in ("", "\n"):
        return False
    around = text[max(0, start - _REACH_OF_AN_ITEM) : start + _REACH_OF_AN_ITEM]
    return any(f"\n{int(number) + step}.{letter}" in around for step in (-1, 1) for letter in ascii_lowercase)


def looks_up_a_file(reading: TokenCandidate, host: str) -> bool:
    """Tell whether a URL asks a look-up service or a store of samples about a hash: then that is the indicator."""
    if reading.type != "url" or _HASH_IN_A_PATH.search(reading.value) is None:
        return False
    return registered_domain(host) in noise.LOOKUP_SERVICES or _OF_A_SAMPLE.search(reading.value) is not None


def whom_it_is_about(reading: TokenCandidate) -> str:
    """Return the other host that a URL bears, as those of scanners and registers do that lead to a page about it."""
    about = _ABOUT_A_HOST.search(reading.value.lower()) if reading.type == "url" else None
    if about is None or about["host"].rpartition(".")[2] in _ENDS_OF_PAGES or domain_of(about["host"]) is None:
        return ""
    return about["host"] if registered_domain(about["host"]) not in ("", registered_domain(reading.host)) else ""


def is_a_licence(reading: TokenCandidate, host: str) -> bool:
    """Tell whether a URL leads to the text of a licence."""
    if reading.type != "url" or "/licen" not in reading.value or noise.holds_anything(host):
        return False
    return _LICENCE.search(reading.value) is not None or (noise.is_known_host(host) and "/licenses/" in reading.value)


def is_list_of_others(reading: TokenCandidate) -> bool:
    """Tell whether a URL leads to a list of indicators that somebody keeps for all."""
    return noise.holds_anything(reading.host) and _LIST_OF_OTHERS.search(reading.value.lower()) is not None


def of_its_own(reading: TokenCandidate) -> list[Evidence]:
    """Return the evidence that a value carries by itself."""
    if reading.type == "email":
        return (
            [EVIDENCE["mailbox that anyone may have"]]
            if noise.is_mailbox_provider(reading.host)
            else [EVIDENCE["mailbox"]]
        )
    if reading.type != "url":
        return []
    evidence: list[Evidence] = []
    if is_address(reading.host) and not noise.address_noise(reading.host):
        evidence.append(EVIDENCE["URL on a bare address"])
    url = reading.value.lower()
    if is_list_of_others(reading):
        evidence.append(EVIDENCE["list of other people's"])
    if _CHANNEL_OF_A_BOT.search(url):
        evidence.append(EVIDENCE["channel of a bot"])
    if _PORT_OF_A_URL.search(url):
        evidence.append(EVIDENCE["URL with a port"])
    if _PAYLOAD.search(url):
        evidence.append(EVIDENCE["path of a program or archive"])
    elif _SLUG.search(url) or _WRITE_UP.search(url):
        evidence.append(EVIDENCE["title of something to read"])
    elif _READING_MATTER.search(url):
        evidence.append(EVIDENCE["address of something to read"])
    return evidence
