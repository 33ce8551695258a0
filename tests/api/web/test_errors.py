from __future__ import annotations

from api.web.routes import failure_page, is_page
from tests.api.running import Running
from tests.api.web.reading import Reader, reading


async def test_an_unknown_address_is_a_page(visitor: Reader) -> None:
    page = await visitor.open("/no/such/page")
    assert (page.status, page.heading) == (404, "Page not found")
    assert page.answer.headers["content-type"].startswith("text/html")
    assert "Sign in" in page.links("//header")


async def test_who_is_signed_in_stays_so_on_a_page_that_is_none(member: Reader) -> None:
    assert "Settings" in (await member.open("/no/such/page")).links("//header")


async def test_the_api_keeps_answering_problems(visitor: Reader) -> None:
    answer = await visitor.client.get("/api/v2/iocs")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_page_does_not_answer_to_a_wrong_method(visitor: Reader) -> None:
    assert (await visitor.client.delete("/focus")).status_code == 405
    assert (await visitor.post("/focus", {})).status == 405
    assert (await visitor.client.head("/focus")).status_code == 200


async def test_a_refused_form_says_so_for_a_person_and_leads_back_to_it(member: Reader) -> None:
    page = await member.post("/submit", {"url": "https://a.example/" + "x" * 300_000})
    assert (page.status, page.heading) == (413, "Too large") and "What is sent may have at most" in page.text
    assert page.links()["Open the page again"] == "/submit"
    old = await member.post("/settings/password", {"form_token": "x"})
    assert (old.status, old.links()["Open the page again"]) == (403, "/settings/password")
    long = await member.open("/search?q=" + "x" * 600)
    assert "The search must have at most 512 characters." in long.text and "Open the page again" not in long.links()


async def test_a_store_out_of_reach_is_a_page_with_a_wait(api: Running, member: Reader) -> None:
    """Here the embedded store is closed under the running service."""
    await api.store.close()
    for path in ("/", "/search", "/settings", "/status", "/no/such/page"):
        page = await member.open(path)
        assert page.status == (404 if path.startswith("/no") else 503), path
        assert ("Try again" in page.links()) is (page.status == 503)
        assert "Sign in" not in page.links("//header") and "Settings" in page.links("//header")
        assert page.heading and ("retry-after" in page.answer.headers) is (page.status == 503)


async def test_a_stranger_may_still_sign_in_where_the_store_is_out_of_reach(api: Running, visitor: Reader) -> None:
    await api.store.close()
    page = await visitor.open("/search")
    assert page.status == 503 and "Sign in" in page.links("//header")


async def test_what_nobody_foresaw_is_a_page_with_the_requests_id(api: Running) -> None:
    answer = failure_page(api.app.state.templates, "0123456789abcdef")
    assert answer.status_code == 500
    assert b"0123456789abcdef" in answer.body


def test_pages_are_told_from_what_programs_read() -> None:
    assert all(map(is_page, ("/", "/search", "/apiary", "/ioc/url/http://x/api")))
    assert not any(map(is_page, ("/api", "/api/v1/iocs", "/healthz", "/readyz", "/metrics", "/static/site.css")))


async def test_every_page_forbids_what_an_attacker_needs(api: Running) -> None:
    async with reading(api.app) as visitor:
        for path in ("/", "/search", "/signin", "/no/such/page"):
            headers = (await visitor.open(path)).answer.headers
            policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
            assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'"
            assert policy["frame-ancestors"] == policy["base-uri"] == "'none'" and policy["form-action"] == "'self'"
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["cache-control"] == "no-store"
            # Under `no-referrer` browsers would send our own forms with the origin `null`.
            assert headers["referrer-policy"] == "same-origin"


async def test_no_page_holds_an_inline_script_or_style(member: Reader) -> None:
    for path in ("/", "/search", "/settings", "/settings/api-keys", "/awareness/three-copies", "/help"):
        tree = (await member.open(path)).tree
        assert not tree.xpath("//script[not(@src)] | //style | //@style | //@*[starts-with(name(), 'on')]"), path
        sources = tree.xpath("//script/@src | //link[@rel != 'alternate']/@href")
        assert sources and all(source.startswith("/static/") for source in sources)
