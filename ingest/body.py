"""What the bytes of a page or a file are: their type and their text. Pure; the place that knows charsets and magic."""

from __future__ import annotations

import codecs
import re
from typing import Final
from unicodedata import category

HTML: Final = "text/html"
XHTML: Final = "application/xhtml+xml"
PLAIN: Final = "text/plain"
MARKDOWN: Final = "text/markdown"
PDF: Final = "application/pdf"
ARTICLE_TYPES: Final = frozenset({HTML, XHTML, PLAIN, MARKDOWN, PDF})
# Files alone are read as these: no page is served so.
WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAIL: Final = "message/rfc822"

_WESTERN: Final = "windows-1252"
_LARGE_BYTES: Final = 1_000_000

_HEAD_BYTES: Final = 2048
_BINARY_MAGIC: Final = (
    b"PK\x03\x04", b"\x1f\x8b", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x7fELF", b"MZ\x90", b"Rar!", b"7z\xbc\xaf",
    b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"\xca\xfe\xba\xbe", b"\xd0\xcf\x11\xe0", b"OggS", b"RIFF",
    b"\x00\x00\x01\x00",
)  # fmt: skip
_CONTROL_BYTES: Final = bytes((*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)))
_PROLOGUE: Final = rb"\s*+(?:<\?xml[^>]{0,200}+>\s*+)?(?:<!--(?s:.){0,2000}?-->\s*+){0,9}"
_HTML_START: Final = re.compile(_PROLOGUE + rb"<(?:!doctype\s++html|html|head|body)[\s>]", re.I)
# What is cut out of a page begins with one of its elements. Markdown may begin so too, with a picture in the middle of
# its first line, but goes on with headings and fences of its own.
_ELEMENT_START: Final = re.compile(
    _PROLOGUE
    + rb"<(?:table|[ud]l|ol|li|div|p|article|section|main|header|footer|nav|aside|h[1-6]|blockquote|figure|pre)"
    rb"[\s>]",
    re.I,
)
_MARKDOWN_LINE: Final = re.compile(rb"\n[ \t\r]*+\n(?:#{1,6}[ \t]+[^\s#]|```|~~~)")
_MARKDOWN_BYTES: Final = 65_536
_FEED_START: Final = re.compile(_PROLOGUE + rb"<(?:rss|feed|rdf:RDF)[\s>]", re.I)
# As static sites keep their posts: fields between two lines of dashes.
_FRONT_MATTER: Final = re.compile(rb"\s*+---[ \t]*\r?\n(?:[^\n]{0,400}\n){0,20}?(?:title|date)[ \t]*:")
# A saved message begins with its headers, which may go on in lines that begin with a blank; some have a line of their
# mailbox before them. Old and plain ones do not say that they are MIME, but all say from whom and when they were sent.
_HEADERS: Final = re.compile(
    rb"(?:From [^\n]{0,400}\n)?(?:[A-Za-z][A-Za-z0-9-]{0,60}+:[^\n]{0,2000}\n(?:[ \t][^\n]{0,2000}\n){0,100}+){1,60}+"
)
_IS_MIME: Final = re.compile(rb"^MIME-Version:[ \t]*1\.0", re.I | re.M)
_SENT_BY: Final = re.compile(rb"^From:(?:[^\n]|\n[ \t]){0,400}?[\w.+-]@[\w-]", re.I | re.M)
_SENT_AT: Final = re.compile(
    rb"^Date:[ \t]*(?:[A-Z]{3},[ \t]*)?[0-9]{1,2}[ \t]+[A-Z]{3}[ \t]+[0-9]{4}[ \t]+[0-9]{1,2}:[0-9]{2}", re.I | re.M
)
_MAIL_BYTES: Final = 16_384
_WORD_PART: Final = b"word/document.xml"
_META_CHARSET: Final = re.compile(rb"<meta[^>]{0,400}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.I)
_META_BYTES: Final = 4096
# Controls, and what is unassigned, private or half a character.
_NOISE: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
_NOISE_SHARE: Final = 16
_SAMPLE: Final = 20_000

_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Labels of the web and the codec that browsers read them with; UTF-7 and its like are left out on purpose.
_SAME_NAME: Final = (
    "utf-8 koi8-r koi8-u euc-jp iso-2022-jp gb18030 ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 "
    "iso-8859-7 iso-8859-8 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 windows-1250 windows-1251 "
    "windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258"
)
_ALIASES: Final = {
    "utf-8": "utf8 unicode-1-1-utf-8",
    "utf-16-le": "utf-16 utf-16le",
    "utf-16-be": "utf-16be",
    "windows-1252": "ascii us-ascii iso-8859-1 iso8859-1 iso_8859-1 latin1 l1 cp1252",
    "windows-1254": "iso-8859-9 latin5",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "iso-8859-2": "latin2",
    "koi8-r": "koi8",
    "ibm866": "cp866",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
    "cp874": "iso-8859-11 tis-620 windows-874",
    "cp932": "shift_jis shift-jis sjis x-sjis windows-31j",
    "euc-jp": "x-euc-jp",
    "gb18030": "gb2312 gbk x-gbk gb_2312-80",
    "big5hkscs": "big5 big5-hkscs x-x-big5",
    "cp949": "euc-kr ks_c_5601-1987 windows-949 korean",
}
_CODECS: Final = {label: label for label in _SAME_NAME.split()} | {
    label: codec for codec, labels in _ALIASES.items() for label in labels.split()
}


def essence(content_type: str | None) -> str | None:
    """Return `text/html` of `Text/HTML; charset=utf-8`; None where no type is given."""
    return (content_type or "").partition(";")[0].strip().lower() or None


def article_type(declared: str | None, body: bytes) -> str | None:
    """Return which of ARTICLE_TYPES a body is, judged by its declared type and its first bytes; None if it is none of
    them. Text with fields at its top, as Markdown has, is Markdown.
    """
    kind = essence(declared)
    if kind is not None and kind not in ARTICLE_TYPES:
        return None
    head = body[:_HEAD_BYTES]
    if head.lstrip().startswith(b"%PDF-") or (kind == PDF and b"%PDF-" in head):
        return PDF
    if _is_binary(head, markup=kind in (HTML, XHTML)) or is_feed(body):
        return None
    if kind in (None, PLAIN, PDF) and begins_as_page(body):
        return HTML
    if kind in (None, PLAIN) and _FRONT_MATTER.match(_without_bom(head)):
        return MARKDOWN
    return None if kind == PDF else kind or PLAIN


def begins_as_page(body: bytes) -> bool:
    """Tell whether the bytes of a text are a web page or a part cut out of one."""
    head = _without_bom(body[:_HEAD_BYTES])
    if _HTML_START.match(head):
        return True
    return _ELEMENT_START.match(head) is not None and not _MARKDOWN_LINE.search(body[:_MARKDOWN_BYTES])


def file_type(body: bytes) -> str | None:
    """Return which of ARTICLE_TYPES, WORD or MAIL the bytes of a file are; None if none of them."""
    if body.startswith(b"PK\x03\x04") and _WORD_PART in body:
        return WORD
    return MAIL if _is_mail(body[:_MAIL_BYTES]) else article_type(None, body)


def is_large_body(body: bytes, content_type: str) -> bool:
    """Tell whether reading a body of this type may take much memory: PDFs and Word documents unpack to any size."""
    return len(body) > _LARGE_BYTES or content_type in (PDF, WORD)


def is_feed(body: bytes) -> bool:
    """Tell whether a body begins as an RSS or Atom feed does."""
    return _FEED_START.match(_without_bom(body[:_HEAD_BYTES])) is not None


def decode(body: bytes, charset: str | None, *, markup: bool) -> str:
    """Decode a body: by byte order mark or the zeros of UTF-16, else by the declared charset, else by its meta tag.

    The meta tag counts in `markup` alone, and what is said to be Western but is UTF-8 is read as that. Without any of
    these the guess is UTF-8 where that fits and windows-1252 elsewhere,
    as in browsers. What cannot be decoded becomes U+FFFD; NUL is dropped.
    """
    for bom, codec in _BOMS:
        if body.startswith(bom):
            return _decoded(body[len(bom) :], codec)
    if codec := _unmarked_utf16(body):
        return _decoded(body, codec)
    codec = _CODECS.get((charset or "").strip().strip("\"'").lower(), "") or (_meta_codec(body) if markup else "")
    if codec and not (codec == _WESTERN and _is_utf8(body)):
        return _decoded(body, codec)
    try:
        return body.decode("utf-8").replace("\0", "")
    except UnicodeDecodeError:
        return _decoded(body, "windows-1252")


def _is_utf8(body: bytes) -> bool:
    """Tell whether a body holds letters beyond ASCII, all of them in UTF-8: hardly any other text reads so."""
    try:
        return not body.isascii() and bool(body.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def is_noise(text: str) -> bool:
    """Tell whether a decoded text is no text: too many of its characters are controls or could not be decoded.

    A page with some bad bytes is one; random, compressed or encrypted bytes show in any charset.
    """
    sample = text[:_SAMPLE] + text[_SAMPLE:][-_SAMPLE:]
    noisy = {each for each in set(sample) if _is_noisy(each)}
    return bool(noisy) and sum(map(noisy.__contains__, sample)) * _NOISE_SHARE > len(sample)


def _is_noisy(character: str) -> bool:
    return character == "\ufffd" or (character not in "\t\n\f\r\x1b" and category(character) in _NOISE)


def _unmarked_utf16(body: bytes) -> str:
    """Name the UTF-16 that a body without a byte order mark is in: nearly every other byte is zero; "" for none."""
    head = body[:_HEAD_BYTES]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if len(head) >= 8 and max(even, odd) * 10 > len(head) * 3 and min(even, odd) * 20 < len(head):
        return "utf-16-be" if even > odd else "utf-16-le"
    return ""


def _decoded(body: bytes, codec: str) -> str:
    return body.decode(codec, "replace").replace("\0", "")


def _meta_codec(body: bytes) -> str:
    match = _META_CHARSET.search(body[:_META_BYTES])
    codec = _CODECS.get(match[1].decode("ascii").lower(), "") if match else ""
    # A meta tag that can be read as ASCII proves that the page is not in UTF-16.
    return "utf-8" if codec.startswith("utf-16") else codec


def _is_mail(head: bytes) -> bool:
    """Tell whether a file begins with the headers of a message: they say that it is MIME, or its sender and time."""
    block = _HEADERS.match(head)
    if block is None:
        return False
    return bool(_IS_MIME.search(block[0]) or (_SENT_BY.search(block[0]) and _SENT_AT.search(block[0])))


def _is_binary(head: bytes, *, markup: bool) -> bool:
    if head.startswith(_BINARY_MAGIC):
        return True
    if any(head.startswith(bom) for bom, _ in _BOMS) or _unmarked_utf16(head):
        return False
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return not markup and controls > 8 and controls * 16 > len(head)


def _without_bom(head: bytes) -> bytes:
    return head.removeprefix(codecs.BOM_UTF8)
