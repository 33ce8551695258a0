from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.limits.client_address import client_address, network_of
from tests.cases import each

LOOPBACK = (ip_network("127.0.0.0/8"),)
TWO_PROXIES = (ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8"), ip_network("2001:db8:ffff::/48"))


@pytest.mark.promise("settings.trusted-proxies")
def test_without_trusted_proxies_x_forwarded_for_has_no_say() -> None:
    seen = {client_address("192.0.2.1", [f"203.0.113.{n}"], ()) for n in range(100)}
    assert seen == {"192.0.2.1"}


def test_a_peer_outside_the_trusted_networks_has_no_say() -> None:
    assert client_address("192.0.2.1", ["203.0.113.7"], LOOPBACK) == "192.0.2.1"


@pytest.mark.promise("settings.trusted-proxies")
@each(
    ("forwarded_for", "client"),
    [
        ([], "127.0.0.1"),
        (["203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, 10.0.0.9"], "203.0.113.7"),
        (["203.0.113.7, 10.0.0.9", "2001:db8:ffff::1,127.0.0.2"], "203.0.113.7"),
        (["10.0.0.8, 10.0.0.9"], "10.0.0.8"),
    ],
)
def test_the_client_is_the_first_untrusted_address_from_the_right(forwarded_for: list[str], client: str) -> None:
    assert client_address("127.0.0.1", forwarded_for, TWO_PROXIES) == client


@each("bad", ["", "unknown", "_hidden", "203.0.113", "203.0.113.007", "1" * 5_000, "\x00", "::g"])
def test_a_malformed_entry_ends_the_walk_at_the_last_good_address(bad: str) -> None:
    assert client_address("127.0.0.1", [f"203.0.113.7, {bad}, 10.0.0.9"], TWO_PROXIES) == "10.0.0.9"


@each(
    ("written", "client"),
    [
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:db8:1:2::1]:443", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("64:ff9b::203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_addresses_are_read_in_every_form_that_proxies_write(written: str, client: str) -> None:
    assert client_address("127.0.0.1", [written], LOOPBACK) == client


@pytest.mark.promise("limits.who.ipv6-64")
def test_a_thousand_addresses_in_one_ipv6_network_are_one_client() -> None:
    base = int(ip_address("2001:db8:1:2::"))
    seen = {client_address(str(ip_address(base + n * 7_919_000_003)), [], ()) for n in range(1_000)}
    assert seen == {"2001:db8:1:2::/64"}


def test_the_next_ipv6_network_is_another_client() -> None:
    assert client_address("2001:db8:1:3::1", [], ()) == "2001:db8:1:3::/64"


def test_a_trusted_proxy_is_known_by_its_mapped_address_too() -> None:
    assert client_address("::ffff:127.0.0.1", ["203.0.113.7"], LOOPBACK) == "203.0.113.7"


def test_a_translated_address_is_not_taken_for_a_trusted_proxy() -> None:
    assert client_address("64:ff9b::127.0.0.1", ["203.0.113.7"], LOOPBACK) == "127.0.0.1"


@each("peer", [None, "", "/run/ioc.sock"])
def test_a_peer_without_an_address_is_unknown(peer: str | None) -> None:
    assert client_address(peer, ["203.0.113.7"], LOOPBACK) == "unknown"


@each(
    ("peer", "network"),
    [
        ("203.0.113.7", "203.0.113.0/24"),
        ("2001:db8:1:2ff::1", "2001:db8:1:200::/56"),
        ("::ffff:203.0.113.9", "203.0.113.0/24"),
        ("", "unknown"),
    ],
)
def test_a_network_is_the_24_of_ipv4_and_the_56_of_ipv6(peer: str, network: str) -> None:
    assert network_of(client_address(peer, [], ())) == network


@pytest.mark.slow
@given(st.lists(st.text()))
def test_no_header_is_an_error(forwarded_for: list[str]) -> None:
    assert client_address("127.0.0.1", forwarded_for, LOOPBACK)
