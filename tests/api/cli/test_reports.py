"""`ioc weekly …`."""

from __future__ import annotations

import json

import pytest

from tests.api.pages import article_page
from tests.end_to_end.processes import Installation

pytestmark = pytest.mark.timeout(900)


def filled(here: Installation) -> None:
    for n, day in enumerate(("2026-11-03", "2026-11-11", "2026-11-12")):
        head = f'<head><meta property="article:published_time" content="{day}T09:00:00Z">'
        text = f"Number {n} of the campaign used c{n}.kestrel-files[.]net and nothing else that day, analysts wrote."
        (here.folder / f"{n}.html").write_text(article_page(f"Kestrel {n}", text).replace("<head>", head))
    done = here.run("import", *(str(here.folder / f"{n}.html") for n in range(3)))
    assert done.returncode == 0, done.stderr


@pytest.mark.promise("cli.commands")
def test_weeks_are_built_and_shown(here: Installation) -> None:
    filled(here)
    built = json.loads(here.run("weekly", "build", "--all", "--json").stdout)["items"]
    assert [(week["id"], week["revision"], week["status"]) for week in built] == [
        ("2026-W46", 1, "closed"),
        ("2026-W45", 1, "closed"),
    ]
    again = json.loads(here.run("weekly", "build", "2026-W45", "--json").stdout)["items"]
    assert again == built[1:]
    assert "2 articles" in here.run("weekly", "build").stdout
    written = here.run("weekly", "show", "2026-W46")
    assert written.stdout.startswith("# Week 46 of 2026\n") and "[Kestrel 2](" in written.stdout
    shown = json.loads(here.run("weekly", "show", "2026-W46", "--json").stdout)
    assert (shown["id"], shown["counts"]["articles"], shown["trend"]["articles"]["previous"]) == ("2026-W46", 2, 1)


@pytest.mark.promise("cli.exit-status")
def test_a_week_without_articles_cannot_be_built(here: Installation) -> None:
    filled(here)
    ended = here.run("weekly", "build", "2026-W01", "2026-W46")
    assert ended.returncode == 1 and "2026-W01: no article was seen in this week" in ended.stderr
    assert "2026-W46" in ended.stdout
    for arguments in (("build", "next"), ("show", "2026-W01"), ("show", "2026-W60")):
        ended = here.run("weekly", *arguments)
        assert (ended.returncode, ended.stdout) == (1, "") and "Traceback" not in ended.stderr
