"""The way of an article, from a fetched page to the store."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ingest.fetch import FetchedPage
from ingest.pipeline import Pipeline
from ingest.reading import Page, ReadPage, read_page
from ingest.revisions import Revisions
from ingest.saving_together import SavingTogether
from intel.errors import ArticleUnreadable, FetchFailed
from intel.ids import OPERATOR, article_id, content_identity
from intel.query import IocFilter, IocQuery
from intel.records import Reading, Submission
from intel.store import Store
from tests.api.pages import article_page
from tests.api.running import NOON, Clock

URL = "https://news.example/report"


class Web:
    """Pages by their address; `moved` leads from one address to another."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.moved: dict[str, str] = {}

    async def fetch(self, url: str) -> FetchedPage:
        final = self.moved.get(url, url)
        if final not in self.pages:
            raise FetchFailed("http_404", "Gone.")
        return FetchedPage(url, final, 200, "text/html", "utf-8", self.pages[final].encode(), {})


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture(params=("alone", "together"))
def pipeline(request: pytest.FixtureRequest, store: Store, web: Web) -> Pipeline:
    """Saves each article alone, or those that are read at about the same time together."""

    async def read(page: Page) -> ReadPage:
        return read_page(page)

    alone = Pipeline(web.fetch, read, store, Clock())
    return alone if request.param == "alone" else replace(alone, save_new=SavingTogether(alone.take_new))


async def found(store: Store) -> dict[str, int]:
    """Every stored value with its number of articles."""
    return {ioc.value: ioc.sightings for ioc in (await store.iocs.find(IocQuery(limit=100))).items}


async def test_an_article_is_stored_with_what_is_seen_in_it(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    taken = await pipeline.take_url(URL, "News")
    assert (taken.id, taken.url, taken.source_name) == (article_id(URL), URL, "News")
    assert taken.ioc_count == len(await found(store)) > 3
    stored = await store.articles.get(taken.id)
    assert stored is not None and stored.text and "shipping" in stored.text


@pytest.mark.promise("promises.idempotent")
async def test_reading_it_again_changes_nothing(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    first = await pipeline.take_url(URL, "News")
    before = await found(store)
    assert await pipeline.take_url(URL, "Another name") == first
    assert await found(store) == before


@pytest.mark.promise("promises.idempotent")
async def test_an_address_that_redirects_leads_to_the_same_article(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    web.moved["https://short.example/x"] = URL
    first = await pipeline.take_url("https://short.example/x", "News")
    assert first.id == (await pipeline.take_url(URL, "News")).id
    for address in ("https://short.example/x", URL):
        assert await store.articles.id_of(address) == first.id


async def test_an_article_that_changed_is_replaced(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    await pipeline.take_url(URL, "News")
    web.pages[URL] = article_page(
        "Corrected", *("It was only other-kestrel[.]org that the operators used." for _ in range(6))
    )
    corrected = await pipeline.take_url(URL, "News")
    assert corrected.title == "Corrected"
    assert await found(store) == {"other-kestrel.org": 1}


@pytest.mark.promise("articles.same-text-same-cluster")
async def test_the_same_text_elsewhere_is_another_article_of_the_same_cluster(
    pipeline: Pipeline, store: Store, web: Web
) -> None:
    copy = "https://copy.example/report"
    web.pages[URL] = web.pages[copy] = article_page()
    first, second = await pipeline.take_url(URL, "One"), await pipeline.take_url(copy, "Two")
    assert first.id != second.id
    assert first.cluster_id == second.cluster_id
    page = await store.iocs.find(IocQuery(limit=100))
    assert {(ioc.sightings, ioc.sources) for ioc in page.items} == {(2, 1)}


@pytest.mark.promise("articles.imported-file-identity")
async def test_a_file_is_identified_by_its_content(pipeline: Pipeline, store: Store) -> None:
    body = article_page("From a file").encode()
    taken = await pipeline.take_file(body, "text/html", None)
    assert (taken.id, taken.url, taken.title) == (article_id(content_identity(body)), None, "From a file")
    assert (await pipeline.take_file(body, "text/html", "Named")).id == taken.id
    text = b"First line of a note\n\nThe loader called evil-kestrel[.]org and nothing else was seen that night.\n"
    note = await pipeline.take_file(text, "text/plain", "Notes")
    assert (note.url, note.title, note.source_name) == (None, "First line of a note", "Notes")


async def test_what_cannot_be_fetched_or_read_leaves_nothing(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = "<html><body></body></html>"
    with pytest.raises(ArticleUnreadable):
        await pipeline.take_url(URL, "News")
    with pytest.raises(FetchFailed):
        await pipeline.take_url("https://news.example/gone", "News")
    assert (await store.totals()).articles == 0


async def test_the_first_time_an_article_was_fetched_is_kept(store: Store, web: Web) -> None:
    clock = Clock()

    async def read(page: Page) -> ReadPage:
        return read_page(page)

    pipeline = Pipeline(web.fetch, read, store, clock)
    web.pages[URL] = article_page()
    first = await pipeline.take_url(URL, "News")
    clock.forward(3600)
    again = await pipeline.take_url(URL, "News")
    assert (again.fetched_at, again.seen_at) == (first.fetched_at, first.seen_at)


LINKED = "<head><link rel='canonical' href='https://news.example/report'>"


@pytest.mark.promise("articles.canonical-url-identity", "promises.idempotent")
async def test_another_form_of_a_known_article_is_no_revision_of_it(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    amp, second = "https://amp.news.example/report", f"{URL}?page=2"
    web.pages[amp] = article_page("Kestrel, briefly").replace("<head>", LINKED)
    web.pages[second] = article_page(
        "Kestrel", *("The second page names other-kestrel[.]org." for _ in range(5))
    ).replace("<head>", LINKED)
    first = await pipeline.take_url(URL, "News")
    before = await found(store)
    for form in (amp, second):
        assert await pipeline.take_url(form, "News") == await store.articles.get(first.id)
    assert await found(store) == before
    assert (await store.totals()).articles == 1


@pytest.mark.promise("articles.canonical-url-identity")
async def test_an_article_that_came_in_another_form_first_gives_way_to_its_own(
    pipeline: Pipeline, store: Store, web: Web
) -> None:
    amp = "https://amp.news.example/report"
    web.pages[amp] = article_page("Kestrel, briefly").replace("<head>", LINKED)
    web.pages[URL] = article_page()
    first = await pipeline.take_url(amp, "News")
    taken = await pipeline.take_url(URL, "News")
    assert (taken.id, first.url, taken.revision) == (first.id, URL, 2)
    assert await store.articles.id_of(amp) == first.id


@pytest.mark.promise("articles.revisions")
async def test_every_revision_keeps_what_it_said(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    first = await pipeline.take_url(URL, "News")
    web.pages[URL] = article_page("Corrected", *("Only other-kestrel[.]org was used by them." for _ in range(6)))
    await pipeline.take_url(URL, "News")
    old, new = [await store.readings.get(first.id, number) for number in (1, 2)]
    assert old is not None and new is not None
    assert (old.text, len(old.iocs), bool(old.candidates)) == (first.text, 5, True)
    assert (new.title, new.iocs) == ("Corrected", (("domain", "other-kestrel.org"),))


@pytest.mark.promise("articles.revisions", "promises.idempotent")
async def test_a_save_that_was_cut_short_is_made_up_for(pipeline: Pipeline, store: Store, web: Web) -> None:
    web.pages[URL] = article_page()
    first = await pipeline.take_url(URL, "News")
    # What a worker leaves behind that dies between keeping a reading and saving its article.
    await store.readings.put(Reading(first.id, 2, NOON, "Half", (("domain", "half.example"),), "half", ()))
    assert (await Revisions(store).of(first))[0].revision == 1
    web.pages[URL] = article_page("Corrected", *("Only other-kestrel[.]org was used by them." for _ in range(6)))
    again = await pipeline.take_url(URL, "News")
    kept = await store.readings.get(first.id, 2)
    assert kept is not None and (again.revision, kept.title, kept.text) == (2, "Corrected", again.text)


@pytest.mark.promise("articles.revisions")
async def test_an_article_from_before_there_were_readings_gets_one(store: Store, pipeline: Pipeline, web: Web) -> None:
    web.pages[URL] = article_page()
    read = read_page(Page(article_page().encode(), "text/html", "utf-8", URL, "News", NOON))
    await store.articles.save(read.article, read.sightings, [URL])
    assert (await pipeline.take_url(URL, "News")).revision == 1
    kept = await store.readings.get(read.article.id, 1)
    assert kept is not None and len(kept.iocs) == 5


@pytest.mark.promise("articles.revisions")
async def test_readers_of_different_texts_at_once_leave_one_article_and_its_reading(store: Store) -> None:
    pages = [article_page(f"Version {n}", *(f"They used v{n}-kestrel[.]org then." for _ in range(6))) for n in range(4)]

    async def read(page: Page) -> ReadPage:
        return read_page(page)

    async def take(n: int) -> None:
        web = Web()
        web.pages[URL] = pages[n]
        await Pipeline(web.fetch, read, store, Clock()).take_url(URL, "News")

    await take(0)
    await asyncio.gather(*(take(n) for n in (1, 2, 3)))
    article = await store.articles.get(read_page(Page(pages[0].encode(), "text/html", None, URL, "N", NOON)).article.id)
    assert article is not None
    kept = await store.readings.get(article.id, article.revision)
    assert kept is not None and kept.text == article.text
    assert await found(store) == {value: 1 for _, value in kept.iocs}


def submission(url: str, source_name: str, account_id: str = "account-1") -> Submission:
    return Submission("submission-1", account_id, url, source_name, "queued", NOON, NOON)


@pytest.mark.promise("records.claimed-source")
async def test_a_submitted_page_counts_for_the_domain_it_was_fetched_from_whatever_it_claims(
    pipeline: Pipeline, store: Store, web: Web
) -> None:
    pages = [
        ("https://blog.evil.example/1", "https://blog.evil.example/1"),
        ("https://www.evil.example/2", "https://www.evil.example/2"),
        ("https://trusted.example/redirect", "https://evil.example/3"),
        ("https://evil.example:443/4", "https://evil.example:443/4"),
    ]
    canonical = '<link rel="canonical" href="https://trusted.example/report">'
    for n, (url, final) in enumerate(pages):
        web.moved[url] = final
        page = article_page(f"Report {n}", f"The loader of report {n} called once[.]evil-c2[.]example at night.")
        web.pages[final] = page.replace("<title>", f"{canonical}<title>")
        taken = await pipeline.take_submitted(submission(url, f"Trusted {n}"))
        assert (taken.source_name, taken.source_domain) == (f"Trusted {n}", "evil.example")
    (ioc,) = (await store.iocs.find(IocQuery(limit=9, filter=IocFilter(types=("domain",))))).items
    assert (ioc.value, ioc.sightings, ioc.sources) == ("once.evil-c2.example", 4, 1)


async def test_two_blogs_of_one_host_are_two_sources(pipeline: Pipeline, store: Store, web: Web) -> None:
    for n, url in enumerate(
        ("https://one.blogspot.com/a", "https://two.blogspot.com/a", "https://a.one.blogspot.com/")
    ):
        web.pages[url] = article_page(f"Report {n}", f"The loader of report {n} called once[.]evil-c2[.]example again.")
        await pipeline.take_submitted(submission(url, "The same name"))
    (ioc,) = (await store.iocs.find(IocQuery(limit=9, filter=IocFilter(types=("domain",))))).items
    assert (ioc.sightings, ioc.sources) == (3, 2)


async def test_the_operator_names_its_sources_and_takes_the_place_of_a_claim(pipeline: Pipeline, web: Web) -> None:
    web.pages[URL] = article_page()
    claimed = await pipeline.take_submitted(submission(URL, "Claimed"))
    assert (claimed.source_name, claimed.source_domain) == ("Claimed", "news.example")
    again = replace(submission(URL, "Claimed", OPERATOR), again=True)
    assert await pipeline.take_submitted(again) == claimed
    named = await pipeline.take_submitted(submission(URL, "News", OPERATOR))
    assert (named.source_name, named.source_domain, named.revision) == ("News", None, 1)
    assert await pipeline.take_submitted(submission(URL, "Another claim")) == named
