"""`ioc import`: archives, bundles, going on where it was stopped, and what it says at the end."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from api.cli.importing import Results
from ingest.importing import TakenFile
from intel.errors import IngestFailed
from tests.api.pages import article_page
from tests.contract.store.builders import make_article
from tests.end_to_end.processes import Installation, until
from tests.ingest.writing import table

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


def test_what_is_imported_first_is_not_marked_anew_by_whatever_runs_next(here: Installation) -> None:
    (here.folder / "note.txt").write_text("The loader asked evil[.]example[.]com for its next stage.")
    assert imported(here, here.folder / "note.txt")[0] == 0
    with contextlib.closing(sqlite3.connect(here.database)) as store:
        assert store.execute("SELECT basis FROM warned_basis WHERE basis != ''").fetchall()


def test_json_that_is_no_report_is_named_and_no_failure_unless_it_was_asked_for(here: Installation) -> None:
    folder = here.folder / "mixed"
    folder.mkdir()
    (folder / "package.json").write_text('{"name": "tool"}')
    (folder / "one.html").write_text(article_page("First report", "The server first[.]example[.]com answered."))
    ended = here.run("import", str(folder))
    assert ended.returncode == 0 and "1 of 1 files imported" in ended.stderr
    assert "1 file left out, for such JSON is neither a MISP event nor a STIX 2.1 bundle: package.json" in ended.stderr
    status, named = imported(here, folder / "package.json")
    assert (status, named["summary"]["failed"]) == (1, 1)


@pytest.mark.promise("cli.import-search-list-lookup")
def test_a_misp_event_and_what_was_exported_as_stix_are_articles(here: Installation, tmp_path: Path) -> None:
    event = here.folder / "event.json"
    event.write_text(json.dumps(EVENT))
    status, taken = imported(here, event)
    assert (status, taken["summary"]["ioc_counts"]) == (0, {"ip": 1})
    bundle = here.folder / "bundle.json"
    bundle.write_text(here.run("export", "--format", "stix").stdout)
    status, again = imported(here, bundle, "--source", "Partner")
    assert (status, again["items"][0]["title"]) == (0, "STIX bundle: 1 objects outside of any report")
    (found,) = json.loads(here.run("lookup", "203.0.113.77", "--json").stdout)["items"]
    assert (found["iocs"][0]["sightings"], found["iocs"][0]["sources"]) == (2, 2)
    assert imported(here, bundle, event)[1]["summary"]["known"] == 2


def stored(here: Installation) -> tuple[int, int]:
    """How many articles and indicators are in the database; none where there is no database yet."""
    counting = "SELECT (SELECT count(*) FROM articles), (SELECT count(*) FROM iocs)"
    address = f"{here.database.as_uri()}?mode=ro"
    with contextlib.suppress(sqlite3.OperationalError), contextlib.closing(sqlite3.connect(address, uri=True)) as read:
        articles, iocs = read.execute(counting).fetchone()
        return articles, iocs
    return 0, 0


@pytest.mark.timeout(900)
@pytest.mark.promise("cli.import-search-list-lookup")
def test_an_import_that_is_killed_goes_on_where_it_was_and_counts_everything_once(here: Installation) -> None:
    reports = here.folder / "reports"
    reports.mkdir()
    for number in range(12):
        (reports / f"report-{number:02}.md").write_text(f"# Report {number}\n\n{table(700 * number, 700)}")
    running = here.start("import", str(reports))
    until(lambda: stored(here)[0], "the first articles are saved")
    running.kill()
    running.wait()
    assert 0 < stored(here)[0] < 12
    status, rest = imported(here, reports)
    assert (status, rest["summary"]["failed"], len(rest["items"])) == (0, 0, 12)
    assert rest["summary"]["known"] > 0
    assert [Path(item["path"]).name for item in rest["items"]] == sorted(path.name for path in reports.iterdir())
    assert stored(here)[1] == sum(item["ioc_count"] for item in rest["items"]) > 12 * 1000


def test_the_end_says_what_was_found(here: Installation) -> None:
    (here.folder / "event.json").write_text(json.dumps(EVENT))
    (here.folder / "other.json").write_text('{"not": "a bundle"}')
    ended = here.run("import", str(here.folder / "event.json"), str(here.folder / "other.json"))
    assert ended.returncode == 1
    assert "1 of 2 files imported" in ended.stderr
    assert "indicators: ip 1" in ended.stderr
    assert "The JSON is neither a MISP event nor a STIX 2.1 bundle." in ended.stdout


@pytest.mark.promise("tlp.said")
def test_a_known_file_keeps_its_tlp_and_the_end_says_so(here: Installation) -> None:
    (here.folder / "one.txt").write_text("Kestrel\n\nIt asked evil-kestrel[.]example for orders.\n")
    assert "TLP" not in here.run("import", "one.txt").stderr

    def tlp() -> str | None:
        (found,) = json.loads(here.run("lookup", "evil-kestrel[.]example", "--json").stdout)["items"]
        return str(found["iocs"][0].get("tlp"))

    known = here.run("import", "one.txt", "--tlp", "amber").stderr
    assert "--again reads such files again, and marks them TLP:AMBER; now they keep the TLP they have" in known
    assert tlp() == "None"
    assert "known already" not in here.run("import", "one.txt", "--tlp", "amber", "--again").stderr
    assert tlp() == "amber"
    for command in (("import", "one.txt"), ("submit", "https://news.example/one")):
        refused = here.run(*command, "--tlp", "red")
        assert (refused.returncode, "--tlp" in refused.stderr, "TLP:RED" in refused.stderr) == (2, True, True)


def test_a_known_file_gets_another_source_when_it_is_read_again_and_only_then(here: Installation) -> None:
    (here.folder / "one.txt").write_text("Kestrel\n\nIt asked evil-kestrel[.]example for orders.\n")
    here.run("import", "one.txt", "--source", "Acme")

    def source() -> str:
        (found,) = json.loads(here.run("lookup", "evil-kestrel[.]example", "--json").stdout)["items"]
        return str(found["iocs"][0]["article"]["source_name"])

    known = here.run("import", "one.txt", "--source", "Borealis").stderr
    assert "--again reads such files again, and gives them that source; now they keep the one they have" in known
    here.run("import", "one.txt", "--again")
    assert source() == "Acme"
    here.run("import", "one.txt", "--source", "Borealis", "--again")
    assert source() == "Borealis"
    assert here.run("list", "--source", "Acme").returncode != 0


def test_of_very_many_files_the_first_failures_and_the_numbers_are_kept() -> None:
    results = Results(all_rows=False)
    for number in range(3_000):
        refusal = IngestFailed("no_text", "The text is empty.") if number % 2 else None
        results.add(TakenFile(f"{number}.txt", () if refusal else (make_article(str(number)),), refusal=refusal))
    assert [row.path for row in results.rows()] == [f"{number}.txt" for number in range(1, 2_000, 2)]
    assert "1500 of 3000 files imported" in list(results.sentences())
    assert "500 more files failed than are shown" in list(results.sentences())
    assert results.summary()["done"] == 1500
