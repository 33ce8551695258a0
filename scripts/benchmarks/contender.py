"""Runs one extractor in a process of its own; also in environments that hold only that extractor.

Usage: python -I contender.py NAME

Reads a JSON string a line and answers each with a line: {"seconds": CPU seconds, "found": how many}, or {"error": …}
for a text that the extractor cannot take. An empty object comes first: it is loaded, and has read a short text for what
it makes on first use. -I keeps the files beside this one from being imported by anybody.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

Count = Callable[[str], int]

_FIRST_TEXT = (
    "The loader asked evil[.]example, 198.51.100[.]7 and hxxps://evil[.]example/a for CVE-2026-12345 (Emotet).\n"
)


def ours() -> Count:
    from ingest.indicators import document_from_text, extract

    return lambda text: len(extract(document_from_text(text)).indicators)


def iocextract() -> Count:
    from iocextract import extract_iocs

    return lambda text: sum(1 for _ in extract_iocs(text, refang=True))


def ioc_finder() -> Count:
    from ioc_finder import find_iocs  # type: ignore[import-not-found]  # in an environment of its own

    return lambda text: _values(find_iocs(text))


def iocsearcher() -> Count:
    from iocsearcher.searcher import Searcher  # type: ignore[import-not-found]  # in an environment of its own

    searcher = Searcher()
    return lambda text: len(searcher.search_data(text))


def msticpy() -> Count:
    from msticpy.transform.iocextract import IoCExtract  # type: ignore[import-not-found]  # in an environment of its own

    extractor = IoCExtract()
    return lambda text: _values(extractor.extract(src=text))


CONTENDERS: dict[str, Callable[[], Count]] = {
    "ours": ours,
    "iocextract": iocextract,
    "ioc-finder": ioc_finder,
    "iocsearcher": iocsearcher,
    "msticpy": msticpy,
}


def main(name: str) -> None:
    warnings.simplefilter("ignore")
    # What an extractor prints must not stand between the measurements.
    out, sys.stdout = sys.stdout, sys.stderr
    count = CONTENDERS[name]()
    count(_FIRST_TEXT)
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(count, json.loads(line))), file=out, flush=True)


def measure(count: Count, text: str) -> dict[str, Any]:
    begin = time.process_time()
    try:
        found = count(text)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    return {"seconds": time.process_time() - begin, "found": found}


def _values(by_type: Any) -> int:
    return sum(_values(each) if isinstance(each, dict) else len(each) for each in by_type.values())


if __name__ == "__main__":
    main(sys.argv[1])
