from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from pytest_httpserver import HTTPServer

from tests.api.pages import article_page, eventually
from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.cases import each
from tests.contract.store.builders import make_submission


async def submit(reader: Reader, url: str, source_name: str = "") -> Page:
    return await reader.submit(await reader.open("/submit"), "/submit", url=url, source_name=source_name)


async def ended(reader: Reader, page: Page) -> Page:
    async def look() -> Page | None:
        fresh = await reader.open(page.path)
        return None if fresh.tree.xpath("//*[@data-live]") else fresh

    return await eventually(look)


@pytest.mark.slow
async def test_a_submitted_article_is_followed_to_its_page(
    api: Running, member: Reader, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/report").respond_with_data(article_page("Kestrel"), content_type="text/html")
    page = await submit(member, httpserver.url_for("/report"), "Kestrel Blog")
    assert page.path.startswith("/submissions/")
    page = await ended(member, page)
    assert "5 indicators" in page.text and "Kestrel Blog" in page.text
    assert (await member.open(page.links()["Kestrel"])).heading == "Kestrel"


async def test_what_is_known_already_says_so_and_that_nothing_was_fetched(
    api: Running, member: Reader, visitor: Reader, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/report").respond_with_data(article_page("Kestrel"), content_type="text/html")
    await ended(member, await submit(member, httpserver.url_for("/report")))
    await visitor.sign_up("other@example.org")
    page = await submit(visitor, httpserver.url_for("/report"))
    assert "Already known: this article was read on" in page.text and "nothing was fetched now" in page.text
    assert "Kestrel" in page.links()


async def test_a_failed_submission_is_tried_again_from_its_page(member: Reader, httpserver: HTTPServer) -> None:
    httpserver.expect_oneshot_request("/late").respond_with_data("gone", status=410)
    httpserver.expect_oneshot_request("/late").respond_with_data(article_page("Late"), content_type="text/html")
    failed = await ended(member, await submit(member, httpserver.url_for("/late")))
    listed = await member.open("/submissions")
    assert "410" in listed.text and "http_410" not in listed.text
    assert "Late" in (await ended(member, await member.submit(failed, "/submit"))).links()


async def test_a_failure_says_why(member: Reader, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/gone").respond_with_data("gone", status=410)
    page = await ended(member, await submit(member, httpserver.url_for("/gone")))
    assert "It could not be read" in page.text and "http_410" in page.text


@each(
    ("url", "source_name"),
    [
        ("", ""),
        ("ftp://example.org/", ""),
        ("http://192.168.0.1/", ""),
        ("http://user:secret@example.org/", ""),
        ("https://example.org/" + "x" * 2048, ""),
        ("https://example.org/", "x" * 201),
        ("https://example.org/", "a\x07b"),
        ("javascript:alert(1)", ""),
    ],
)
async def test_what_can_be_refused_by_its_form_is(member: Reader, url: str, source_name: str) -> None:
    page = await submit(member, url, source_name)
    assert page.status == 422
    assert page.tree.xpath("//*[@role='alert']")
    assert page.tree.xpath("//*[@aria-invalid='true']")


async def test_a_submission_is_seen_by_its_own_account_alone(
    member: Reader, visitor: Reader, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/report").respond_with_data(article_page(), content_type="text/html")
    page = await ended(member, await submit(member, httpserver.url_for("/report")))
    assert (await visitor.open(page.path)).heading == "Sign in"
    await visitor.sign_up("other@example.org")
    assert (await visitor.open(page.path)).status == 404


async def test_a_visitor_is_asked_to_sign_in(visitor: Reader) -> None:
    assert "sign in" in (await visitor.open("/submit")).links()
    assert (await visitor.post("/submit", {"url": "https://example.org/"})).heading == "Sign in"


@pytest.mark.promise("submit.file")
async def test_a_text_and_a_file_are_submitted_and_listed_with_what_was_found(api: Running, member: Reader) -> None:
    page = await member.open("/submit")
    token = page.fields("/submit")["form_token"]
    form = {"form_token": token, "url": "", "text": "", "source_name": "Kestrel Lab"}
    file = {"file": ("report.html", article_page("Kestrel").encode(), "text/html")}
    sent = await member.client.post("/submit", data=form, files=file, follow_redirects=True)
    assert "5 indicators" in (await ended(member, Page(sent))).text
    pasted = {**form, "text": "The loader called hxxps://evil-kestrel[.]net/a and then evil-kestrel[.]org, it says."}
    await ended(member, Page(await post_without_file(member, pasted)))
    listed = (await member.open("/submissions")).text
    assert "report.html" in listed and "pasted text" in listed and "2 submissions" in listed
    for wrong in ({**pasted, "url": "https://example.org/"}, form):
        refused = await post_without_file(member, wrong)
        assert refused.status_code == 422 and "Give one of these" in refused.text
    assert (await post_without_file(member, {**pasted, "form_token": "00"})).status_code == 403


async def post_without_file(reader: Reader, fields: dict[str, str]) -> httpx.Response:
    """Sends the form as browsers do where no file was chosen: with an empty one that has no name."""
    head = '--x\r\nContent-Disposition: form-data; name="'
    parts = [f'{head}{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()]
    parts.append(f'{head}file"; filename=""\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--x--\r\n')
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    return await reader.client.post("/submit", content="".join(parts), headers=kind, follow_redirects=True)


async def test_a_file_of_a_stranger_is_not_taken_in(visitor: Reader) -> None:
    sent = await visitor.client.post("/submit", files={"file": ("a.txt", b"a" * 9_000_000)})
    assert sent.status_code == 303 and sent.headers["location"].startswith("/signin")


async def test_many_submissions_are_listed_in_pages_newest_first(api: Running, member: Reader) -> None:
    await member.submit(await member.open("/submit"), "/submit", text="It called c2-kestrel[.]net.")
    (account,) = await api.store.accounts.all()
    made = make_submission()
    for number in range(120):
        moment = api.clock.now + timedelta(minutes=number - 60)
        one = replace(made, id=f"s-{number:03}", account_id=account.id, url=f"https://a.example/{number}/")
        await api.store.submissions.add(replace(one, status="done", created_at=moment, finished_at=moment))
    page = await member.open("/submissions")
    assert "121 submissions, the newest 50 here" in page.text
    shown = [int(number) for number in re.findall(r">https://a\.example/(\d+)/<", page.answer.text)]
    assert shown == [*range(119, 69, -1)]
    later = await member.open(page.links()["Next page"])
    last = await member.open(later.links()["Next page"])
    assert "Next page" not in last.links()
    shown += [int(number) for text in (later, last) for number in re.findall(r"example/(\d+)/<", text.answer.text)]
    assert shown == [*range(119, -1, -1)]
    assert "121 submissions" not in later.text
    assert (await member.open("/submissions?cursor=x")).status == 422
