"""What holds for every text: what was disarmed is read back, values are canonical, offsets point at the spelling."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from ingest.indicators import document_from_html, document_from_text, extract
from ingest.indicators.candidate_records import candidate_records
from intel.canonical import canonical, defang
from intel.names import is_technique
from intel.suffixes import is_shared_suffix
from tests.examples import examples

DOTS = (
    "[.]",
    "(.)",
    "{.}",
    "[dot]",
    "(dot)",
    "[DOT]",
    "{dot}",
    "[[.]]",
    "[.",
    ".]",
    "\\.",
    "\\[.\\]",
    " [.]",
    " [dot] ",
)
ATS = ("[@]", "(at)", "[at]", "[AT]", "{at}", " [at] ", "(@)")
SCHEMES = (
    "hxxp{s}://", "hXXp{s}://", "HXXP{s}://", "h**p{s}://", "htxp{s}://", "http{s}[:]//", "http{s}[://]",
    "http{s}:[//]", "http{s}(:)//", "hxxp{s}[:]//", "http{s}:\\\\", "meow{s}://",
)  # fmt: skip
FRAMES = ("{}", "It asked {} then.", "- {}", "`{}`", "| {} | x |", "({})", "“{}”", "seen: {}, and no more", "\t{}\t")
TOPS = ("com", "net", "org", "ru", "info", "co.uk", "xyz", "top", "onion", "com.br", "online")

SAME_EVERY_RUN = settings(derandomize=True, database=None)

labels = st.from_regex(r"[a-z][a-z0-9]{1,9}(-[a-z0-9]{1,6})?", fullmatch=True)
# Names such as `x0.com` are suffixes that many share, which disarmed are none's.
domains = st.builds(
    lambda names, top: ".".join([*names, top]), st.lists(labels, min_size=1, max_size=3), st.sampled_from(TOPS)
).filter(lambda domain: not is_shared_suffix(domain))
octets = st.integers(1, 254)
# From a block that is anybody's.
addresses = st.builds(lambda a, b, c: f"45.{a}.{b}.{c}", octets, octets, octets)
paths = st.from_regex(r"(/[a-z0-9_]{0,7}[a-z0-9]){1,3}(\.php|/)?(\?[a-z]{1,4}=[A-Za-z0-9]{1,8})?", fullmatch=True)
mailboxes = st.from_regex(r"[a-z][a-z0-9]{1,8}([._][a-z0-9]{1,6})?", fullmatch=True)
hexadecimal = st.text("0123456789abcdef", min_size=64, max_size=64)
frames = st.sampled_from(FRAMES)
dots = st.sampled_from(DOTS)


def found_in(text: str) -> set[str]:
    return {f"{each.type} {each.value}" for each in extract(document_from_text(text)).indicators}


@given(domains, dots, frames)
@SAME_EVERY_RUN
def test_a_disarmed_domain_is_read_back(domain: str, dot: str, frame: str) -> None:
    assert f"domain {domain}" in found_in(frame.replace("{}", domain.replace(".", dot)))


@given(domains, dots, frames)
@SAME_EVERY_RUN
def test_one_disarmed_dot_disarms_the_whole_domain(domain: str, dot: str, frame: str) -> None:
    head, _, top = domain.rpartition(".")
    assert f"domain {domain}" in found_in(frame.replace("{}", f"{head}{dot}{top}"))


@given(addresses, dots, frames, st.sampled_from(("", ":443", "[:]8080")))
@SAME_EVERY_RUN
def test_a_disarmed_address_is_read_back(address: str, dot: str, frame: str, port: str) -> None:
    assert f"ip {address}" in found_in(frame.replace("{}", address.replace(".", dot) + port))


@given(
    st.booleans(),
    st.one_of(domains, addresses),
    paths,
    st.sampled_from(SCHEMES),
    st.sampled_from((".", *DOTS[:8])),
    frames,
)
@SAME_EVERY_RUN
def test_a_disarmed_url_is_read_back_with_its_host(
    secure: bool, host: str, path: str, scheme: str, dot: str, frame: str
) -> None:
    found = found_in(frame.replace("{}", scheme.format(s="s" * secure) + host.replace(".", dot) + path))
    assert f"url http{'s' * secure}://{host}{path}" in found
    assert f"{'ip' if host[0].isdigit() else 'domain'} {host}" in found


@given(mailboxes, domains, st.sampled_from(ATS), st.sampled_from((".", *DOTS[:8])), frames)
@SAME_EVERY_RUN
def test_a_disarmed_mailbox_is_read_back(local: str, domain: str, at: str, dot: str, frame: str) -> None:
    assert f"email {local}@{domain}" in found_in(frame.replace("{}", f"{local}{at}{domain.replace('.', dot)}"))


@given(hexadecimal, st.sampled_from((("hash_md5", 32), ("hash_sha1", 40), ("hash_sha256", 64))), st.booleans(), frames)
@SAME_EVERY_RUN
def test_a_hash_is_read_in_either_case(digits: str, kind: tuple[str, int], upper: bool, frame: str) -> None:
    type, length = kind
    value = digits[:length]
    assume(not value.isdigit())
    assert found_in(frame.replace("{}", value.upper() if upper else value)) == {f"{type} {value}"}


@given(
    st.integers(1999, 2031), st.integers(1000, 9_999_999), st.sampled_from("-\u2010\u2011\u2012\u2013\u2014_"), frames
)
@SAME_EVERY_RUN
def test_a_cve_is_read_with_any_dash(year: int, number: int, dash: str, frame: str) -> None:
    assert found_in(frame.replace("{}", f"CVE{dash}{year}{dash}{number}")) == {f"cve CVE-{year}-{number}"}


@given(st.integers(1000, 1700), st.one_of(st.none(), st.integers(1, 20)), frames)
@SAME_EVERY_RUN
def test_a_technique_is_read_where_it_exists(number: int, part: int | None, frame: str) -> None:
    value = f"T{number}" if part is None else f"T{number}.{part:03}"
    assert found_in(frame.replace("{}", value)) == ({f"mitre_attack {value}"} if is_technique(value) else set())


# Pieces of which most texts of this kind are made, and what may go wrong between them.
PIECES = st.sampled_from((
    "evil-tarn[.]com", "hxxps://evil-tarn[.]com/a?b=c", "45.1.2[.]3:443", "drop[at]evil-tarn[.]com", "T1059.001",
    "CVE-2021-34473/34523", "d41d8cd98f00b204e9800998ecf8427e", "Emotet", "Cobalt Strike", "setup.py", "http://",
    "://", "[.]", "(.)", "[", "]", "(", ")", ".", "@", "\\", "/", ":", " ", "  ", "\n", "\t", "|", ",", ";", "'", '"',
    "`", "<", ">", "&", "%3A%2F%2F", "\u200b", "\u00ad", "\u2011", "\ue001", "\ud800", "\x00", "移动", "рф", "é",
    "xn--", "dot", "at", "IOCs:\n", "References\n", "1.2.3.4", "2001:db8::1", "[:]", "hxxp", "a", "-", "_", "=",
    "ransomware", "Play",
))  # fmt: skip
texts = st.lists(PIECES, max_size=40).map("".join)


@given(texts)
@example("\ud800evil-tarn[.]com\ud800")
@settings(SAME_EVERY_RUN, max_examples=examples(300))
def test_values_are_canonical_and_offsets_point_at_the_spelling(text: str) -> None:
    extraction = extract(document_from_text(text))
    for indicator in extraction.indicators:
        assert text[indicator.start : indicator.end] == indicator.spelling != ""
        assert canonical(indicator.type, indicator.value) == indicator.value
        assert indicator.occurrences[0] == (indicator.start, indicator.end)
    for record in candidate_records(extraction).records:
        assert text[record["start"] : record["end"]] == record["spelling"] != ""
    positions = [indicator.start for indicator in extraction.indicators]
    assert positions == sorted(positions)


@given(texts)
@settings(SAME_EVERY_RUN, max_examples=examples(150))
def test_what_was_found_is_found_again_in_a_disarmed_list_of_it(text: str) -> None:
    # A disarmed `setup[.]py` is a file; plain, among hosts, it may be one.
    found = {each for each in found_in(text) if not each.startswith("malware ") and not each.endswith(".py")}
    written = "\n".join(defang(*each.split(" ", 1)) for each in sorted(found))
    assert found <= found_in(written)


@given(texts)
@settings(SAME_EVERY_RUN, max_examples=examples(150))
def test_a_page_is_read_without_an_exception_and_its_offsets_hold(text: str) -> None:
    document = document_from_html(f"<html><body><p>{text}</p><pre>{text}</pre></body></html>")
    for indicator in extract(document).indicators:
        assert document.text[indicator.start : indicator.end] == indicator.spelling
