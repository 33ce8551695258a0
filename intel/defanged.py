"""How indicators are written so that nobody clicks them, and how to read that again."""

from __future__ import annotations

import re
from typing import Final

from intel.indicator_types import INDICATOR_TYPES
from intel.refanging import COLON, INVISIBLE, SEPARATOR, SLASH, plain_text, without_marks

UNSEEN: Final = str.maketrans("", "", INVISIBLE)
_BRACKETED_SCHEME: Final = re.compile(r"(?i)\[(h(?:tt|xx)ps?)\](?=:|\[:)")
_SECURE_OR_NOT: Final = re.compile(r"(?i)(?<![a-z0-9])(h(?:tt|xx)p)[\[(](s)[\])](?=[:\[(\\])")
_UNDERSCORED: Final = re.compile(r"(?i)(?<![a-z0-9])(h(?:tt|xx|__)ps?)__(?=[a-z0-9\[])")
_SCHEME: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?:h(?:tt|zz|[tx*]x|x[tx*]|\*\*|__|tt\[)p\]?(s?)|(fxp|ftx)(s?)|meow(s?))(?:://|:\\\\)\s?(?=\S)"
)
# What is written with other characters, or with one of these, may be defanged in more than its scheme.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:/@?=#%+,;~!$*-]*+")
_PLAIN_SCHEMES: Final = ("http://", "https://", "ftp://")
_BRACKETED: Final = re.compile(r"\[([.:])\]")
_SPOKEN: Final = re.compile(r"[\w-]{1,63}(?: (?:dot|DOT|Dot) [\w-]{1,63}){1,10}")
_HEAD: Final = re.compile(
    rf"[\w*+.-]{{1,31}}?(?:{SEPARATOR}++/?|(?::|{COLON}++)(?:[/{SLASH}]{{2,}}+|\\\\)|//|(?<=[pPsS])__) ?"
)
_SEPARATED: Final = re.compile(rf":?{SEPARATOR}++/?|(?::|{COLON}++)(?:/?{SLASH}++/?|//)")
_PATH: Final = re.compile(rf"[/?#{SLASH}]")
_AUTHORITY: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30})://([^/?#\\]*+)")
_DEFANGED_SCHEMES: Final = {"http": "hxxp", "https": "hxxps", "ftp": "fxp"}
_PARTS: Final = {each.name: each.defanging for each in INDICATOR_TYPES}


def refang(text: str) -> str:
    """Write every defanged part of a text plainly: `hxxps://evil[.]example` becomes `https://evil.example`."""
    if _is_disguised(text):
        text = _written_plainly(plain_text(_plain_heads(text)).text)
    return _plain_schemes(text)


def refang_value(value: str) -> str:
    """Write one value plainly; where it is nothing but words with a spoken dot between them, those are its labels."""
    bare = value.strip()
    if not _is_disguised(bare):
        return _plain_schemes(bare)
    return re.sub(r" [dD][oO][tT] ", ".", bare) if _SPOKEN.fullmatch(bare) else refang(bare)


def refang_url(url: str) -> str:
    """Return one URL written plainly; words such as `(at)` after its host stay, for they may well be part of its
    path.
    """
    url = _plain_heads(url.strip())
    if not _is_disguised(url):
        return url if _has_plain_scheme(url) else _plain_schemes(url)
    marked = plain_text(url)
    head = _HEAD.match(marked.text)
    path = _PATH.search(marked.text, head.end() if head else 0)
    end = path.start() if path else len(marked.text)
    tail = url[marked.original(end) :].translate(UNSEEN).replace("[/]", "/").replace("\uff0f", "/")
    return _plain_schemes(_written_plainly(marked.text[:end])) + _BRACKETED.sub(r"\1", tail)


def _is_disguised(text: str) -> bool:
    """Tell whether a text may be defanged in more than its scheme; most values are written plainly."""
    if not _PLAIN.fullmatch(text) or "/AT/" in text or "/DOT/" in text:
        return True
    slashes = text.find("//")
    return slashes >= 0 and (text[slashes - 1 : slashes] != ":" or text.find("//", slashes + 1) >= 0)


def _has_plain_scheme(url: str) -> bool:
    """Tell whether a URL that is not disguised begins with a scheme as it is and holds no other."""
    return url.startswith(_PLAIN_SCHEMES) and "__" not in url


def _written_plainly(marked: str) -> str:
    return without_marks(_SEPARATED.sub("://", marked))


def _plain_heads(text: str) -> str:
    """Return the text with `[http]://` and `hxxp(s)://` without brackets."""
    return _SECURE_OR_NOT.sub(r"\1\2", _BRACKETED_SCHEME.sub(r"\1", text)) if "[" in text or "(" in text else text


def _plain_schemes(text: str) -> str:
    seen = _UNDERSCORED.sub(r"\1://", text) if "__" in text else text
    return _SCHEME.sub(_plain_scheme, seen) if "://" in seen or ":\\\\" in seen else seen


def _plain_scheme(match: re.Match[str]) -> str:
    secure, ftp, ftp_secure, meow_secure = match.groups()
    if ftp:
        return f"ftp{(ftp_secure or '').lower()}://"
    return f"http{(secure or meow_secure or '').lower()}://"


def defang(type: str, value: str) -> str:
    """Return a canonical value as it may be shown without becoming a link; `refang` gives the value back."""
    part = _PARTS.get(type)
    if part == "host":
        return value.replace(".", "[.]") if "." in value else value.replace(":", "[:]")
    if part == "mailbox":
        local, _, host = value.rpartition("@")
        return f"{local}[@]{host.replace('.', '[.]')}"
    return _defang_url(value) if part == "url" else value


def _defang_url(url: str) -> str:
    authority = _AUTHORITY.match(url)
    if authority is None:
        return url
    scheme, host = authority.groups()
    return f"{_DEFANGED_SCHEMES.get(scheme, scheme)}://{host.replace('.', '[.]')}{url[authority.end() :]}"
