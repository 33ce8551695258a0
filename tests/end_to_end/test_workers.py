"""`ioc serve --workers N`: several processes, one service."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_httpserver import HTTPServer

from tests.api.pages import article_page
from tests.end_to_end.processes import Installation, Server, installed, terminate, until

pytestmark = pytest.mark.timeout(900)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {"IOC_METRICS_ALLOW": "127.0.0.0/8"})


@pytest.fixture
def server(here: Installation) -> Server:
    started = here.serve("serve", "--workers", "2")
    until(lambda: set(workers(started)) == {0, 1}, "both workers answer")
    return started


def told(server: Server, metric: str, label: str = "") -> Counter[int]:
    """What each worker tells of a metric, by its number, over all rows with that label."""
    answer = httpx.get(f"{server.address}/metrics", timeout=60).text
    found = Counter[int]()
    for labels, value in re.findall(rf"^{metric}{{(.*)}} (\S+)$", answer, re.M):
        if re.search(label, labels):
            found[int(re.findall(r'worker="(\d+)"', labels)[0])] += int(float(value))
    return found


def workers(server: Server) -> dict[int, int]:
    """The processes that answer now, by their number."""
    return dict(told(server, "ioc_process"))


@pytest.mark.promise("limits.workers-share-buckets")
def test_a_bucket_holds_over_all_workers(server: Server) -> None:
    answers = [server.get("/iocs", q="kestrel").status_code for _ in range(30)]
    assert sorted(answers) == [200] * 10 + [429] * 20

    def both_tell() -> bool:
        counted = told(server, "ioc_http_requests_total", r'route="(/api/v1/iocs|unknown)"')
        return len(counted) == 2 and counted.total() == 30

    until(both_tell, "each of them had a part in it")


def test_a_worker_that_is_killed_is_replaced_with_a_line_in_the_log(here: Installation, server: Server) -> None:
    before = workers(server)
    for number in (1, 0):
        os.kill(before[number], signal.SIGKILL)

        def replaced(number: int = number) -> bool:
            now = workers(server)
            return set(now) == {0, 1} and now[number] != before[number]

        until(replaced, f"worker {number} is replaced")
    assert here.output().count("a worker died; another takes its place") == 2


def test_whichever_worker_takes_a_submission_it_is_read(
    here: Installation, server: Server, httpserver: HTTPServer
) -> None:
    key = here.key()
    for number in range(8):
        httpserver.expect_request(f"/{number}").respond_with_data(
            article_page(f"Report {number}"), content_type="text/html"
        )
    site = f"http://127.0.0.1:{httpserver.port}"
    accepted = [server.submit(f"{site}/{number}", key) for number in range(8)]
    assert {server.ended(one["id"], key)["status"] for one in accepted} == {"done"}


def test_all_workers_end_with_their_parent(server: Server) -> None:
    processes = list(workers(server).values())
    assert terminate(server.process) == 0
    assert [process for process in processes if Path(f"/proc/{process}").exists()] == []


def test_no_worker_survives_a_parent_that_is_killed(server: Server) -> None:
    processes = list(workers(server).values())
    server.process.kill()
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes), "they have ended")


def test_a_port_that_is_taken_is_refused_with_a_sentence(here: Installation, server: Server) -> None:
    ended = here.run("serve", "--workers", "2", "--port", server.address.rpartition(":")[2])
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "another program (perhaps this service) listens there" in ended.stderr
