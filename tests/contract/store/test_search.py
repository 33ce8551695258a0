"""What a search finds, and in which order."""

from __future__ import annotations

from dataclasses import replace

from intel.exact import exact_values
from intel.query import Clause, IocFilter, IocQuery, Position, SearchText, parse_search
from intel.records import Ioc, Sighting
from intel.store.port import Store
from intel.times import to_milliseconds
from tests.contract.store.builders import hour, id_of, make_article, publish, query, search, values


async def test_the_exact_value_comes_first_then_values_then_titles(store: Store) -> None:
    title = "How evil.example was used"
    await publish(store, make_article("a", at=9, source="A", title=title), "ip 192.0.2.9")
    await publish(store, make_article("b", at=8, source="B", title=title), "ip 192.0.2.9")
    await publish(store, make_article("c", at=5), "url http://evil.example/x", "email spam@evil.example")
    await publish(store, make_article("d", at=6), "domain sub.evil.example", "domain not-evil.example")
    await publish(store, make_article("e", at=1), "domain evil.example")
    inside = sorted(["url http://evil.example/x", "email spam@evil.example"], key=id_of)
    expected = ["evil.example", *_same_moment("domain sub.evil.example", "domain not-evil.example")]
    expected += [indicator.partition(" ")[2] for indicator in inside] + ["192.0.2.9"]
    assert await search(store, "evil.example") == expected
    assert await search(store, "hxxp://evil[.]example/x") == ["http://evil.example/x"]


def _same_moment(*indicators: str) -> list[str]:
    return [indicator.partition(" ")[2] for indicator in sorted(indicators, key=id_of)]


async def test_within_a_class_more_sources_then_newest_then_id_come_first(store: Store) -> None:
    await publish(store, make_article("a", at=1, source="A"), "domain evil-one.example")
    await publish(store, make_article("b", at=2, source="B"), "domain evil-one.example")
    await publish(store, make_article("c", at=9, source="A"), "domain evil-two.example")
    await publish(store, make_article("d", at=5), "domain evil-three.example", "domain evil-four.example")
    tied = _same_moment("domain evil-three.example", "domain evil-four.example")
    assert await search(store, "evil") == ["evil-one.example", "evil-two.example", *tied]


async def test_every_word_must_match_in_any_order(store: Store) -> None:
    await publish(store, make_article("a", title="Nothing of note"), "domain evil-corp.example", "domain evil.example")
    assert await search(store, "corp evil") == ["evil-corp.example"]
    assert await search(store, "corp absent") == []


async def test_words_may_match_partly_in_the_value_and_partly_in_titles(store: Store) -> None:
    await publish(store, make_article("a", at=1, title="The loader", source="S"), "domain evil.example", "ip 192.0.2.1")
    await publish(store, make_article("b", at=0, title="Quiet", source="S"), "domain evil-loader.example")
    assert await search(store, "evil loader") == ["evil-loader.example", "evil.example"]
    assert await search(store, "loader example") == ["evil-loader.example", "evil.example"]


async def test_titles_sources_and_malware_names_are_found_in_any_case(store: Store) -> None:
    beside = Sighting("domain", "evil.example", "", ("Cobalt Strike",))
    await publish(store, make_article(title="Über LOADERS", source="Ministry of Truth"), beside)
    for q in ("über loaders", "MINISTRY truth", "cobalt STRIKE", '"cobalt strike"', '"of truth"', "minist*"):
        assert await search(store, q) == ["evil.example"], q
    for q in ("uber", '"strike cobalt"', "inistry", "load", "truth*over"):
        assert await search(store, q) == [], q


async def test_a_title_no_longer_counts_beyond_the_newest_twenty_articles(store: Store) -> None:
    named = Sighting("domain", "evil.example", "", ("Emotet",))
    await publish(store, make_article("oldest", title="Unforgettable", source="Gone"), named)
    for n in range(20):
        assert await search(store, "unforgettable") == ["evil.example"]
        await publish(store, make_article(f"a{n}", at=1 + n, title=f"Part{n}"), "domain evil.example")
    for q in ("unforgettable", "gone", "emotet"):
        assert await search(store, q) == [], q
    assert await search(store, "part0 part19") == ["evil.example"]


async def test_a_phrase_stands_side_by_side_in_one_text(store: Store) -> None:
    await publish(store, make_article("a", title="Loader hits banks", source="Night Watch"), "domain one.example")
    await publish(store, make_article("b", title="Banks and loader", source="Day"), "domain two.example")
    assert await search(store, '"loader hits"') == ["one.example"]
    assert await search(store, '"Banks   AND loader"') == ["two.example"]
    for q in ('"hits loader"', '"loader banks"', '"banks night"', '"watch loader"', '"one loader"', '"example one"'):
        assert await search(store, q) == [], q
    assert set(await search(store, '"loader')) == {"one.example", "two.example"}


async def test_a_phrase_never_spans_two_articles(store: Store) -> None:
    await publish(store, make_article("a", at=1, title="alpha beta", source="gamma"), "domain evil.example")
    await publish(store, make_article("b", at=2, title="delta epsilon", source="gamma"), "domain evil.example")
    for q in ('"beta delta"', '"epsilon alpha"', '"gamma delta"', '"gamma alpha"', '"epsilon gamma"', '"beta gamma"'):
        assert await search(store, q) == [], q
    assert await search(store, '"alpha beta" "delta epsilon"') == ["evil.example"]


async def test_a_phrase_never_spans_two_spellings_of_a_value(store: Store) -> None:
    await publish(store, make_article(title="Quiet"), "domain xn--mnchen-3ya.example")
    assert await search(store, '"example münchen"') == []
    assert await search(store, '"example xn"') == []
    assert await search(store, '"münchen example"') == ["xn--mnchen-3ya.example"]


async def test_a_trailing_star_finds_the_beginning_of_a_word(store: Store) -> None:
    await publish(store, make_article(title="Wiretapping"), "domain evilcorp.example", "domain anevil.example")
    for q in ("evilc*", "EVILC*", "evilcorp*"):
        assert await search(store, q) == ["evilcorp.example"], q
    assert len(await search(store, "wire*")) == 2
    assert await search(store, "vil*") == []
    assert await search(store, "evil") == []
    assert await search(store, "*") == []
    assert await search(store, "*corp") == []


async def test_a_prefix_works_beyond_ascii(store: Store) -> None:
    await publish(store, make_article("a", title="Überraschung für alle"), "domain one.example")
    await publish(store, make_article("b", title="вредоносный код"), "domain two.example")
    assert await search(store, "überr*") == ["one.example"]
    assert await search(store, "Ü*") == ["one.example"]
    assert await search(store, "вред*") == ["two.example"]
    assert await search(store, "u*") == []


async def test_a_domain_finds_what_stands_on_it_or_below(store: Store) -> None:
    below = ["domain a.evil.example", "url https://b.evil.example:8443/p?q=1", "email x@c.evil.example"]
    beside = ["domain evil.example.net", "domain evilexample.net", "url http://other.net/evil"]
    await publish(store, make_article(title="Quiet"), *below, *beside)
    found = await search(store, "evil.example")
    assert found == _same_moment(*below, "domain evil.example.net")
    assert await search(store, "b.evil.example") == ["https://b.evil.example:8443/p?q=1"]


async def test_a_host_matches_whole_labels_only(store: Store) -> None:
    await publish(store, make_article(title="Quiet"), "domain notevil.test", "domain sub.evil.test")
    clause = Clause(hosts=("evil.test",))
    page = await store.iocs.find(IocQuery(text=SearchText("evil.test", (clause,), ())))
    assert values(page) == ["sub.evil.test"]


async def test_an_address_finds_its_urls(store: Store) -> None:
    at = ["url http://198.51.100.7:8080/x", "ip 198.51.100.7", "url http://[2001:db8::7]/y", "ip 2001:db8::7"]
    await publish(store, make_article(title="Quiet"), *at, "ip 198.51.100.70", "ip 2001:db8::70")
    assert await search(store, "198.51.100.7") == ["198.51.100.7", "http://198.51.100.7:8080/x"]
    assert await search(store, "198[.]51[.]100[.]7") == ["198.51.100.7", "http://198.51.100.7:8080/x"]
    assert await search(store, "2001:DB8:0::7") == ["2001:db8::7", "http://[2001:db8::7]/y"]


async def test_a_network_finds_its_addresses(store: Store) -> None:
    inside = ["ip 198.51.100.0", "ip 198.51.100.128", "ip 198.51.100.255"]
    outside = ["ip 198.51.99.255", "ip 198.51.101.0", "url http://198.51.100.1/", "domain a.example", "ip ::c633:6401"]
    await publish(store, make_article(title="Quiet"), *inside, *outside)
    assert await search(store, "198.51.100.0/24") == _same_moment(*inside)
    assert await search(store, "198.51.100.77/24") == _same_moment(*inside)
    assert await search(store, "198.51.100.128/32") == ["198.51.100.128"]
    assert await search(store, "198[.]51[.]100[.]0/25") == ["198.51.100.0"]
    assert len(await search(store, "0.0.0.0/0")) == 5


async def test_a_network_of_version_six_finds_its_addresses(store: Store) -> None:
    inside = ["ip 2001:db8::", "ip 2001:db8::1", "ip 2001:db8:0:0:ffff:ffff:ffff:ffff"]
    await publish(store, make_article(title="Quiet"), *inside, "ip 2001:db8:0:1::", "ip 2001:db7:ffff::1")
    assert await search(store, "2001:db8::/64") == _same_moment(*inside)
    assert await search(store, "2001:db8::1/128") == ["2001:db8::1"]
    assert len(await search(store, "2001:d00::/24")) == 5


async def test_networks_of_both_versions_are_apart(store: Store) -> None:
    await publish(store, make_article(title="Quiet"), "ip 198.51.100.1", "ip 2001:db8::1", "ip c633:6401::")
    assert await search(store, "0.0.0.0/0") == await search(store, "198.51.100.0/24") == ["198.51.100.1"]
    assert await search(store, "::/0") == _same_moment("ip 2001:db8::1", "ip c633:6401::")
    assert await search(store, "::ffff:0:0/96") == []


async def test_a_network_and_words_must_both_match(store: Store) -> None:
    await publish(store, make_article("a", at=1, title="Loader"), "ip 198.51.100.1", "ip 192.0.2.1")
    await publish(store, make_article("b", at=2, title="Quiet"), "ip 198.51.100.2")
    assert await search(store, "198.51.100.0/24 loader") == ["198.51.100.1"]
    assert await search(store, "198.51.100.0/24 192.0.2.0/24") == []
    assert await search(store, "198.51.100.0/24", type="domain") == []
    assert await search(store, "198.51.100.0/24", type="ip") == await search(store, "198.51.100.0/24")
    assert await search(store, "198.51.100.0/24", since=hour(2)) == ["198.51.100.2"]


async def test_a_clause_with_a_network_matches_by_its_other_ways_too(store: Store) -> None:
    await publish(store, make_article("a", at=1, title="Loader"), "domain evil.example")
    await publish(store, make_article("b", at=2, title="Quiet"), "ip 198.51.100.2", "ip 192.0.2.1")
    parsed = parse_search("198.51.100.0/24")
    assert parsed is not None
    clause = replace(parsed.clauses[0], phrases=(("loader",),), ids=(id_of("ip 192.0.2.1"),))
    page = await store.iocs.find(IocQuery(text=replace(parsed, clauses=(clause,))))
    assert values(page) == [*_same_moment("ip 198.51.100.2", "ip 192.0.2.1"), "evil.example"]


async def test_an_international_name_is_found_in_either_spelling(store: Store) -> None:
    name = "xn--mnchen-3ya.example"
    await publish(store, make_article(title="Quiet"), f"domain {name}", "domain munchen.example")
    for q in ("münchen.example", "MÜNCHEN.example", name, "xn--mnchen-3ya[.]example", "münchen", "münch*"):
        assert await search(store, q) == [name], q
    assert await search(store, "munchen") == ["munchen.example"]


async def test_scripts_without_spaces_are_found_by_character(store: Store) -> None:
    await publish(store, make_article("a", title="新型ランサムウェアの分析"), "domain one.example")
    await publish(store, make_article("b", title="析分のランサムウェア型新"), "domain two.example")
    assert await search(store, '"ランサムウェアの分析"') == ["one.example"]
    assert set(await search(store, "分析")) == {"one.example", "two.example"}
    assert await search(store, "恶意") == []


async def test_a_search_that_names_an_indicator_finds_it_whatever_its_words(store: Store) -> None:
    await publish(store, make_article("a", title="Quiet"), "malware CozyCar", "domain cozy-bear.example")
    clauses = (Clause(phrases=(("cozy",),)), Clause(phrases=(("bear",),)))
    text = SearchText("Cozy Bear", clauses, (("malware", "CozyCar"),))
    page = await store.iocs.find(IocQuery(text=text))
    assert (values(page), page.total) == (["CozyCar", "cozy-bear.example"], 2)
    assert values(await store.iocs.find(IocQuery(text=text, filter=IocFilter(types=("domain",))))) == [
        "cozy-bear.example"
    ]


async def test_a_search_without_any_clause_finds_nothing(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    page = await store.iocs.find(IocQuery(text=SearchText("??", (), ())))
    assert (page.items, page.total, page.next) == ((), 0, None)
    empty = await store.iocs.find(IocQuery(text=SearchText("??", (Clause(),), ())))
    assert (empty.items, empty.total, empty.next) == ((), 0, None)


async def test_filters_restrict_a_search_and_its_total(store: Store) -> None:
    await publish(store, make_article("a", at=1, source="A"), "domain evil.example", "url http://evil.example/")
    await publish(store, make_article("b", at=2, source="B"), "domain sub.evil.example")
    assert await search(store, "evil.example", type="domain") == ["evil.example", "sub.evil.example"]
    assert await search(store, "evil.example", source="B") == ["sub.evil.example"]
    assert await search(store, "evil.example", until=hour(1), type="url") == ["http://evil.example/"]
    assert await search(store, "evil.example", since=hour(2)) == ["sub.evil.example"]
    only = (id_of("url http://evil.example/"), id_of("domain other.example"))
    assert await search(store, "evil.example", ids=only) == ["http://evil.example/"]


async def test_a_walk_through_a_search_meets_every_match_once_in_order(store: Store) -> None:
    for n in range(6):
        title = "evil.example again" if n % 2 else "Quiet"
        indicators = (f"domain d{n}.evil.example", "domain common.evil.example", f"ip 192.0.2.{n}")
        await publish(store, make_article(f"a{n}", at=n % 3, source=f"S{n}", title=title), *indicators)
    await publish(store, make_article("exact", at=-1), "domain evil.example")
    whole = await store.iocs.find(query("evil.example", limit=100))
    assert whole.total == len(whole.items) == 11
    walked: list[Ioc] = []
    after = None
    for _ in range(11):
        page = await store.iocs.find(query("evil.example", limit=1, after=after))
        walked += page.items
        after = page.next
    assert after is None
    assert tuple(walked) == whole.items


async def test_a_search_position_holds_class_sources_moment_and_id(store: Store) -> None:
    await publish(store, make_article(at=4), "domain evil.example", "domain sub.evil.example")
    page = await store.iocs.find(query("evil.example", limit=1))
    assert page.next == Position((0, 1, to_milliseconds(hour(4)), id_of("domain evil.example")))


async def test_a_walk_through_a_search_goes_on_with_writes_in_between(store: Store) -> None:
    for n in range(6):
        await publish(store, make_article(f"a{n}", at=n, title="Quiet"), f"domain evil{n}.example")
    first = await store.iocs.find(query("example", limit=3))
    await publish(store, make_article("new", at=99, title="Quiet"), "domain newest.example")
    rest = await store.iocs.find(query("example", limit=3, after=first.next))
    assert values(first) == ["evil5.example", "evil4.example", "evil3.example"]
    assert values(rest) == ["evil2.example", "evil1.example", "evil0.example"]
    assert (rest.total, rest.next) == (None, None)


async def test_words_next_to_a_change_of_title_are_forgotten(store: Store) -> None:
    await publish(store, make_article(title="Before"), "domain evil.example")
    await publish(store, make_article(title="After"), "domain evil.example")
    assert await search(store, "before") == []
    assert await search(store, "after") == ["evil.example"]


HOSTILE = [
    'AND OR NOT NEAR("a b", 5)',
    'value : evil OR rowid:1 ^evil "unclosed',
    '{value article} : "evil" + "corp"',
    "evil~2 ev?l /e.*l/ evil^9 [a TO z] +evil -evil && || ! \\ ( ) { }",
    "'; DROP TABLE iocs; --",
    '" OR 1=1 --',
    '{"match_all": {}}',
    "_exists_:value *:*",
    "%_%",
    "\u202eevilish\u2066 \ufeff \u0301 \U0001f4a9 \ud800",
    "<script>alert(1)</script>",
    "a" * 512,
    "\\" * 512,
    '"' * 511,
    "((((" * 128,
    "".join(chr(0x4E00 + n) for n in range(512)),
    " ".join(chr(0x61 + n % 26) for n in range(256)),
    "a. " * 170,
    "*" * 512,
    "a* " * 170,
    "198.51.100.0/999 ::/129 1.2.3/8 0/0",
]


async def test_nothing_in_a_search_is_an_operator_or_an_error(store: Store) -> None:
    await publish(store, make_article(title="Quiet", source="Silent"), "domain evil.test")
    for q in HOSTILE:
        assert await search(store, q) == [], q
    assert await search(store, "evil.test") == ["evil.test"]


async def test_hostile_text_is_stored_and_found_as_data(store: Store) -> None:
    for n, hostile in enumerate(HOSTILE):
        text = hostile.encode(errors="replace").decode()
        beside = Sighting("url", f"http://evil{n}.test/{text[:100]}", text, (text[:100],))
        article = make_article(f"a{n}", title=f"{text} endword", source=text, text=text, summary=text)
        await publish(store, article, beside)
        page = await store.iocs.find(query(f"endword evil{n}.test"))
        assert [(ioc.value, ioc.context, ioc.malware, ioc.article) for ioc in page.items] == [
            (beside.value, text, beside.malware, article.ref)
        ]


async def test_very_long_words_and_values_are_kept_and_found(store: Store) -> None:
    url = "http://evil.test/" + "a" * 3000
    await publish(store, make_article(title="b" * 5000, text="c" * 100_000), f"url {url}", "domain evil.test")
    assert await search(store, "evil.test") == ["evil.test", url]
    assert await search(store, "b" * 300 + "*") == await search(store, "b" * 240)
    assert len(await search(store, "b" * 100 + "*")) == 2


async def test_a_stored_malware_name_is_looked_up_in_any_case_and_no_other_is(store: Store) -> None:
    many = (f"malware Harbor {number:03}" for number in range(210))
    await publish(store, make_article("many", at=1, title="On QuietHarbor"), *many, "domain harbor.example")
    await publish(store, make_article("one"), "malware Harbor", "malware QuietHarbor", "malware Quiétharbor")
    asked = ("harbor", "QUIETHARBOR", "quiétharbor", "Harbor 9", "harbor.example", "192.0.2.1", "??")
    found = await exact_values(store.iocs, asked)
    assert [[value for type, value in found[each] if type == "malware"] for each in asked] == [
        ["Harbor"], ["QuietHarbor"], ["Quiétharbor"], [], [], [], []
    ]  # fmt: skip
