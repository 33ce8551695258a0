"""`ioc article remove` and `ioc account remove`, on both engines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from intel.ids import account_id
from intel.settings import load_settings
from intel.store import open_store
from tests.contract.store.builders import make_submission
from tests.end_to_end.processes import Installation, installed

EMAIL = "analyst@example.org"


@pytest.fixture
def here(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[Installation]:
    """The installed command, on empty engines."""
    yield from installed(tmp_path, either_engines)


def listed(here: Installation) -> set[str]:
    """The values that `ioc list` prints."""
    return {item["value"] for item in json.loads(here.run("list", "--json").stdout)["items"]}


def article_of(here: Installation, value: str) -> str:
    """The id of the article that names an indicator."""
    looked_up = json.loads(here.run("lookup", value, "--json").stdout)["items"]
    article: str = looked_up[0]["iocs"][0]["article"]["id"]
    return article


def take_in(here: Installation, *names: str) -> None:
    """Imports a report under each name, which names an indicator of its own and one that all share."""
    for name in names:
        text = f"{name}\n\nIt asked {name}[.]example and both[.]example for orders.\n"
        (here.folder / f"{name}.txt").write_text(text)
    assert here.run("import", *(f"{name}.txt" for name in names)).returncode == 0


def submitted(here: Installation, article_id: str, *emails: str) -> None:
    """Each account's submission, which ended with that article."""

    async def add() -> None:
        store = open_store(load_settings(here.environment))
        await store.setup()
        for owner in map(account_id, emails):
            one = replace(make_submission(), id=article_id + owner, account_id=owner, article_id=article_id)
            await store.submissions.add(replace(one, status="done"))
        await store.close()

    asyncio.run(add())


@pytest.mark.promise("remove.followed")
def test_an_article_is_removed_with_all_that_came_from_it(here: Installation) -> None:
    take_in(here, "kept", "gone")
    assert listed(here) == {"kept.example", "gone.example", "both.example"}
    article = article_of(here, "gone.example")
    removed = here.run("article", "remove", article, "unknown")
    assert (removed.returncode, removed.stderr.splitlines()) == (
        1,
        ["no article has the id unknown", "1 of 2 articles removed"],
    )
    assert listed(here) == {"kept.example", "both.example"}
    assert here.run("article", "remove", article).returncode == 1


@pytest.mark.parametrize("with_submissions", [False, True])
def test_an_account_is_removed_with_its_keys_and_if_asked_with_what_it_submitted(
    here: Installation, with_submissions: bool
) -> None:
    here.key("first@example.org")
    here.key(EMAIL)
    take_in(here, "own", "shared")
    submitted(here, article_of(here, "own.example"), EMAIL)
    submitted(here, article_of(here, "shared.example"), EMAIL, "first@example.org")
    options = ["--with-submissions"] if with_submissions else []
    removed = here.run("account", "remove", EMAIL, *options)
    articles = ", and 1 article with it" if with_submissions else ""
    assert (removed.returncode, removed.stderr.strip()) == (0, f"account {EMAIL} removed{articles}")
    assert listed(here) - {"both.example"} == {"shared.example", *(() if with_submissions else ("own.example",))}
    again = here.run("account", "remove", EMAIL, *options)
    assert (again.returncode, again.stderr.strip()) == (1, f"ioc: {EMAIL} has no account; see: ioc account list")


@pytest.mark.promise("tags.who")
def test_tags_are_changed_and_filtered_by(here: Installation) -> None:
    take_in(here, "one", "two")
    answer = here.run("tag", "one[.]example", "--add", "C2", "--add", "old", "--json")
    assert json.loads(answer.stdout) == {"tags": ["c2", "old"]}
    assert "tags: c2" in here.run("tag", "one.example", "--remove", "old").stderr
    found = json.loads(here.run("list", "--tag", "c2", "--json").stdout)["items"]
    assert [(item["value"], item["tags"]) for item in found] == [("one.example", ["c2"])]
    article = article_of(here, "two.example")
    assert json.loads(here.run("article", "tag", article, "--add", "x", "--json").stdout) == {"tags": ["x"]}
    for wrong in (("tag", "nothing.example"), ("tag", "one.example", "--add", "two words"), ("article", "tag", "none")):
        assert here.run(*wrong).returncode == 1


@pytest.mark.promise("notes.who")
def test_notes_are_written_listed_and_removed(here: Installation) -> None:
    take_in(here, "one")
    article = article_of(here, "one.example")
    for command in (("note", "one[.]example"), ("article", "note", article)):
        answer = here.run(*command, "--add", "Seen in our proxy log.", "--json")
        (note,) = json.loads(answer.stdout)["items"]
        assert (note["text"], note["author"]) == ("Seen in our proxy log.", "command line")
        assert "Seen in our proxy log." in here.run(*command).stdout
        assert "no notes" in here.run(*command, "--remove", note["id"]).stderr
        assert here.run(*command, "--remove", note["id"]).returncode == 1
    for wrong in (("note", "nothing.example"), ("note", "one.example", "--add", "x" * 2_001), ("article", "note", "x")):
        assert here.run(*wrong).returncode == 1
