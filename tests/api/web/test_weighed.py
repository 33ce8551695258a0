from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from api.cli.feedback import example_line
from api.web.rendering import Templates
from ingest.indicators import document_from_text, extract
from ingest.indicators.candidate_records import candidate_records
from intel.records import Article, Reading
from tests.api.running import Running
from tests.api.web.reading import Page, Reader
from tests.contract.store.builders import hour
from tests.ingest.indicators.snippets import ARTICLE


async def weighed(api: Running, text: str) -> Article:
    article = await api.publish("report", text=text, title="Kestrel")
    records = tuple({**each} for each in candidate_records(extract(document_from_text(text))).records)
    await api.store.readings.put(Reading(article.id, 1, hour(1), "Kestrel", (), text, records))
    return article


def rows(page: Page) -> list[list[str]]:
    return [[cell.text_content().strip() for cell in row.xpath("th|td")][:3] for row in page.tree.xpath("//tbody/tr")]


@pytest.mark.slow
async def test_an_article_leads_to_what_was_weighed_in_it_and_why(api: Running, visitor: Reader) -> None:
    article = await weighed(api, "It asked gale-post[.]com, and setup.py did.")
    links = (await visitor.open(f"/articles/{article.id}")).links()
    page = await visitor.open(links["Why these indicators?"])
    assert rows(page) == [["gale-post[.]com", "Domain", "kept"], ["setup[.]py", "Domain", "dropped"]]
    assert "It is the name of a file." in page.text
    dropped = await visitor.open(page.links()["Dropped"])
    assert [row[0] for row in rows(dropped)] == ["setup[.]py"]


async def test_a_rule_leads_to_all_that_it_decided_and_back(api: Running, visitor: Reader) -> None:
    article = await weighed(api, "It asked gale-post[.]com, and setup.py did.")
    page = await visitor.open(f"/articles/{article.id}/weighed")
    only = await visitor.open(page.links()["defanged"])
    assert [row[0] for row in rows(only)] == ["gale-post[.]com"]
    assert "1 shown by these filters" in only.text
    (back,) = [address for words, address in only.links().items() if "remove this filter" in words]
    assert len(rows(await visitor.open(back))) == 2
    assert rows(await visitor.open(f"/articles/{article.id}/weighed?rule=none%20such")) == []


async def test_a_candidate_stands_in_its_own_sentence(api: Running, visitor: Reader) -> None:
    text = f"Nobody saw it. It asked gale-post[.]com for tasks. {'Much was lost there and then. ' * 9}\n"
    article = await weighed(api, text)
    page = await visitor.open(f"/articles/{article.id}/weighed")
    (told,) = page.tree.xpath("//td[@class='around']/bdi")
    assert told.text_content() == "It asked gale-post[.]com for tasks."
    article = await weighed(api, f"{'long ' * 90}gale-post[.]com {'tail ' * 90}")
    page = await visitor.open(f"/articles/{article.id}/weighed")
    (told,) = page.tree.xpath("//td[@class='around']/bdi")
    assert told.text_content().startswith("…long ") and told.text_content().endswith(" tail…")
    assert len(told.text_content()) < 280


async def test_all_that_was_weighed_stands_below_the_rule_that_decided(api: Running, visitor: Reader) -> None:
    article = await weighed(api, f"{ARTICLE}The loader sent its answers to the C2 server gale-post.com first.\n")
    page = await visitor.open(f"/articles/{article.id}/weighed")
    (list_of_evidence,) = page.tree.xpath("//tr[.//bdi[text()='gale-post[.]com']]//ul")
    reading = await api.store.readings.get(article.id, 1)
    assert reading and reading.candidates
    (candidate,) = [each for each in reading.candidates if each["value"] == "gale-post.com"]
    said = [" ".join(item.text_content().split()) for item in list_of_evidence]
    assert said == [f"{row['points']:+} {row['rule']}" for row in candidate["evidence"]]
    assert len(said) > 1


async def test_a_member_says_with_one_click_that_a_verdict_is_wrong(
    api: Running, member: Reader, visitor: Reader
) -> None:
    article = await weighed(api, "It asked gale-post[.]com, and setup.py did.")
    path = f"/articles/{article.id}/weighed"
    assert "This is wrong" not in (await visitor.open(path)).text
    page = await member.open(path)
    said = await member.submit(page, path, type="domain", value="setup.py", kept="no", say="wrong")
    assert "Reported. Take back" in said.text
    (one,) = [each async for each in api.store.feedback.all()]
    assert (one.value, one.kept, one.text) == ("setup.py", False, "It asked gale-post[.]com, and setup.py did.")
    told = json.loads(example_line(one, 2))
    assert (told["label"], told["readers"], told["article"]["title"]) == ("indicator", 2, "Kestrel")
    unknown = await member.submit(page, path, type="domain", value="other.example", kept="no", say="wrong")
    assert unknown.status == 404
    again = await member.submit(page, path, type="domain", value="setup.py", kept="no", say="withdraw")
    assert "Take back" not in again.text


async def test_many_candidates_come_in_pages(api: Running, visitor: Reader) -> None:
    article = await weighed(api, " ".join(f"gale-{n}[.]com" for n in range(450)))
    page = await visitor.open(f"/articles/{article.id}/weighed")
    seen: list[str] = []
    while True:
        seen += [row[0] for row in rows(page)]
        if "Next page" not in page.links():
            break
        page = await visitor.open(page.links()["Next page"])
    assert seen == [f"gale-{n}[.]com" for n in range(450)]


async def test_markup_in_a_spelling_stays_text(api: Running, visitor: Reader) -> None:
    article = await weighed(api, "see hxxp://gale-post[.]com/<script>alert(1)</script>")
    page = await visitor.open(f"/articles/{article.id}/weighed")
    assert not page.tree.xpath("//main//script")


async def test_an_article_of_which_nothing_was_kept_says_so(api: Running, visitor: Reader) -> None:
    article = await api.publish("old")
    assert "were not kept" in (await visitor.open(f"/articles/{article.id}/weighed")).text
    assert (await visitor.open(f"/articles/{'0' * 36}/weighed")).status == 404


@pytest.mark.slow
async def test_a_page_of_many_rows_is_made_beside_the_event_loop(
    api: Running, visitor: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    article = await weighed(api, "It asked gale-post[.]com.")
    made_in: list[threading.Thread] = []
    render = Templates.render

    def noted(self: Templates, name: str, context: Mapping[str, Any]) -> str:
        made_in.append(threading.current_thread())
        return render(self, name, context)

    monkeypatch.setattr(Templates, "render", noted)
    await visitor.open(f"/articles/{article.id}/weighed")
    assert made_in
    assert threading.current_thread() not in made_in
