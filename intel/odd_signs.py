"""Write signs of other alphabets, of detection rules and of shells as usual ones, without moving a character."""

from __future__ import annotations

import re
from typing import Final

# What stands for a character that is to be cut out.
CUT: Final = "\u200b"

_WIDE_RUN: Final = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")
_FROM_WIDE: Final = {wide: wide - 0xFEE0 for wide in range(0xFF10, 0xFF5B)}
# All of them begin so in UTF-8, in which to look for a few bytes is what takes least.
_BEGIN_OF_WIDE: Final = (b"\xef\xbc", b"\xef\xbd")
# What has a plain sign or a class of them at its front is found fastest.
_WIDE_HYPHEN: Final = re.compile("\uff0d(?a:(?<=\\w\uff0d)(?=\\w))")
_COLON_OF_A_CVE: Final = re.compile("\uff1a(?i:(?<=cve\uff1a))(?=[0-9]{4}-[0-9]{4})")
# `evil|2e|example` of Snort, `evil\\x2eexample` of YARA.
_DOT_IN_HEX: Final = re.compile(r"(?<=[\w-])(?:\|2[eE]\||\\x2[eE])(?=[\w-])")
_DOTS_IN_HEX: Final = ("|2e|", "|2E|", "\\x2e", "\\x2E")
# `|04|evil|07|example|00|`: a name as it goes over the wire.
_WIRE_NAME: Final = re.compile(
    r"[|\\](?:(?<=\|)[0-9a-fA-F]{2}\|[A-Za-z0-9-]{1,63}(?:\|[0-9a-fA-F]{2}\|[A-Za-z0-9-]{1,63}){1,5}\|00\|"
    r"|(?<=\\)x[0-9a-fA-F]{2}[A-Za-z0-9-]{1,63}(?:\\x[0-9a-fA-F]{2}[A-Za-z0-9-]{1,63}){1,5}\\x00)"
)
_WIRE_LABEL: Final = re.compile(r"(?:\||\\x)([0-9a-fA-F]{2})\|?([A-Za-z0-9-]{1,63})")
# `h^t^t^p://evil.example`: a shell reads past the carets.
_WITH_CARETS: Final = re.compile(
    r"[hH](?<![A-Za-z0-9^][hH])(?=[tTpPsS]{0,4}\^)(?:\^?[tTpPsS]){3,4}\^?:[^\s\"'<>|]{1,500}"
)
# `http:\\evil.example\a`
_WITH_BACKSLASHES: Final = re.compile(
    r"[hH](?<![A-Za-z0-9][hH])(?:tt|xx|TT|XX)[pP][sS]?:\\\\(?=[\w\[])[^\s\"'<>|;]{1,500}"
)
_STEP: Final = re.compile(r"\\(?=[\w\\])")


def in_usual_signs(text: str) -> str:
    """Return `text`, as long as before, with ASCII for full-width letters and digits, dots for dots in hexadecimal,
    and URLs without a shell's carets and with slashes.
    """
    if not text.isascii() and any(map(text.encode("utf-8", "surrogatepass").__contains__, _BEGIN_OF_WIDE)):
        text = _COLON_OF_A_CVE.sub("-", _WIDE_HYPHEN.sub("-", _WIDE_RUN.sub(_narrow, text)))
    if "|00|" in text or "\\x00" in text:
        text = _WIRE_NAME.sub(_from_the_wire, text)
    if any(map(text.__contains__, _DOTS_IN_HEX)):
        text = _DOT_IN_HEX.sub(f".{CUT * 3}", text)
    if "^" in text:
        text = _WITH_CARETS.sub(lambda match: match[0].replace("^", CUT), text)
    if ":\\\\" in text:
        text = _WITH_BACKSLASHES.sub(lambda match: _STEP.sub("/", match[0]), text)
    return text


def _narrow(match: re.Match[str]) -> str:
    return match[0].translate(_FROM_WIDE)


def _from_the_wire(match: re.Match[str]) -> str:
    labels = list(_WIRE_LABEL.finditer(match[0]))
    if any(int(label[1], 16) != len(label[2]) for label in labels):
        return match[0]
    name = f".{CUT * 3}".join(label[2] for label in labels)
    return f"{CUT * 4}{name}".ljust(len(match[0]), CUT)
