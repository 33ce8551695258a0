"""`ioc import kev|epss|cvss|attack|warninglist`, beside a running service too."""

from __future__ import annotations

import gzip
import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from tests.end_to_end.processes import Installation
from tests.intel.catalogues.importing import epss_file, kev_file, warning_file

pytestmark = pytest.mark.timeout(900)


@pytest.mark.promise("catalogues.import", "cli.json")
def test_a_catalogue_is_imported_from_a_file(here: Installation) -> None:
    (here.folder / "kev.json").write_bytes(kev_file({"CVE-2024-3400": "2026-11-15"}))
    done = here.run("import", "kev", str(here.folder / "kev.json"))
    assert done.returncode == 0 and "kev: 1 entries, as of 2026-11-19" in done.stderr
    again = here.run("import", "kev", str(here.folder / "kev.json"), "--json")
    (item,) = json.loads(again.stdout)["items"]
    assert (item["name"], item["entries"], item["source"]) == ("kev", 1, "kev.json")


@pytest.mark.promise("catalogues.import")
def test_a_catalogue_is_imported_from_an_address(here: Installation, httpserver: HTTPServer) -> None:
    body = gzip.compress(epss_file({"CVE-2024-3400": 0.97}))
    httpserver.expect_request("/epss.csv.gz").respond_with_data(body, content_type="application/gzip")
    address = httpserver.url_for("/epss.csv.gz")
    done = here.run("import", "epss", f"{address}?token=secret", "--json")
    (item,) = json.loads(done.stdout)["items"]
    assert (item["entries"], item["source"]) == (1, address)
    here.environment["IOC_FETCH_ALLOW"] = ""
    refused = here.run("import", "epss", address)
    assert refused.returncode == 1 and "blocked_" in refused.stderr


@pytest.mark.promise("catalogues.damaged")
def test_a_page_that_is_no_catalogue_is_refused(here: Installation, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/page").respond_with_response(Response("<html>", content_type="text/html"))
    ended = here.run("import", "kev", httpserver.url_for("/page"))
    assert ended.returncode == 1 and "Traceback" not in ended.stderr
    (here.folder / "wrong.json").write_text("{}")
    ended = here.run("import", "kev", str(here.folder / "wrong.json"))
    assert (ended.returncode, ended.stderr) == (
        1, "ioc: wrong.json: This is no KEV catalogue: it has no `vulnerabilities`.\n",
    )  # fmt: skip


@pytest.mark.promise("cli.exit-status")
def test_a_catalogue_without_a_place_is_wrong_usage(here: Installation) -> None:
    for arguments in (("kev",), ("kev", "x.json", "--source", "me")):
        ended = here.run("import", *arguments)
        assert (ended.returncode, ended.stdout) == (2, "") and "PATH-or-URL" in ended.stderr


def test_a_folder_of_that_name_holds_articles(here: Installation) -> None:
    (here.folder / "kev").mkdir()
    (here.folder / "kev" / "a.html").write_text("<title>A report</title><p>It called evil[.]example.com, once.</p>")
    done = here.run("import", "kev")
    assert done.returncode == 0 and "1 of 1" in done.stderr


@pytest.mark.promise("warnings.imported")
def test_warning_lists_are_added_one_by_one(here: Installation) -> None:
    for name in ("One", "Two"):
        (here.folder / f"{name}.json").write_bytes(warning_file(name, "hostname", f"{name.lower()}.example"))
        done = here.run("import", "warninglist", str(here.folder / f"{name}.json"))
        assert done.returncode == 0, done.stderr
    assert "warninglist: 2 entries" in done.stderr and "before: 1" in done.stderr
