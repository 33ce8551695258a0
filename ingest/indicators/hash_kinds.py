"""Recognise what has the length of a file hash but is none, by the words right before it."""

from __future__ import annotations

import re
from typing import Final

from ingest.indicators.hash_nouns import is_among_releases, is_of_no_sample
from ingest.indicators.late import late
from ingest.indicators.spoken import Spoken
from ingest.indicators.vocabulary import pieces, table, words
from intel.indicator_types import INDICATOR_TYPES
from intel.refanging import MARKS

OTHER_KIND: Final = "another kind of hash"
KEY: Final = "key or identifier"
EMPTY: Final = "hash of an empty file"
HARMLESS: Final = "file called harmless"
_LENGTHS: Final = {kind.name: len(kind.example) for kind in INDICATOR_TYPES if kind.judgement == "hash"}

_OTHER_HASH: Final = late(
    r"(?i)(?:imp[- ]?hash|import[- _]hash|authenti[- ]?hash|ja[34]s?|jarm|pe[- ]?hash"
    r"|rich[- _](?:pe[- ]?)?(?:header[- _])?hash|v-?hash"
    r"|telf-?hash|icon[- ]?(?:d-?)?hash|d-?hash|serial(?: (?:number|no\.?))?|machoc|symhash|permhash|gimphash"
    r"|tlsh|ssdeep|sdhash)"
    r"(?: hash| fingerprint| value| sha-?1| sha-?256| md5)?(?: is| was| of| for (?:the )?[\w-]{1,30})?\W{0,40}\Z"
)
# A certificate's on the same line; those that stand below a heading are there to be looked for.
_OF_A_CERTIFICATE: Final = late(
    r"(?i)(?:thumb-?print|(?:certificate|cert|ssl|tls|favicon|icon)[-_. ](?:sha-?1|sha-?256|md5|hash|fingerprint)"
    r"|(?:sha-?1|sha-?256|md5|hash|fingerprint) of the (?:certificate|cert|key|favicon|icon))"
    r"(?: hash| value| sha-?1| sha-?256| md5)?(?: is| was| of)?[^\w\n]{0,20}\Z"
)
_HASH_WORD: Final = late(r"[hHjJsSmMtTcC](?i:ash|a[34]|arm|erial|achoc|sdeep|lsh|humb|ert|s[lL])|con[ -]")
_LONGEST_BEFORE_A_HASH_WORD: Final = 20  # `rich_pe-header_hash`
_COMMIT: Final = late(
    r"(?i)(?:\bcommits?(?:\s(?:id|hash|such as|is|was|in|as|of|to|the|their|tag|before|after|until)){0,3}[\s:`(#]{1,3}"
    r"|\bcommit(?: [\w-]{2,14}){1,6}: ?"
    r"|\b(?:reverts?|cherry[- ]picked from|HEAD(?: is)?(?: now)? at|squashed into)[ `(]{1,3})\Z"
)
_COMMIT_AFTER: Final = late(
    r"(?i)[`)\"'\]]{0,2}[ \t:\u2013-]{1,3}(?:(?:the )?(?:initial|first|last|merge|fix) )?commit\b"
)
# Who is named by hexadecimal digits in an address: a commit, a file of a repository, a session.
_PART_OF_AN_ADDRESS: Final = late(
    r"(?i)(?:\bgit(?:hub|lab)?:[\w.-]{1,60}/[\w.-]{1,60}#|\bimage (?:digest )?(?:id )?(?:sha256:)|@sha256:"
    r"|/(?:blob|commits?|tree|raw|compare|archive)/|/urls?/(?:u-)?|gist\.github(?:usercontent)?\.com/(?:[\w-]{1,40}/)?"
    r"|\burn:[a-z0-9-]{2,20}:"
    r"|[?&;](?!(?:md5|sha1|sha256|sha|hash|file|sample|q|query|search|s|h|f)=)[a-z_]{1,20}=)\Z"
)
# `&uid=`, also of a defanged address: whose visit it is.
_OF_A_VISIT: Final = late(
    r"(?i)(?:(?:\A|[\s?&;,])(?:[a-z]{0,10}_?(?:uid|sid|guid|uuid|session|track(?:er|ing)?|visitor|ticket|chat|token|auth|csrf)"
    r"(?:_?id)?)|/(?:chat|room|ticket|user|victim|client|login|session|invite)[\w/.]{0,20}\?(?:id|u|key|code)"
    r"|\.(?:gif|png|jpe?g|svg)\?[\w&=%.-]{0,60})=\Z"
)
# `![](media/9e10….png)`: what a page shows.
_NAME_OF_A_PICTURE: Final = late(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\b", re.IGNORECASE)
_BEFORE_A_PART: Final = ("/", "=", ":", "#", "-")
_OF_A_PASSWORD: Final = late(r"\$[0-9a-z]{1,12}\$[^\s]{0,80}\$\Z")  # `$6$rounds=5000$salt$`
_ENDS_OF_A_FOLDER: Final = ("\\", "\\ ")
_BEFORE_AN_OBJECT: Final = ("\\", "<")
_OF_AN_OBJECT: Final = late(r"(?i)(?:\b(?:global|local)\\{1,2}|message-id:? ?<)\Z")
# `HKCU\\Software\\8f1d0b3a…`: a key of the registry.
_OF_THE_REGISTRY: Final = late(r"(?i)(?<![a-z])(?:hkey|hkcu|hklm|hku|hkcr|software)[^\n|,;]{0,120}\\ ?\Z")
_REACH_OF_THE_REGISTRY: Final = 130
# `static void _5b8e…() {`, "the method `_5b8e…`": what somebody calls a piece of a program.
_NAME_IN_CODE: Final = late(r"(?:\A|[\s`\"'(.])_{1,2}\Z")
_ENDS_OF_A_NAME_IN_CODE: Final = frozenset("(`\"' ;:,)=")
_MARKED: Final = late(f"[{MARKS}]")
_REACH_AHEAD: Final = 100
_BEFORE_A_LABEL: Final = frozenset({".", *MARKS})
# The row above is a hash too, which calls nothing by a name.
_ENDS_IN_A_HASH: Final = late(r"[0-9a-fA-F]{31}\n\Z")
_LENGTH_OF_SUCH_AN_END: Final = 32
_ENDS_OF_A_LINE: Final = ("", "\n")
_MARKS_OF_AN_ITEM: Final = frozenset(f"{mark} {quote}" for mark in ("-", "*", "\u2022") for quote in ("", "`"))
_WIDEST_MARK: Final = 4
_LETTER_OF_A_WORD: Final = late(r"[^\W\d_a-f]")
_OF_AN_EMPTY_FILE: Final = words("empty_file", "hashes")
# Of the file by which scanners are tried out. They are often given for a sample's, so that they count as the file's
# only where the text names the file.
_OF_THE_TEST_FILE: Final = words("test_file", "hashes")
_NAME_OF_THE_TEST_FILE: Final = late(f"(?i:{pieces('test_file', 'names')})")
_REACH_OF_ITS_NAME: Final = 200
_CALLED_HARMLESS: Final = Spoken(table("harmless", "after"), "")
# What stands behind a hash: the next cell, or a remark in brackets or behind a dash; behind a blank only in a list.
_REMARK: Final = late(
    r"[`\"'’]?[ \t]{0,20}(?:[|\t(\[\u2013\u2014\uff08-]|(?P<blank> ))[ \t]{0,20}(?P<said>[^|\t\n)\]\uff09]{3,80})"
)
# Above it stands of what file the hashes are: `MD5: `, alone on its line, below `Original installer:`.
_LABEL_OF_A_LINE: Final = late(
    r"(?<=[:\uff1a])\s?\n[-* \t]{0,4}(?:md5|sha-?1|sha-?256)[-\w ]{0,8}[:\uff1a=][ \t`]{0,3}\Z", re.IGNORECASE
)
_CALLED_HARMLESS_BEFORE: Final = late(pieces("harmless", "before"))
_ABUSED: Final = late(pieces("harmless", "abused"))
_CALLED_OTHERWISE: Final = late(pieces("harmless", "not"))
# Before which its line says nothing.
_BULLET: Final = late(r"\n\s?[-*+|\u2022][^\w=]{0,3}\Z")
_CALLED_NO_SAMPLE_AFTER: Final = Spoken(table("no_sample_after"), "")
# A row of a list of containers: `8f1d0b3a…   alpine   "/pause"`.
_NAMES_A_CONTAINER: Final = late(r" {2,12}[\w./:@-]{2,80} {2,70}[\"\u201c]")
# `krbtgt:502:aad3b4…:40cb5c…:::` of a dump of passwords.
_IN_A_DUMP: Final = late(r":[0-9]{3,7}:(?:[0-9a-fA-F]{32}:)?\Z")
_CALLED_NO_SAMPLE: Final = Spoken(table("no_sample"), r"[\s:\uff1a(\uff08\[\"'`]{0,4}\Z")
# A name in an address: `https://8f1d0b3a….pages.dev/`, `https://gale.example/u/8f1d0b3a…`.
_IN_A_URL: Final = late(r"//[^\s\"'<>|,;]{0,160}\Z")
_REACH_OF_A_URL: Final = 165
_ABOUT_A_FILE: Final = late(
    r"(?i)(?:virus|malware|sample|file(?:s?(?![a-z])|scan)|hash|sandbox|triage|joesec|intezer|analy|search|report|md5|sha|any\.run|tria\.ge|abuse|threat)"
)
_LABEL_OF_A_HOST: Final = late(rf"(?:\.|[{MARKS}]+)(?:[a-z0-9-]{{1,63}}(?:\.|[{MARKS}]+)){{1,3}}[a-z]{{2,12}}(?![\w.])")
_END_OF_A_SENTENCE: Final = late(r"[.!?;](?=\s)|[\u3002\uff1b;\n]|[0-9a-fA-F]{32}")
# Where a hash follows, the next sentence speaks of that one.
_NEXT_SENTENCE: Final = late(r"[.!?]\s|\u3002")
_REACH_OF_THE_NEXT: Final = 160
_OTHER_HASH_FOLLOWS: Final = late(r"[^.!?;,]{0,60}[0-9a-fA-F]{32}")
_SHORT_HASH: Final = late(r"[0-9a-fA-F]{32}")
# `MD5 …, SHA-1 …`, `sha256: …` on the line below `sha1: …`: hashes of one file, each of another kind.
_SAME_FILE: Final = late(
    r"(?<![0-9A-Za-z])(?P<hash>[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})[`\"'\])]{0,2}[ \t]?"
    r"(?:[,;/|(\u3001\uff0c\uff1b]|\n(?=[-* \t]{0,4}(?:sha|md5))|and |und |et |y |e |i |и |和|と)"
    r"[ \t]?[-*]{0,2}(?:[ \t]?(?:md5|sha-?1|sha-?256)(?:sum|[- ]?hash)?)[ \t]?[:=\uff1a(]?[ \t]?[`\"']?\Z",
    re.IGNORECASE,
)
_REACH_OF_ANOTHER_HASH: Final = 90
_TYPES: Final = {length: type for type, length in _LENGTHS.items()}
# The next cells of a row, as far as they hold the file's other hashes.
_CELLS_OF_HASHES: Final = late(
    r"(?:[`\"']?[ \t]{0,20}[|\t][ \t`\"']{0,20}(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}|[0-9a-fA-F]{32})(?![0-9A-Za-z])){1,3}"
)
_REACH_OF_HARMLESS: Final = 120
_ADDRESS: Final = late(r"\bhttps?://[^\s)\]>\"']{1,300}")
_REACH_WITH_AN_ADDRESS: Final = 400
_BEFORE_HARMLESS: Final = 30
_REACH: Final = 60
_SIGNS_BEFORE_A_KEY: Final = " \t\xa0:=|\"'`({[*\u2018\u201c\u2013-,"
_LAST_WORDS: Final = (
    "key", "keys", "iv", "vector", "nonce", "salt", "id", "token", "mutex", "mutant", "tag", "cookie", "password",
    "phrase", "session", "fingerprint", "checkout", "branch", "revision",
    " is", " was", " of", " value", " named", " called", " name", " to", " used", "hex", "hex)",
)  # fmt: skip
_KEY: Final = late(
    r"(?:(?<![a-z])(?:session(?=[=:])|(?:device|browser|machine) fingerprint|checkout|revision|(?<!registry )keys?"
    r"|iv|initiali[sz]ation vector|nonce|salt|[gu]uid|(?:[a-z]{1,20}[_-])?token"
    r"|mutex|mutant|e-?tag|session cookie|password|passphrase)"
    r"|(?<![a-z])(?:bot|botnet|campaign|session|client|victim|user|affiliate|machine|device|agent|tenant|project)"
    r"[_ -]?id)(?: (?:is|was|of|value|named|called|name|set to|used is|used was|in hex)){0,2}(?: \(hex\))?"
    r"(?:[ \t\xa0:=|\"'`({\[*\u2018\u201c\u2013-]{1,6}|,[\"']?)\Z"
)
_REACH_OF_A_KEY: Final = 48


def kind_of_other(text: str, type: str, start: int) -> str:
    """Return what the value of that `type` at `start` is if it is no file hash, or nothing.

    Hashes of other kinds that one file has beside each other share what is said before the first of them.
    """
    end = start + _LENGTHS[type]
    if is_an_item(text, start, end):
        return _known_file(text, start, end) or (OTHER_KIND if _is_hashed_so(text, start) else "")
    if _is_below_another(text, start, end):
        return _known_file(text, start, end)
    for times in range(len(_LENGTHS)):
        kind = _kind_of_other(text, type, start)
        if kind and not (times and kind == OTHER_KIND and _is_hashed_otherwise(text, start)):
            return kind
        before = text[max(0, start - _REACH_OF_ANOTHER_HASH) : start]
        another = None if before[-1:] == "\n" else _SHORT_HASH.search(before)
        first = _SAME_FILE.search(before, another.start()) if another else None
        if first is None or len(first["hash"]) == _LENGTHS[type]:
            return ""
        type, start = _TYPES[len(first["hash"])], start - len(before) + first.start("hash")
    return ""


def _is_hashed_otherwise(text: str, start: int) -> bool:
    """Tell whether the words before a value name another way to hash a file, as `imphash` does: the hash of the file
    may stand beside it.
    """
    return _OTHER_HASH.search(text, max(0, start - _REACH), start) is not None


def _is_hashed_so(text: str, start: int) -> bool:
    """Tell whether the last words above a value name another way to hash a file: `Imphash:`."""
    first = max(0, start - _REACH)
    named = _HASH_WORD.search(text, first, start)
    if named is None:
        return False
    return _OTHER_HASH.search(text, max(first, named.start() - _LONGEST_BEFORE_A_HASH_WORD), start) is not None


def _is_below_another(text: str, start: int, end: int) -> bool:
    """Tell whether a value is all of its line, and the line above ends in a hash: then nothing is said of it."""
    if text[end : end + 1] not in _ENDS_OF_A_LINE or text[start - 1 : start] != "\n":
        return False
    return _ENDS_IN_A_HASH.match(text, max(0, start - _LENGTH_OF_SUCH_AN_END), start) is not None


def is_an_item(text: str, start: int, end: int) -> bool:
    """Tell whether a value is all that an item of a list holds, so that nothing is said of it there: "- `f32d8d…`"."""
    _, line_end, mark = text[max(0, start - _WIDEST_MARK) : start].rpartition("\n")
    if not line_end or mark not in _MARKS_OF_AN_ITEM:
        return False
    if mark[-1] == "`":
        return text[end : end + 2] in ("`", "`\n")
    return text[end : end + 1] in _ENDS_OF_A_LINE


def _kind_of_other(text: str, type: str, start: int) -> str:
    before = text[max(0, start - _REACH) : start]
    end = start + _LENGTHS[type]
    last = before[-1:]
    if known := _known_file(text, start, end):
        return known
    if _is_part_of_another_value(text, start, end, before):
        return KEY
    begins_its_line = last in ("", "\n")
    if not (begins_its_line or _BULLET.search(before)) and _CALLED_NO_SAMPLE.search(before.lower()):
        return OTHER_KIND
    if _is_called_harmless(text, start, end) or (begins_its_line and is_among_releases(text, start, end)):
        return HARMLESS
    if type == "hash_sha1" and (_COMMIT.search(before) or _COMMIT_AFTER.match(text, end, end + _REACH)):
        return OTHER_KIND
    if begins_its_line and _ENDS_IN_A_HASH.match(before, max(0, len(before) - _LENGTH_OF_SUCH_AN_END)):
        return ""
    named = _HASH_WORD.search(before)
    if named and (
        _OTHER_HASH.search(before, max(0, named.start() - _LONGEST_BEFORE_A_HASH_WORD))
        or _OF_A_CERTIFICATE.search(before)
    ):
        return OTHER_KIND
    if begins_its_line:
        return ""
    if is_of_no_sample(text, start, end):
        return OTHER_KIND
    before = before[-_REACH_OF_A_KEY:].lower()
    return KEY if before.rstrip(_SIGNS_BEFORE_A_KEY).endswith(_LAST_WORDS) and _KEY.search(before) else ""


def _known_file(text: str, start: int, end: int) -> str:
    value = text[start:end].lower()
    if value in _OF_THE_TEST_FILE:
        named = _NAME_OF_THE_TEST_FILE.search(text, max(0, start - _REACH_OF_ITS_NAME), end + _REACH_OF_ITS_NAME)
        return HARMLESS if named else ""
    return EMPTY if value in _OF_AN_EMPTY_FILE else ""


def _is_called_harmless(text: str, start: int, end: int) -> bool:
    """Tell whether the words behind a hash, before it in its sentence, or in the line of the name above it call its
    file harmless.
    """
    if (cells := _CELLS_OF_HASHES.match(text, end, end + _REACH_OF_THE_NEXT)) is not None:
        end = cells.end()
    if text[end : end + 1] != "\n":
        its_line = text[end : end + _REACH_OF_THE_NEXT].partition("\n")[0]
        said_after = its_line[:_REACH_AHEAD]
        if _SHORT_HASH.search(its_line):
            said_after = _NEXT_SENTENCE.split(said_after, maxsplit=1)[0]
            said_after = _OTHER_HASH_FOLLOWS.split(said_after, maxsplit=1)[0]
        if _CALLED_HARMLESS.search(said_after.lower()) or _is_said_beside(
            said_after.lower(), begins_its_line=start == 0 or text[start - 1] == "\n"
        ):
            return True
    before = text[max(0, start - _REACH_OF_HARMLESS) : start]
    if "://" in before:  # what a sentence says is not told by the address in it
        before = _ADDRESS.sub(" ", text[max(0, start - _REACH_WITH_AN_ADDRESS) : start])[-_REACH_OF_HARMLESS:]
    label = None if before[-1:] == "\n" else _LABEL_OF_A_LINE.search(before, max(0, before.rfind("\n") - 1))
    if label:
        before = before[: label.start()]
    elif before[-1:] == "\n":
        before = before.rstrip("\n")  # a hash alone below the name of its file
        if text[end : end + 1] not in ("\n", "") or before[-1:].isalnum():
            return False
    before = before[-_REACH_OF_HARMLESS:].lower()
    before = before[before.rfind("\n") + 1 :]
    if _LETTER_OF_A_WORD.search(before) is None:
        return False
    ends = [match.end() for match in _END_OF_A_SENTENCE.finditer(before)]
    return _says_harmless(before[ends[-1] :] if ends else before)


def _is_said_beside(after: str, *, begins_its_line: bool) -> bool:
    """Tell whether the cell or the remark right behind a hash calls its file harmless."""
    remark = _REMARK.match(after)
    if remark is None or (remark["blank"] and not begins_its_line):
        return False
    return _says_harmless(remark["said"]) and not _CALLED_OTHERWISE.search(remark["said"])


def says_harmless(heading: str) -> bool:
    """Tell whether a heading announces files that are harmless, also those that an attack abuses as they are."""
    said = _ABUSED.sub("", heading.lower())
    if _CALLED_HARMLESS_BEFORE.search(said) is None or _SHORT_HASH.search(said):
        return False
    return _CALLED_OTHERWISE.search(said) is None


def _says_harmless(said: str) -> bool:
    for called in _CALLED_HARMLESS_BEFORE.finditer(said):
        if not _CALLED_OTHERWISE.search(said, max(0, called.start() - _BEFORE_HARMLESS)):
            return True
    return False


def _is_part_of_another_value(text: str, start: int, end: int, before: str) -> bool:
    """Tell whether a value is part of an address or of a name, or the words behind it call it a key."""
    last, following = before[-1:], text[end : end + 1]
    if last == "_" and _NAME_IN_CODE.search(before) and following in _ENDS_OF_A_NAME_IN_CODE:
        return True
    of_an_address = (
        last in _BEFORE_A_PART and _PART_OF_AN_ADDRESS.search(before) and _MARKED.search(before.split()[-1]) is None
    )
    if last == "=" and _OF_A_VISIT.search(before):
        return True
    if last == "/" and following == "." and _NAME_OF_A_PICTURE.match(text, end):
        return True
    if of_an_address or (last in _BEFORE_AN_OBJECT and _OF_AN_OBJECT.search(before)) or following == "@":
        return True
    if before.endswith(_ENDS_OF_A_FOLDER) and _OF_THE_REGISTRY.search(
        text, max(0, start - _REACH_OF_THE_REGISTRY), start
    ):
        return True
    if last == following == "\\":  # the name of a folder
        return True
    if last == "$" and _OF_A_PASSWORD.search(before):
        return True
    if (last == ":" and _IN_A_DUMP.search(before)) or _is_part_of_a_url(text[max(0, start - _REACH_OF_A_URL) : start]):
        return True
    if following in _BEFORE_A_LABEL and _LABEL_OF_A_HOST.match(text, end, end + _REACH_AHEAD):
        return True
    return following not in ("", "\n") and _is_explained_away(text, end)


def _is_explained_away(text: str, end: int) -> bool:
    """Tell whether what stands right behind a value makes it the id of a container, a key, a cookie or the like."""
    if text.startswith("  ", end) and _NAMES_A_CONTAINER.match(text, end, end + _REACH_OF_THE_NEXT):
        return True
    return _CALLED_NO_SAMPLE_AFTER.search(text[end : end + _REACH_AHEAD].partition("\n")[0].lower())


def _is_part_of_a_url(before: str) -> bool:
    """Tell whether a value stands in a URL that is not one about a file."""
    url = _IN_A_URL.search(before) if "//" in before else None
    return url is not None and _ABOUT_A_FILE.search(url[0]) is None
