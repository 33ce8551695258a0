from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.fetch.decoding import BoundedDecoder, content_coding
from intel.errors import FetchFailed
from tests.cases import each


def raw_deflate(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(data) + packing.flush()


# Without the time of the packing, which would give the tests another name in each run.
_PACKED = gzip.compress(b"x", mtime=0)
PACKED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "identity": ("identity", bytes),
    "gzip": ("gzip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw": ("deflate", raw_deflate),
}


@given(data=st.binary(max_size=3000), cut=st.integers(1, 50), packing=st.sampled_from(sorted(PACKED)))
def test_however_the_wire_cuts_it_what_was_packed_comes_out(data: bytes, cut: int, packing: str) -> None:
    coding, pack = PACKED[packing]
    packed = pack(data)
    decoder = BoundedDecoder(coding, 3000)
    assert b"".join(decoder.feed(packed[at : at + cut]) for at in range(0, len(packed), cut)) == data
    decoder.finish()


@pytest.mark.slow
@each("packing", ["gzip", "zlib", "raw"])
def test_a_bomb_is_stopped_at_the_limit(packing: str) -> None:
    coding, pack = PACKED[packing]
    bomb = pack(bytes(50_000_000))
    assert len(bomb) < 60_000
    with pytest.raises(FetchFailed) as failed:
        BoundedDecoder(coding, 1_000_000).feed(bomb)
    assert failed.value.reason == "body_too_large"


@each("packing", ["gzip", "zlib", "raw"])
def test_half_a_stream_is_no_page(packing: str) -> None:
    coding, pack = PACKED[packing]
    decoder = BoundedDecoder(coding, 100_000)
    decoder.feed(pack(bytes(range(256)) * 20)[:-4] if packing != "raw" else pack(bytes(range(256)))[:-2])
    with pytest.raises(FetchFailed) as failed:
        decoder.finish()
    assert failed.value.reason == "decode_failed"


@each("data", [b"<html>not packed at all</html>", _PACKED + b"more", _PACKED * 2])
def test_damage_is_no_page(data: bytes) -> None:
    with pytest.raises(FetchFailed) as failed:
        BoundedDecoder("gzip", 1000).feed(data)
    assert failed.value.reason == "decode_failed"


def test_nothing_at_all_is_an_empty_page_in_any_coding() -> None:
    for coding in ("identity", "gzip", "deflate"):
        decoder = BoundedDecoder(coding, 10)
        assert decoder.feed(b"") == b""
        decoder.finish()


@each(
    ("fields", "coding"),
    [
        ([], "identity"),
        (["identity"], "identity"),
        ([""], "identity"),
        (["GZIP"], "gzip"),
        (["x-gzip"], "gzip"),
        (["identity, deflate"], "deflate"),
    ],
)
def test_one_coding_is_understood(fields: list[str], coding: str) -> None:
    assert content_coding(fields) == coding


@each("fields", [["gzip, gzip"], ["gzip", "gzip"], ["br"], ["zstd"], ["gzip, br"], ["x-identity"]])
def test_several_codings_and_strange_ones_are_refused(fields: list[str]) -> None:
    with pytest.raises(FetchFailed) as failed:
        content_coding(fields)
    assert failed.value.reason == "unsupported_encoding"
