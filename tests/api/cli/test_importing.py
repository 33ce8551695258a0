"""`ioc import`: archives, bundles, going on where it was stopped, and what it says at the end."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.api.pages import article_page
from tests.end_to_end.processes import Installation

EVENT = {
    "Event": {
        "uuid": "8f1f6b9e-52c1-4a54-9a1c-0d1f3c1a7b10",
        "info": "Kestrel loader campaign",
        "date": "2026-11-17",
        "Orgc": {"name": "Example CERT"},
        "Attribute": [{"type": "ip-dst", "value": "203.0.113.77", "to_ids": True, "comment": "first C2"}],
    }
}


def imported(here: Installation, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    ended = here.run("import", "--json", *map(str, arguments))
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.promise("cli.import-search-list-lookup")
def test_an_archive_is_imported_and_the_same_command_goes_on_where_it_stopped(here: Installation) -> None:
    archive = here.folder / "reports.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("one.html", article_page("First report", "The server first[.]example[.]com answered."))
    status, first = imported(here, archive)
    assert (status, first["summary"]["done"], first["summary"]["known"]) == (0, 1, 0)
    with zipfile.ZipFile(archive, "a") as made:
        made.writestr("two.html", article_page("Second report", "The server second[.]example[.]com answered."))
        made.writestr("broken.pdf", b"%PDF-1.4 nothing more")
    status, second = imported(here, archive)
    outcome = {item["path"].partition("!")[2]: item["status"] for item in second["items"]}
    assert (status, outcome) == (1, {"one.html": "known", "two.html": "done", "broken.pdf": "failed"})
    assert second["summary"]["ioc_counts"]["domain"] == 1
    assert imported(here, archive, "--again")[1]["summary"] | {"ioc_counts": {}} == {
        "done": 2, "known": 0, "failed": 1, "ioc_counts": {}, "ioc_dropped": 0,
    }  # fmt: skip


@pytest.mark.promise("cli.import-search-list-lookup")
def test_a_misp_event_and_what_was_exported_as_stix_are_articles(here: Installation, tmp_path: Path) -> None:
    event = here.folder / "event.json"
    event.write_text(json.dumps(EVENT))
    status, taken = imported(here, event)
    assert (status, taken["summary"]["ioc_counts"]) == (0, {"ip": 1})
    bundle = here.folder / "bundle.json"
    bundle.write_text(here.run("export", "--format", "stix").stdout)
    status, again = imported(here, bundle, "--source", "Partner")
    assert (status, again["items"][0]["title"]) == (0, "Kestrel loader campaign")
    (found,) = json.loads(here.run("lookup", "203.0.113.77", "--json").stdout)["items"]
    assert (found["iocs"][0]["sightings"], found["iocs"][0]["sources"]) == (2, 2)
    assert imported(here, bundle, event)[1]["summary"]["known"] == 2


def test_the_end_says_what_was_found(here: Installation) -> None:
    (here.folder / "event.json").write_text(json.dumps(EVENT))
    (here.folder / "other.json").write_text('{"not": "a bundle"}')
    ended = here.run("import", str(here.folder / "event.json"), str(here.folder / "other.json"))
    assert ended.returncode == 1
    assert "1 of 2 files imported" in ended.stderr
    assert "indicators: ip 1" in ended.stderr
    assert "The JSON is neither a MISP event nor a STIX 2.1 bundle." in ended.stdout
