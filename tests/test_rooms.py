"""The house rules that a machine can check: who may import whom, who knows which dependency, how long things are."""

from __future__ import annotations

import ast
import functools
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from search_mappings import sqlite_migrations
from tests.cases import each

ROOT = Path(__file__).parent.parent
# What a room may import, beside itself.
ROOMS = {
    "search_mappings": set[str](),
    "intel": {"search_mappings"},
    "ingest": {"intel", "search_mappings"},
    "api": {"ingest", "intel", "mcp_server", "search_mappings"},
    "mcp_server": set[str](),
    "api_client": set[str](),
}
# A table that imports nothing: every room may read it.
TABLE = "intel.indicator_types"
KNOWN_BY_ONE_FILE = {
    "ahocorasick_rs": "ingest/indicators/piece_search.py",
    "argon2": "api/accounts/passwords.py",
    "zxcvbn": "api/accounts/password_strength.py",
    "arq": "ingest/queue/redis.py",
    "elastic_transport": "intel/store/elastic/nodes.py",
    "feedparser": "ingest/feeds.py",
    "htmldate": "ingest/main_text.py",
    "httpcore": "ingest/fetch/wire.py",
    "iocextract": "ingest/indicators/iocextract_program.py",
    "jinja2": "api/web/rendering.py",
    "markdown_it": "api/web/markdown.py",
    "mcp": "mcp_server/server.py",
    "mcp_types": "mcp_server/server.py",
    "nh3": "api/web/markdown.py",
    "opentelemetry": "intel/tracing.py",
    "prometheus_client": "api/metrics.py",
    "protego": "ingest/robots.py",
    "publicsuffixlist": "intel/suffixes.py",
    "jwt": "api/accounts/open_id.py",
    "segno": "api/web/qr.py",
    "docx": "ingest/word_text.py",
    "pypdf": "ingest/pdf_text.py",
    "trafilatura": "ingest/main_text.py",
    "yaml": "intel/awareness/lesson.py",
}
# Frameworks, and what is used like a part of the language: where they may be used.
SHARED = {
    "fastapi": ("api/",),
    "starlette": ("api/",),
    "pydantic": ("api/", "intel/settings.py", "mcp_server/"),
    "rich": ("api/cli/",),
    "cryptography": (
        "intel/store/sealing.py",
        "api/accounts/boxes.py",
        "api/accounts/two_factor.py",
        "api/cli/way_findings.py",
    ),
    "markupsafe": ("api/web/",),
    "uvicorn": ("api/cli/serving.py", "api/server/"),
    "structlog": ("api/", "ingest/", "intel/store/"),
    "orjson": ("api/", "intel/cards.py", "intel/store/", "ingest/"),
    "lxml": ("ingest/",),
    "idna": ("intel/canonical.py", "ingest/fetch/urls.py", "intel/suffixes.py"),
    "msgspec": ("ingest/messages.py", "intel/store/archive.py"),
    "httptools": ("api/server/protocol.py", "intel/store/elastic/connections.py"),
    "typer": ("api/cli/",),
    "httpx": ("api_client/client.py", "mcp_server/client.py", "api/cli/preflight.py", "api/cli/upkeep.py"),
    "redis": (
        "intel/redis_client.py",
        "api/limits/redis_limiter.py",
        "ingest/queue/",
        "api/cli/preflight.py",
        "api/cli/finding.py",
        "api/cli/redis_findings.py",
    ),
}
LONGEST_FUNCTION = 60
LONGEST_FILE = 450


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def statements(within: ast.AST) -> Iterator[ast.AST]:
    """Every statement of a file, at any depth: expressions, of which there are ten times as many, hold none."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        held = getattr(within, name, None)
        for node in held if isinstance(held, list) else ():
            yield node
            yield from statements(node)


@functools.cache
def statements_of(file: Path) -> tuple[ast.AST, ...]:
    """The imports and functions of a file."""
    wanted = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef
    return tuple(node for node in statements(ast.parse(file.read_text("utf-8"))) if isinstance(node, wanted))


@functools.cache
def imports_of(file: Path) -> set[str]:
    found: set[str] = set()
    for node in statements_of(file):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{file}: imports are absolute"
            if node.module != TABLE:
                found.add(node.module.partition(".")[0])
    return found


def third_parties() -> dict[str, set[str]]:
    """By dependency: the files that import it."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in sources(*ROOMS):
        for name in imports_of(file):
            if name not in ROOMS and name not in sys.stdlib_module_names:
                found[name].add(file.relative_to(ROOT).as_posix())
    return found


@each("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    for file in sources(room):
        others = imports_of(file) & set(ROOMS) - {room}
        assert others <= ROOMS[room], f"{file.relative_to(ROOT)} imports {others - ROOMS[room]}"


def test_the_table_that_every_room_reads_imports_nothing_of_them() -> None:
    assert not imports_of(ROOT / f"{TABLE.replace('.', '/')}.py") & set(ROOMS)


def test_no_room_knows_the_tests() -> None:
    for file in sources(*ROOMS):
        assert "tests" not in imports_of(file), file


def test_a_dependency_is_known_by_one_file() -> None:
    known = {name: files for name, files in third_parties().items() if name not in SHARED}
    assert known == {name: {file} for name, file in KNOWN_BY_ONE_FILE.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "engines", [{}, {"ELASTICSEARCH_URL": "http://127.0.0.1:9", "REDIS_URL": "redis://127.0.0.1:9"}]
)
def test_the_process_that_answers_requests_loads_nothing_large_that_it_does_not_need(
    tmp_path: Path, engines: dict[str, str]
) -> None:
    # Parsers of pages, which are read in processes apart, take 17 MB; cryptography, the Elasticsearch client above its
    # transport and frames for terminals 25 MB more.
    large = "'lxml', 'trafilatura', 'elasticsearch', 'cryptography.hazmat', 'jwt', 'requests', 'aiohttp', 'rich.panel'"
    loaded = f"import sys, api.cli.serving as s; s.create_app(); print(sorted({{{large}}} & set(sys.modules)))"
    environment = {**os.environ, "IOC_DATA_DIR": str(tmp_path), "IOC_SECRET_KEY": "s" * 32, **engines}
    command = [sys.executable, "-c", loaded]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_program_around_iocextract_is_run_and_never_imported() -> None:
    for file in sources(*ROOMS, "tests", "scripts"):
        for node in statements_of(file):
            named = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not any(name.endswith("iocextract_program") for name in named), file


def test_shared_dependencies_stay_where_they_belong() -> None:
    found = third_parties()
    for name, places in SHARED.items():
        assert [file for file in found[name] if not file.startswith(places)] == [], name


def test_functions_and_files_stay_readable() -> None:
    long = []
    for file in sources(*ROOMS, "tests", "scripts"):
        text = file.read_text("utf-8")
        if text.count("\n") > LONGEST_FILE:
            long.append(f"{file.relative_to(ROOT)}: {text.count(chr(10))} lines")
        for node in statements_of(file):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{file.relative_to(ROOT)}: {node.name} has {lines} lines")
    assert long == []


def test_every_folder_of_tests_is_a_package() -> None:
    folders = {file.parent for file in (ROOT / "tests").rglob("*.py")}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_every_package_is_delivered() -> None:
    assert f"ROOMS = {tuple(sorted(ROOMS))}".replace("'", '"') in (ROOT / "setup.py").read_text("utf-8")


def test_every_migration_has_a_number_of_its_own() -> None:
    numbers = [number for number, _ in sqlite_migrations()]
    assert numbers == list(range(1, len(numbers) + 1))
