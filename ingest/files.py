"""Files to take in: single ones, those in folders, and those in archives, as a confined process finds them."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import structlog

from ingest.archives import ARCHIVES, LIMITS, Choice, FilePiece, count_files, file_pieces
from ingest.isolated import Isolation
from intel.errors import IngestFailed, IocError, IsolationFailed

log = structlog.get_logger()

ARTICLES: Final = Choice(
    (".html", ".htm", ".xhtml", ".txt", ".md", ".markdown", ".pdf", ".docx", ".eml", ".json", ".stix", ".stix2"),
    50_000_000,
)
_COUNTING: Final = replace(LIMITS, cpu_seconds=20, wall_seconds=20.0)
_CUT_SHORT: Final = IngestFailed("archive_too_large", "Opening it was cut short; it and all that follows is left out.")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its path, within an archive after `!`: its bytes, or why they cannot be had."""

    path: str
    body: bytes | IngestFailed


async def found_files(isolation: Isolation, paths: Sequence[Path]) -> AsyncGenerator[FoundFile, None]:
    """Yield every file that is wanted, in a stable order; of folders and archives those with a known ending.

    All of it shares one budget; what is left out when that is used up is said by the last file. Raises IocError for a
    path where nothing is.
    """
    _check(paths)
    body = bytearray()
    place = ", ".join(map(str, paths))
    pieces = isolation.stream(LIMITS, file_pieces, [os.fsencode(path) for path in paths], ARTICLES)
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                # What broke off gives its place to the reason.
                if piece.path != place:
                    place = piece.path
                    body.clear()
                body += piece.body
                if len(body) > ARTICLES.largest_file:
                    break
                if piece.last:
                    yield FoundFile(piece.path, _failure(piece) or bytes(body))
                    body.clear()
            else:
                return
    except IsolationFailed as failure:
        log.warning("reading files broke off", path=place, reason=str(failure))
    yield FoundFile(place, _CUT_SHORT)


async def count_found(isolation: Isolation, paths: Sequence[Path]) -> int | None:
    """Return how many files `found_files` gives, but for archives within archives, which count as one.

    None where counting takes long. Raises IocError for a path where nothing is.
    """
    _check(paths)
    try:
        return await isolation.run_within(_COUNTING, count_files, [os.fsencode(path) for path in paths], ARTICLES)
    except IsolationFailed:
        return None


def left_out(paths: Sequence[Path], most_named: int) -> tuple[int, list[str]]:
    """Return how many files in folders are not taken for their endings, and the names of the first of them."""
    count, names = 0, list[str]()
    for folder in (path for path in paths if path.is_dir()):
        for place, folders, files in os.walk(folder):
            folders.sort()
            for name in sorted(files):
                if not name.lower().endswith((*ARTICLES.endings, *ARCHIVES)) and not name.startswith("."):
                    count += 1
                    if len(names) < most_named:
                        names.append(str((Path(place) / name).relative_to(folder)))
    return count, names


def _check(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.is_dir() and not path.is_file():
            raise IocError(f"{path} is no file or folder")


def _failure(piece: FilePiece) -> IngestFailed | None:
    return IngestFailed(piece.reason, piece.detail) if piece.reason else None
