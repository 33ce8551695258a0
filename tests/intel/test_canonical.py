"""One spelling for every indicator, whoever spells it."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from intel.canonical import canonical, canonical_ip, canonical_url, defang, readings, refang
from intel.errors import NotAnIndicator
from intel.names import malware_name
from intel.records import IOC_TYPES
from tests.cases import each
from tests.examples import examples

MD5 = "3F2A90C1D4B7E85609F1A2C3B4D5E6F7"
ANYTHING = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="abehtpsx.:/[]()@-_%#? 0129T{}\\\u200b\ud800éß移。", max_size=60),
    st.from_regex(r"(h(tt|xx)ps?://)?[a-z0-9.\[\]-]{1,20}(:[0-9]{1,6})?(/[!-~]{0,10})?", fullmatch=True),
)


@pytest.mark.promise("records.canonical")
@each(
    ("type", "raw", "expected"),
    [
        ("domain", "Evil[.]Example", "evil.example"),
        ("domain", "evil.example.", "evil.example"),
        ("domain", "пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("domain", "evil。example", "evil.example"),
        ("domain", " evil(dot)example ", "evil.example"),
        ("domain", "_dmarc.evil.example", "_dmarc.evil.example"),
        ("domain", "ev\u200bil[.]example", "evil.example"),
        ("ip", "198.51.100[.]7", "198.51.100.7"),
        ("ip", "10.0.0.1:8080", "10.0.0.1"),
        ("ip", "198.51.100.7/32", "198.51.100.7"),
        ("ip", "2001:0DB8:0::7", "2001:db8::7"),
        ("ip", "[2001:db8::7]:443", "2001:db8::7"),
        ("ip", "2001:DB8:0:0:1:0:0:7", "2001:db8::1:0:0:7"),
        ("ip", "::FFFF:1.2.3.4", "::ffff:1.2.3.4"),
        ("ip", "0:0::1.2.3.4", "::102:304"),
        ("ip", "2001[:]db8[:][:]7", "2001:db8::7"),
        ("ip", "::FFFF:198.51.100.7", "::ffff:198.51.100.7"),
        ("hash_md5", f" {MD5} ", MD5.lower()),
        ("hash_sha1", MD5 + "00112233", (MD5 + "00112233").lower()),
        ("hash_sha256", MD5 * 2, (MD5 * 2).lower()),
        ("cve", "cve-2024-3400", "CVE-2024-3400"),
        ("cve", "CVE 2024‑3400", "CVE-2024-3400"),
        ("mitre_attack", "t1059.001", "T1059.001"),
        ("mitre_attack", "T1059/001", "T1059.001"),
        ("email", "Drop[at]EVIL[.]example", "Drop@evil.example"),
        ("email", "mailto:drop@evil.example", "drop@evil.example"),
        ("url", "hxxps://EVIL[.]example:443/A?b=C#d", "https://evil.example/A?b=C#d"),
        ("url", "HTTP://evil.example:80", "http://evil.example"),
        ("url", "http://evil.example:8080/", "http://evil.example:8080/"),
        ("url", "http[:]//evil[.]example[/]a", "http://evil.example/a"),
        ("url", "meow://evil[.]example/a", "http://evil.example/a"),
        ("url", "fxp://evil[.]example/a", "ftp://evil.example/a"),
        ("url", "h__ps__evil[.]example/a", "https://evil.example/a"),
        ("url", "evil[.]example/a(at)b", "http://evil.example/a(at)b"),
        ("url", "http://bob:pw@evil.example/", "http://bob:pw@evil.example/"),
        ("url", "http://[2001:DB8::7]:8080/", "http://[2001:db8::7]:8080/"),
        ("malware", "  geodo ", "Geodo"),
        ("malware", "Kestrel   Loader 9", "Kestrel Loader 9"),
    ],
)
def test_every_spelling_has_one_canonical_form(type: str, raw: str, expected: str) -> None:
    assert canonical(type, raw) == expected
    assert canonical(type, expected) == expected


@each(
    ("type", "raw"),
    [
        ("domain", "evil"),
        ("domain", "evil..example"),
        ("domain", "-evil.example"),
        ("domain", "evil.123"),
        ("domain", f"{'a' * 64}.example"),
        ("domain", ".".join(["abcdefgh"] * 32)),
        ("ip", "256.1.1.1"),
        ("ip", "1.2.3"),
        ("ip", "198.51.100.0/24"),
        ("ip", "fe80::1%eth0"),
        ("hash_md5", "3f2a"),
        ("hash_md5", "z" * 32),
        ("cve", "CVE-24-1"),
        ("mitre_attack", "T105"),
        ("email", "drop@"),
        ("email", "two words@evil.example"),
        ("url", "http://"),
        ("url", "http://localhost/"),
        ("url", "http://evil.example:99999/"),
        ("url", "http://evil.example/a b"),
        ("url", "198.51.100.0/24"),
        ("malware", ""),
        ("malware", "a" * 201),
        ("malware", "bell\x07"),
        ("sha512", "a"),
        ("url", "http://evil.example/" + "a" * 5000),
    ],
)
def test_what_is_no_indicator_is_refused_with_its_type(type: str, raw: str) -> None:
    with pytest.raises(NotAnIndicator) as refusal:
        canonical(type, raw)
    assert (refusal.value.type, refusal.value.raw) == (type, raw)


USUAL = st.one_of(
    st.from_regex(r"(https?://)?[a-z0-9-]{1,8}(\.[a-z0-9-]{1,6}){1,3}(/[aA-T_./?#=-]{0,9}){0,2}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9]{1,3}(\.[0-9]{1,3}){3}", fullmatch=True),
)


@given(USUAL)
@example("https://evil.example/a//b")
@example("https://evil.example/AT/b")
@example("https://evil.example/a__b")
@example("https://evil.example/a/")
@example("https://evil.ex4/a")
@example("http://evil.example/")
@example("t1059.001")
@example("emotet.com")
@settings(max_examples=examples(1_000))
def test_what_is_asked_for_as_it_is_stored_reads_as_what_is_asked_for_in_any_other_way(raw: str) -> None:
    assert readings(raw) == readings(f"{raw} ")


@given(st.sampled_from(IOC_TYPES), ANYTHING)
@settings(max_examples=examples(500))
def test_a_canonical_form_is_its_own_and_nothing_else_is_raised(type: str, raw: str) -> None:
    try:
        value = canonical(type, raw)
    except NotAnIndicator:
        return
    assert canonical(type, value) == value


@given(ANYTHING)
@example("mailto://drop@evil.example")
@example("https://drop@evil.example/AT/a")
@example("ftp://198.51.100.7//a")
@settings(max_examples=examples(500))
def test_a_string_reads_as_its_canonical_forms_and_as_malware_of_a_list_alone(raw: str) -> None:
    read = dict(readings(raw))
    for type in set(IOC_TYPES) - {"malware"}:
        assert read.get(type) is None or canonical(type, raw) in {value for of, value in readings(raw) if of == type}
        if type not in read and raw.strip():
            with pytest.raises(NotAnIndicator):
                canonical(type, raw)
    assert read.get("malware") == malware_name(read.get("malware", ""))


@pytest.mark.slow
@given(ANYTHING)
@example("0[.")
@settings(max_examples=examples(500))
def test_what_is_written_plainly_reads_the_same_beside_what_is_not(raw: str) -> None:
    # An open bracket at the end keeps every pattern at work and means nothing to any of them.
    assert refang(raw + "\n\n(") == refang(raw) + "\n\n("


@given(st.one_of(st.ip_addresses().map(str), st.text(alphabet="0123456789./:", max_size=20)))
@settings(max_examples=examples(300))
def test_an_address_is_what_the_standard_library_reads(raw: str) -> None:
    try:
        address = ip_address(raw)
    except ValueError:
        return
    mapped = address.ipv4_mapped if address.version == 6 else None
    assert canonical_ip(raw) == (f"::ffff:{mapped}" if mapped else str(address))


@given(st.sampled_from(IOC_TYPES), ANYTHING)
@settings(max_examples=examples(300))
def test_a_defanged_value_reads_as_the_value(type: str, raw: str) -> None:
    try:
        value = canonical(type, raw)
    except NotAnIndicator:
        return
    assert canonical(type, defang(type, value)) == value


@each(
    ("type", "value", "shown"),
    [
        ("domain", "cdn.evil.example", "cdn[.]evil[.]example"),
        ("ip", "198.51.100.7", "198[.]51[.]100[.]7"),
        ("ip", "2001:db8::7", "2001[:]db8[:][:]7"),
        ("url", "https://evil.example/a.php", "hxxps://evil[.]example/a.php"),
        ("url", "ftp://evil.example/", "fxp://evil[.]example/"),
        ("email", "drop@evil.example", "drop[@]evil[.]example"),
        ("hash_md5", MD5.lower(), MD5.lower()),
        ("malware", "Agent.btz", "Agent.btz"),
    ],
)
def test_values_are_shown_so_that_nobody_clicks_them(type: str, value: str, shown: str) -> None:
    assert defang(type, value) == shown
    assert refang(shown) == value


@each(
    ("raw", "expected"),
    [
        ("evil[.]example", (("domain", "evil.example"),)),
        ("geodo", (("malware", "Geodo"), ("malware", "Emotet"), ("malware", "Feodo Version C"))),
        (MD5, (("hash_md5", MD5.lower()),)),
        ("CVE 2024-3400", (("cve", "CVE-2024-3400"),)),
        ("t1059", (("mitre_attack", "T1059"),)),
        ("192.168.1[.]5", (("ip", "192.168.1.5"),)),
        ("drop[at]evil[.]example", (("email", "drop@evil.example"),)),
        ("hxxps://evil[.]example/a", (("url", "https://evil.example/a"),)),
        ("http://evil.example", (("url", "http://evil.example"), ("url", "http://evil.example/"))),
        ("evil.example/a", (("url", "http://evil.example/a"), ("url", "https://evil.example/a"))),
        ("198.51.100.0/24", ()),
        ("two words", ()),
        ("", ()),
        ("  ", ()),
        ("a" * 5000, ()),
    ],
)
def test_a_pasted_string_is_read_as_all_that_it_may_mean(raw: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert readings(raw) == expected


@given(ANYTHING)
@settings(max_examples=examples(300))
def test_no_string_breaks_the_reading(raw: str) -> None:
    for type, value in readings(raw):
        assert canonical(type, value) == value


@each(
    ("url", "expected"),
    [
        ("HTTPS://Blog.Example:443/Storm?utm_source=a&id=7&fbclid=x#top", "https://blog.example/Storm?id=7"),
        ("http://blog.example", "http://blog.example/"),
        ("http://blog.example/?", "http://blog.example/"),
        ("https://müller.example/straße?q=ä", "https://xn--mller-kva.example/stra%C3%9Fe?q=%C3%A4"),
        ("https://blog.example/a%2Fb?c=d&c=e", "https://blog.example/a%2Fb?c=d&c=e"),
    ],
)
def test_an_article_is_known_by_its_address_without_what_changes_nothing(url: str, expected: str) -> None:
    assert canonical_url(url) == expected
    assert canonical_url(expected) == expected


@each("url", ["ftp://blog.example/", "blog.example", "http://", "https://blog.example/\ud800", ""])
def test_what_is_no_web_address_has_no_identity(url: str) -> None:
    with pytest.raises(NotAnIndicator):
        canonical_url(url)


@given(ANYTHING)
def test_the_identity_of_an_article_is_its_own(raw: str) -> None:
    try:
        url = canonical_url(raw)
    except NotAnIndicator:
        return
    assert canonical_url(url) == url


def test_a_query_is_refanged_wherever_it_is_disarmed() -> None:
    assert refang("hxxps://evil[.]example/a from 198.51.100[.]7") == "https://evil.example/a from 198.51.100.7"
    assert refang("drop(at)evil[dot]example and evil [dot] example") == "drop@evil.example and evil.example"
    assert refang("nothing disarmed (here) [at all]") == "nothing disarmed (here) [at all]"
