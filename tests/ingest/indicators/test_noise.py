from __future__ import annotations

from ingest.indicators.noise import address_noise, is_known_host, is_reserved_host, warnings
from tests.cases import each


@each("host", ["twitter.com", "www.linkedin.com", "docs.microsoft.com", "us-cert.cisa.gov", "news.gov.uk"])
def test_hosts_that_reports_link_to_are_known(host: str) -> None:
    assert is_known_host(host)


@each("host", ["evil-twitter.com", "twitter.com.evil.ru", "com", "gale-post.com"])
def test_hosts_that_only_look_alike_are_not(host: str) -> None:
    assert not is_known_host(host)


def test_reserved_names_are_told_apart() -> None:
    assert is_reserved_host("www.example.com")
    assert is_reserved_host("evil.example")
    assert not is_reserved_host("example-shop.com")


@each("address", ["127.0.0.1", "10.1.2.3", "169.254.1.1", "224.0.0.1", "0.0.0.0", "::1", "fe80::1", "8.8.8.8"])
def test_addresses_that_are_no_ones_say_nothing(address: str) -> None:
    assert address_noise(address)


@each("address", ["185.220.101.47", "198.51.100.7", "2001:db8::7", "2a0b:1306::9"])
def test_public_and_documentation_addresses_do(address: str) -> None:
    assert address_noise(address) == ""


@each(
    "address",
    ["2001::1", "2001:1ff::1", "2001:0:4137:9e76::7", "ff02::1", "fc00::7", "fe80::7", "::ffff:10.0.0.1", "100::1"],
)
def test_ipv6_addresses_of_blocks_that_are_set_apart_say_nothing(address: str) -> None:
    assert address_noise(address) == "reserved address"


@each("address", ["2001:200::1", "2001:67c:4f8::1", "2003::7", "2a01:4f8::1", "2606:4700:10::7"])
def test_ipv6_addresses_that_are_given_to_networks_do(address: str) -> None:
    assert address_noise(address) == ""


def test_an_indicator_on_a_well_known_host_carries_a_warning() -> None:
    assert [name for name, _ in warnings("url", "https://pastebin.com/raw/a1")] == ["well-known hosts"]
    assert [name for name, _ in warnings("email", "drop@protonmail.com")] == ["mailbox providers"]
    assert [name for name, _ in warnings("domain", "evil.example")] == ["reserved names"]
    assert [name for name, _ in warnings("ip", "10.0.0.1")] == ["addresses"]
    assert warnings("domain", "gale-post.com") == warnings("hash_md5", "a" * 32) == ()
