"""The packaged warning lists: what is on them, and what is not."""

from __future__ import annotations

from ipaddress import IPv4Address

from intel.records import IOC_TYPES
from intel.warninglists import WarningList, compiled, is_packaged, packaged_lists, packaged_warnings, to_json
from intel.warninglists.lists import Subject, from_json
from tests.cases import each


@each(
    ("type", "value", "name"),
    [
        ("ip", "8.8.8.8", "public resolvers"),
        ("ip", "2606:4700:4700::1111", "public resolvers"),
        ("ip", "10.1.2.3", "Reserved IP range"),
        ("ip", "104.16.3.4", "Cloudflare"),
        ("url", "http://104.16.3.4:8080/x", "Cloudflare"),
        ("domain", "google.com", "top sites"),
        ("domain", "docs.google.com", "Microsoft and Google"),
        ("url", "https://bit.ly/abc", "URL shorteners"),
        ("domain", "evil.duckdns.org", "dynamic DNS"),
        ("url", "https://cdn.discordapp.com/attachments/1/2/a.exe", "file sharing and hosting"),
        ("domain", "app.any.run", "malware analysis"),
        ("domain", "api.ipify.org", "own address"),
        ("email", "someone@mailinator.com", "disposable mailboxes"),
        ("hash_md5", "d41d8cd98f00b204e9800998ecf8427e", "empty files"),
        ("hash_sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709", "empty files"),
        ("hash_sha256", "275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f", "EICAR"),
    ],
)
def test_what_is_widely_used_stands_on_a_list(type: str, value: str, name: str) -> None:
    found = dict(packaged_warnings(type, value))
    assert found[name]
    assert is_packaged(type, value)


@each("type", IOC_TYPES)
def test_one_question_tells_what_asking_every_list_does(type: str) -> None:
    hosts = [host for one in packaged_lists() for host in sorted(one.hosts)[:40]]
    values = [value for one in packaged_lists() for value in sorted(one.values)[:40]]
    networks = [str(IPv4Address(first)) for one in packaged_lists() for first in one.v4.firsts[:40]]
    asked = [*hosts, *values, *networks, "evil.example", "203.0.113.7", "2001:db8::1"]
    made = {"url": "http://{}/a", "email": "someone@{}"}.get(type, "{}")
    for value in (*map(made.format, asked), *(made.format(f"below.{host}") for host in hosts)):
        assert is_packaged(type, value) == bool(packaged_warnings(type, value)), value


@each(
    ("type", "value"),
    [
        ("domain", "evil.example"),
        ("domain", "notgoogle.com.evil.example"),
        ("domain", "agoogle.comx"),
        ("url", "https://evil.example/google.com/8.8.8.8"),
        ("ip", "185.220.101.4"),
        ("email", "someone@google.com"),
        ("hash_md5", "44d88612fea8a8f36de82e1278abb020"),
        ("cve", "CVE-2024-3400"),
        ("malware", "Emotet"),
    ],
)
def test_nothing_else_does(type: str, value: str) -> None:
    assert packaged_warnings(type, value) == ()


def test_every_list_has_a_name_of_its_own_and_a_reason() -> None:
    lists = packaged_lists()
    assert len({one.name for one in lists}) == len(lists) >= 20
    assert all(one.reason and (one.hosts or one.values or one.v4.firsts) for one in lists)


def test_networks_are_merged_and_kept_exactly() -> None:
    entries = ["10.0.0.0/25", "10.0.0.128/25", "10.0.2.7", "nonsense", "2001:db8::/32", "10.0.0.7/30"]
    one = compiled("n", "r", "network", entries)
    assert (*one.v4.firsts,) == (0x0A000000, 0x0A000207)
    assert (*one.v4.lasts,) == (0x0A0000FF, 0x0A000207)
    assert from_json(to_json(one)) == one
    held = [ip for ip in ("9.255.255.255", "10.0.0.0", "10.0.0.255", "10.0.1.0", "10.0.2.7") if _holds(one, ip)]
    assert held == ["10.0.0.0", "10.0.0.255", "10.0.2.7"]
    assert _holds(one, "2001:db8:ffff::1") and not _holds(one, "2001:db9::")


def _holds(one: WarningList, ip: str) -> bool:
    return one.holds(Subject.of("ip", ip))


def test_a_host_stands_for_all_below_it_and_a_value_for_itself() -> None:
    hosts = compiled("h", "r", "host", [".Shared.example"])
    values = compiled("v", "r", "value", ["shared.example"])
    below = Subject.of("url", "https://a.shared.example/x")
    assert hosts.holds(below) and not values.holds(below)
    assert hosts.holds(Subject.of("domain", "shared.example")) and values.holds(Subject.of("domain", "shared.example"))
    assert not hosts.holds(Subject.of("domain", "unshared.example"))
