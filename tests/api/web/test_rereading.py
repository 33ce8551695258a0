"""The article page's way to have it read again, and what it shows of former revisions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytest_httpserver import HTTPServer

from tests.api.pages import article_page
from tests.api.running import Running
from tests.api.web.reading import Reader
from tests.api.web.test_submissions import ended, submit
from tests.contract.store.builders import make_article, publish

SECOND = tuple("Only other-kestrel[.]org is named in the corrected report of that night." for _ in range(4))


@pytest.mark.slow
@pytest.mark.promise("articles.refetch", "articles.vanished")
async def test_a_member_has_an_article_read_again_and_sees_what_vanished(
    api: Running, member: Reader, visitor: Reader, httpserver: HTTPServer
) -> None:
    httpserver.expect_ordered_request("/report").respond_with_data(article_page("Kestrel"), content_type="text/html")
    httpserver.expect_ordered_request("/report").respond_with_data(
        article_page("Corrected", *SECOND), content_type="text/html"
    )
    page = await ended(member, await submit(member, httpserver.url_for("/report")))
    article = await member.open(page.links()["Kestrel"])
    assert "revision" not in article.text
    again = await ended(member, await member.submit(article, f"{article.path}/refetch"))
    assert "1 indicator" in again.text
    corrected = await visitor.open(article.path)
    assert (corrected.heading, "revision 2" in corrected.text) == ("Corrected", True)
    gone = {" ".join(each.text_content().split()) for each in corrected.tree.xpath("//del")}
    assert "login-kestrel[.]org" in gone and "other-kestrel[.]org" not in gone
    assert "until revision 1" in corrected.text


async def test_only_members_may_and_only_by_their_own_form(
    api: Running, member: Reader, visitor: Reader, httpserver: HTTPServer
) -> None:
    article = await api.publish("report")
    path = f"/articles/{article.id}"
    assert not (await visitor.open(path)).tree.xpath("//form[contains(@action, 'refetch')]")
    assert (await visitor.post(f"{path}/refetch", {})).path.startswith("/signin")
    assert (await member.post(f"{path}/refetch", {})).status == 403
    assert (await member.post(f"{path}/refetch", {}, origin="https://evil.example")).status == 403
    assert (await member.open(f"{path}/refetch")).path == path


async def test_an_article_from_a_file_offers_no_reading_again(api: Running, member: Reader) -> None:
    file = await publish(api.store, replace(make_article("note"), url=None))
    page = await member.open(f"/articles/{file.id}")
    assert not page.tree.xpath("//form[contains(@action, 'refetch')]")
    token = page.fields("/signout")
    assert (await member.post(f"/articles/{file.id}/refetch", token)).status == 409
