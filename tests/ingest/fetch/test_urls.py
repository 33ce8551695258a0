from __future__ import annotations

import pytest

from ingest.fetch.addresses import FetchAllow
from ingest.fetch.urls import LONGEST_URL, check_url
from intel.errors import RefusedUrl
from tests.cases import each

NOTHING = FetchAllow()

LOOPBACK_SPELLINGS = """
127.0.0.1 127.1 127.0.1 127.000.000.001 0127.0.0.1 0177.0.0.1 0x7f.1 0x7f.0.0.1 0x7f000001 0X7F000001 2130706433
017700000001 00000000000000000000000177.0.0.1 127.0.0.1. 127.0.0.1.. 127.0.0.0x1 127.0.0.256 1.127 0 0x 00
0.0.0.0 4294967295 4294967297 127.0.0.1.0 1.2.3.4.5 [::1] [0:0:0:0:0:0:0:1] [::127.0.0.1] [::ffff:127.0.0.1]
[::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:0001] [64:ff9b::127.0.0.1] [2002:7f00:1::] [::] [fe80::1] [fe80::1%25eth0]
[fe80::1%eth0] [fd00::1] [ff02::1] [::1]. [::1 ::1] ::1 [[::1]] [1] [] [::g] [v1.fe80::1] 10.0.0.1 192.168.0.1
169.254.169.254 172.16.0.1 100.100.100.200 168.63.129.16 192.0.0.192 0xA9FEA9FE 2852039166 0251.0376.0251.0376
169.254.43518 ①②⑦.⓪.⓪.① １２７.0.0.1 127。0。0。1 127．0．0．1 127｡0｡0｡1
"""
LOCAL_NAMES = """
localhost LOCALHOST localhost. LocalHost.localdomain foo.localhost intranet router printer.local nas.lan
db.internal metadata.google.internal metadata wiki.corp server.home box.home.arpa api.default.svc
api.default.svc.cluster.local x.intranet y.private ip6-localhost kubernetes
"""
BAD_HOSTS = """
-a.example a-.example a..example .a.example exa_mple-.com xn--.example xn--a.example xn--\u0430.example
ex%61mple.org example.com%2f example.com%00 %6c%6f%63%61%6c%68%6f%73%74 \u212aestrel.example
\uff4c\uff4f\uff43\uff41\uff4c.example \u24d4xample.com a。example ex*mple.org a,b.example a;b.example
exam'ple.org {a}.example a|b.example "a".example example.com:x example.com:-1 example.com:80:80
example.com:999999 example.com:８\uff10 <a>.example ^.example `.example \u200dexample-.com ex\u2260mple.org
"""


@each("host", LOOPBACK_SPELLINGS.split())
def test_no_spelling_of_an_inner_address_is_submittable(host: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_url(f"http://{host}/", NOTHING)
    assert refused.value.reason in ("blocked_address", "bad_host", "local_name", "url_has_credentials")


@each("host", LOCAL_NAMES.split())
def test_names_of_a_local_network_are_refused(host: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_url(f"https://{host}/x", FetchAllow.parse("0.0.0.0/0, ::/0"))
    assert refused.value.reason == "local_name"


@each("host", BAD_HOSTS.split())
def test_hosts_that_are_no_names_are_refused(host: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_url(f"https://{host}/", NOTHING)
    assert refused.value.reason in ("bad_host", "malformed_url", "forbidden_character")


@each(
    ("url", "reason"),
    [
        ("", "unsupported_scheme"),
        ("example.org", "unsupported_scheme"),
        ("//example.org/", "unsupported_scheme"),
        ("/etc/passwd", "unsupported_scheme"),
        ("ftp://example.org/", "unsupported_scheme"),
        ("file:///etc/passwd", "unsupported_scheme"),
        ("gopher://example.org/", "unsupported_scheme"),
        ("javascript:alert(1)", "unsupported_scheme"),
        ("data:text/html,x", "unsupported_scheme"),
        ("hxxp://example.org/", "unsupported_scheme"),
        ("view-source:http://example.org/", "unsupported_scheme"),
        ("http:example.org", "malformed_url"),
        ("http:/example.org", "malformed_url"),
        ("http:", "malformed_url"),
        ("http://", "bad_host"),
        ("http:///example.org", "bad_host"),
        ("http://?x", "bad_host"),
        ("http://#x", "bad_host"),
        ("http://:80/", "bad_host"),
        ("http://example.org:0/", "malformed_url"),
        ("http://example.org:65536/", "malformed_url"),
        ("http://example.org:8080/", "blocked_port"),
        ("https://example.org:22/", "blocked_port"),
        ("http://1.1.1.1:8080/", "blocked_port"),
        ("http://user@example.org/", "url_has_credentials"),
        ("http://user:pass@example.org/", "url_has_credentials"),
        ("http://example.org@127.0.0.1/", "url_has_credentials"),
        ("http://@example.org/", "url_has_credentials"),
        (" http://example.org/", "forbidden_character"),
        ("http://example.org/\n", "forbidden_character"),
        ("http://example.org/a b", "forbidden_character"),
        ("http://example.org/\r\nHost: x", "forbidden_character"),
        ("http://example.org/\x00", "forbidden_character"),
        ("http://example.org\\@127.0.0.1/", "forbidden_character"),
        ("http:\\\\example.org/", "forbidden_character"),
        ("http://example.org/\u202egpj.exe", "forbidden_character"),
        ("http://exa\u200bmple.org/", "forbidden_character"),
        ("http://exa\u00admple.org/", "forbidden_character"),
        ("http://example.org/\u00a0", "forbidden_character"),
        ("http://example.org/\ud800", "forbidden_character"),
        ("http://example.org/\x7f", "forbidden_character"),
        ("http://" + "a." * 130 + "example/", "bad_host"),
        ("http://" + "a" * 64 + ".example/", "bad_host"),
        ("http://example.org/" + "a" * LONGEST_URL, "url_too_long"),
    ],
)
def test_a_refusal_says_why(url: str, reason: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_url(url, NOTHING)
    assert refused.value.reason == reason
    assert refused.value.detail.endswith(".")


@each(
    ("url", "read_as"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTPS://Example.ORG:443/Path?Q=1#part", "https://example.org/Path?Q=1"),
        ("http://example.org:80", "http://example.org/"),
        ("https://example.org:/", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("http://example.org./a", "http://example.org/a"),
        ("http://example.org?q", "http://example.org/?q"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://пример.рф/отчёт", "http://xn--e1afmkfd.xn--p1ai/%D0%BE%D1%82%D1%87%D1%91%D1%82"),
        ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
        ("http://my_blog.example.org/", "http://my_blog.example.org/"),
        ("http://r3---sn-x.example.org/", "http://r3---sn-x.example.org/"),
        ("http://8.8.8.8/x", "http://8.8.8.8/x"),
        ("http://[2606:4700:0:0::1111]/", "http://[2606:4700::1111]/"),
        ("http://1.example.com/", "http://1.example.com/"),
        ("http://0x7f.example.com/", "http://0x7f.example.com/"),
        ("http://localhost.example.com/", "http://localhost.example.com/"),
        ("http://example.org/a//b/../c;d?x=[1]|'2'&y=%41%zz", "http://example.org/a//b/../c;d?x=[1]|'2'&y=%41%zz"),
        ("http://example.org/https://other.example/", "http://example.org/https://other.example/"),
        ("http://example.org/user@home", "http://example.org/user@home"),
    ],
)
def test_a_good_url_is_read_once_and_for_all(url: str, read_as: str) -> None:
    assert str(check_url(url, NOTHING)) == read_as
    assert str(check_url(read_as, NOTHING)) == read_as


def test_the_longest_url_is_submittable() -> None:
    url = "http://example.org/" + "a" * (LONGEST_URL - 19)
    assert str(check_url(url, NOTHING)) == url


def test_an_allowed_network_opens_all_its_ports_for_addresses() -> None:
    allow = FetchAllow.parse("127.0.0.0/8")
    assert check_url("http://127.0.0.1:49152/x", allow).port == 49152
    with pytest.raises(RefusedUrl):
        check_url("http://10.0.0.1:49152/x", allow)


@each("allowed", ["172.16.0.0/12", "127.0.0.1:9, 10.0.0.1:8080", "[::1]:8080"])
def test_the_port_of_a_name_is_left_to_its_address_where_an_exemption_opens_that_port(allowed: str) -> None:
    url = check_url("http://pages.example.net:8080/", FetchAllow.parse(allowed))
    assert url.authority == "pages.example.net:8080"


@each("allowed", ["", "127.0.0.1:8081", "10.0.0.1:80, [::1]:443"])
def test_a_port_of_a_name_that_no_exemption_opens_is_refused(allowed: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_url("http://pages.example.net:8080/", FetchAllow.parse(allowed))
    assert refused.value.reason == "blocked_port"
