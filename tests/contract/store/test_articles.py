"""Articles: saving them again and at once, finding them, and what weekly roundups read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from intel.ids import ioc_id
from intel.query import ArticleQuery, IocQuery, Page, Position, parse_search
from intel.records import Article, Ioc, SeenIoc, Sighting
from intel.store.port import Store
from intel.times import to_milliseconds
from tests.contract.store.builders import hour, id_of, iocs_in, listed, make_article, publish, search, seen, the_ioc


async def find(store: Store, q: str | None = None, *, source: str | None = None) -> list[str]:
    """The titles that a list or search of articles gives, in order."""
    page = await store.articles.find(ArticleQuery(parse_search(q) if q else None, source, limit=100))
    assert page.total == len(page.items)
    assert all(article.text is None for article in page.items)
    return [article.title for article in page.items]


async def test_an_article_is_read_back_whole_with_its_counts(store: Store) -> None:
    article = replace(make_article(summary="In short."), author="A. Writer", notes=("cut at 1 MB",))
    saved = await publish(store, article, "domain a.example", "domain b.example", "ip 192.0.2.1")
    assert saved == replace(article, ioc_counts={"domain": 2, "ip": 1})
    assert saved.ioc_count == 3
    assert await store.articles.get(article.id) == saved
    page = await store.articles.find(ArticleQuery())
    assert page == Page((replace(saved, text=None),), 1, None)


async def test_the_newest_titles_stand_in_the_order_of_a_list(store: Store) -> None:
    assert await store.articles.newest_titles(10) == ()
    for at in (2, 0, 1):
        await publish(store, make_article(f"a{at}", title=f"Title {at}", source=f"Source {at}", at=at))
    expected = tuple((f"Title {at}", f"Source {at}") for at in (2, 1, 0))
    assert [await store.articles.newest_titles(limit) for limit in (10, 2)] == [expected, expected[:2]]


async def test_an_article_keeps_what_was_dropped_its_revision_and_its_findings(
    store: Store, other_store: Store
) -> None:
    findings = {
        "CVE-2024-1000": {
            "exploitation": "in_the_wild",
            "quote": "It is <b>exploited</b>\u202e, ü 分析.",
            "cvss": CVSS,
        },
        "CVE-2024-1001": {"cvss": {"score": 10.0, "version": "3.1", "vector": None}},
        "CVE-2024-1002": {},
    }
    structure = "[[1,0,[0,4]]]"
    article = replace(make_article(), ioc_dropped=1_234, revision=7, findings=findings, structure=structure)
    saved = await publish(store, article, "cve CVE-2024-1000")
    assert saved == replace(article, ioc_counts={"cve": 1})
    assert await other_store.articles.get(article.id) == saved
    page = await other_store.articles.find(ArticleQuery())
    assert page.items == (replace(saved, text=None, structure=""),)
    assert await store.articles.between(hour(0), hour(1)) == page.items
    assert await store.articles.get_many([article.id]) == {article.id: page.items[0]}
    plain = await publish(store, make_article())
    assert (plain.ioc_dropped, plain.revision, plain.findings) == (0, 1, {})
    assert await other_store.articles.get(article.id) == plain


CVSS = {"score": 9.8, "version": "3.1", "vector": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}


async def test_findings_are_not_searched_and_may_have_any_keys(store: Store) -> None:
    findings = {f"CVE-2024-{n}": {"quote": f"unquoted{n}", "a.b": [n, None, {"$c": ""}]} for n in range(1_500)}
    article = await publish(store, replace(make_article(), findings=findings))
    assert await store.articles.get(article.id) == article
    assert await find(store, "unquoted7") == []


async def test_texts_are_those_of_the_articles_that_exist(store: Store, other_store: Store) -> None:
    articles = [make_article(f"a{n}", text=f"Text {n} ü 分析\n<b>") for n in range(100)]
    for article in articles[:3]:
        await publish(store, article, "domain evil.example")
    await publish(store, replace(articles[3], text=""))
    found = await other_store.articles.texts([article.id for article in articles])
    assert found == {article.id: article.text for article in articles[:3]} | {articles[3].id: ""}
    assert await store.articles.texts([articles[1].id, articles[1].id]) == {articles[1].id: articles[1].text}
    assert await store.articles.texts([]) == {}
    await publish(store, make_article("a1", text="Changed."))
    assert await other_store.articles.texts([articles[1].id]) == {articles[1].id: "Changed."}


async def test_an_article_may_lack_all_that_is_optional(store: Store) -> None:
    article = replace(make_article(), url=None, published_at=None, language=None, fetched_at=hour(3))
    await publish(store, article, "domain a.example")
    assert await store.articles.get(article.id) == replace(article, ioc_counts={"domain": 1})
    assert (await the_ioc(store, "domain a.example")).article == article.ref


async def test_an_article_without_any_indicator_is_kept(store: Store) -> None:
    article = await publish(store, make_article())
    assert article.ioc_counts == {}
    assert await store.articles.get(article.id) == article
    assert await iocs_in(store, article.id) == ()


async def test_what_is_not_there_is_none(store: Store) -> None:
    assert await store.articles.get("unknown") is None
    assert await store.articles.id_of("https://news.example/unknown") is None
    assert await store.articles.weeks() == ()
    assert await iocs_in(store, "unknown") == ()
    assert await store.articles.between(hour(0), hour(1)) == ()


async def test_the_indicators_of_an_article_come_in_order_of_appearance(store: Store) -> None:
    indicators = [f"domain d{n * 7 % 10}.example" for n in range(10)]
    article = await publish(store, make_article(), *indicators)
    found = await iocs_in(store, article.id)
    assert [f"domain {ioc.value}" for ioc in found] == indicators
    assert found[0] == await the_ioc(store, indicators[0])


@pytest.mark.parametrize("limit", [1, 3, 7, 8, 1_000])
async def test_the_indicators_of_an_article_come_page_by_page(store: Store, limit: int) -> None:
    beside = await publish(store, make_article("beside"), "domain d0.example", "domain other.example")
    # The first three stand at one place: those come by id.
    at_once = [Sighting("domain", f"d{n}.example", "", (), 0) for n in range(3)]
    later = [Sighting("ip", f"192.0.2.{n}", "", (), 9 - n) for n in range(4)]
    article = await publish(store, make_article(), *at_once, *later)
    found: list[Ioc] = []
    page = await store.articles.iocs_of(article.id, limit)
    while True:
        assert page.total is None and len(page.items) <= limit
        found += page.items
        if page.next is None:
            break
        assert len(page.items) == limit
        page = await store.articles.iocs_of(article.id, limit, page.next)
    first = sorted(ioc_id("domain", f"d{n}.example") for n in range(3))
    assert [ioc.id for ioc in found] == [*first, *(ioc_id("ip", f"192.0.2.{n}") for n in (3, 2, 1, 0))]
    assert [ioc.value for ioc in await iocs_in(store, beside.id)] == ["d0.example", "other.example"]


async def test_a_long_article_is_walked_whole(store: Store) -> None:
    indicators = [f"domain d{n}.example" for n in range(2_345)]
    article = await publish(store, make_article(), *indicators)
    assert [f"domain {ioc.value}" for ioc in await iocs_in(store, article.id)] == indicators


async def test_an_article_tells_which_of_many_indicators_it_names(store: Store, other_store: Store) -> None:
    await publish(store, make_article("other"), "domain c.example")
    article = await publish(store, make_article(), "domain a.example", "domain b.example")
    asked = [id_of(f"domain {name}.example") for name in "abcd"] * 3
    found = await other_store.articles.iocs_among(article.id, asked)
    assert found == {ioc.id: ioc for ioc in await iocs_in(store, article.id)}
    assert await store.articles.iocs_among(article.id, []) == {}
    assert await store.articles.iocs_among("unknown", asked) == {}


async def test_saving_the_same_article_again_changes_nothing(store: Store) -> None:
    article = make_article()
    first = await publish(store, article, "domain a.example", "ip 192.0.2.1")
    before = [await the_ioc(store, "domain a.example"), await the_ioc(store, "ip 192.0.2.1")]
    second = await publish(store, article, "domain a.example", "ip 192.0.2.1")
    assert second == first
    assert before == [await the_ioc(store, "domain a.example"), await the_ioc(store, "ip 192.0.2.1")]
    assert (await store.totals()).articles == 1
    assert len(await listed(store)) == 2


async def test_an_indicator_that_vanished_from_its_only_article_is_gone(store: Store) -> None:
    await publish(store, make_article("other", at=1), "domain stays.example")
    await publish(store, make_article(at=2), "domain stays.example", "domain goes.example")
    again = await publish(store, make_article(at=2), "ip 192.0.2.1")
    assert again.ioc_counts == {"ip": 1}
    assert await store.iocs.get(id_of("domain goes.example")) is None
    assert await search(store, "goes.example") == []
    assert set(await listed(store)) == {"stays.example", "192.0.2.1"}
    assert await listed(store, source="Example Blog", type="domain") == ["stays.example"]
    stays = await the_ioc(store, "domain stays.example")
    assert (stays.sightings, stays.last_seen) == (1, hour(1))
    assert [ioc.value for ioc in await iocs_in(store, again.id)] == ["192.0.2.1"]
    assert (await store.totals()).iocs == 2


async def test_an_indicator_that_comes_back_is_found_again(store: Store) -> None:
    await publish(store, make_article(), "domain evil.example")
    await publish(store, make_article())
    assert await listed(store) == []
    await publish(store, make_article(), "domain evil.example")
    assert await search(store, "evil.example") == ["evil.example"]
    assert (await the_ioc(store, "domain evil.example")).sightings == 1


async def test_a_changed_article_changes_what_is_derived_from_it(store: Store) -> None:
    await publish(store, make_article("other", at=1, source="Other"), "domain evil.example")
    await publish(store, make_article(at=2, title="Before", source="Old"), "domain evil.example")
    changed = make_article(at=0, title="After", source="Other")
    await publish(store, changed, Sighting("domain", "evil.example", "Changed.", ("Emotet",)))
    found = await the_ioc(store, "domain evil.example")
    assert (found.first_seen, found.last_seen, found.sightings, found.sources) == (hour(0), hour(1), 2, 1)
    assert (found.article.title, found.malware) == ("A loader report", ("Emotet",))
    assert await listed(store, source="Old") == []
    assert await search(store, "before") == []
    assert await search(store, "after emotet") == ["evil.example"]


async def test_context_and_article_are_the_newest_and_then_the_smallest_id(store: Store) -> None:
    articles = [make_article(f"a{n}", at=5, title=f"T{n}") for n in range(4)] + [make_article("old", at=4, title="Old")]
    for article in articles:
        await publish(store, article, Sighting("domain", "evil.example", f"in {article.title}"))
    newest = min(articles[:4], key=lambda article: article.id)
    found = await the_ioc(store, "domain evil.example")
    assert (found.article, found.context) == (newest.ref, f"in {newest.title}")


async def test_malware_names_come_newest_article_first_and_once(store: Store) -> None:
    for name, at, malware in (("a", 1, ("One", "Two")), ("c", 3, ("Four", "Two")), ("b", 2, ("Three", "One"))):
        await publish(store, make_article(name, at=at), Sighting("domain", "evil.example", "", malware))
    assert (await the_ioc(store, "domain evil.example")).malware == ("Four", "Two", "Three", "One")


@pytest.mark.promise("records.malware-near")
async def test_malware_names_of_the_newest_twenty_articles_only(store: Store) -> None:
    for n in range(22):
        await publish(store, make_article(f"a{n}", at=n), Sighting("domain", "evil.example", "", (f"M{n}",)))
    assert (await the_ioc(store, "domain evil.example")).malware == tuple(f"M{n}" for n in range(21, 1, -1))


async def test_addresses_lead_to_the_article_that_had_them_first(store: Store) -> None:
    first, second = make_article("first"), make_article("second")
    shared = "https://short.example/x"
    await store.articles.save(first, (), ["https://news.example/first", shared])
    await store.articles.save(second, (), ["https://news.example/second", shared, "https://news.example/2"])
    assert await store.articles.id_of(shared) == first.id
    assert await store.articles.id_of("https://news.example/2") == second.id
    await store.articles.save(second, (), ["https://news.example/new", shared])
    assert await store.articles.id_of("https://news.example/new") == second.id
    assert await store.articles.id_of("https://news.example/2") == second.id
    assert await store.articles.id_of(shared) == first.id
    asked = ["https://news.example/2", "https://news.example/unknown", shared, shared]
    assert await store.articles.ids_of(asked) == {"https://news.example/2": second.id, shared: first.id}
    assert await store.articles.ids_of([]) == {}


async def test_several_articles_are_read_at_once_without_their_texts(store: Store, other_store: Store) -> None:
    published = [await publish(store, make_article(name), "domain evil.example") for name in ("a", "b")]
    asked = [published[1].id, "unknown", published[0].id, published[0].id]
    assert await other_store.articles.get_many(asked) == {one.id: replace(one, text=None) for one in published}
    assert await store.articles.get_many([]) == {}


async def test_an_address_may_be_long_and_strange(store: Store) -> None:
    article = make_article()
    addresses = ["https://news.example/" + "a" * 2_000, "https://news.example/%20?q=*&r=(\"')", "urn:ü/\\#"]
    await store.articles.save(article, (), addresses)
    assert [await store.articles.id_of(address) for address in addresses] == [article.id] * 3


async def test_articles_are_newest_first_and_ties_go_by_id(store: Store) -> None:
    articles = [make_article(f"a{n}", at=n % 2, title=f"T{n}") for n in range(6)]
    for article in articles:
        await publish(store, article)
    articles.sort(key=lambda article: (-to_milliseconds(article.seen_at), article.id))
    assert await find(store) == [article.title for article in articles]
    page = await store.articles.find(ArticleQuery(limit=4))
    last = page.items[-1]
    assert page.next == Position((to_milliseconds(last.seen_at), last.id))
    rest = await store.articles.find(ArticleQuery(limit=4, after=page.next))
    assert [article.title for article in (*page.items, *rest.items)] == [article.title for article in articles]
    assert (page.total, rest.total, rest.next) == (6, None, None)


async def test_articles_are_found_in_title_summary_text_and_source(store: Store) -> None:
    await publish(
        store, make_article("a", at=1, title="Alpha one", text="Some words.", summary="Brief note", source="Blog")
    )
    await publish(store, make_article("b", at=2, title="Beta two", text="Other alpha words", source="Alpha Times"))
    assert await find(store, "alpha") == ["Beta two", "Alpha one"]
    assert await find(store, "ALPHA brief") == ["Alpha one"]
    assert await find(store, '"alpha words"') == ["Beta two"]
    assert await find(store, "othe* time*") == ["Beta two"]
    for q in ("absent", '"words alpha"', '"one brief"', '"note some"', '"words blog"', "lpha*", "alph"):
        assert await find(store, q) == [], q


async def test_articles_of_one_source(store: Store) -> None:
    await publish(store, make_article("a", at=1, title="A", source="Blog"))
    await publish(store, make_article("b", at=2, title="B", source="Other"))
    assert await find(store, source="Blog") == ["A"]
    assert await find(store, "a", source="Blog") == ["A"]
    assert await find(store, "a", source="Other") == []
    assert await find(store, source="blog") == []


async def test_articles_hold_the_words_of_an_indicator_side_by_side(store: Store) -> None:
    await publish(store, make_article("a", title="A", text="They used sub.evil.example."), "domain sub.evil.example")
    await publish(store, make_article("b", title="B", text="Evil things, for example."), "domain evil.example")
    await publish(store, make_article("c", title="C", text="From 198.51.100.7"), "ip 198.51.100.7")
    assert await find(store, "evil[.]example") == ["A"]
    assert await find(store, "198.51.100.7") == ["C"]
    assert await find(store, "198.51.100.0/24") == []
    assert await find(store, "??") == []


async def test_a_changed_article_is_found_by_its_new_words_only(store: Store) -> None:
    await publish(store, make_article(title="Before", text="old"))
    await publish(store, make_article(title="After", text="new", at=3))
    assert await find(store, "before") == [] and await find(store, "old") == []
    assert await find(store, "after new") == ["After"]


async def test_a_span_includes_its_start_and_not_its_end(store: Store) -> None:
    articles = [make_article(f"a{n}", at=n) for n in (3, 1, 2, 4)] + [make_article("twin", at=2)]
    for article in articles:
        await publish(store, article)
    found = await store.articles.between(hour(1), hour(3))
    expected = sorted((a for a in articles if hour(1) <= a.seen_at < hour(3)), key=lambda a: (a.seen_at, a.id))
    assert found == tuple(replace(article, text=None) for article in expected)


async def test_weeks_are_those_in_which_an_article_was_seen(store: Store) -> None:
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    edges = (monday, monday - timedelta(milliseconds=1), monday + timedelta(days=7), datetime(1969, 12, 31, tzinfo=UTC))
    for n, moment in enumerate((*edges, monday + timedelta(days=5))):
        await publish(store, replace(make_article(f"a{n}"), published_at=moment))
    await publish(store, replace(make_article("undated"), published_at=None, fetched_at=monday + timedelta(days=30)))
    weeks = [monday + timedelta(days=days) for days in (28, 7, 0, -7)] + [datetime(1969, 12, 29, tzinfo=UTC)]
    assert await store.articles.weeks() == tuple(weeks)


async def seen_between(store: Store, start: datetime, end: datetime) -> list[SeenIoc]:
    return [seen_ioc async for seen_ioc in store.articles.seen_between(start, end)]


async def test_articles_are_counted_by_week_of_all_or_of_one_source(store: Store) -> None:
    assert await store.articles.by_week(3) == {} == await store.articles.by_week(3, "Agency")
    week = 7 * 24
    for number, (at, source) in enumerate(
        ((-9.0, "Agency"), (-9.001, "Agency"), (0, "Blog"), (week - 9.001, "Agency"), (2 * week, "Blog"), (1, "Blog"))
    ):
        await publish(store, make_article(str(number), at=at, source=source))
    monday = hour(-9)
    weeks = [(monday + timedelta(weeks=n)) for n in range(-1, 3)]
    assert list((await store.articles.by_week(9)).items()) == [
        (weeks[3], 1),
        (weeks[1], 4),
        (weeks[0], 1),
    ]
    assert await store.articles.by_week(3) == {weeks[3]: 1, weeks[1]: 4}
    assert await store.articles.by_week(2, "Agency") == {weeks[1]: 2, weeks[0]: 1}
    assert await store.articles.by_week(2, "agency") == {}


async def test_every_sighting_of_a_span_by_indicator_and_article(store: Store) -> None:
    articles = [make_article(f"a{n}", at=n, source=f"S{n}", cluster="c" if n > 1 else None) for n in range(4)]
    for article in articles:
        await publish(store, article, "domain evil.example", f"ip 192.0.2.{articles.index(article)}")
    expected = [
        SeenIoc(ioc_id("domain", "evil.example"), "domain", "evil.example", a.id, source, a.seen_at, hour(0))
        for a, source in zip(articles[1:], ("S1", "S2", "S2"), strict=True)
    ]
    for n, (a, source) in enumerate(zip(articles[1:], ("S1", "S2", "S2"), strict=True), start=1):
        value = f"192.0.2.{n}"
        expected.append(SeenIoc(ioc_id("ip", value), "ip", value, a.id, source, a.seen_at, a.seen_at))
    expected.sort(key=lambda one: (one.ioc_id, one.article_id))
    assert await seen_between(store, hour(1), hour(4)) == expected
    assert await seen_between(store, hour(50), hour(60)) == []


async def test_a_sighting_is_read_back_with_its_own_malware_names(store: Store) -> None:
    for name, malware in (("a", ("Emotet", "Cobalt Strike")), ("b", ()), ("c", ("Ryuk",))):
        await publish(store, make_article(name, at=1), Sighting("domain", "evil.example", "", malware))
    found = await seen_between(store, hour(0), hour(9))
    expected = {make_article("a").id: ("Emotet", "Cobalt Strike"), make_article("b").id: ()}
    assert {one.article_id: one.malware for one in found} == expected | {make_article("c").id: ("Ryuk",)}


@pytest.mark.timeout(900)
@pytest.mark.slow
async def test_many_sightings_of_a_span_are_all_read(store: Store) -> None:
    await publish(store, make_article("a", at=1), *[f"domain d{n}.example" for n in range(4_900)])
    await publish(store, make_article("b", at=2), *[f"domain d{n}.example" for n in range(200)])
    # Elasticsearch gives 5,000 at once.
    keys = [(one.ioc_id, one.article_id) for one in await seen_between(store, hour(0), hour(9))]
    assert len(set(keys)) == 5_100
    assert keys == sorted(keys)


async def test_reading_sightings_may_stop_halfway(store: Store) -> None:
    await publish(store, make_article(), *[f"domain d{n}.example" for n in range(50)])
    async for one in store.articles.seen_between(hour(0), hour(1)):
        assert one.type == "domain"
        break
    await publish(store, make_article("b"), "ip 192.0.2.1")
    assert len(await listed(store)) == 51


async def test_the_basis_stays_while_nothing_is_written(store: Store) -> None:
    await publish(store, make_article(at=1), "domain evil.example")
    assert await store.articles.basis(hour(0), hour(5)) == await store.articles.basis(hour(0), hour(5))


CHANGES: dict[str, list[tuple[Article, list[str]]]] = {
    "another article": [(make_article("new", at=3), [])],
    "an article less": [(make_article("a", at=9), ["domain a.example"])],
    "one moves out and one in": [
        (make_article("a", at=9), ["domain a.example"]),
        (make_article("outside", at=3), ["domain b.example"]),
    ],
    "another title": [(make_article("a", at=2, title="Other"), ["domain a.example"])],
    "another indicator": [(make_article("a", at=2), ["domain b.example"])],
    "an earlier sighting elsewhere": [(make_article("early", at=0.5), ["domain a.example"])],
    "an earlier copy elsewhere": [(make_article("copy", at=0.5, source="Agency", cluster="cluster-a"), [])],
    "an earlier copy moves behind": [(make_article("before", at=7, cluster="cluster-b"), ["domain c.example"])],
    "an earlier sighting goes": [(make_article("before", at=0, cluster="cluster-b"), [])],
}


@pytest.mark.parametrize("change", CHANGES)
async def test_the_basis_differs_when_what_a_span_returns_differs(store: Store, change: str) -> None:
    await publish(store, make_article("before", at=0, source="Agency", cluster="cluster-b"), "domain c.example")
    await publish(store, make_article("a", at=2), "domain a.example")
    await publish(store, make_article("b", at=3), "domain c.example")
    await publish(store, make_article("outside", at=6), "domain b.example")
    span = (hour(1), hour(5))
    before = (await store.articles.between(*span), await seen_between(store, *span))
    basis = await store.articles.basis(*span)
    for article, indicators in CHANGES[change]:
        await publish(store, article, *indicators)
    assert (await store.articles.between(*span), await seen_between(store, *span)) != before
    assert await store.articles.basis(*span) != basis


@pytest.mark.timeout(900)
@pytest.mark.slow
async def test_a_large_article_is_saved_whole(store: Store) -> None:
    article = await publish(store, make_article(title="Long list"), *[f"domain d{n}.example" for n in range(20_000)])
    assert article.ioc_counts == {"domain": 20_000}
    page = await store.iocs.find(IocQuery(limit=50))
    assert (page.total, len(page.items)) == (20_000, 50)
    assert await search(store, "d19999.example") == ["d19999.example"]


async def test_other_processes_see_an_article_when_save_returns(store: Store, other_store: Store) -> None:
    article = await publish(store, make_article(title="Fresh"), *seen("domain evil.example"))
    assert await other_store.articles.get(article.id) == article
    assert await listed(other_store) == ["evil.example"]
    assert await search(other_store, "fresh") == ["evil.example"]
    assert await find(other_store, "fresh") == ["Fresh"]
