"""Files, folders and archives to take in."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import socket
import tarfile
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.archives import LIMITS, Choice, FilePiece, count_files, file_pieces
from ingest.files import ARTICLES, found_files
from ingest.isolated import Isolation
from intel.errors import IngestFailed, IocError

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}


def found(*paths: Path, choice: Choice = ARTICLES) -> dict[str, bytes | str]:
    """Each file's bytes, or the reason why there are none, by its path below the first folder."""
    base = paths[0] if paths[0].is_dir() else paths[0].parent
    held: dict[str, bytes | str] = {}
    body = b""
    for piece in file_pieces([os.fsencode(path) for path in paths], choice):
        body += piece.body
        if piece.last:
            held[str(Path(piece.path).relative_to(base))] = piece.reason or body
            body = b""
    return held


def count(folder: Path) -> int:
    return count_files([os.fsencode(folder)], ARTICLES)


@pytest.fixture
async def isolation() -> AsyncIterator[Isolation]:
    opened = Isolation(preload=("ingest.archives",))
    yield opened
    await opened.close()


def zipped(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return made.getvalue()


def tarred(packing: str, members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
        link = tarfile.TarInfo("link.html")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return PACKINGS[packing](made.getvalue())


def test_folders_give_their_articles_in_order_and_nothing_hidden(tmp_path: Path) -> None:
    for name in ("b/2.html", "a.md", "b/1.txt", "b/image.png", ".hidden.html", "event.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    assert list(found(tmp_path)) == ["a.md", "event.json", "b/1.txt", "b/2.html"]
    assert count(tmp_path) == 4


def test_a_file_that_is_named_is_taken_whatever_its_ending(tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(b"text")
    assert found(tmp_path / "report") == {"report": b"text"}


async def test_nothing_at_a_path_is_an_error(tmp_path: Path, isolation: Isolation) -> None:
    with pytest.raises(IocError, match="is no file or folder"):
        await anext(found_files(isolation, [tmp_path / "absent"]))


def test_a_zip_gives_its_members(tmp_path: Path) -> None:
    body = zipped({"one.html": b"1", "in/two.txt": b"2", "skip.exe": b"3", "__MACOSX/one.html": b"4"})
    (tmp_path / "some.zip").write_bytes(body)
    assert found(tmp_path) == {"some.zip!one.html": b"1", "some.zip!in/two.txt": b"2"}


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_tar_gives_its_members_but_no_links(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"some.{ending}").write_bytes(tarred(ending, {"one.html": b"1", "two.txt": b"2"}))
    assert found(tmp_path) == {f"some.{ending}!one.html": b"1", f"some.{ending}!two.txt": b"2"}
    assert count(tmp_path) == 2


def test_a_gzipped_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "report.html.gz").write_bytes(gzip.compress(b"text"))
    assert found(tmp_path) == {"report.html.gz!report.html": b"text"}


def test_archives_within_archives_are_opened_down_to_three_levels(tmp_path: Path) -> None:
    body = zipped({"deepest.html": b"x"})
    for name in ("third.zip", "second.zip", "first.zip"):
        body = zipped({name: body, "beside.txt": b"y"})
    (tmp_path / "all.zip").write_bytes(body)
    taken = found(tmp_path)
    assert taken["all.zip!beside.txt"] == b"y"
    assert taken["all.zip!first.zip!second.zip!third.zip"] == "too_deep"


def test_broken_and_locked_archives_say_so_and_the_rest_is_taken(tmp_path: Path) -> None:
    whole = zipped({"one.html": b"text" * 1000})
    locked = bytearray(whole)
    for offset, place in ((whole.index(b"PK\x03\x04"), 6), (whole.index(b"PK\x01\x02"), 8)):
        locked[offset + place] |= 1
    (tmp_path / "a.zip").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "b.zip").write_bytes(bytes(locked))
    (tmp_path / "c.tar.gz").write_bytes(gzip.compress(b"no tar at all" * 100))
    (tmp_path / "d.html.gz").write_bytes(gzip.compress(b"text" * 100_000)[:50])
    (tmp_path / "e.html").write_bytes(b"fine")
    assert found(tmp_path) == {
        "a.zip": "broken_archive",
        "b.zip!one.html": "encrypted",
        "c.tar.gz": "broken_archive",
        "d.html.gz": "broken_archive",
        "e.html": b"fine",
    }
    assert count(tmp_path) >= 3


def test_a_member_that_unpacks_to_too_much_is_refused_without_being_held(tmp_path: Path) -> None:
    (tmp_path / "bomb.zip").write_bytes(zipped({"bomb.html": bytes(5_000_000), "fine.html": b"fine"}))
    (tmp_path / "bomb.html.gz").write_bytes(gzip.compress(bytes(5_000_000)))
    assert found(tmp_path, choice=replace(ARTICLES, largest_file=100_000)) == {
        "bomb.html.gz!bomb.html": "body_too_large",
        "bomb.zip!bomb.html": "body_too_large",
        "bomb.zip!fine.html": b"fine",
    }


def nested(levels: int, wide: int, leaf: bytes) -> bytes:
    body = leaf
    for level in range(levels):
        body = zipped({f"{n}.{'zip' if level else 'html'}": body for n in range(wide)})
    return body


TIGHT = replace(ARTICLES, spare_bytes=3_000_000, most_bytes=4_000_000, most_entries=500)


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("bytes.zip", nested(1, 40, bytes(200_000))),
        ("nested.zip", nested(3, 10, bytes(200_000))),
        ("entries.zip", nested(3, 10, b"x" * 30)),
        ("bytes.tar.gz", tarred("tar.gz", {f"{n}.bin": bytes(200_000) for n in range(40)})),
        ("entries.tar", tarred("tar", {f"{n}.bin": b"" for n in range(600)})),
    ],
)
def test_one_budget_holds_for_all_that_is_imported_together(tmp_path: Path, name: str, body: bytes) -> None:
    (tmp_path / f"a-{name}").write_bytes(body)
    (tmp_path / f"b-{name}").write_bytes(body)
    (tmp_path / "z.html").write_bytes(b"fine")
    taken = found(tmp_path, choice=TIGHT)
    assert taken[f"a-{name}"] == taken[f"b-{name}"] == "archive_too_large"
    assert taken.pop("z.html") == b"fine"
    assert sum(len(each) for each in taken.values() if isinstance(each, bytes)) <= 4_000_000


def test_time_is_a_part_of_the_budget(tmp_path: Path) -> None:
    (tmp_path / "slow.zip").write_bytes(zipped({"one.html": b"1"}))
    assert found(tmp_path, choice=replace(ARTICLES, most_seconds=-1.0)) == {"slow.zip": "archive_too_large"}


def long_header(kind: bytes) -> bytes:
    """A tar whose first header has a name of 256 MB, packed."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, 256 << 20
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = packer.compress(info.tobuf(tarfile.GNU_FORMAT))
    packed += b"".join(packer.compress(b"9" * (1 << 20)) for _ in range(256))
    return packed + packer.flush()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
async def test_a_name_that_takes_more_memory_than_there_may_be_ends_as_a_refused_archive(
    tmp_path: Path, isolation: Isolation, kind: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.files.LIMITS", replace(LIMITS, memory_bytes=200 << 20))
    (tmp_path / "a.tar.gz").write_bytes(long_header(kind))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = [each async for each in found_files(isolation, [tmp_path / "a.tar.gz"])]
    assert [each.body.reason for each in taken if isinstance(each.body, IngestFailed)] == ["archive_too_large"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_pipes_sockets_and_links_that_lead_away_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "reports"
    folder.mkdir()
    monkeypatch.chdir(folder)  # the path of a socket may be 108 bytes long
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (folder / "fine.html").write_bytes(b"fine")
    os.mkfifo(folder / "pipe.html")
    (folder / "away.html").symlink_to(tmp_path / "secret.txt")
    (folder / "loop").symlink_to(folder)
    (folder / "self.html").symlink_to(folder / "self.html")
    (folder / "beside.html").symlink_to(folder / "fine.html")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.html")
        taken = found(folder)
    assert taken == {
        "away.html": "leads_outside",
        "beside.html": b"fine",
        "fine.html": b"fine",
        "pipe.html": "unreadable_file",
        "self.html": "unreadable_file",
        "socket.html": "unreadable_file",
    }


def test_a_name_cannot_steer_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"\x1b[31m\u202elmth.html": b"1"}))
    assert found(tmp_path) == {"a.zip!\\u001b[31m\\u202elmth.html": b"1"}


async def test_what_a_confined_process_finds_comes_whole_and_in_order(tmp_path: Path, isolation: Isolation) -> None:
    bodies = {f"{n}.html": os.urandom(n * 300_000) for n in range(4)}
    (tmp_path / "a.zip").write_bytes(zipped(bodies))
    (tmp_path / os.fsdecode(b"odd-\xff.html")).write_bytes(b"odd")
    (tmp_path / "cut.html.gz").write_bytes(gzip.compress(os.urandom(600_000))[:400_000])
    taken = [(Path(each.path).name, each.body) async for each in found_files(isolation, [tmp_path])]
    assert taken[:4] == [(f"a.zip!{name}", body) for name, body in bodies.items()]
    assert taken[4][0] == "cut.html.gz" and isinstance(taken[4][1], IngestFailed)
    assert taken[5] == ("odd-\\udcff.html", b"odd")


async def test_a_reader_that_dies_says_what_is_left_out(
    tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.files.file_pieces", pieces_of_a_reader_that_dies)
    taken = [each async for each in found_files(isolation, [tmp_path])]
    assert taken[0].body == b"fine" and isinstance(taken[1].body, IngestFailed)


def pieces_of_a_reader_that_dies(paths: list[bytes], choice: Choice) -> Iterator[FilePiece]:
    yield FilePiece("one.html", b"fine", last=True)
    os.abort()
