"""A second reader of defanged text: iocextract, where it is installed.

It reads some ways of defanging that our own parser does not (`hzzp://`, dots set apart by blanks), but its patterns
backtrack: 20 KB of the wrong text cost it seconds. So it is shown only the lines that hold a mark of defanging which
no candidate accounts for, a few of them, no longer than it is given time; it belongs in a process that can be killed,
and runs in an interpreter of its own (`iocextract_program`), which is loaded once and forks for each job. What it finds
is an indicator only where our rules keep it, spelled plainly as well as defanged.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from ingest.indicators.document import document_from_text
from ingest.indicators.extracting import extract
from intel.canonical import defang

LONGEST_PIECE: Final = 2048
_STARTING_SECONDS: Final = 3.0
_PIECE: Final = 1 << 16

_PROGRAM: Final = Path(__file__).with_name("iocextract_program.py")
# 1,600 letters without a blank cost it eleven seconds.
_TOO_LONG: Final = re.compile(r"\S{257,}")
_MARK: Final = re.compile(r"(?i)[\[({<]\s?(?:\.|dot|:|@|at)|(?:\.|dot|@)\s?[\])}>]|^h[^t]|^.x")
_SCHEME: Final = re.compile(r"(?i)(?P<name>[fhstu]\S\S?[px]s?)(?:://|:\\\\|\[:\]//|:?__)")
_OF_ITS_OWN: Final = re.compile(r"[\d-]|\..*\.")
_AROUND_A_DOT: Final = re.compile(r"[\s\[({]{0,3}\.[\s\])}]{0,3}")
_SPACED_DOT: Final = re.compile(r"\s\W{0,2}(?:\.|dot)\W{0,2}\s")


class SecondRead(NamedTuple):
    """An indicator that iocextract read in the piece of that number, with its spelling there."""

    piece: int
    type: str
    value: str
    spelling: str


class SecondReading(NamedTuple):
    """What was found, each (type, value) once, and whether all pieces were read in time."""

    found: tuple[SecondRead, ...]
    complete: bool


def is_installed() -> bool:
    """Tell whether iocextract is there to be asked."""
    try:
        return find_spec("iocextract") is not None
    except ImportError:
        return False


def second_reading(pieces: Sequence[str], seconds: float = 2.0) -> SecondReading:
    """Return the indicators that iocextract finds in some lines and our rules keep.

    It is stopped after `seconds`, and no piece is begun after as many seconds of CPU time of our own; run it where it
    can be killed all the same.
    """
    found: dict[tuple[str, str], SecondRead] = {}
    texts = [_TOO_LONG.sub(" ", piece[:LONGEST_PIECE]) for piece in pieces]
    answers = _asked(texts, seconds)
    end = time.process_time() + seconds
    for number, pairs in enumerate(answers):
        if time.process_time() > end:
            return SecondReading(tuple(found.values()), False)
        for spelling, type, value in _read(pairs):
            found.setdefault((type, value), SecondRead(number, type, value, spelling))
    return SecondReading(tuple(found.values()), len(answers) == len(texts))


def start() -> None:
    """Begin loading iocextract, where it is installed, so that processes forked from this one find it ready."""
    if is_installed():
        _program()


@cache
def _program() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """Return the way to the program around iocextract, which ends with whoever holds it."""
    control, theirs = socket.socketpair()
    path = json.dumps([entry for entry in sys.path if entry])
    silent = subprocess.DEVNULL
    with theirs:
        return control, subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-I", str(_PROGRAM), str(theirs.fileno()), path],
            stdin=silent,
            stdout=silent,
            stderr=silent,
            pass_fds=[theirs.fileno()],
        )


def _asked(texts: Sequence[str], seconds: float) -> list[list[tuple[str, str]]]:
    """Return what iocextract reads in each text, as pairs (as written, written plainly); where it is stopped, of
    fewer.
    """
    if not texts:
        return []
    job, theirs = socket.socketpair()
    with job:
        with theirs:
            _hand_over(theirs)
        said = b"".join(_answered(job, json.dumps(texts).encode("ascii"), max(seconds, 0.0) + _STARTING_SECONDS))
    return [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith(b"\n")]


def _hand_over(job: socket.socket) -> None:
    """Give the program a job; one that has died is started anew."""
    try:
        socket.send_fds(_program()[0], [b"J"], [job.fileno()])
    except OSError:
        control, ended = _program()
        control.close()
        ended.poll()
        _program.cache_clear()
        socket.send_fds(_program()[0], [b"J"], [job.fileno()])


def _answered(job: socket.socket, asked: bytes, seconds: float) -> Iterator[bytes]:
    """Yield the pieces of the answer as they come, for so long."""
    end = time.monotonic() + seconds
    job.settimeout(seconds)
    with suppress(OSError):
        job.sendall(asked)
        job.shutdown(socket.SHUT_WR)
        while (left := end - time.monotonic()) > 0:
            job.settimeout(left)
            piece = job.recv(_PIECE)
            if not piece:
                break
            yield piece


def _read(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    marked = dict.fromkeys((spelling, plain) for spelling, plain in pairs if _MARK.search(spelling))
    for spelling, plain in marked:
        for type, value in _kept(_with_its_scheme(spelling, plain)):
            if _is_named(type, value, spelling):
                yield spelling, type, value


def _with_its_scheme(spelling: str, written: str) -> str:
    """Give a URL the scheme it had: iocextract makes `http` of every odd one, and gives it to what has none.

    To that Python 3.13 gives no slashes, and iocextract then leaves some signs in it: `http:evil[ .example`.
    """
    scheme = _SCHEME.match(spelling)
    if scheme is None:
        bare = written.removeprefix("http:")
        return bare[2:] if bare.startswith("//") else _AROUND_A_DOT.sub(".", bare)
    secure = scheme["name"].lower().endswith("ps") and written.startswith("http://")
    return f"https{written[4:]}" if secure else written


def _kept(plain: str) -> Iterator[tuple[str, str]]:
    """Yield what our rules keep of a spelling when it is plain, and keep as well when it is defanged."""
    indicators = extract(document_from_text(plain)).indicators
    mailboxes = [indicator for indicator in indicators if indicator.type == "email"]
    for indicator in mailboxes or indicators:
        defanged = extract(document_from_text(defang(indicator.type, indicator.value))).indicators
        if any((each.type, each.value) == (indicator.type, indicator.value) for each in defanged):
            yield indicator.type, indicator.value


def _is_named(type: str, value: str, spelling: str) -> bool:
    """Tell whether a value is written as one: `sentence [.] is` may be prose, and ` at ` is a word.

    What is no host, address, mailbox or URL cannot be defanged.
    """
    if type == "email":
        return "@" in spelling or re.search(r"(?i)[\[({<]\s?at\s?[\])}>]", spelling) is not None
    if type == "domain" and _SPACED_DOT.search(spelling):
        return _OF_ITS_OWN.search(value) is not None
    return type in ("domain", "ip", "url")
