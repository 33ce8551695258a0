from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from ingest.article_text import ArticleText, read_article
from ingest.isolated import Isolation, IsolationLimits
from intel.errors import ArticleUnreadable, IngestFailed, IsolationFailed
from tests.ingest.jobs import (
    burn,
    collects_between_items,
    collects_garbage,
    complain,
    crash,
    double,
    foreign,
    hang,
    hog,
    large,
    leave,
    process,
    processes,
    recurse,
    refuse,
    secrets,
    size,
    spin,
    write_a_file,
)

pytestmark = pytest.mark.slow

JOBS = "tests.ingest.jobs"
QUICK = IsolationLimits(cpu_seconds=1, wall_seconds=5, memory_bytes=1 << 30, result_bytes=1 << 20)
ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture
async def isolation() -> AsyncIterator[Isolation]:
    isolation = Isolation(QUICK, preload=(JOBS,))
    yield isolation
    await isolation.close()


async def reason(isolation: Isolation, function: Callable[[], object]) -> str:
    with pytest.raises(IsolationFailed) as failed:
        await isolation.run(function)
    assert failed.value.detail.endswith(".")
    assert "script" not in failed.value.detail
    return failed.value.reason


def children() -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = status.read_text().rpartition(")")[2].split()[:2]
            if state != "Z" and int(parent) == os.getpid():
                found.add(int(status.parent.name))
    return found


async def test_the_garbage_collector_rests_while_one_page_is_read_and_works_between_many(isolation: Isolation) -> None:
    assert [await isolation.run(collects_garbage) for _ in range(2)] == [False, False]
    assert [each async for each in isolation.stream(QUICK, collects_between_items)] == [False, True]


async def test_a_job_runs_in_another_process_and_gives_its_result(isolation: Isolation) -> None:
    assert await isolation.run(double, 21) == 42
    assert await isolation.run(process) != os.getpid()


async def test_an_article_is_read_in_isolation(isolation: Isolation) -> None:
    body = b"<html><title>Barge</title><body><p>The implant called evil[.]example twice.</p></body></html>"
    article = await isolation.run(read_article, body, "text/html", None, "https://a.example.org/x")
    assert isinstance(article, ArticleText)
    assert article == read_article(body, "text/html", None, "https://a.example.org/x")


async def test_a_job_costs_a_fork_and_no_imports(isolation: Isolation) -> None:
    await isolation.run(double, 1)
    begun = time.monotonic()
    for number in range(20):
        assert await isolation.run(double, number) == number * 2
    assert time.monotonic() - begun < 30


async def test_what_a_job_refuses_comes_back_as_it_was_raised(isolation: Isolation) -> None:
    with pytest.raises(ArticleUnreadable) as refused:
        await isolation.run(refuse)
    error = refused.value
    assert (error.reason, error.detail, error.retryable, error.retry_after_seconds) == (
        "no_text",
        "Nothing there.",
        True,
        7.0,
    )


async def test_a_job_that_never_ends_is_killed(isolation: Isolation) -> None:
    begun = time.monotonic()
    assert await reason(isolation, spin) == "parse_timeout"
    assert await reason(isolation, hang) == "parse_timeout"
    assert time.monotonic() - begun < 60


async def test_a_job_that_eats_memory_is_stopped(isolation: Isolation) -> None:
    assert await reason(isolation, hog) == "parse_memory"


@pytest.mark.parametrize("function", [crash, leave, complain, recurse, foreign])
async def test_a_job_that_crashes_takes_nothing_with_it(isolation: Isolation, function: Callable[[], object]) -> None:
    assert await reason(isolation, function) == "parse_crashed"
    assert await isolation.run(double, 4) == 8


async def test_a_result_beyond_all_bounds_is_refused(isolation: Isolation) -> None:
    assert await reason(isolation, large) == "parse_too_large"


async def test_a_large_argument_gets_through(isolation: Isolation) -> None:
    assert await isolation.run(size, bytes(10 << 20)) == 10 << 20


async def test_a_job_can_write_no_file(isolation: Isolation, tmp_path: Path) -> None:
    with pytest.raises(IsolationFailed):
        await isolation.run(write_a_file, str(tmp_path / "x"))
    assert not (tmp_path / "x").exists() or (tmp_path / "x").stat().st_size == 0


async def test_the_service_s_secrets_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IOC_SECRET_KEY", "very secret")
    isolation = Isolation(QUICK, preload=(JOBS,))
    assert await isolation.run(secrets) == []
    await isolation.close()


async def test_a_page_does_not_hold_up_the_event_loop(isolation: Isolation) -> None:
    await isolation.run(double, 1)
    running = asyncio.create_task(reason(isolation, hang))
    longest = 0.0
    while not running.done():
        begun = time.monotonic()
        await asyncio.sleep(0.005)
        longest = max(longest, time.monotonic() - begun)
    assert await running == "parse_timeout"
    assert longest < QUICK.wall_seconds - 1


async def test_no_more_jobs_run_at_once_than_there_are_slots() -> None:
    isolation = Isolation(IsolationLimits(wall_seconds=0.5), at_once=2, preload=(JOBS,))
    await isolation.run(double, 1)
    begun = time.monotonic()
    await asyncio.gather(*(reason(isolation, hang) for _ in range(4)))
    assert time.monotonic() - begun >= 1.0
    await isolation.close()


@pytest.mark.promise("fairness.another-account-within-60-seconds")
async def test_an_account_alone_has_every_slot_and_anothers_job_begins_beside_them() -> None:
    isolation = Isolation(at_once=2, preload=(JOBS,))
    await isolation.run(double, 1)
    accounts = ("one", "one", "one", "another")
    first, second, third, others = await asyncio.gather(
        *(isolation.run(burn, account_id=account_id) for account_id in accounts)
    )
    first_end = min(first[1], second[1])
    assert max(first[0], second[0], others[0]) < first_end < third[0]
    await isolation.close()


async def test_many_jobs_at_once_do_not_mix(isolation: Isolation) -> None:
    assert await asyncio.gather(*(isolation.run(double, number) for number in range(40))) == list(range(0, 80, 2))


async def test_a_process_that_did_well_does_the_next_job_of_its_account_and_of_no_other(isolation: Isolation) -> None:
    first = await isolation.run(process, account_id="one")
    assert await isolation.run(process, account_id="one") == first
    assert await isolation.run(process, account_id="another") != first
    assert await isolation.run(process, account_id="one") == first


@pytest.mark.parametrize("function", [refuse, crash, leave, complain, burn])
async def test_a_process_that_did_badly_or_computed_for_long_does_nothing_more(
    isolation: Isolation, function: Callable[[], object]
) -> None:
    first = await isolation.run(process)
    with contextlib.suppress(IngestFailed):
        await isolation.run(function)
    assert await isolation.run(process) != first


async def test_a_process_that_read_a_large_page_does_nothing_more(isolation: Isolation) -> None:
    assert await isolation.run(process, is_large=True) != await isolation.run(process)


async def test_a_process_is_ended_after_some_jobs(isolation: Isolation) -> None:
    assert len({await isolation.run(process) for _ in range(110)}) == 3


async def test_a_process_that_waits_in_vain_ends(isolation: Isolation) -> None:
    await asyncio.wait_for(_ended(await isolation.run(process)), 60)


async def test_a_process_of_one_import_waits_longer_for_what_is_read_next(isolation: Isolation) -> None:
    importing = Isolation.for_one_import()
    first = await importing.run(process)
    await asyncio.wait_for(_ended(await isolation.run(process)), 60)
    assert await importing.run(process) == first
    await importing.close()


async def test_a_process_that_died_while_it_waited_is_not_asked(isolation: Isolation) -> None:
    waiting = await isolation.run(process)
    os.kill(waiting, signal.SIGKILL)
    await asyncio.wait_for(_ended(waiting), 60)
    assert await isolation.run(double, 2) == 4


async def test_each_job_has_its_own_time_to_compute(isolation: Isolation) -> None:
    for _ in range(2):
        await isolation.run(process)
        assert await reason(isolation, spin) == "parse_timeout"


async def test_a_forking_process_that_died_is_replaced(isolation: Isolation) -> None:
    before = children()
    await isolation.run(double, 1)
    (forking,) = children() - before
    os.kill(forking, signal.SIGKILL)
    await asyncio.wait_for(_gone(forking), 60)
    assert await isolation.run(double, 2) == 4


async def test_a_job_whose_forking_process_dies_may_be_tried_again(isolation: Isolation) -> None:
    await isolation.run(double, 1)
    running = asyncio.create_task(isolation.run(hang))
    await asyncio.sleep(0)
    await isolation.close()
    with pytest.raises(IsolationFailed) as failed:
        await running
    assert failed.value.retryable


async def test_closing_leaves_no_process_behind(isolation: Isolation) -> None:
    before = children()
    worker = await isolation.run(process)
    assert children() != before
    await isolation.close()
    assert children() == before
    await asyncio.wait_for(_ended(worker), 60)


async def test_a_job_that_is_given_up_frees_its_slot() -> None:
    isolation = Isolation(IsolationLimits(wall_seconds=20), at_once=1, preload=(JOBS,))
    await isolation.run(double, 1)
    running = asyncio.create_task(isolation.run(hang))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await isolation.run(double, 3) == 6
    await isolation.close()


PROGRAM = """
import asyncio, os, sys
print("main", os.getpid(), flush=True)
sys.path.insert(0, {root!r})
from ingest.isolated import Isolation, IsolationLimits
from tests.ingest.jobs import double, hang
async def main():
    isolation = Isolation(preload=({here!r},))
    print(await isolation.run(double, 21), flush=True)
    await isolation.run(hang)
asyncio.run(main())
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    script = tmp_path / "program"
    script.write_text(PROGRAM.format(root=str(ROOT), here=JOBS))
    return script


def _lines(running: subprocess.Popen[str]) -> list[str]:
    assert running.stdout is not None
    return [running.stdout.readline().strip() for _ in range(2)]


def test_a_script_s_main_module_is_not_run_again(program: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert _lines(running) == [f"main {running.pid}", "42"]
        os.killpg(running.pid, signal.SIGKILL)
        assert running.stdout is not None
        assert running.stdout.read() == ""


def test_on_ctrl_c_the_jobs_say_nothing_and_end(program: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        _lines(running)
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert (
        said.count("Traceback (most recent call last)") <= 2
    )  # the program's own: asyncio shows the cancelled task too
    assert "fork_server" not in said


async def _ended(pid: int) -> None:
    """Return when a process runs no more; whether its new parent has asked for its end yet does not matter."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def _gone(pid: int) -> None:
    while pid in children():  # noqa: ASYNC110 - a process that dies sends no event
        await asyncio.sleep(0.02)


async def test_a_stream_of_a_named_account_is_made_by_a_process_that_waits_for_it(isolation: Isolation) -> None:
    def named(account_id: str | None) -> AsyncIterator[int]:
        return isolation.stream(QUICK, processes, account_id=account_id)

    first, second, other = [[each async for each in named(account_id)] for account_id in ("one", "one", "two")]
    assert first == second != other
    assert [each async for each in named(None)] not in (first, other)
