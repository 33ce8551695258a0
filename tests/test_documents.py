"""What README and the documents name is there: commands with their options, addresses, other documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.app import create_app
from api.cli import whole
from intel.settings import Settings

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"```(?:sh|text)\n(.*?)```|((?:^ {4}\S.*\n)+)", re.DOTALL | re.MULTILINE)


def commands() -> Iterator[tuple[str, list[str]]]:
    for document in DOCUMENTS:
        for block in _BLOCK.findall(document.read_text("utf-8")):
            for line in "".join(block).splitlines():
                if match := re.match(r"\s*(?:\S+/)?ioc ((?:[a-z][\w-]* ?|--[a-z-]+ ?)+)", line):
                    yield f"{document.name}: {line.strip()}", match[1].split()


@pytest.mark.promise("docs.commands-run")
def test_every_command_that_a_document_names_is_there_with_its_options() -> None:
    told = list(commands())
    assert len(told) > 20
    ioc = whole()
    for line, words in told:
        command = ioc
        for word in words:
            if word.startswith("--"):
                options = {name for parameter in command.params for name in parameter.opts}
                assert word in options, f"{line}: {word}"
            elif hasattr(command, "commands"):
                assert word in command.commands, f"{line}: {word}"
                command = command.commands[word]


@pytest.mark.slow
@pytest.mark.promise("docs.commands-run")
def test_every_address_that_a_document_names_is_answered_by_a_route(tmp_path: Path) -> None:
    paths = create_app(Settings.model_validate({"ioc_data_dir": tmp_path})).openapi()["paths"]
    known = [re.compile(re.sub(r"\{[^}]*\}", "[^/?]+", path)) for path in paths]
    for document in DOCUMENTS:
        for address in re.findall(r"127\.0\.0\.1:8000(/api/v1/[\w/.{}-]+)", document.read_text("utf-8")):
            path = address.rstrip(".")
            assert path.endswith("/docs") or any(each.fullmatch(path) for each in known), f"{document.name}: {path}"


def test_every_link_between_documents_leads_somewhere() -> None:
    for document in DOCUMENTS:
        for link in re.findall(r"\]\(([^)#]+)", document.read_text("utf-8")):
            assert link.startswith("http") or (document.parent / link).exists(), f"{document.name}: {link}"


def test_the_readme_quotes_the_ratios_that_were_measured_last() -> None:
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    kept = re.search(r"<!-- ratios (\{.*?\}) -->", page)
    assert kept is not None
    measured = json.loads(kept[1])
    readme = (ROOT / "README.md").read_text("utf-8")
    told = re.findall(r"^\| (.+?) \| (Embedded|Served) \| (.+?) \| (.+?) × \|$", readme, re.MULTILINE)
    assert len(told) == 5
    for asked, engine, beside, ratio in told:
        assert ratio == f"{measured[f'{engine}: {asked} / {beside}']:.1f}", f"{engine}: {asked}"
