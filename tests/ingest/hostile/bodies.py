"""Bodies of pages that mean harm, or that somebody wrote carelessly."""

from __future__ import annotations

import gzip
import io
import zlib

SENTENCE = "The loader of the second campaign called gate[.]kestrel-files[.]net at night. "
ARTICLE = f"<html><head><title>Report</title></head><body><p>{SENTENCE * 4}</p></body></html>".encode()
RUSSIAN = "Загрузчик второй кампании обращался ночью к домену gate[.]kestrel-files[.]net из порта."
JAPANESE = "第二のキャンペーンのローダーは夜間に gate[.]kestrel-files[.]net に接続していました。"
CHINESE = "第二次行动的加载程序在夜间连接了 gate[.]kestrel-files[.]net 这个域名。"
LOGIN = b"<html><title>Sign in</title><body><form>User <input name=u> <input type=password name=p></form></body></html>"
SCRIPTED = b"<html><head><title>App</title><script src=/app.js></script></head><body><div id=root></div></body></html>"
ENABLE = b"<html><script src=/a.js></script><body><noscript>Please enable JavaScript to run this app.</noscript></body>"
JSON_LIST = b'{"indicators": ["gate.kestrel-files.net"]}'
ENTITY_BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE html ['
    + b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10 if n else b"ha" * 50) for n in range(10))
    + b']><html xmlns="http://www.w3.org/1999/xhtml"><body><p>&e9; '
    + SENTENCE.encode()
    + b"</p></body></html>"
)
FILE_ENTITY = (
    b'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    b'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>&x; ' + SENTENCE.encode() + b"</p></body></html>"
)


def html(inner: str | bytes) -> bytes:
    """A page whose body is `inner`."""
    raw = inner.encode() if isinstance(inner, str) else inner
    return b"<html><head><title>Report</title></head><body>" + raw + b"</body></html>"


def in_charset(text: str, charset: str, *, meta: str = "") -> bytes:
    tag = f"<meta charset='{meta}'>" if meta else ""
    return f"<html><head>{tag}<title>Report</title></head><body><p>{text * 3}</p></body></html>".encode(charset)


def nested(tag: str, depth: int) -> bytes:
    return html(f"<{tag}>" * depth + SENTENCE * 3)


def repeated(piece: str, times: int) -> bytes:
    return html(piece * times)


def attributes(count: int) -> bytes:
    return html("<p " + " ".join(f"a{n}=v{n}" for n in range(count)) + f">{SENTENCE * 3}</p>")


def table(rows: int) -> bytes:
    """A table of so many indicators."""
    cells = "".join(f"<tr><td>h{n}[.]kestrel-files[.]net</td><td>{n:064x}</td></tr>" for n in range(rows))
    return html(f"<p>{SENTENCE * 3}</p><table>{cells}</table>")


def bomb(size: int) -> bytes:
    """`size` bytes of a page in a few kilobytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write(b"<html><body><p>")
        for _ in range(size // 1_000_000):
            file.write(b"harbour " * 125_000)
    return packed.getvalue()


def raw_deflate(body: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(body) + packing.flush()


def pdf(content: bytes, *, extra: bytes = b"", filtered: bytes = b"") -> bytes:
    """A PDF of one page with that content stream."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d%s>>stream\n%s\nendstream" % (len(content), filtered, content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, each)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size 6/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF" % (extra, start)
    return bytes(out)


def pdf_text(text: str = SENTENCE) -> bytes:
    return pdf(b"BT /F 12 Tf 20 700 Td (%s) Tj ET" % text.encode("latin-1"))


def pdf_bomb() -> bytes:
    """A page of two kilobytes that unpacks to a gigabyte, twice packed."""
    inner = zlib.compress(bytes(200_000_000), 9)
    return pdf(zlib.compress(inner, 9), filtered=b"/Filter[/FlateDecode/FlateDecode]")


def pdf_encrypted() -> bytes:
    encrypt = b"/Encrypt<</Filter/Standard/V 1/R 2/O(%s)/U(%s)/P -4>>/ID[(aaaaaaaaaaaaaaaa)(aaaaaaaaaaaaaaaa)]"
    return pdf(b"BT ET", extra=encrypt % (b"o" * 32, b"u" * 32))


def pdf_of_itself() -> bytes:
    """Its tree of pages goes round in a circle."""
    return pdf_text().replace(b"/Kids[3 0 R]", b"/Kids[2 0 R]")
