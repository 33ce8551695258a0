"""A program of its own around iocextract: texts in, what it reads in them out.

It is run as `python FILE DESCRIPTOR PATH` and imported by nobody, because iocextract is GPL-2.0 and this service is
not. PATH is the module search path as JSON. Whoever holds the other end of the socket DESCRIPTOR sends it one socket a
job, for which a process is forked: to load iocextract takes half a second. What is written to that socket until its end
is a list of texts, as JSON; each is answered with a line, a list of pairs: an address or mailbox as written, and
written plainly. Exit status 3 says that iocextract is not installed.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Iterator

NOT_INSTALLED = 3
# A job that takes more is ended by the kernel: the patterns backtrack.
CPU_SECONDS, MEMORY_BYTES = 4, 512 << 20
_SAMPLE = "hzzp://evil [.] com and 192.0.2[.]1 of evil <at> evil <dot> com"

Pairs = list[tuple[str, str]]


def main() -> int:
    """Answer every job until nobody can send one."""
    sys.path[:] = json.loads(sys.argv[2])
    try:
        read = _reader()
    except ImportError:
        return NOT_INSTALLED
    read(_SAMPLE)  # its patterns are made on first use
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return 0
        if os.fork() == 0:
            control.close()
            _answer(socket.socket(fileno=descriptors[0]), read)
        os.close(descriptors[0])


def _reader() -> Callable[[str], Pairs]:
    import iocextract

    readers = (iocextract.extract_unencoded_urls, iocextract.extract_ips, iocextract.extract_emails)

    def read(text: str) -> Pairs:
        return [
            pair
            for reader in readers
            for pair in zip(reader(text, refang=False), reader(text, refang=True), strict=False)
        ]

    return read


def _answer(job: socket.socket, read: Callable[[str], Pairs]) -> None:
    """Answer one job and end the process, whatever happens."""
    try:
        for kind, most in ((resource.RLIMIT_CPU, CPU_SECONDS), (resource.RLIMIT_AS, MEMORY_BYTES)):
            resource.setrlimit(kind, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for text in json.loads(b"".join(_received(job))):
            job.sendall(json.dumps(read(text)).encode("ascii") + b"\n")
    finally:
        os._exit(0)


def _received(job: socket.socket) -> Iterator[bytes]:
    while piece := job.recv(1 << 16):
        yield piece


if __name__ == "__main__":
    sys.exit(main())
