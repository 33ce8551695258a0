"""Say why a dotted name may be no host: a file, a piece of code, a detection, a missing blank after a full stop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ingest.indicators.late import late
from intel.names import malware_names, spelling_key

PART_OF_A_PATH: Final = "part of a path or name"
CODE: Final = "code"
REVERSED: Final = "reversed name of a package"
CLASS: Final = "name of a class or detection"
FILE: Final = "name of a file"
WORDS: Final = "words around a full stop"
MEMBER: Final = "member of an object"
_ARCHIVES: Final = frozenset({"zip", "cab", "gz", "mov", "pm", "lib", "app"})
_FILE_IN_AN_ARCHIVE: Final = late(
    r"/(?:[^\s?#/]{1,80}/){0,8}[^\s?#/]{0,80}\.(?:exe|dll|lnk|bat|cmd|vbs|vbe|js|jse|ps1|hta|scr|msi|pdf|docx?|xlsx?|txt|url|iso|img"
    r"|html?|py|sh|jar|bin|dat|chm|wsf|cpl|sys|com|pif)\W{0,3}\Z",
    re.IGNORECASE,
)
# Sentences and programs do not go on with a path.
NOT_BEFORE_A_PATH: Final = frozenset({WORDS, MEMBER})
_DETECTION: Final = late(
    r"(?i)(?:trojan|backdoor|virus|worm|win32|win64|w32|w64|msil|heur|generic|ransom|exploit|downloader|dropper|agent|malware"
    r"|riskware|adware|hacktool|pua|vbs|js|doc|o97m|linux|android(?:os)?|osx|html|pdf|trojandownloader|trojandropper|troj|mal|bds)"
    r"(?:[!-]|$)"
)
# `NTDETECT.COM` among files that ransomware spares, and the `WinSCP.com` of a script.
_PROGRAMS_OF_DOS: Final = frozenset(("ntdetect", "command", "chcp", "winscp"))
# `misc.cc:198] Loading`: who writes a line of a log.
_LINE_OF_SOURCE: Final = late(r":[0-9]{1,5}\]")
# Names that decompilers give to variables.
_DECOMPILED: Final = late(
    r"(?:[av][0-9]{1,3}|arg_?[0-9]{1,2}|param_?[0-9]{1,2}|(?:field|local|var|sub|dword|unk)_[0-9a-f]{1,8}|[a-z]var[0-9]{1,3})"
)
_REVERSED_ROOTS: Final = frozenset(
    {"com", "org", "net", "io", "edu", "gov", "java", "javax", "android", "androidx", "kotlin", "apple"}
)
# `io.gale.com`: of what packages begin with, these are names of machines too, and packages do not end so.
_NAMES_OF_MACHINES: Final = frozenset({"io", "edu", "gov", "java", "android", "kotlin", "apple"})
_ENDS_NO_PACKAGE: Final = frozenset({"com", "org", "net"})
_CODE_ROOTS: Final = frozenset(
    {
        "self", "this", "document", "window", "system", "e", "x", "i", "m", "obj", "object", "item", "user", "event",
        "match", "request", "response", "req", "res", "args", "argv", "os", "sys", "re", "json", "math", "process",
        "console", "module", "exports", "node", "socket", "string", "array", "date", "file", "path", "config",
        "options", "params", "lp", "param", "arg", "local", "that", "field", "root",
        "parent", "child", "data", "result",
        "microsoft", "wscript", "adodb", "asp", "vb", "ado", "java", "lang",
        "std", "target", "element", "elem", "el", "util", "win32", "cmd", "shell", "application", "environment",
        "smtp", "header", "body", "session", "stream", "reader", "writer", "thread", "form", "input", "output",
        "context", "foo", "jquery", "elf", "pe", "vba", "strings", "uint16", "uint32",
    }
)  # fmt: skip
# What fields of logs are grouped under: `dns.question.name`, `http.host`.
_FIELD_ROOTS: Final = frozenset(
    {"dns", "http", "navigator", "winlog", "host", "agent", "source", "destination", "network", "registry"}
)
# `jp.co.sagawa.app`
_UNDER_COUNTRIES_TOO: Final = frozenset({"co", "com", "org", "net", "gov", "go", "or"})
_UNDER_COUNTRIES: Final = frozenset({"CO", "COM", "ORG", "NET", "AC", "GOV", "EDU", "OR"})
_FILE_SUFFIXES: Final = frozenset(
    {
        "zip", "py", "rs", "sh", "pl", "so", "md", "mov", "ps", "cab", "pm", "java", "lib", "bat", "bin", "cr", "ax",
        "cpl", "gz", "vi", "mm",
        "target",  # a unit of systemd: `multi-user.target`
    }
)  # fmt: skip
# What stands before the ending that ransomware gives a file: `Invoice.xlsx.id`.
_DOCUMENTS: Final = frozenset(
    {
        "doc", "docx", "docm", "xls", "xlsx", "xlsm", "ppt", "pptx", "pdf", "rtf", "jpg", "png", "txt", "exe", "dll",
        "vbs", "lnk", "htm", "html", "pcap", "pcapng", "csv", "log", "evtx",
    }
)  # fmt: skip
# Nobody registers directly under Paraguay's domain: a defanged `setup[.]py` is a script, as `main.cpython-39.py` is.
ALWAYS_A_FILE: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {"py": frozenset({"com", "coop", "edu", "gov", "mil", "net", "org", "una"})}
)
# What a full stop may part from the word before: a word that often begins a sentence, a word of another kind, and what
# objects of a program have.
_BEGINNINGS: Final = frozenset(
    {
        "it", "in", "is", "at", "to", "be", "so", "no", "us", "my", "me", "am", "as", "do", "by", "now", "how", "and",
        "here", "for", "you", "off", "like", "one", "la", "un", "et", "al", "im", "st",
    }
)  # fmt: skip
_OTHER_WORDS: Final = frozenset(
    {
        "link", "click", "security", "systems", "network", "computer", "download", "prof", "box", "play", "work", "win",
        "software", "services", "support", "video", "media", "tools", "cc", "app", "ms", "bz", "zone", "group", "host",
        "page", "show", "new",
        # Only their makers have names under these.
        "windows", "microsoft", "office", "android", "google", "apple", "chrome", "azure",
    }
)  # fmt: skip
_MEMBERS_OF_OBJECTS: Final = frozenset(
    {
        "id", "name", "data", "map", "style", "open", "date", "next", "run", "call", "email", "report", "type",
        "contact", "stream", "shell", "property", "events", "lt", "gt", "ne", "eq", "int",
    }
)  # fmt: skip
_WORD_SUFFIXES: Final = _BEGINNINGS | _OTHER_WORDS | _MEMBERS_OF_OBJECTS
# No object has a member of the name of a country: `document.gale.us`.
_LONG_WORD_SUFFIXES: Final = frozenset(word for word in _BEGINNINGS | _OTHER_WORDS if len(word) > 2)
# Longer names than these are those of hosts.
_LONGEST_LAST_WORD: Final = 9
_LONGEST_OTHER_WORD: Final = 7
_MEMBERS: Final = frozenset({"local", "target", "location", "data", "user", "config", "self", "item", "value"})
_BEFORE_A_HOST: Final = ("/dev/tcp/", "/dev/udp/", "file://", "file:////", "address=/", "*://", "DIRECT/")
_BEFORE_NO_SCHEME: Final = frozenset("\"'`=(")
_ENDS_OF_PLACEHOLDERS: Final = frozenset("]}>")  # `[victim]-mail.com`
_SPELLED_SO: Final = frozenset({"Com", "Net", "Org", "COM", "ORG"})


def objection_to(token: str, start: int, end: int, labels: list[str]) -> str:
    """Return why the dotted name `token[start:end]` with these `labels` may be no host, or nothing."""
    before, after = token[start - 1 : start] if start else "", token[end : end + 1]
    top, first = labels[-1], labels[0].lower()
    if top == "app" and token.startswith("/Contents/", end):
        return PART_OF_A_PATH  # of a program for macOS
    if objection := _objection_to_neighbours(token, start, end, before, after):
        return objection
    if objection := _objection_to_labels(labels, first, top):
        return objection
    if _is_under_no_registry(labels):
        return FILE
    if len(labels) > 2:
        if top.lower() in _FILE_SUFFIXES and any(label[:1].isdigit() for label in labels[1:-1]):
            return FILE  # `tool-v1.8.zip`
        if labels[-2] not in _MEMBERS or top not in _WORD_SUFFIXES:
            return ""
        return CODE if top == "id" else MEMBER
    return _objection_to_two(labels[0], top.lower())


def _objection_to_labels(labels: list[str], first: str, top: str) -> str:
    may_be_reversed = first in _REVERSED_ROOTS or (len(first) == 2 and labels[1] in _UNDER_COUNTRIES_TOO)
    may_be_reversed = may_be_reversed and not (first in _NAMES_OF_MACHINES and top.lower() in _ENDS_NO_PACKAGE)
    if len(labels) > 2 and may_be_reversed and not any("-" in label for label in labels):
        return REVERSED
    is_variable = _DECOMPILED.fullmatch(first) and (len(labels) > 2 or top in _WORD_SUFFIXES or len(top) > 2)
    if (first in _CODE_ROOTS or is_variable) and _may_be_a_member(labels, top.lower()):
        return CODE
    if (
        len(labels) > 2
        and labels[-2].lower() in _DOCUMENTS
        and (top in _WORD_SUFFIXES or top.lower() in _FILE_SUFFIXES)
    ):
        return FILE
    if first in _FIELD_ROOTS and len(labels) <= 3 and (top in _MEMBERS_OF_OBJECTS or top == "host"):
        return CODE
    if _ends_as_classes_do(labels):
        return CLASS
    if not top.islower() and any(_DETECTION.match(label) for label in labels[:-1]):
        return CLASS
    return CLASS if labels[0][0].isupper() and _is_detection(labels) else ""


def _objection_to_neighbours(token: str, start: int, end: int, before: str, after: str) -> str:
    if (
        before
        and before in "\\/"
        and (names_a_share(token, start) or (after == "/" and lacks_its_scheme(token, start)))
    ):
        return ""
    if before and (before in "\\/$#@&%" or (before == "-" and token[start - 2 : start - 1] in _ENDS_OF_PLACEHOLDERS)):
        return PART_OF_A_PATH
    if after == ":" and "[" not in token[:start] and _LINE_OF_SOURCE.match(token, end):
        return FILE
    return CODE if after and after in "(\\" else ""


def names_a_share(token: str, start: int) -> bool:
    r"""Tell whether what stands right before a host announces one: `\\45.9.1.2\c$`, `/dev/tcp/`, `address=/`."""
    before = token[max(0, start - 9) : start]
    if before.endswith(_BEFORE_A_HOST):
        return True
    lead = before.rstrip("\\")
    if len(before) - len(lead) < 2 or lead[-1:].isalnum() or lead[-1:] in (".", ")", "}", "%"):
        return False
    return lead[-1:] != ":" or (len(lead) > 2 and lead[-3:-1].isalpha())  # `path:`, and no `C:`


def lacks_its_scheme(token: str, start: int) -> bool:
    """Tell whether `//` alone, or in a quote, stands before a host: `src="//evil.example/a.js"`."""
    return token[max(0, start - 2) : start] == "//" and (start == 2 or token[start - 3] in _BEFORE_NO_SCHEME)


def may_name_a_file(value: str) -> bool:
    """Tell whether a name ends as those of scripts and archives do."""
    return value.rpartition(".")[2] in _FILE_SUFFIXES


def may_name_an_archive(value: str) -> bool:
    """Tell whether a name ends as those of archives do, and as those of hosts seldom."""
    return value.rpartition(".")[2] in _ARCHIVES


def is_file_in_an_archive(value: str, path: str) -> bool:
    """Tell whether `Tool.zip/Launch.bat` names a file in an archive, and nothing on a host."""
    return may_name_an_archive(value) and _FILE_IN_AN_ARCHIVE.match(path) is not None


def objection_to_defanged(labels: list[str]) -> str:
    """Return why a defanged name with these `labels` is no host, or nothing."""
    return FILE if _is_under_no_registry(labels) else ""


def _is_under_no_registry(labels: list[str]) -> bool:
    registries = ALWAYS_A_FILE.get(labels[-1].lower())
    return registries is not None and labels[-2].lower() not in registries


def _ends_as_classes_do(labels: list[str]) -> bool:
    """Tell whether a name goes on with a capital as `Form.Live` does: `Evil-Panel.SU` and `EVIL.LIVE` are hosts."""
    top = labels[-1]
    if not top[0].isupper() or top in _SPELLED_SO or _is_of_a_country(labels):
        return False
    name = "".join(labels)
    return not (name.isupper() or (top.isupper() and "-" in name))


def _is_of_a_country(labels: list[str]) -> bool:
    """Tell whether labels in mixed letters end in capitals as names under a country do: `Evil.CO.UK`."""
    return len(labels) > 2 and labels[-2] in _UNDER_COUNTRIES and len(labels[-1]) == 2 and labels[-1].isupper()


def _is_detection(labels: list[str]) -> bool:
    """Tell whether two labels are what detections are made of, or a family has two letters behind it:
    `Backdoor.Linux.Mirai.cn`, `Gafgyt.gu`.
    """
    if len(labels) == 2 and len(labels[1]) == 2 and spelling_key(labels[0]) in malware_names().families:
        return True
    return len([label for label in labels if _DETECTION.match(label)]) > 1


def _may_be_a_member(labels: list[str], top: str) -> bool:
    """Tell whether `document.cookie.name` may be code: `data.evil.com` is none."""
    if len(labels) == 2:
        return top not in ("com", "org")
    return len(labels) == 3 and (top in _MEMBERS_OF_OBJECTS or top in _FILE_SUFFIXES or top in _LONG_WORD_SUFFIXES)


def _objection_to_two(name: str, top: str) -> str:
    if top == "com" and name.lower() in _PROGRAMS_OF_DOS:
        return FILE
    if "_" in name:
        return FILE  # no such name can be registered: `id_rsa.pub`
    if top in _FILE_SUFFIXES or (top == "app" and name.isalpha() and len(name) <= _LONGEST_OTHER_WORD):
        return FILE
    if not name.isalpha():
        return ""
    if top == "run" and name.islower() and len(name) >= _LONGEST_LAST_WORD:
        return ""
    if top in _MEMBERS_OF_OBJECTS or (len(name) == 1 and top == "info"):
        return MEMBER
    if top in _BEGINNINGS:
        return WORDS if len(name) <= _LONGEST_LAST_WORD or name[0].isupper() else ""
    return WORDS if top in _OTHER_WORDS and (len(name) <= _LONGEST_OTHER_WORD or name[0].isupper()) else ""
