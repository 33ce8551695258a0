"""A server and a worker of another version beside ours on the same engines, then ours alone: what is lost."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from pytest_httpserver import HTTPServer

from tests.end_to_end.processes import Installation, Server, terminate, until
from tests.end_to_end.unrest import Page, Press, counted, post

from .cluster import exported
from .reading import Reader, slowest
from .rebuilding import engines

_PAGES_A_STAGE = 60
_ENDED_SECONDS = 300.0


@dataclass
class Outcome:
    """What was accepted and acknowledged, and what was turned away."""

    accepted: dict[str, Page] = field(default_factory=dict)
    votes: dict[str, str] = field(default_factory=dict)
    turned_away: Counter[str] = field(default_factory=Counter)


def run(other: Path) -> int:
    """Replace the version in the folder `other` by ours amid work, print the figures; return the exit status."""
    if not (other / "api").is_dir():
        raise SystemExit(f"{other} is no checkout of this project")
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix="upgrade-", ignore_cleanup_errors=True)
        folder, settings = Path(stack.enter_context(made)), engines(stack)
        # The folder of modules that is looked into first decides which version runs.
        versions = ({**settings, "PYTHONPATH": str(other.resolve())}, settings)
        theirs, ours = (Installation(_made(folder / name), each) for name, each in zip("ab", versions, strict=True))
        for each in (theirs, ours):
            stack.callback(each.close)
        press = Press(stack.enter_context(HTTPServer("127.0.0.1", threaded=True)))
        stack.callback(press.close)
        return _replaced(theirs, ours, press)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _replaced(theirs: Installation, ours: Installation, press: Press) -> int:
    outcome, old, old_worker = Outcome(), theirs.serve(), theirs.start("worker")
    key = ours.key()
    reader = Reader([old.address], key)
    reader.start()
    _work("the other version alone", [old], press, key, outcome)
    new, _ = ours.serve(), ours.start("worker")
    new_reader = Reader([new.address], key)
    new_reader.start()
    _work("both side by side", [old, new], press, key, outcome)
    reader.stop()
    ended = [terminate(old_worker), terminate(old.process)]
    _work("ours alone", [new], press, key, outcome)
    rebuilt = ours.run("reindex", seconds=_ENDED_SECONDS)
    wrong = [f"a process of the other version ended with {status}" for status in ended if status not in (0, -15, 143)]
    wrong += [f"ioc reindex failed: {rebuilt.stderr}"] if rebuilt.returncode else []
    wrong += _lost(new, key, outcome)
    new_reader.stop()
    for name, one in (("the other version", reader), ("ours", new_reader)):
        failed = Counter(read.status for read in one.reads if read.status != 200)
        print(f"reads of {name}: {len(one.reads)}, failed {dict(failed)}, slowest {slowest(one.reads):.1f} s")
        wrong += [f"{failed.total()} reads of {name} failed"] if failed else []
        wrong += one.torn
    wrong += ["a process logged a traceback" for each in (theirs, ours) if "Traceback" in each.output()]
    for problem in wrong[:40]:
        print(f"WRONG: {problem}")
    print("nothing was lost" if not wrong else f"{len(wrong)} things are wrong")
    return 1 if wrong else 0


def _work(stage: str, servers: Sequence[Server], press: Press, key: str, outcome: Outcome) -> None:
    """Submit pages to each server in turn, and vote on what the other one shows."""
    first = len(outcome.accepted)
    for number in range(first, first + _PAGES_A_STAGE):
        page = Page("report", number)
        press.publish([page])
        while True:
            answer = post(servers[number % len(servers)], press.url(page), page.source_name, key)
            if answer.status_code in (200, 202):
                break
            outcome.turned_away[str(answer.status_code)] += 1
            time.sleep(0.5)
        outcome.accepted[answer.json()["id"]] = page
        _vote(servers[(number + 1) % len(servers)], servers[number % len(servers)], key, f"note {number}", outcome)
    print(f"{stage}: {len(outcome.accepted)} submissions, {len(outcome.votes)} votes", flush=True)


def _vote(shown_by: Server, server: Server, key: str, note: str, outcome: Outcome) -> None:
    for ioc in shown_by.get("/iocs", key, limit=5).json()["items"][-1:]:
        path = f"{server.address}/api/v1/iocs/{ioc['id']}/false-positive"
        outcome.votes.pop(ioc["id"], None)
        answer = httpx.put(path, json={"note": note}, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        if answer.status_code == 200:
            outcome.votes[ioc["id"]] = note
        else:
            outcome.turned_away[f"vote {answer.status_code}"] += 1


def _lost(server: Server, key: str, outcome: Outcome) -> list[str]:
    wrong = []
    end = time.monotonic() + _ENDED_SECONDS
    for id, page in outcome.accepted.items():
        state = until(lambda id=id: _ended(server, key, id), f"{page} ends", max(1.0, end - time.monotonic()))  # type: ignore[misc]
        if state != "done":
            wrong.append(f"{page}: {state}")
    print(f"turned away meanwhile {dict(outcome.turned_away)}")
    found = {ioc["value"]: (ioc["sightings"], ioc["sources"]) for ioc in exported(server, key)}
    expected = counted(list(outcome.accepted.values()))
    different = sorted(value for value in found.keys() | expected.keys() if found.get(value) != expected.get(value))
    wrong += [f"{value}: {found.get(value)}, not {expected.get(value)}" for value in different]
    told = {id: server.get(f"/iocs/{id}", key).text for id in outcome.votes}
    return wrong + [f"the vote on {id} is lost" for id, note in outcome.votes.items() if note not in told[id]]


def _ended(server: Server, key: str, id: str) -> str | None:
    answer = server.get(f"/submissions/{id}", key)
    status = answer.json().get("status") if answer.status_code == 200 else None
    return status if status in ("done", "failed") else None
