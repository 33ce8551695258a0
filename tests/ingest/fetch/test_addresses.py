from __future__ import annotations

from ipaddress import ip_address

import pytest

from ingest.fetch.addresses import FetchAllow, check_address
from intel.errors import ConfigurationError, RefusedUrl
from tests.cases import each

FORBIDDEN = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
168.63.129.16 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1
255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1
64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:20::1
2001:db8::1 2002:7f00:1:: 2002:a00:1:: 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1
fe80::1%eth0 2606:4700::1111%eth0 fec0::1 ff02::1 ff0e::1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 168.63.129.17 172.15.0.1 172.32.0.1 192.0.1.1
198.17.0.1 198.20.0.1 223.255.255.255 2001:200::1 2001:4860:4860::8888 2606:4700::1111 2a00:1450:4001::200e
3ffe::1
"""


@pytest.mark.promise("promises.public-addresses-only")
@each("address", FORBIDDEN.split())
def test_addresses_outside_the_public_internet_are_refused(address: str) -> None:
    with pytest.raises(RefusedUrl) as refused:
        check_address(ip_address(address), 443, FetchAllow())
    assert refused.value.reason == "blocked_address"
    assert address not in refused.value.detail


@each("address", PUBLIC.split())
def test_public_addresses_are_let_through(address: str) -> None:
    check_address(ip_address(address), 443, FetchAllow())


def test_only_the_two_ports_of_the_web_are_let_through() -> None:
    check_address(ip_address("1.1.1.1"), 80, FetchAllow())
    with pytest.raises(RefusedUrl) as refused:
        check_address(ip_address("1.1.1.1"), 22, FetchAllow())
    assert refused.value.reason == "blocked_port"


@each(
    ("allowed", "address", "port"),
    [
        ("127.0.0.0/8", "127.0.0.1", 9999),
        ("10.0.0.0/8, 127.0.0.0/8", "127.200.0.1", 80),
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[::1]:8080", "::1", 8080),
        ("::1", "::1", 22),
        ("fd00::/8", "fd00::5", 8443),
        (" 10.1.2.3 ,", "10.1.2.3", 1),
        ("1.1.1.1:8443", "1.1.1.1", 8443),
    ],
)
def test_what_the_operator_allows_is_let_through(allowed: str, address: str, port: int) -> None:
    check_address(ip_address(address), port, FetchAllow.parse(allowed))


@pytest.mark.promise("settings.fetch-allow")
@each(
    ("allowed", "address", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8081),
        ("127.0.0.1:8080", "127.0.0.2", 8080),
        ("127.0.0.0/8", "::ffff:127.0.0.1", 80),
        ("127.0.0.0/8", "10.0.0.1", 80),
        ("10.0.0.0/8", "1.1.1.1", 8080),
    ],
)
def test_an_allowance_reaches_no_further_than_it_says(allowed: str, address: str, port: int) -> None:
    with pytest.raises(RefusedUrl):
        check_address(ip_address(address), port, FetchAllow.parse(allowed))


@each("text", ["localhost", "10.0.0.0/33", "10.0.0.1/8", "1.2.3.4:0", "1.2.3.4:70000", "*", "1.2.3:80"])
def test_an_allowance_that_cannot_be_read_names_its_setting(text: str) -> None:
    with pytest.raises(ConfigurationError, match="IOC_FETCH_ALLOW"):
        FetchAllow.parse(text)


def test_no_allowance_is_empty() -> None:
    assert FetchAllow.parse("") == FetchAllow()
    assert FetchAllow.parse("10.0.0.0/8")
