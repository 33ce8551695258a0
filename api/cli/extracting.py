"""`ioc extract`: the pure core on one file, nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import orjson

from ingest.indicators import extract_lines
from intel.errors import IocError


def extract(path: str) -> None:
    """Writes one JSON object a line for each indicator, in order of first appearance."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise IocError(f"{path} cannot be read ({error.strerror})") from None
    if data.startswith(b"%PDF-"):
        from ingest.article_text import read_article

        data = read_article(data, "application/pdf", None, None).text.encode()
    sys.stdout.buffer.writelines(orjson.dumps(line) + b"\n" for line in extract_lines(data))
    sys.stdout.buffer.flush()
