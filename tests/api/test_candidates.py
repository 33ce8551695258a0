"""`/articles/{id}/candidates`: all that was weighed, and why."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.indicators import document_from_text, extract
from ingest.indicators.candidate_records import candidate_records
from intel.records import Article, Reading
from tests.api.running import Running
from tests.cases import each
from tests.contract.store.builders import hour

TEXT = "It asked gale-post[.]com and version 10.2.4.1, then 185.220.101.47. See setup.py, Emotet, CVE-2024-3400.\n"


async def weighed(api: Running, revision: int = 1, text: str = TEXT) -> Article:
    """An article and all that was weighed in it."""
    article = await api.publish("report", "domain gale-post.com", text=text)
    records = tuple({**each} for each in candidate_records(extract(document_from_text(text))).records)
    reading = Reading(article.id, revision, hour(1), article.title, (("domain", "gale-post.com"),), text, records)
    await api.store.readings.put(reading)
    return article


@pytest.mark.promise("articles.candidates")
async def test_anyone_sees_what_was_kept_and_what_was_dropped_and_why(api: Running) -> None:
    article = await weighed(api)
    answer = (await api.get(f"/articles/{article.id}/candidates")).json()
    assert [(each["value"], each["kept"], each["rule"]) for each in answer["items"]] == [
        ("gale-post.com", True, "defanged"),
        ("10.2.4.1", False, "version number"),
        ("185.220.101.47", True, "address"),
        ("setup.py", False, "name of a file"),
        ("Emotet", True, "name of malware"),
        ("CVE-2024-3400", True, "identifier"),
    ]
    assert all(TEXT[each["start"] : each["end"]] == each["spelling"] for each in answer["items"])
    assert all(each["reason"].endswith(".") for each in answer["items"])
    assert (answer["total"], answer["limit"], answer["next_cursor"]) == (6, 20, None)
    assert (answer["revision"], answer["notes"]) == (1, [])


async def test_a_candidate_of_which_several_rules_were_weighed_tells_what_each_counted(api: Running) -> None:
    article = await weighed(api)
    answer = (await api.get(f"/articles/{article.id}/candidates")).json()
    told = {each["value"]: each.get("evidence") for each in answer["items"]}
    file = next(each for each in answer["items"] if each["value"] == "setup.py")
    assert told["gale-post.com"] is None
    assert [row["rule"] for row in told["setup.py"]] == ["name of a file", "the text defangs what is dangerous"]
    assert sum(row["points"] for row in told["setup.py"]) == file["score"]


@pytest.mark.promise("articles.candidates")
@each(
    ("asked", "values"),
    [
        ({"kept": "false"}, ["10.2.4.1", "setup.py"]),
        ({"kept": "true", "type": "ip"}, ["185.220.101.47"]),
        ({"type": "malware"}, ["Emotet"]),
        ({"type": "email"}, []),
    ],
)
async def test_candidates_are_filtered_by_verdict_and_type(
    api: Running, asked: dict[str, str], values: list[str]
) -> None:
    article = await weighed(api)
    answer = (await api.get(f"/articles/{article.id}/candidates", None, **asked)).json()
    assert [each["value"] for each in answer["items"]] == values
    assert answer["total"] == len(values)


async def test_a_walk_meets_each_candidate_once_also_when_the_article_is_read_again_meanwhile(api: Running) -> None:
    article, key = await weighed(api), await api.key()
    walked: list[dict[str, Any]] = []
    page = (await api.get(f"/articles/{article.id}/candidates", key, limit=4)).json()
    await weighed(api, revision=2, text="Nothing is left.")
    while True:
        walked += page["items"]
        if page["next_cursor"] is None:
            break
        page = (await api.get(f"/articles/{article.id}/candidates", key, cursor=page["next_cursor"])).json()
        assert page["total"] is None
    assert len(walked) == 6
    assert len({each["start"] for each in walked}) == 6


async def test_paging_on_needs_a_key(api: Running) -> None:
    article = await weighed(api)
    assert (await api.get(f"/articles/{article.id}/candidates", limit=2)).json()["next_cursor"] is None


async def test_an_article_of_which_no_reading_is_kept_says_so(api: Running) -> None:
    article = await api.publish("old", "domain gale-post.com")
    answer = (await api.get(f"/articles/{article.id}/candidates")).json()
    assert (answer["items"], answer["total"], answer["next_cursor"]) == ([], 0, None)
    assert "not kept" in answer["notes"][0]


@each("id", ["0" * 36, "x", "ü" * 36, "%00"])
async def test_candidates_of_no_article_are_404(api: Running, id: str) -> None:
    answer = await api.get(f"/articles/{id}/candidates")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@each("asked", [{"kept": "maybe"}, {"type": "ipv4"}, {"limit": "0"}])
async def test_parameters_that_mean_nothing_are_refused(api: Running, asked: dict[str, str]) -> None:
    article = await weighed(api)
    answer = await api.get(f"/articles/{article.id}/candidates", None, **asked)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter")
