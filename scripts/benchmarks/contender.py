"""Runs one extractor in a process of its own; also in environments that hold only that extractor.

Usage: python -I contender.py NAME

Reads a JSON value a line: a text, or {"text": …, "page": whether it is HTML}. Answers each with a line: {"seconds": CPU
seconds, "found": how many}, to the latter with "values" ([type, value] each) as well, or {"error": …} for a text that
the extractor cannot take. An empty object comes first: it is loaded, and has read a short text for what it makes on
first use. -I keeps the files beside this one from being imported by anybody.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Pairs = list[tuple[str, str]]
# From a text, and whether it is a page, to (type, value) pairs.
Read = Callable[[str, bool], Pairs]

_FIRST_TEXT = (
    "The loader asked evil[.]example, 198.51.100[.]7 and hxxps://evil[.]example/a for CVE-2026-12345 (Emotet).\n"
)
_TYPES = {
    "ipv4s": "ip", "ipv6s": "ip", "ip4": "ip", "ip6": "ip", "ipv4": "ip", "ipv6": "ip",
    "domains": "domain", "fqdn": "domain", "dns": "domain", "urls": "url", "url": "url",
    "email_addresses": "email", "email": "email", "md5s": "hash_md5", "md5": "hash_md5", "md5_hash": "hash_md5",
    "sha1s": "hash_sha1", "sha1": "hash_sha1", "sha1_hash": "hash_sha1",
    "sha256s": "hash_sha256", "sha256": "hash_sha256", "sha256_hash": "hash_sha256",
    "cves": "cve", "cve": "cve", "attack_techniques": "mitre_attack", "ttp": "mitre_attack",
}  # fmt: skip
_FINDER_TYPES = [name for name in _TYPES if name.endswith("s") or name == "email_addresses"]


def ours() -> Read:
    from ingest.indicators import document_from_html, document_from_text, extract

    def read(text: str, page: bool) -> Pairs:
        document = document_from_html(text) if page else document_from_text(text)
        return [(each.type, each.value) for each in extract(document).indicators]

    return read


def ours_with_iocextract() -> Read:
    from ingest.indicators import document_from_html, document_from_text, extract
    from ingest.indicators.iocextract_step import second_reading
    from ingest.indicators.missed_defanging import missed_pieces

    def read(text: str, page: bool) -> Pairs:
        extraction = extract(document_from_html(text) if page else document_from_text(text))
        first = [(each.type, each.value) for each in extraction.indicators]
        second = second_reading([piece.text for piece in missed_pieces(extraction)]).found
        return list(dict.fromkeys([*first, *((each.type, each.value) for each in second)]))

    return read


def iocextract() -> Read:
    import iocextract as reader

    hashes = (
        ("hash_md5", reader.extract_md5_hashes),
        ("hash_sha1", reader.extract_sha1_hashes),
        ("hash_sha256", reader.extract_sha256_hashes),
    )

    def read(text: str, page: bool) -> Pairs:
        found = [("url", url) for url in reader.extract_urls(text, refang=True)]
        found += (("ip", address) for address in reader.extract_ips(text, refang=True))
        found += (("email", mailbox) for mailbox in reader.extract_emails(text, refang=True))
        return found + [(type, value) for type, extract in hashes for value in extract(text)]

    return read


def ioc_finder() -> Read:
    from ioc_finder import find_iocs  # type: ignore[import-not-found]  # in an environment of its own

    return lambda text, page: _pairs(find_iocs(text, included_ioc_types=_FINDER_TYPES))


def iocsearcher() -> Read:
    from iocsearcher.searcher import Searcher  # type: ignore[import-not-found]  # in an environment of its own

    searcher = Searcher()
    return lambda text, page: [
        (_TYPES[each.name], each.value) for each in searcher.search_data(text) if each.name in _TYPES
    ]


def msticpy() -> Read:
    from msticpy.transform.iocextract import IoCExtract  # type: ignore[import-not-found]  # in an environment of its own

    extractor = IoCExtract()
    return lambda text, page: _pairs(extractor.extract(src=text))


CONTENDERS: dict[str, Callable[[], Read]] = {
    "ours": ours,
    "ours with iocextract": ours_with_iocextract,
    "iocextract": iocextract,
    "ioc-finder": ioc_finder,
    "iocsearcher": iocsearcher,
    "msticpy": msticpy,
}


def main(name: str) -> None:
    warnings.simplefilter("ignore")
    # What an extractor prints must not stand between the measurements.
    out, sys.stdout = sys.stdout, sys.stderr
    read = CONTENDERS[name]()
    read(_FIRST_TEXT, False)
    print("{}", file=out, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(measure(read, asked)), file=out, flush=True)


def measure(read: Read, asked: Any) -> dict[str, Any]:
    text, page = (asked, False) if isinstance(asked, str) else (asked["text"], asked["page"])
    begin = time.process_time()
    try:
        found = read(text, page)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    answer = {"seconds": time.process_time() - begin, "found": len(found)}
    return answer if isinstance(asked, str) else answer | {"values": found}


def _pairs(by_type: Mapping[str, Any]) -> Pairs:
    return [(_TYPES[name], value) for name, found in by_type.items() if name in _TYPES for value in _values(found)]


def _values(found: Any) -> Iterable[str]:
    """Yield the values of a type, some of which stand in groups."""
    return [value for group in found.values() for value in group] if isinstance(found, dict) else found


if __name__ == "__main__":
    main(sys.argv[1])
