"""`scripts/storm cluster|soak|rebuild|upgrade`."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from . import cluster, rebuilding, soak, upgrading


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/storm", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    storm = trials.add_parser(
        "cluster", help="three nodes of Elasticsearch, Redis by Sentinel, two servers, three workers"
    )
    storm.add_argument("--submissions", type=int, default=500)
    long = trials.add_parser("soak", help="five times the limits, 1,000 idle connections, 500 that never read")
    long.add_argument("--minutes", type=float, default=20)
    again = trials.add_parser(
        "rebuild", help="`ioc reindex` beside writers and readers that never rest, on each engine"
    )
    again.add_argument("--rounds", type=int, default=5)
    beside = trials.add_parser("upgrade", help="servers and workers of two versions side by side, then ours alone")
    beside.add_argument("other", type=Path, help="a checkout of the other version (`git worktree add FOLDER COMMIT`)")
    given = parser.parse_args(arguments)
    # Told to end, it stops the engines and services that it started, as Ctrl-C makes it do.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if given.trial == "upgrade":
        return upgrading.run(given.other)
    if given.trial == "rebuild":
        return rebuilding.run(given.rounds)
    return cluster.run(given.submissions) if given.trial == "cluster" else soak.run(given.minutes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
