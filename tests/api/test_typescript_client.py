"""A client that openapi-typescript generates from the description, asking every operation of the running service.

What it asks is written in TypeScript here and checked by its compiler first, so that every parameter, body and answer
has the type that the description gives it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.apart import LOCKS
from tests.api.serving import serving
from tests.api.test_generated_client import ANSWERED, ARTICLE, ASKED, BODIES, IOC, LAST, MISSING

LOCK = LOCKS / "requirements-typescript.json"
PATIENCE_SECONDS = 300
PROGRAM = """
import createClient from "openapi-fetch";
import type { paths } from "./api";
const client = createClient<paths>({
  baseUrl: process.env.IOC!, headers: { Authorization: `Bearer ${process.env.KEY}` },
});
async function told(name: string, asked: Promise<{ data?: unknown; error?: unknown; response: Response }>) {
  const { data, error, response } = await asked;
  const parsed = data !== undefined || error !== undefined;
  console.log(JSON.stringify({ name, status: response.status, parsed }));
}
async function main() {
CALLS
  const { data, error } = await client.GET("/api/v1/iocs", { params: { query: { value: "evil.example" } } });
  if (typeof data !== "object" || !("items" in data)) throw error;
  const values: string[] = data.items.map((ioc) => ioc.value);
  const refused = await client.GET("/api/v1/iocs", { params: { query: { limit: 0 } } });
  const problem: string | undefined = refused.error?.code;
  await told("LAST_NAME", LAST_CALL);
  console.log(JSON.stringify({ values, problem }));
}
main();
"""


@pytest.fixture
def service(tmp_path: Path, either_engines: dict[str, str]) -> Iterator[tuple[str, str]]:
    with serving(tmp_path, "domain evil.example", ioc_rate_key="100000/second", **either_engines) as started:
        yield started


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generator, the compiler and what they need, as the lock says."""
    folder: Path = tmp_path_factory.mktemp("typescript")
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("there is no Node.js with npm")
    lock = json.loads(LOCK.read_text())
    (folder / "package.json").write_text(json.dumps({"private": True, **lock["packages"][""]}))
    (folder / "package-lock.json").write_text(LOCK.read_text())
    installed = ran(folder, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    if installed.returncode != 0:
        pytest.skip(f"the packages of the generator cannot be had: {installed.stderr[-300:]}")
    return folder


def ran(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'node_modules' / '.bin'}:{os.environ['PATH']}"
    return subprocess.run(
        [*command], cwd=folder, env={**os.environ, "PATH": path, **environment}, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip


def succeeded(folder: Path, *command: str, **environment: str) -> str:
    done = ran(folder, *command, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def call(path: str, method: str, operation: dict[str, Any]) -> str:
    """The TypeScript that asks an operation."""
    name = operation["operationId"]
    ids = {"id": ARTICLE if "article" in name or name == "list_candidates" else IOC}
    values = {**ids, **ASKED.get(name, {})}
    wanted = {each: values[each] for each in re.findall(r"{(\w+)}", path)}
    asked: dict[str, Any] = {"params": {"path": wanted}} if wanted else {}
    if name in BODIES:
        asked["body"] = BODIES[name][1]
    media_types = [
        kind for code, one in operation["responses"].items() if code[0] == "2" for kind in one.get("content", {})
    ]
    if media_types and "application/json" not in media_types:
        asked["parseAs"] = "text"
    return f"client.{method.upper()}({json.dumps(path)}, {json.dumps(asked)})"


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.promise("description.generates-clients")
def test_a_typescript_client_calls_every_operation(project: Path, service: tuple[str, str]) -> None:
    address, key = service
    described = httpx.get(f"{address}/api/v1/openapi.json")
    calls = {
        operation["operationId"]: call(path, method, operation)
        for path, methods in described.json()["paths"].items()
        for method, operation in methods.items()
    }
    (project / "openapi.json").write_bytes(described.content)
    last = calls.pop(LAST)
    lines = "\n".join(f'  await told("{name}", {asked});' for name, asked in sorted(calls.items()))
    program = PROGRAM.replace("CALLS", lines).replace("LAST_NAME", LAST).replace("LAST_CALL", last)
    (project / "calls.ts").write_text(program)
    succeeded(project, "openapi-typescript", "openapi.json", "--output", "api.ts")
    options = ("--strict", "--target", "es2022", "--module", "node16", "--skipLibCheck", "--types", "node")
    succeeded(project, "tsc", *options, "calls.ts")
    *told, answered = map(json.loads, succeeded(project, "node", "calls.js", IOC=address, KEY=key).splitlines())
    assert {one["name"] for one in told} == {*calls, LAST}
    for one in told:
        status = MISSING.get(one["name"])
        assert one["status"] == status if status else one["status"] in ANSWERED, one
        assert one["parsed"] or one["status"] == 204, one
    assert answered == {"values": ["evil.example"], "problem": "invalid_parameter"}
