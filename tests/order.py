"""The order of a run over several processes: what lasts long begins first, each file of it in one process.

Begun last, such a file keeps one process busy while the others are through; taken over half-way, it starts its
containers and servers a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

# Seconds of one run over four processes on two cores (`--durations=0`), of files that take more than 40.
LONG_FILES = {
    "tests/scripts/test_compose_up.py": 280,
    "tests/scripts/test_bench.py": 240,
    "tests/end_to_end/test_kills.py": 140,
    "tests/end_to_end/test_unrest.py": 120,
    "tests/intel/store/elastic/test_outages.py": 120,
    "tests/browser/test_every_page.py": 100,
    "tests/end_to_end/test_hostile.py": 100,
    "tests/ingest/hostile/test_hostile_web.py": 85,
    "tests/scripts/test_install.py": 80,
    "tests/end_to_end/test_embedded.py": 75,
    "tests/intel/store/elastic/test_reindex.py": 70,
    "tests/contract/test_secured_elasticsearch.py": 60,
    "tests/end_to_end/test_connections.py": 60,
    "tests/end_to_end/test_disks.py": 60,
    "tests/api/test_unread.py": 55,
    "tests/end_to_end/test_served.py": 50,
    "tests/intel/weekly/test_recount.py": 45,
    "tests/api/server/test_protocol.py": 45,
    "tests/api/test_fuzz.py": 40,
    "tests/end_to_end/test_workers.py": 40,
}


def long_first(tests: Mapping[str, Sequence[T]], processes: int, long: Mapping[str, int] = LONG_FILES) -> list[T]:
    """Orders the tests of each file for processes that begin with equal parts and later take from each other's ends."""
    parts: list[list[T]] = [[] for _ in range(processes)]
    seconds = [0] * processes
    for file in sorted(tests.keys() & long.keys(), key=lambda file: (-long[file], file)):
        lightest = seconds.index(min(seconds))
        parts[lightest] += tests[file]
        seconds[lightest] += long[file]
    others = [test for file, own in tests.items() if file not in long for test in own]
    left = len(others) + sum(map(len, parts))
    for number, part in enumerate(parts):
        size = left // (processes - number)
        taken = max(0, size - len(part))
        part += others[:taken]
        del others[:taken]
        left -= len(part)
    return [test for part in parts for test in part] + others
