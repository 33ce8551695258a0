"""`scripts/storm cluster|soak`."""

from __future__ import annotations

import argparse
import sys

from . import cluster


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="scripts/storm", description=__doc__)
    trials = parser.add_subparsers(dest="trial", required=True)
    storm = trials.add_parser(
        "cluster", help="three nodes of Elasticsearch, Redis by Sentinel, two servers, three workers"
    )
    storm.add_argument("--submissions", type=int, default=500)
    given = parser.parse_args(arguments)
    return cluster.run(given.submissions)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
