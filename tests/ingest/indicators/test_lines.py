from __future__ import annotations

import json

from ingest.indicators import extract_lines
from tests.cases import each


def pairs(data: bytes) -> list[tuple[str, str]]:
    return [(line["type"], line["value"]) for line in extract_lines(data)]


def test_a_text_gives_one_record_an_indicator() -> None:
    lines = list(extract_lines(b"The loader called gale-post[.]com and again gale-post[.]com."))
    assert json.loads(json.dumps(lines)) == [
        {
            "type": "domain",
            "value": "gale-post.com",
            "context": "The loader called gale-post[.]com and again gale-post[.]com.",
            "rule": "defanged",
        }
    ]


def test_a_page_is_told_from_a_text() -> None:
    page = b"<!DOCTYPE html><html><body><nav>mist-post.ru</nav><p>It called gale-post[.]com.</p></body></html>"
    assert pairs(page) == [("domain", "gale-post.com")]
    assert pairs(b'<a href="http://gale-post.com/x">') == [
        ("url", "http://gale-post.com/x"),
        ("domain", "gale-post.com"),
    ]


@each("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "windows-1252"])
def test_usual_encodings_are_read(encoding: str) -> None:
    assert pairs("Café called gale-post[.]com".encode(encoding)) == [("domain", "gale-post.com")]


def test_a_declared_charset_is_believed() -> None:
    page = '<html><head><meta charset="windows-1251"></head><body>Почта gale-post[.]com</body></html>'
    assert pairs(page.encode("windows-1251")) == [("domain", "gale-post.com")]


@each("data", [b"", b"\x00" * 100, bytes(range(256)) * 8, b"\xff\xfe\x00", b"<html>", b"<!--" * 500])
def test_no_bytes_raise(data: bytes) -> None:
    assert list(extract_lines(data)) == []
