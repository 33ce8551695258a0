"""What comes back from a confined process is data: bounded, checked, and never more than was asked for."""

from __future__ import annotations

import asyncio
import gc
import pickle
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.msgpack import encode

from ingest import isolated
from ingest.fork_server import LENGTH_BYTES
from ingest.isolated import Isolation, IsolationLimits
from ingest.messages import ANSWER_ENDS, ITEM_ENDS, PIECE, REFUSED, Shape, framed, written
from ingest.reading import Page, ReadPage, checked, read_page
from intel.errors import IngestFailed, IsolationFailed
from intel.records import Sighting
from tests.cases import each

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
PAGE = Page(b"The implant called evil-post[.]com at night, as CVE-2026-1001.", "text/plain", None, None, None, NOON)
LIMITS = IsolationLimits(wall_seconds=5, result_bytes=1 << 20)
END = framed(ITEM_ENDS) + framed(ANSWER_ENDS)


class Trap:
    """An object whose pickle makes a file where it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


def whole(found: ReadPage) -> bytes:
    return b"".join(framed(PIECE, piece) for piece in Shape(ReadPage).pieces(found)) + END


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], Isolation]:
    """A service whose reader was taken over: it answers every page with these bytes."""

    def answer(job: socket.socket, answered: bytes) -> None:
        with job:
            for _ in range(2):
                length = int.from_bytes(job.recv(LENGTH_BYTES, socket.MSG_WAITALL), "big")
                job.recv(length, socket.MSG_WAITALL)
            try:
                job.sendall(answered)
            except OSError:
                return

    def opened(answered: bytes) -> Isolation:
        class TakenOver:
            alive = True

            def __init__(self, preload: object) -> None: ...

            def hand_over(self, job: socket.socket) -> None:
                threading.Thread(target=answer, args=(job.dup(), answered), daemon=True).start()

            def end(self) -> None: ...

        monkeypatch.setattr(isolated, "_ForkServer", TakenOver)
        return Isolation(LIMITS)

    return opened


def hostile(tmp_path: Path) -> Iterator[tuple[str, bytes]]:
    found = read_page(PAGE)
    good = whole(found)
    members: dict[str, Any] = {name: getattr(found, name) for name in ("article", "sightings", "addresses")}
    yield "nothing", b""
    yield "cut short", good[: len(good) // 2]
    yield "without an end", good[:-12]
    yield "a pickle", framed(PIECE, b"\0" + pickle.dumps(Trap(tmp_path / "sprung"))) + END
    yield "a pickle instead of frames", pickle.dumps(Trap(tmp_path / "sprung"))
    yield "deep nesting", framed(PIECE, b"\0" + b"\x91" * 500_000) + END
    yield "an unknown list", framed(PIECE, b"\x63\x90") + END
    yield "a list before the value", framed(PIECE, b"\x01\x90") + END
    yield "two values", good[: -2 * len(framed(ITEM_ENDS))] * 2 + END
    yield "an empty piece", framed(PIECE) + END
    yield "a frame that lies about its length", PIECE + b"\xff\xff\xff\xff" + b"x"
    yield "an unknown frame", b"?" + bytes(4)
    yield "a list of numbers for a page", framed(PIECE, b"\0" + encode([1, 2, 3])) + END
    yield "a missing member", framed(PIECE, b"\0" + encode({"article": found.article})) + END
    yield "a wrong type", framed(PIECE, b"\0" + encode(members | {"addresses": (1,)})) + END
    yield "a number beyond all bounds", framed(PIECE, b"\0" + encode(members | {"addresses": 2**64 - 1})) + END
    yield "half a surrogate", framed(PIECE, b"\0" + encode(members).replace(b"evil", b"\xed\xa0\x80l", 1)) + END
    yield "a refusal of another kind", framed(REFUSED, encode({"kind": "SystemExit", "reason": "x"}))
    yield "a refusal without end", framed(REFUSED, encode(refusal(retry_after_seconds=float("inf"))))
    yield "a refusal that is not a number", framed(REFUSED, encode(refusal(retry_after_seconds=float("nan"))))
    yield "a reason with markup", framed(REFUSED, encode(refusal(reason="<b>")))


def refusal(**members: object) -> dict[str, object]:
    known = {"kind": "ArticleUnreadable", "reason": "no_text", "detail": "x", "retryable": False}
    return known | {"retry_after_seconds": None} | members


@pytest.mark.parametrize("number", range(21))
async def test_hostile_bytes_end_as_a_crashed_reader(
    answering: Callable[[bytes], Isolation], tmp_path: Path, number: int
) -> None:
    name, answered = list(hostile(tmp_path))[number]
    with pytest.raises(IsolationFailed) as failed:
        await answering(answered).run(read_page, PAGE)
    assert failed.value.reason in ("parse_crashed", "parse_timeout"), name
    assert not (tmp_path / "sprung").exists()


async def test_an_answer_without_end_is_cut_off(answering: Callable[[bytes], Isolation]) -> None:
    for endless in (framed(PIECE, b"\x01\x90") * 400_000, framed(PIECE, bytes(1 << 20)) * 3):
        begun = time.monotonic()
        with pytest.raises(IsolationFailed):
            await answering(whole(read_page(PAGE))[:-10] + endless).run(read_page, PAGE)
        assert time.monotonic() - begun < 20


async def test_members_that_nobody_asked_for_are_not_taken(answering: Callable[[bytes], Isolation]) -> None:
    found = read_page(PAGE)
    members = {name: getattr(found, name) for name in ("article", "sightings", "addresses")}
    answered = framed(PIECE, b"\0" + encode(members | {"__class__": "os", "more": 1})) + END
    read = await answering(answered).run(read_page, PAGE)
    assert read == ReadPage(found.article, found.sightings, found.addresses)


async def test_what_a_refusal_says_is_one_line_of_text(answering: Callable[[bytes], Isolation]) -> None:
    answered = framed(REFUSED, encode(refusal(detail="wrong\x1b[31m\nat\u202e all")))
    with pytest.raises(IngestFailed) as failed:
        await answering(answered).run(read_page, PAGE)
    assert failed.value.detail == "wrong [31m at  all"


@each(
    "broken",
    [
        lambda found: replace(found, sightings=(Sighting("domain", "evil-post.com", "", (), 2**63),)),
        lambda found: replace(found, sightings=(Sighting("drive", "C:", "", (), 0),)),
        lambda found: replace(found, article=replace(found.article, ioc_counts={"domain": 9})),
        lambda found: replace(found, article=replace(found.article, ioc_dropped=-1)),
        lambda found: replace(found, article=replace(found.article, findings={"CVE-2026-1001": "in_the_wild"})),
        lambda found: replace(found, article=replace(found.article, findings=score(float("nan")))),
    ],
)
def test_what_cannot_be_true_is_not_taken(broken: Callable[[ReadPage], ReadPage]) -> None:
    found = read_page(PAGE)
    assert checked(found) is found
    with pytest.raises(IsolationFailed):
        checked(broken(found))


def score(value: float) -> dict[str, Any]:
    return {"CVE-2026-1001": {"cvss": {"score": value, "version": None, "vector": None}}}


def test_text_that_is_no_unicode_is_made_so_and_all_else_stays() -> None:
    assert written({"a": ["x\ud800", b"\xff", 1.5, None]}) == encode({"a": ["x?", b"\xff", 1.5, None]})


@pytest.mark.slow
async def test_a_large_answer_holds_the_event_loop_for_no_longer_than_a_moment(
    answering: Callable[[bytes], Isolation],
) -> None:
    found = read_page(PAGE)
    large = replace(
        found,
        article=replace(found.article, text="x" * 1_000_000),
        sightings=tuple(Sighting("domain", f"h{n}.evil-post.com", "It called. " * 20, (), n) for n in range(20_000)),
        candidates=tuple({**found.candidates[0], "start": n} for n in range(25_000)),
    )
    isolation = answering(whole(large))
    isolation._limits = IsolationLimits()
    gc.collect()
    gc.freeze()  # what this run of tests has in memory is not this answer's to look through
    reading, longest = asyncio.create_task(isolation.run(read_page, PAGE)), 0.0
    while not reading.done():
        begun = time.thread_time()
        await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - begun)
    gc.unfreeze()
    assert await reading == large
    assert longest < 0.05
