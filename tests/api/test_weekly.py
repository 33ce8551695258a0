"""`/weekly/{week}` beyond its numbers: revisions, Markdown."""

from __future__ import annotations

import pytest
from lxml import html
from lxml.etree import _Element
from markdown_it import MarkdownIt

from api.formats.markdown import code, escaped
from intel.records import Sighting
from tests.api.running import Running
from tests.cases import each

HOSTILE = (
    "# h\n- x <img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](http://evil.example/p.png) **b** _i_ ~~s~~ "
    "`c` | t | http://evil.example www.evil.example a@b.example &lt; $x$ \\[ <http://auto.example> \x1b[2J\u202e"
)


def said(element: _Element) -> str:
    return "".join(map(str, element.itertext()))


async def write(api: Running, revisions: int = 3) -> None:
    for n in range(revisions):
        await api.publish(f"a{n}", f"domain d{n}.example", at=n)
        await api.get("/weekly/2026-W47")


@pytest.mark.promise("weekly.revisions")
async def test_earlier_revisions_are_listed_and_read(api: Running) -> None:
    await write(api)
    current = (await api.get("/weekly/2026-W47")).json()
    listed = (await api.get("/weekly/2026-W47/revisions")).json()
    assert [item["revision"] for item in listed["items"]] == [3, 2, 1] and listed["total"] == 3
    assert listed["items"][0] == {
        name: current[name] for name in ("id", "revision", "generated_at", "status", "summary")
    }
    first = (await api.get("/weekly/2026-W47", revision=1)).json()
    assert (first["revision"], first["counts"]["articles"]) == (1, 1)
    assert (await api.get("/weekly/2026-W47", revision=3)).json() == current


@pytest.mark.promise("weekly.revisions", "cursor.walk-once")
async def test_revisions_are_walked_with_a_key_only(api: Running) -> None:
    await write(api, 5)
    key = await api.key()
    page = (await api.get("/weekly/2026-W47/revisions", key, limit=2)).json()
    found = [item["revision"] for item in page["items"]]
    while cursor := page["next_cursor"]:
        assert (await api.get("/weekly/2026-W47/revisions", cursor=cursor)).status_code == 401
        page = (await api.get("/weekly/2026-W47/revisions", key, cursor=cursor)).json()
        found += [item["revision"] for item in page["items"]]
    assert found == [5, 4, 3, 2, 1]
    assert (await api.get("/weekly/2026-W47/revisions", limit=2)).json()["next_cursor"] is None


@pytest.mark.promise("weekly.revisions")
async def test_a_revision_that_was_never_made_is_not_there(api: Running) -> None:
    await write(api, 1)
    assert (await api.get("/weekly/2026-W47", revision=2)).status_code == 404
    assert (await api.get("/weekly/2026-W46/revisions")).status_code == 404
    assert (await api.get("/weekly/now/revisions")).status_code == 404
    for revision in ("0", "-1", "x", "9" * 30):
        assert (await api.get("/weekly/2026-W47", revision=revision)).status_code == 422


@pytest.mark.promise("weekly.markdown")
async def test_a_week_is_written_as_markdown(api: Running) -> None:
    await api.publish("before", "domain old.example", at=-100)
    await api.publish("a", "domain evil.example", "malware Emotet", "mitre_attack T1621", title="Kestrel")
    answer = await api.get("/weekly/2026-W47.md")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert (await api.get("/weekly/2026-W47", format="md")).text == answer.text
    lines = answer.text.splitlines()
    assert lines[0] == "# Week 47 of 2026"
    assert "- articles: 1 (+0, +0.0 % on the week before)" in lines
    assert "- `evil[.]example` (domain): sources 1, articles 1, new" in lines
    assert any(line.startswith("- [Kestrel](http://ioc.example/articles/") for line in lines)
    assert any(line.startswith("[Prompts you did not start") or "/awareness/" in line for line in lines)
    assert (await api.get("/weekly/2026-W46.md", revision=1)).status_code == 404
    assert (await api.get("/weekly/2026-W40.md")).status_code == 404
    assert (await api.get("/weekly/2026-W47", format="html")).status_code == 422


@pytest.mark.promise("weekly.markdown")
async def test_what_strangers_wrote_is_text_in_markdown(api: Running) -> None:
    url = "https://evil.example/``a`|b\\<i>"
    await api.publish("a", Sighting("url", url, ""), "malware Emotet", title=HOSTILE, source=f"S{HOSTILE}"[:190])
    written = (await api.get("/weekly/2026-W47.md")).text
    assert "\x1b" not in written and "\u202e" not in written
    for rules in ("commonmark", "js-default"):
        tree = html.fromstring(MarkdownIt(rules, {"html": True}).render(written))
        assert {str(a.get("href")).partition("/articles/")[0] for a in tree.iter("a")} == {"http://ioc.example"}
        assert not list(tree.iter("img", "script", "table", "del", "strong", "em", "i", "h3", "h4", "h5", "h6", "ol"))
        assert len(list(tree.iter("h1"))) == 1
        assert "[a](javascript:alert(1))" in said(tree)
        assert "hxxps://evil[.]example/``a`|b\\<i>" in [said(each) for each in tree.iter("code")]


@each("text", ["a`b", "`", "``", "` a `", "a``b`c", "plain", "a\nb", "\\"])
def test_any_value_is_code(text: str) -> None:
    tree = html.fromstring(MarkdownIt("commonmark").render(f"x {code(text)} y"))
    assert [said(each) for each in tree.iter("code")] == [" ".join(text.split())]


def test_escaping_says_the_same() -> None:
    text = " ".join("".join(map(chr, range(32, 127))).split())
    tree = html.fromstring(MarkdownIt("commonmark").render(escaped(text)))
    assert said(tree).strip() == text
