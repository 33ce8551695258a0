"""The order of a run over several processes: what lasts long begins first, each file of it in one process.

Begun last, such a file keeps one process busy while the others are through; taken over half-way, it starts its
containers and servers a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

# Seconds of one run over four processes on two cores (`--durations=0`), of files that take more than 60.
LONG_FILES = {
    "tests/scripts/test_bench.py": 860,
    "tests/scripts/test_compose_up.py": 660,
    "tests/intel/store/elastic/test_outages.py": 430,
    "tests/end_to_end/test_unrest.py": 285,
    "tests/contract/store/test_articles.py": 245,
    "tests/browser/test_every_page.py": 230,
    "tests/api/test_fuzz.py": 215,
    "tests/end_to_end/test_kills.py": 215,
    "tests/intel/store/elastic/test_saving.py": 200,
    "tests/contract/test_secured_elasticsearch.py": 145,
    "tests/api/test_former_versions.py": 145,
    "tests/scripts/test_install.py": 145,
    "tests/intel/store/elastic/test_upgrade.py": 140,
    "tests/api/cli/test_removing.py": 130,
    "tests/intel/store/elastic/test_reindex.py": 125,
    "tests/intel/weekly/test_recount.py": 125,
    "tests/ingest/hostile/test_hostile_web.py": 125,
    "tests/intel/store/elastic/test_changes.py": 120,
    "tests/ingest/test_copies.py": 105,
    "tests/contract/store/test_removing.py": 105,
    "tests/contract/store/test_changes.py": 105,
    "tests/end_to_end/test_hostile.py": 105,
    "tests/contract/store/test_filters.py": 95,
    "tests/ingest/test_rereading.py": 95,
    "tests/api/cli/test_importing.py": 95,
    "tests/end_to_end/test_embedded.py": 95,
    "tests/contract/store/test_same_answers.py": 95,
    "tests/api/test_generated_client.py": 90,
    "tests/api/cli/test_commands.py": 90,
    "tests/contract/store/test_facets.py": 85,
    "tests/end_to_end/test_served.py": 85,
    "tests/intel/store/elastic/test_removing.py": 80,
    "tests/end_to_end/test_connections.py": 80,
    "tests/api/test_unread.py": 75,
    "tests/intel/store/elastic/test_cards.py": 75,
    "tests/api/test_typescript_client.py": 70,
    "tests/api/test_removing.py": 70,
    "tests/end_to_end/test_disks.py": 70,
    "tests/contract/store/test_search.py": 70,
    "tests/api/test_stix_validator.py": 65,
    "tests/contract/store/test_cards.py": 60,
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
