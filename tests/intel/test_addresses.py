"""Addresses as bytes: exactly what `ipaddress` takes for one."""

from __future__ import annotations

import ipaddress

from intel.addresses import packed_address
from tests.cases import each

TEXTS = (
    "198.51.100.7", "0.0.0.0", "255.255.255.255", "256.1.1.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.004",
    "1.2.3.4 ", "1.2.3.4\n", "1.2.3.+4", "1..3.4", "0x7f.0.0.1", "2130706433", "1.2.3.4/32", "１.2.3.4", "1.2.3.4\0",
    "\ud800.1.1.1", "::", "::1", "2001:db8::7", "2001:DB8:0:0:0:0:0:7", "::ffff:198.51.100.7", "fe80::1%eth0",
    "1:2:3:4:5:6:7", "12345::", "[::1]", ":::", "", "evil.example", "a.b.c.d",
)  # fmt: skip


@each("text", TEXTS, ids=ascii)
def test_an_address_is_what_the_standard_library_takes_for_one(text: str) -> None:
    try:
        expected = ipaddress.ip_address(text).packed
    except ValueError:
        expected = None
    assert packed_address(text) == expected
