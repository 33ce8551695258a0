"""How indicators are written so that nobody clicks them, and how to read that again."""

from __future__ import annotations

import re
from typing import Final

# Invisible characters: copy-and-paste brings them along, or someone hides a name from a search with them.
INVISIBLE: Final = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

UNSEEN: Final = str.maketrans("", "", INVISIBLE)
_OPEN: Final = r"\\?[\[({]{1,3}+"
_CLOSE: Final = r"\\?[\])}]{1,3}+"
_SEPARATOR: Final = re.compile(
    rf"{_OPEN}:(?://|\\\\){_CLOSE}|{_OPEN}:{_CLOSE}(?://|\\\\)|{_OPEN}:/{_CLOSE}/|:{_OPEN}//{_CLOSE}|:\\\\"
)
_UNDERSCORED: Final = re.compile(r"(?i)(?<![a-z0-9])(h(?:tt|xx|__)ps?)__(?=[a-z0-9\[])")
_SCHEME: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?:h(?:tt|zz|[tx*]x|x[tx*]|\*\*|__|tt\[)p\]?(s?)|(fxp|ftx)(s?)|meow(s?))://\s?(?=\S)"
)
_DOT: Final = re.compile(
    rf"(?i)[ \t]?{_OPEN}[ \t]?(?:\.|dot)[ \t]?{_CLOSE}[ \t]?|\\\.|(?<=\w)[\[({{]\.(?=\w)|(?<=\w)\.[\])}}](?=\w)"
)
_AT: Final = re.compile(rf"(?i)[ \t]?{_OPEN}[ \t]?(?:@|at)[ \t]?{_CLOSE}[ \t]?")
# Without any of these no pattern below finds anything: most values are written plainly.
_DISGUISED_SCHEME: Final = re.compile(rf"[{INVISIBLE}\\\[({{]|__")
_DISGUISED: Final = re.compile(r"[\\\[(\])} {]")
_MARKED: Final = re.compile(rf"{_OPEN}([:/]){_CLOSE}")
_BRACKETED: Final = re.compile(r"\[([.:])\]")
_SPOKEN_AT: Final = re.compile(r"(?<=[\w.-]) (?:AT|_at_) (?=[\w-]{1,63}+(?:\.| DOT | _dot_ )\w)")
_SPOKEN_DOT: Final = re.compile(r"(?<=\w) (?:DOT|_dot_) (?=\w)")
_AUTHORITY: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^/?#\\]*+")


def refang(text: str) -> str:
    """Write every defanged part of a text plainly: `hxxps://evil[.]example` becomes `https://evil.example`."""
    seen = _plain_schemes(text)
    if not _DISGUISED.search(seen):
        return seen
    seen = _SPOKEN_DOT.sub(".", _SPOKEN_AT.sub("@", seen))
    return _MARKED.sub(r"\1", _AT.sub("@", _DOT.sub(".", seen)))


def refang_url(url: str) -> str:
    """Return one URL written plainly; words such as `(at)` after its host stay, for they may well be part of its
    path.
    """
    seen = _plain_schemes(url.strip()).replace("[/]", "/")
    start = seen.find("://") + 3
    if start < 3:
        start = 0
    ends = [at for at in (seen.find(mark, start) for mark in "/?#") if at >= 0]
    end = min(ends, default=len(seen))
    return seen[:start] + refang(seen[start:end]) + _BRACKETED.sub(r"\1", seen[end:])


def _plain_schemes(text: str) -> str:
    seen = text
    if _DISGUISED_SCHEME.search(seen):
        seen = _UNDERSCORED.sub(r"\1://", _SEPARATOR.sub("://", seen.translate(UNSEEN)))
    return _SCHEME.sub(_plain_scheme, seen) if "://" in seen else seen


def _plain_scheme(match: re.Match[str]) -> str:
    secure, ftp, ftp_secure, meow_secure = match.groups()
    if ftp:
        return f"ftp{(ftp_secure or '').lower()}://"
    return f"http{(secure or meow_secure or '').lower()}://"


def defang(type: str, value: str) -> str:
    """Return a canonical value as it may be shown without becoming a link; `refang` gives the value back."""
    if type in ("domain", "ip"):
        return value.replace(".", "[.]") if "." in value else value.replace(":", "[:]")
    if type == "email":
        local, _, host = value.rpartition("@")
        return f"{local}[@]{host.replace('.', '[.]')}"
    return _defang_url(value) if type == "url" else value


def _defang_url(url: str) -> str:
    authority = _AUTHORITY.match(url)
    if authority is None:
        return url
    scheme, _, host = authority[0].partition("://")
    scheme = {"http": "hxxp", "https": "hxxps", "ftp": "fxp"}.get(scheme, scheme)
    return f"{scheme}://{host.replace('.', '[.]')}{url[authority.end() :]}"
