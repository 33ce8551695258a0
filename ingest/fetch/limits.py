"""Bound how much time and how many bytes one fetch may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """`total_seconds` spans names, redirects and body; `body_bytes` holds on the wire, and again once unpacked."""

    connect_seconds: float = 5.0
    read_seconds: float = 10.0
    total_seconds: float = 45.0
    header_bytes: int = 64 * 1024
    body_bytes: int = 10 * 1024 * 1024
    body_pieces: int = 100_000
    redirects: int = 5
