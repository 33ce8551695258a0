"""A hostile web: by path, what is served there, and how reading it ends (`done`, or a reason)."""

from __future__ import annotations

import gzip
import zlib

from tests.ingest.fetch.web import Web
from tests.ingest.hostile import bodies
from tests.ingest.hostile.bodies import ARTICLE, SENTENCE, html

Expected = dict[str, str]

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def lay_out(web: Web) -> Expected:
    """Serves all of it; any number of reasons may be right where they are separated by a bar."""
    expected: Expected = {}
    for part in (redirects, statuses, slow, lengths, packed, heads, types, charsets, doors, markup, pdfs):
        expected |= part(web)
    return expected


def redirects(web: Web) -> Expected:
    web.page("/article", ARTICLE)
    found: Expected = {}
    for status in (301, 302, 303, 307, 308):
        web.redirect(f"/moved/{status}", "/article", status)
        found[f"/moved/{status}"] = "done"
    for step in range(5):
        web.redirect(f"/five/{step}", f"/five/{step + 1}" if step < 4 else "/article")
    for step in range(6):
        web.redirect(f"/six/{step}", f"/six/{step + 1}" if step < 5 else "/article")
    web.redirect("/loop", "/loop")
    web.redirect("/ping", "/pong")
    web.redirect("/pong", "/ping")
    places = {
        "private": ("http://10.0.0.1/", "blocked_address"),
        "metadata": ("http://169.254.169.254/latest/meta-data/", "blocked_address"),
        "six": ("http://[::1]/", "blocked_address"),
        "mapped": ("http://[::ffff:10.0.0.1]/", "blocked_address"),
        "decimal": ("http://167772161/", "bad_host"),
        "slashes": ("//10.0.0.1/", "blocked_address"),
        "file": ("file:///etc/passwd", "unsupported_scheme"),
        "gopher": ("gopher://10.0.0.1:6379/_INFO", "unsupported_scheme"),
        "script": ("javascript:alert(1)", "unsupported_scheme"),
        "data": ("data:text/html,x", "unsupported_scheme"),
        "credentials": ("http://a:b@93.184.216.34/", "url_has_credentials"),
        "localhost": ("http://localhost/", "local_name"),
        "port": ("http://93.184.216.34:22/", "blocked_port"),
        "long": ("/" + "a" * 3000, "url_too_long"),
        "broken": ("http://[", "bad_redirect"),
        "empty": ("", "bad_redirect"),
        "controls": ("/a\x01b", "forbidden_character|bad_response"),
        "backslash": ("http:\\\\10.0.0.1\\", "forbidden_character"),
    }
    for name, (location, reason) in places.items():
        web.redirect(f"/to/{name}", location)
        found[f"/to/{name}"] = reason
    web.page("/to/two", b"", "Location: /article", "Location: /other", status=302)
    return found | {
        "/five/0": "done",
        "/six/0": "too_many_redirects",
        "/loop": "too_many_redirects",
        "/ping": "too_many_redirects",
        "/to/two": "bad_redirect",
    }


def statuses(web: Web) -> Expected:
    found: Expected = {}
    for status in (
        204,
        205,
        206,
        300,
        304,
        400,
        401,
        402,
        403,
        404,
        405,
        410,
        418,
        429,
        451,
        500,
        502,
        503,
        504,
        599,
        799,
    ):
        web.raw(f"/status/{status}", b"HTTP/1.1 %d Whatever\r\nContent-Length: 0\r\n\r\n" % status)
        found[f"/status/{status}"] = f"http_{status}"
    for name, text in {
        "seconds": "7",
        "date": "Wed, 21 Oct 2099 07:28:00 GMT",
        "nonsense": "soon",
        "negative": "-1",
    }.items():
        web.page(f"/later/{name}", b"", f"Retry-After: {text}", status=429)
        found[f"/later/{name}"] = "http_429"
    return found


def slow(web: Web) -> Expected:
    web.without_end("/silent", b"", b"", 0.05)
    web.without_end("/silent/head", b"HTTP/1.1 200 OK\r\nContent-", b"", 0.05)
    web.without_end("/silent/body", _HEAD + b"Content-Length: 5000\r\n\r\n<p>half", b"", 0.05)
    web.without_end("/drip/head", b"HTTP/1.1 200 OK\r\nX: ", b"x", 0.05)
    web.without_end("/drip/body", _HEAD + b"\r\n", b"x", 0.05)
    web.without_end("/drip/chunks", _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.05)
    web.without_end("/interim/drip", b"", b"HTTP/1.1 102 Processing\r\n\r\n", 0.05)
    paths = ("/silent", "/silent/head", "/silent/body", "/drip/head", "/drip/body", "/drip/chunks", "/interim/drip")
    return dict.fromkeys(paths, "timeout")


def lengths(web: Web) -> Expected:
    chunked = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    raw = {
        "/length/short": (_HEAD + b"Content-Length: 500\r\n\r\nhalf", "bad_response"),
        "/length/huge": (_HEAD + b"Content-Length: 99999999999999\r\n\r\n", "body_too_large"),
        "/length/two": (_HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "bad_response"),
        "/length/minus": (_HEAD + b"Content-Length: -5\r\n\r\nhello", "bad_response"),
        "/length/word": (_HEAD + b"Content-Length: five\r\n\r\nhello", "bad_response"),
        "/length/digits": (_HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", "bad_response"),
        "/length/more": (
            _HEAD + b"Content-Length: %d\r\n\r\n" % len(ARTICLE) + ARTICLE + b"<p>more",
            "done|bad_response",
        ),
        "/chunk/size": (chunked + b"zz\r\nhello\r\n0\r\n\r\n", "bad_response"),
        "/chunk/huge": (chunked + b"fffffffffffffffff\r\nhello", "bad_response|body_too_large"),
        "/chunk/minus": (chunked + b"-5\r\nhello\r\n", "bad_response"),
        "/chunk/half": (chunked + b"500\r\nhalf", "bad_response"),
        "/chunk/no-end": (chunked + b"%x\r\n" % len(ARTICLE) + ARTICLE + b"\r\n", "bad_response"),
        "/chunk/extension": (chunked + b"5;" + b"x" * 90_000, "bad_response|headers_too_large"),
        "/no-body": (_HEAD + b"Content-Length: 0\r\n\r\n", "no_text"),
        "/no-length": (_HEAD + b"\r\n" + ARTICLE, "done"),
        "/both": (
            _HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "bad_response|no_text",
        ),
    }
    for path, (answer, _) in raw.items():
        web.raw(path, answer)
    web.without_end("/endless", _HEAD + b"\r\n", b"x" * 60_000)
    web.without_end("/endless/chunks", chunked, b"ea60\r\n" + b"x" * 60_000 + b"\r\n")
    web.without_end("/endless/tiny", chunked, b"1\r\nx\r\n" * 5000)
    return {path: reason for path, (_, reason) in raw.items()} | {
        # On a busy machine the time of a fetch is over before its most bytes are in.
        "/endless": "body_too_large|timeout",
        "/endless/chunks": "body_too_large|timeout",
        "/endless/tiny": "bad_response|timeout",
    }


def packed(web: Web) -> Expected:
    small = gzip.compress(ARTICLE, mtime=0)
    served = {
        "/gzip": ("gzip", small, "done"),
        "/gzip/x": ("x-gzip", small, "done"),
        "/deflate": ("deflate", zlib.compress(ARTICLE), "done"),
        "/deflate/raw": ("deflate", bodies.raw_deflate(ARTICLE), "done"),
        "/gzip/bomb": ("gzip", bodies.bomb(300_000_000), "body_too_large"),
        "/gzip/double": ("gzip, gzip", gzip.compress(small, mtime=0), "unsupported_encoding"),
        "/gzip/hidden-double": ("gzip", gzip.compress(small, mtime=0), "unsupported_content_type"),
        "/gzip/cut": ("gzip", small[:-9], "decode_failed"),
        "/gzip/none": ("gzip", ARTICLE, "decode_failed"),
        "/gzip/more": ("gzip", small + b"more", "decode_failed"),
        "/gzip/corrupt": ("gzip", small[:60] + b"\0\xff\0\xff" + small[64:], "decode_failed"),
        "/brotli": ("br", b"\x0b\x02\x80hello\x03", "unsupported_encoding"),
        "/zstd": ("zstd", b"\x28\xb5\x2f\xfd", "unsupported_encoding"),
        "/unknown": ("rot13", ARTICLE, "unsupported_encoding"),
    }
    for path, (coding, body, _) in served.items():
        web.page(path, body, f"Content-Encoding: {coding}")
    return {path: reason for path, (_, _, reason) in served.items()}


def heads(web: Web) -> Expected:
    web.raw("/head/long", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n")
    web.without_end("/head/many", b"HTTP/1.1 200 OK\r\n", b"X-Flood: more and more\r\n")
    web.without_end("/head/hints", b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    web.raw("/head/old", ARTICLE)
    web.raw("/head/http-1.0", b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + ARTICLE)
    web.raw("/head/two", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    web.raw("/head/frames", b"\0\0\x12\4\0\0\0\0\0\0\3\0\0\0\x64")
    web.raw("/head/ssh", b"SSH-2.0-OpenSSH_9.0\r\n\r\n")
    web.raw("/head/nothing", b"")
    web.raw("/head/noise", bytes(range(256)) * 20)
    web.raw("/head/status", b"HTTP/1.1 9999 Odd\r\n\r\n")
    web.raw("/head/nul", b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Type: text/html\r\n\r\n" + ARTICLE)
    web.page("/head/cookies", ARTICLE, *(f"Set-Cookie: c{n}={'x' * 100}; Domain=.example" for n in range(300)))
    web.page("/head/refresh", ARTICLE, "Refresh: 0; url=http://10.0.0.1/", "Link: <http://10.0.0.1/>; rel=preload")
    odd = ("old", "two", "frames", "ssh", "nothing", "noise", "status")
    return {f"/head/{name}": "bad_response" for name in odd} | {
        "/head/long": "headers_too_large",
        "/head/many": "headers_too_large",
        "/head/hints": "headers_too_large",
        "/head/http-1.0": "done",
        "/head/nul": "bad_response",
        "/head/cookies": "done",
        "/head/refresh": "done",
    }


def types(web: Web) -> Expected:
    served: dict[str, tuple[str | None, bytes, str]] = {
        "/type/none": (None, ARTICLE, "done"),
        "/type/none-text": (None, SENTENCE.encode() * 3, "done"),
        "/type/none-pdf": (None, bodies.pdf_text(), "done"),
        "/type/none-image": (None, b"\x89PNG\r\n\x1a\n" + bytes(100), "unsupported_content_type"),
        "/type/text-html": ("text/plain", ARTICLE, "done"),
        "/type/html-pdf": ("text/html", bodies.pdf_text(), "done"),
        "/type/html-zip": ("text/html", b"PK\x03\x04" + bytes(100), "unsupported_content_type"),
        "/type/html-binary": ("text/html", b"MZ\x90\0" + bytes(range(256)) * 9, "unsupported_content_type"),
        "/type/pdf-html": ("application/pdf", ARTICLE, "done|unsupported_content_type"),
        "/type/image": ("image/png", ARTICLE, "unsupported_content_type"),
        "/type/json": ("application/json", bodies.JSON_LIST, "unsupported_content_type"),
        "/type/csv": ("text/csv", b"type,value\r\n", "unsupported_content_type"),
        "/type/octets": ("application/octet-stream", ARTICLE, "unsupported_content_type"),
        "/type/script": ("text/javascript", b"alert(1)", "unsupported_content_type"),
        "/type/nonsense": ("<b>what</b>", ARTICLE, "unsupported_content_type"),
        "/type/markdown": ("text/markdown", f"# Report\n\n{SENTENCE * 3}".encode(), "done"),
        "/type/xhtml": ("application/xhtml+xml", ARTICLE, "done"),
        "/type/rss": ("application/rss+xml", b"<rss/>", "is_a_feed"),
        "/type/hidden-feed": ("text/html", b"<?xml version='1.0'?><rss version='2.0'></rss>", "is_a_feed"),
    }
    for path, (kind, body, _) in served.items():
        web.page(path, body, kind=kind)
    return {path: reason for path, (_, _, reason) in served.items()}


_SPOKEN = {
    "utf-8": bodies.RUSSIAN,
    "windows-1251": bodies.RUSSIAN,
    "koi8-r": bodies.RUSSIAN,
    "windows-1252": SENTENCE,
    "shift_jis": bodies.JAPANESE,
    "euc-jp": bodies.JAPANESE,
    "gbk": bodies.CHINESE,
    "gb18030": bodies.CHINESE,
}


def charsets(web: Web) -> Expected:
    found: Expected = {}
    for charset, text in _SPOKEN.items():
        web.page(f"/charset/{charset}/meta", bodies.in_charset(text, charset, meta=charset))
        web.page(f"/charset/{charset}/header", bodies.in_charset(text, charset), kind=f"text/html; charset={charset}")
        found |= {f"/charset/{charset}/meta": "done", f"/charset/{charset}/header": "done"}
    web.page("/charset/utf-16", bodies.in_charset(SENTENCE, "utf-16"))
    web.page("/charset/utf-16-be", b"\xfe\xff" + bodies.in_charset(SENTENCE, "utf-16-be"))
    web.page(
        "/charset/bom-wins",
        b"\xef\xbb\xbf" + bodies.in_charset(bodies.RUSSIAN, "utf-8", meta="koi8-r"),
        kind="text/html; charset=shift_jis",
    )
    web.page("/charset/unknown", bodies.in_charset(SENTENCE, "utf-8"), kind="text/html; charset=klingon")
    web.page(
        "/charset/utf-7", bodies.in_charset(SENTENCE + "+ADw-script+AD4-", "utf-8"), kind="text/html; charset=utf-7"
    )
    web.page("/charset/lies", bodies.in_charset(bodies.RUSSIAN, "utf-8", meta="utf-16"))
    web.page("/charset/broken", html(SENTENCE * 3).replace(b"night", b"n\xff\xfe\x80t"))
    more = ("utf-16", "utf-16-be", "bom-wins", "unknown", "utf-7", "lies", "broken")
    return found | {f"/charset/{name}": "done" for name in more}


def doors(web: Web) -> Expected:
    served = {
        "/door/login": (bodies.LOGIN, "login_wall"),
        "/door/script": (bodies.SCRIPTED, "script_only"),
        "/door/enable": (bodies.ENABLE, "script_only"),
        "/door/empty": (html(""), "no_text"),
        "/door/blank": (b" \r\n\t " * 500, "no_text"),
        "/door/picture": (html("<img src=/a.png>"), "no_text"),
        "/door/short": (html("<p>Hi.</p>"), "no_text"),
    }
    for path, (body, _) in served.items():
        web.page(path, body)
    return {path: reason for path, (_, reason) in served.items()}


def markup(web: Web) -> Expected:
    limit = "done|no_text|parse_timeout|parse_memory|parse_crashed|parse_too_large|body_too_large"
    served = {
        "/markup/nested-div": (bodies.nested("div", 100_000), "done"),
        "/markup/nested-b": (bodies.nested("b", 100_000), "done"),
        "/markup/nested-table": (bodies.nested("table><tr><td", 30_000), "done"),
        "/markup/nested-svg": (bodies.nested("svg", 100_000), "done"),
        "/markup/paragraphs": (bodies.repeated("<p>x", 200_000) + SENTENCE.encode() * 3, "done"),
        "/markup/breaks": (bodies.repeated("<br>", 300_000) + SENTENCE.encode() * 3, "done"),
        "/markup/attributes": (bodies.attributes(100_000), "done"),
        "/markup/long-attribute": (html(f"<p title='{'a' * 3_000_000}'>{SENTENCE * 3}</p>"), "done"),
        "/markup/brackets": (html("<" * 2_000_000 + SENTENCE * 3), limit),
        "/markup/ampersands": (html("&" * 2_000_000 + SENTENCE * 3), limit),
        "/markup/comment": (html("<!--" + "-" * 3_000_000 + SENTENCE * 3), limit),
        "/markup/cdata": (html("<![CDATA[" * 300_000 + SENTENCE * 3), limit),
        "/markup/script": (html("<script>" + "a" * 3_000_000 + "</script>" + f"<p>{SENTENCE * 3}</p>"), "done"),
        "/markup/scripts": (bodies.repeated("<script>1</script>", 100_000) + SENTENCE.encode() * 3, "done|script_only"),
        "/markup/entities": (bodies.ENTITY_BOMB, "done"),
        "/markup/nul": (html(SENTENCE * 3).replace(b" ", b"\0 "), "done"),
        "/markup/one-line": (html("evil[.]example " * 600_000), limit),
        "/markup/dots": (html("a." * 4_000_000), limit),
        "/markup/hex": (html("a1" * 4_000_000), limit),
        "/markup/at": (html("a@" * 4_000_000), limit),
        "/markup/slashes": (html("http://" * 1_000_000), limit),
        "/markup/unclosed": (html("<p>" + "<a href=x" * 500_000), limit),
        "/markup/iocs": (bodies.table(40_000), "done"),
        "/markup/deep-list": (bodies.repeated("<ul><li>", 50_000) + SENTENCE.encode() * 3, "done"),
        "/markup/forms": (bodies.repeated("<form><input type=password></form>", 50_000), "login_wall|no_text"),
    }
    for path, (body, _) in served.items():
        web.page(path, body)
    web.page("/markup/xhtml-bomb", bodies.ENTITY_BOMB, kind="application/xhtml+xml")
    web.page("/markup/xhtml-file", bodies.FILE_ENTITY, kind="application/xhtml+xml")
    web.page("/text/long", b"The loader called gate[.]kestrel-files[.]net. " * 200_000, kind="text/plain")
    web.page("/text/one-word", b"a" * 9_000_000, kind="text/plain")
    return {path: reason for path, (_, reason) in served.items()} | {
        "/markup/xhtml-bomb": "done",
        "/markup/xhtml-file": "done",
        "/text/long": limit,
        "/text/one-word": limit,
    }


def pdfs(web: Web) -> Expected:
    served = {
        "/pdf": (bodies.pdf_text(), "done"),
        "/pdf/bomb": (bodies.pdf_bomb(), "no_text|parse_memory|parse_timeout|pdf_damaged|parse_crashed"),
        "/pdf/encrypted": (bodies.pdf_encrypted(), "pdf_encrypted|pdf_damaged"),
        "/pdf/broken": (bodies.pdf_text()[:200], "pdf_damaged|no_text"),
        "/pdf/noise": (b"%PDF-1.7\n" + bytes(range(256)) * 200, "pdf_damaged|no_text"),
        "/pdf/no-text": (bodies.pdf(b"0 0 10 10 re f"), "no_text"),
        "/pdf/circle": (bodies.pdf_of_itself(), "pdf_damaged|no_text|parse_timeout|parse_memory|parse_crashed"),
        "/pdf/operators": (bodies.pdf(b"q " * 4_000_000), "no_text|parse_memory|parse_timeout"),
        "/pdf/empty": (b"%PDF-", "pdf_damaged"),
    }
    for path, (body, _) in served.items():
        web.page(path, body, kind="application/pdf")
    return {path: reason for path, (_, reason) in served.items()}
