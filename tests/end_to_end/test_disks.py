"""A data folder on a disk that is full or read-only, or with a damaged file: what can be read is, and nothing is lost.

The disks are real ones, mounted where the started process alone sees them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.processes import Installation, Server, after, installed, kill, until
from tests.end_to_end.site import Site

pytestmark = pytest.mark.timeout(900)

_MOUNTING = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
_READ_ONLY = "mount --bind data data; mount -o remount,bind,ro data"
_SMALL = "mkdir small; mount -t tmpfs -o size=12m none small; cp -a data/. small; mount --bind small data"
_READS = ("/iocs", "/iocs?q=evil", "/articles", "/articles?q=report", "/weekly", "/focus", "/changes", "/usage")


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    """The installed command, with a store that holds a report."""
    for made in installed(tmp_path, {}):
        (tmp_path / "report.txt").write_text("A report\n\nThe loader asked evil[.]example for its orders.\n")
        assert made.run("import", "report.txt").returncode == 0
        yield made


@pytest.fixture
def mounting() -> list[str]:
    """The beginning of a command that may mount disks."""
    tried = subprocess.run([*_MOUNTING, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {tried.stderr.strip()}")
    return _MOUNTING


def statuses(server: Server, key: str) -> dict[str, int]:
    return {path: server.get(path, key).status_code for path in _READS}


def vote(server: Server, key: str) -> httpx.Response:
    """The answer to a write that takes no room to speak of."""
    found = server.get("/iocs", key).json()["items"][0]
    path = f"{server.address}/api/v1/iocs/{found['id']}/false-positive"
    return httpx.put(path, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def assert_refused(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert "disk is full or read-only. Reading goes on." in answer.json()["detail"]
    assert answer.headers["retry-after"].isdigit()


@contextlib.contextmanager
def filled(folder: Path) -> Iterator[None]:
    """No room is left on the folder's disk."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(folder).free == 0
    try:
        yield
    finally:
        filler.unlink()


@pytest.mark.promise("promises.accepted-never-lost")
def test_on_a_full_disk_reading_goes_on_and_what_was_accepted_is_done_when_there_is_room_again(
    here: Installation, site: Site, mounting: list[str]
) -> None:
    key = here.key()
    server = here.serve(within=[*mounting, *after(_SMALL)])
    known = server.ended(server.submit(site.post(1), key)["id"], key)
    site.gate.clear()
    accepted = [server.submit(site.post(n), key)["id"] for n in (2, 3)]
    until(lambda: site.asked >= 3, "both pages are being read")
    with filled(Path(f"/proc/{server.process.pid}/root{here.folder}/data")):
        site.gate.set()
        until(lambda: vote(server, key).status_code == 503, "the disk is full")
        assert_refused(vote(server, key))
        refused = httpx.post(
            f"{server.address}/api/v1/submit",
            json={"url": site.post(4)},
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
        )
        assert_refused(refused)
        assert statuses(server, key) == dict.fromkeys(_READS, 200)
        assert httpx.get(f"{server.address}/readyz", timeout=60).status_code == 200
        assert [server.get(f"/submissions/{id}", key).json()["status"] for id in accepted] == ["fetching"] * 2
    assert vote(server, key).status_code == 200
    assert [server.ended(id, key)["status"] for id in (known["id"], *accepted)] == ["done"] * 3
    values = {item["value"] for item in server.get("/iocs", key, type="domain", limit=50).json()["items"]}
    assert {"evil.example", *(f"c{n}.kestrel-files.net" for n in (1, 2, 3))} <= values
    assert "c4.kestrel-files.net" not in values
    assert "Traceback" not in here.output()


@pytest.mark.parametrize("ended_well", [True, False])
def test_from_a_read_only_disk_is_read(here: Installation, mounting: list[str], ended_well: bool) -> None:
    key = here.key()
    server = here.serve()
    assert vote(server, key).status_code == 200
    if ended_well:
        server.process.terminate()
        server.process.wait(60)
    else:
        kill(server.process)
    server = here.serve(within=[*mounting, *after(_READ_ONLY)])
    assert statuses(server, key) == dict.fromkeys(_READS, 200)
    assert server.get("/iocs", key).json()["items"][0]["votes"]["false_positive"] == 1
    assert_refused(vote(server, key))
    assert "Traceback" not in here.output()


def test_a_store_that_was_cut_in_half_is_told_and_does_not_keep_the_service_from_starting(here: Installation) -> None:
    file = here.folder / "data" / "ioc.sqlite3"
    os.truncate(file, file.stat().st_size // 2)
    server = here.serve(ready=503)
    ready = httpx.get(f"{server.address}/readyz", timeout=60).json()
    assert "damaged and has to be repaired" in ready["status"]
    assert httpx.get(f"{server.address}/healthz", timeout=60).status_code == 200
    answer = server.get("/articles", q="report")
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert "the store is damaged: run `ioc doctor`" in here.output()
    assert "Traceback" not in here.output()
    command = here.run("list")
    assert command.returncode == 1 and "Traceback" not in command.stderr
    assert command.stderr.splitlines()[-1].startswith("ioc: the store is damaged")
