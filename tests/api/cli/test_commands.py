"""`ioc …` on files, stores and standard streams."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import stix2
from pytest_httpserver import HTTPServer

import api
from api.cli.running import printable
from tests.api.pages import KESTREL, article_page
from tests.end_to_end.processes import PASSWORD, PROGRAMS, Installation

pytestmark = pytest.mark.timeout(900)


def imported(here: Installation, *pages: str) -> None:
    folder = here.folder / "pages"
    folder.mkdir()
    for n, page in enumerate(pages):
        (folder / f"{n}.html").write_text(page)
    done = here.run("import", str(folder), "--source", "Example Research")
    assert done.returncode == 0, done.stderr


@pytest.mark.promise("cli.commands")
def test_help_names_every_command_of_the_contract(here: Installation) -> None:
    told = here.run("--help").stdout
    for command in (
        "serve", "worker", "import", "submit", "extract", "search", "list", "lookup", "account", "key", "export",
        "reindex", "doctor",
    ):  # fmt: skip
        assert re.search(rf"^\W*{command}\b", told, re.MULTILINE), command


def test_help_speaks_of_what_is_written_and_not_of_types_in_the_code(here: Installation) -> None:
    told = here.run("search", "--help").stdout
    assert "--since DATE" in told and "--limit N" in told and "--type TEXT" in told
    for command in (("import",), ("account", "role"), ("feeds", "add"), ("source", "trust"), ("watch",)):
        told = here.run(*command, "--help").stdout
        assert "Usage: " in told and not re.search(r"<str>|list\[|int range|<path>|<file>|%Y", told), command


@pytest.mark.promise("cli.exit-status")
@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("list", "--type", "nonsense"),
        ("list", "--limit", "0"),
        ("search",),
        ("serve", "--port", "x"),
        ("--x",),
        ("key", "create", "\udcff"),
        ("export", "--output", "."),
    ],
)
def test_wrong_usage_ends_with_2(here: Installation, arguments: tuple[str, ...]) -> None:
    ended = here.run(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "Traceback" not in ended.stderr and ended.stderr


def test_a_refused_choice_is_told_in_words_alone(here: Installation) -> None:
    told = here.run("export", "--format", "nope").stderr
    assert "Invalid value for '--format': 'nope' is not one of 'ndjson'" in told and "Value error" not in told


@pytest.mark.promise("cli.import-search-list-lookup", "cli.json")
def test_files_are_imported_searched_listed_and_looked_up(here: Installation) -> None:
    imported(here, article_page())
    listed = json.loads(here.run("list", "--json").stdout)
    assert sorted((item["type"], item["value"]) for item in listed["items"]) == sorted(KESTREL)
    assert listed["items"][0]["article"]["source_name"] == "Example Research"
    searched = here.run("search", "login-kestrel[.]org", "--json")
    assert json.loads(searched.stdout)["items"][0]["value"] == "login-kestrel.org"
    assert here.run("search", "nothing").returncode == 1
    found = json.loads(here.run("lookup", "login-kestrel[.]org", "nothing.example", "--json").stdout)
    assert [item["found"] for item in found["items"]] == [True, False]
    assert here.run("lookup", "nothing.example").returncode == 1
    table = here.run("list", "--type", "domain").stdout
    assert "login-kestrel[.]org" in table and "CVE" not in table


@pytest.mark.promise("cli.import-search-list-lookup")
def test_a_file_that_cannot_be_read_fails_and_the_others_are_imported(here: Installation) -> None:
    for name, body in (
        ("good.html", article_page().encode()),
        ("bad.html", b""),
        ("image.html", b"\x89PNG\r\n\x1a\n\0\0"),
    ):
        (here.folder / name).write_bytes(body)
    ended = here.run("import", "--json", *(str(here.folder / name) for name in ("good.html", "bad.html", "image.html")))
    assert ended.returncode == 1
    statuses = {Path(item["path"]).name: item["status"] for item in json.loads(ended.stdout)["items"]}
    assert statuses == {"good.html": "done", "bad.html": "failed", "image.html": "failed"}
    for missing in ("absent.html", str(here.folder / "data")):
        assert here.run("import", missing).returncode == 1


@pytest.mark.promise("cli.commands")
def test_an_address_is_submitted_and_its_end_awaited(here: Installation, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/post").respond_with_data(article_page(), content_type="text/html")
    httpserver.expect_request("/gone").respond_with_data("", 404)
    submitted = here.run("submit", httpserver.url_for("/post"), "--source", "Example Research", "--json")
    assert submitted.returncode == 0, submitted.stderr
    done = json.loads(submitted.stdout)
    assert (done["status"], done["source_name"], done["ioc_count"]) == ("done", "Example Research", len(KESTREL))
    assert here.run("submit", httpserver.url_for("/gone")).returncode == 1
    refused = here.run("submit", "file:///etc/passwd")
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)


@pytest.mark.promise("articles.refetch")
def test_a_known_address_is_read_again_when_asked_for(here: Installation, httpserver: HTTPServer) -> None:
    corrected = article_page("Corrected", *("Only other-kestrel[.]org was used by them." for _ in range(6)))
    for page in (article_page(), corrected):
        httpserver.expect_ordered_request("/post").respond_with_data(page, content_type="text/html")
    url = httpserver.url_for("/post")

    def tlps() -> set[str]:
        return {one["tlp"] for one in json.loads(here.run("list", "--json").stdout)["items"]}

    first = json.loads(here.run("submit", "--again", url, "--json").stdout)
    assert (first["status"], first["again"], first["ioc_count"]) == ("done", False, len(KESTREL))
    assert json.loads(here.run("submit", url, "--tlp", "green", "--json").stdout)["ioc_count"] == len(KESTREL)
    assert tlps() == {"green"}
    again = json.loads(here.run("submit", "--again", url, "--tlp", "amber", "--json").stdout)
    assert tlps() == {"amber"}
    assert (again["status"], again["again"], again["ioc_count"]) == ("done", True, 1)
    assert again["article_id"] == first["article_id"]


@pytest.mark.promise("cli.hostile-text")
def test_what_an_article_says_cannot_steer_the_terminal(here: Installation) -> None:
    imported(here, article_page("Evil \x1b[31mred\x1b]0;title\x07 \u202e[bold]rich[/bold]"))
    for arguments in (("list",), ("search", "kestrel"), ("lookup", "login-kestrel.org")):
        ended = here.run(*arguments)
        assert ended.returncode == 0
        for told in (ended.stdout, ended.stderr):
            assert "\x1b" not in told and "\x07" not in told and "\u202e" not in told
        assert "[bold]" in ended.stdout.replace("\n", "") or "Evil" in ended.stdout
    assert printable("\u202e👩\u200d💻") == "\ufffd👩\u200d💻"


@pytest.mark.promise("cli.extract")
def test_extract_writes_one_json_object_a_line_in_order(here: Installation) -> None:
    text = "First evil-kestrel[.]org, then CVE-2024-3400, again evil-kestrel[.]org and 203[.]0[.]113[.]9.\n"
    ended = here.run("extract", typed=text)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(line["type"], line["value"]) for line in lines][:2] == [
        ("domain", "evil-kestrel.org"),
        ("cve", "CVE-2024-3400"),
    ]
    assert len({(line["type"], line["value"]) for line in lines}) == len(lines)
    (here.folder / "page.html").write_text(article_page())
    found = [json.loads(line) for line in here.run("extract", "page.html").stdout.splitlines()]
    assert sorted((line["type"], line["value"]) for line in found) == sorted(KESTREL)
    assert not (here.folder / "data").exists()


@pytest.mark.promise("cli.extract", "cli.exit-status")
def test_extract_of_nothing_prints_nothing_and_of_no_file_fails(here: Installation) -> None:
    empty = here.run("extract", "-", typed="")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert here.run("extract", "absent.txt").returncode == 1


@pytest.mark.promise("cli.extract")
def test_extract_takes_any_bytes(here: Installation) -> None:
    for name, body in (
        ("nul", b"\0" * 5000),
        ("utf16", "CVE-2024-3400".encode("utf-16")),
        ("latin", b"caf\xe9 evil-kestrel[.]org \xff\xfe"),
        ("pdf", b"%PDF-1.7\n garbage"),
        ("markup", b"<div>" * 30_000),
    ):
        (here.folder / name).write_bytes(body)
        ended = here.run("extract", name)
        assert ended.returncode in (0, 1), (name, ended.stderr)
        assert "Traceback" not in ended.stderr, (name, ended.stderr)


@pytest.mark.promise("iocs.match", "iocs.searched", "iocs.suggestions")
def test_a_search_says_why_each_was_found_and_a_vain_one_what_was_searched(here: Installation) -> None:
    imported(here, article_page("Kestrel"))
    found = json.loads(here.run("search", "login-kestrel[.]org", "--json").stdout)
    assert found["items"][0]["match"] == {"how": "exact", "on": "login-kestrel.org"}
    assert found["query"]["names"] == [{"type": "domain", "value": "login-kestrel.org"}]
    assert "exact: login-kestrel" in here.run("search", "login-kestrel.org").stdout
    vain = here.run("search", "kestral")
    assert (vain.returncode, "did you mean kestrel" in vain.stderr) == (1, True)
    said = " ".join(vain.stderr.split())
    assert "searched 1 article from 1 source" in said and "not found does not mean harmless" in said
    told = json.loads(here.run("search", "kestral", "--json").stdout)
    assert (told["items"], told["suggestions"], told["searched"]["articles"]) == ([], ["kestrel"], 1)
    looked_up = here.run("lookup", "good.example")
    assert (looked_up.returncode, "searched 1 article from" in looked_up.stderr) == (1, True)


@pytest.mark.promise("cli.account-and-key")
def test_accounts_and_keys_are_made_on_the_command_line(here: Installation) -> None:
    made = here.run("account", "create", "analyst@example.org", typed=f"{PASSWORD}\n")
    assert made.returncode == 0, made.stderr
    assert PASSWORD not in made.stdout + made.stderr
    again = here.run("account", "create", "ANALYST@example.org", typed=f"{PASSWORD}\n")
    assert (again.returncode, "already" in again.stderr) == (1, True)
    weak = here.run("account", "create", "other@example.org", typed="short\n")
    assert (weak.returncode, "12" in weak.stderr) == (1, True)
    keys = [here.run("key", "create", "analyst@example.org", "--name", f"key {n}") for n in range(6)]
    assert [key.returncode for key in keys] == [0, 0, 0, 0, 0, 1]
    for key in keys[:5]:
        assert re.fullmatch(r"ioc_[0-9A-Za-z]{17}_[0-9A-Za-z]{49}\n", key.stdout), key.stdout
    assert "5" in keys[5].stderr and keys[5].stdout == ""
    listed = json.loads(here.run("key", "list", "analyst@example.org", "--json").stdout)["items"]
    assert [item["name"] for item in listed] == [f"key {n}" for n in range(5)]
    assert keys[0].stdout.strip() not in json.dumps(listed)
    assert here.run("key", "revoke", "analyst@example.org", "2").returncode == 0
    assert here.run("key", "revoke", "analyst@example.org", "2").returncode == 1
    assert here.run("key", "create", "nobody@example.org").returncode == 1


@pytest.mark.promise("cli.account-and-key")
def test_an_account_is_listed_and_disabled(here: Installation) -> None:
    here.key()
    assert here.run("account", "reset-password", "analyst@example.org", typed="another long password\n").returncode == 0
    assert here.run("account", "disable", "analyst@example.org").returncode == 0
    (account,) = json.loads(here.run("account", "list", "--json").stdout)["items"]
    assert account["email"] == "analyst@example.org" and account["disabled_at"]
    assert here.run("account", "disable", "nobody@example.org").returncode == 1


@pytest.mark.promise("accounts.roles")
def test_roles_are_set_and_listed_and_a_disabled_account_is_enabled_again(here: Installation) -> None:
    here.key("first@example.org")
    here.key("second@example.org")

    def listed() -> list[tuple[str, bool]]:
        accounts = json.loads(here.run("account", "list", "--json").stdout)["items"]
        return [(account["role"], account["disabled_at"] is None) for account in accounts]

    assert listed() == [("administrator", True), ("submitter", True)]
    assert here.run("account", "role", "second@example.org", "reader").returncode == 0
    assert here.run("account", "disable", "first@example.org").returncode == 0
    assert listed() == [("administrator", False), ("reader", True)]
    assert here.run("account", "enable", "first@example.org").returncode == 0
    assert listed() == [("administrator", True), ("reader", True)]
    assert here.run("account", "role", "second@example.org", "owner").returncode == 2
    assert here.run("account", "role", "nobody@example.org", "reader").returncode == 1
    assert here.run("account", "enable", "nobody@example.org").returncode == 1


@pytest.mark.promise("accounts.password-reset")
def test_a_reset_password_revokes_the_api_keys_unless_they_are_kept(here: Installation) -> None:
    here.key()
    reset = ("account", "reset-password", "analyst@example.org")

    def keys() -> int:
        return len(json.loads(here.run("key", "list", "analyst@example.org", "--json").stdout)["items"])

    assert here.run(*reset, "--keep-keys", typed="another long password\n").returncode == 0
    assert keys() == 1
    ended = here.run(*reset, typed="yet another long password\n")
    assert (ended.returncode, "API keys and feed tokens revoked: 1" in " ".join(ended.stderr.split())) == (0, True)
    assert keys() == 0


@pytest.mark.promise("cli.export")
def test_everything_is_exported_in_each_format(here: Installation) -> None:
    imported(here, article_page())
    lines = here.run("export").stdout.splitlines()
    assert {json.loads(line)["value"] for line in lines} == {value for _, value in KESTREL}
    assert len(here.run("export", "--format", "csv").stdout.splitlines()) == len(KESTREL) + 1
    assert set(here.run("export", "--format", "txt", "--include", "warned").stdout.split()) == {
        value for _, value in KESTREL
    }
    assert here.run("export", "--format", "stix", "--output", "bundle.json").returncode == 0
    bundle = stix2.parse((here.folder / "bundle.json").read_text(), version="2.1")
    kinds = [made.type for made in bundle.objects]
    assert sum(kinds.count(kind) for kind in ("indicator", "vulnerability", "attack-pattern")) == len(KESTREL)
    assert list(here.folder.glob(".bundle*")) == []
    nowhere = here.run("export", "--output", "nowhere/x.csv", "--format", "csv")
    assert nowhere.returncode != 0 and "nowhere/x.csv cannot be written" in nowhere.stderr


@pytest.mark.promise("cli.filters")
def test_lists_searches_and_exports_take_the_filters(here: Installation) -> None:
    imported(here, article_page())
    chosen = ("--type", "ip", "--type", "cve", "--sort", "sources", "--source", "Example Research")
    expected = {value for type, value in KESTREL if type in ("ip", "cve")}
    for command in (("list",), ("search", "kestrel")):
        found = json.loads(here.run(*command, *chosen, "--json").stdout)
        assert {item["value"] for item in found["items"]} <= expected and found["total"]
    lines = here.run("export", *chosen, "--until", "2999-01-01").stdout.splitlines()
    assert {json.loads(line)["value"] for line in lines} == expected
    unknown = here.run("list", "--source", "Nope")
    assert (unknown.returncode, "no source is known by the name 'Nope'" in unknown.stderr) == (1, True)
    for wrong in (("--exclude", "old"), ("--since", "soon"), ("--sort", "value"), ("--min-sources", "0")):
        ended = here.run("export", *wrong)
        assert (ended.returncode, wrong[0] in ended.stderr) == (2, True)


@pytest.mark.promise("cli.doctor")
def test_doctor_says_what_is_well(here: Installation) -> None:
    ended = here.run("doctor", "--json")
    assert ended.returncode == 0, ended.stdout
    assert {"settings", "store", "service"} <= {item["what"] for item in json.loads(ended.stdout)["items"]}


@pytest.mark.promise("cli.commands")
def test_reindexing_changes_nothing_that_is_found(here: Installation) -> None:
    imported(here, article_page())
    before = here.run("export").stdout
    assert here.run("reindex").returncode == 0
    assert here.run("export").stdout == before


def test_output_may_be_cut_off_by_its_reader(here: Installation) -> None:
    imported(here, article_page())
    # More than a pipe holds.
    (here.folder / "long.txt").write_text("".join(f"It asked evil{n}[.]kestrel.example.\n" for n in range(1_000)))
    for arguments in ("export", "extract --explain --json long.txt"):
        command = f"{PROGRAMS / 'ioc'} {arguments} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(
            ["bash", "-c", command], cwd=here.folder, env=here.environment, capture_output=True, text=True, timeout=200
        )
        assert "Traceback" not in ended.stderr and "Exception" not in ended.stderr
        assert ended.returncode == 0, arguments


@pytest.mark.promise("cli.no-data")
def test_reading_where_there_is_no_data_says_so_and_makes_nothing(here: Installation, tmp_path: Path) -> None:
    for command in (("list",), ("search", "x"), ("lookup", "x"), ("export",), ("key", "create", "a@example.org")):
        ended = here.run(*command)
        assert ended.returncode == 2 and "IOC_DATA_DIR" in ended.stderr, command
    assert here.run("doctor").returncode == 0
    assert not list(tmp_path.rglob("ioc.sqlite3"))
    assert here.run("--version").stdout == f"ioc {api.VERSION}\n"


@pytest.mark.promise("cli.nothing-cut")
def test_tables_cut_nothing_at_eighty_columns_and_lookups_read_a_pipe(here: Installation, tmp_path: Path) -> None:
    narrow = Installation(here.folder, {"COLUMNS": "80"})
    url = "https://login-kestrel.org/" + "a" * 90
    report = tmp_path / "report_2021-10-20.txt"
    report.write_text(f"[UPDATE 2] Kestrel report\nIt asked {url.replace('.org', '[.]org')} in the night.\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.pptx").write_bytes(b"PK\3\4")
    (tmp_path / "folder" / "other.txt").write_text("It asked other-kestrel[.]org in the night.")
    imported = here.run("import", str(report), str(tmp_path / "folder"))
    assert imported.returncode == 0 and "1 file left out" in imported.stderr and "notes.pptx" in imported.stderr
    listed = narrow.run("list", "--type", "url").stdout
    assert "status: expired; last seen: 2021-10-20" in listed
    assert "hxxps://login-kestrel[.]org/" + "a" * 90 in listed and "last seen: 2021-10-20" in listed
    wide = narrow.run("list", "--type", "url", "--wide").stdout.splitlines()
    assert len(wide) == 5 and "[UPDATE 2] Kestrel report" in wide[-1]
    looked_up = here.run("lookup", "-", typed=f"{url}\n\nother-kestrel[.]org\n{'x' * 3000}\nnever.example\n")
    assert looked_up.returncode == 0
    assert "not found: never.example (on a warning list: reserved names)" in looked_up.stderr
    dated = here.run("import", "--again", "--published", "2020-02-03", str(report))
    assert dated.returncode == 0 and "2020-02-03" in here.run("list", "--type", "url").stdout
    assert "none" in here.run("feeds", "list").stdout


@pytest.mark.promise("cli.commands")
def test_what_acts_on_stored_data_says_that_there_is_none_and_makes_none(here: Installation) -> None:
    for command in (
        "watch evil",
        "backup elsewhere",
        "reread",
        "reindex",
        "article remove x",
        "tag evil.example --add c2",
        "feeds poll",
        "weekly build",
        "account role a@example.org reader",
        "key revoke a@example.org 1",
        "source trust Agency 5",
        "domain unblock evil.example",
    ):
        ended = here.run(*command.split())
        assert (ended.returncode, "there is no data in" in ended.stderr) == (2, True), command
    assert list(here.folder.rglob("*.sqlite3")) == []


def test_a_value_that_is_refused_is_named(here: Installation) -> None:
    imported(here, article_page())
    refused = here.run("tag", "login-kestrel.org", "--add", "a b")
    assert refused.stderr.startswith("ioc: add: has 1 to 64 letters")
    sort = here.run("list", "--sort", "age")
    assert "--sort: must be one of last_seen, first_seen, added_at, sources\n" in sort.stderr
    assert here.run("search", " ", "--limit", "1").stdout.startswith("Newest indicators")
