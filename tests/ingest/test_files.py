"""Files, folders and archives to take in."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest import files
from ingest.files import count_files, found_files
from intel.errors import IngestFailed, IocError

PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "tar": bytes,
    "tar.gz": gzip.compress,
    "tar.bz2": bz2.compress,
    "tar.xz": lzma.compress,
}


def found(*paths: Path) -> dict[str, bytes | str]:
    """Each file's bytes, or the reason why there are none, by its path below the first folder."""
    base = paths[0] if paths[0].is_dir() else paths[0].parent
    return {
        str(Path(each.path).relative_to(base)): each.body.reason if isinstance(each.body, IngestFailed) else each.body
        for each in found_files(paths)
    }


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
    assert count_files([tmp_path]) == 4


def test_a_file_that_is_named_is_taken_whatever_its_ending(tmp_path: Path) -> None:
    (tmp_path / "report").write_bytes(b"text")
    assert found(tmp_path / "report") == {"report": b"text"}


def test_nothing_at_a_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IocError, match="is no file or folder"):
        found(tmp_path / "absent")


def test_a_zip_gives_its_members(tmp_path: Path) -> None:
    body = zipped({"one.html": b"1", "in/two.txt": b"2", "skip.exe": b"3", "__MACOSX/one.html": b"4"})
    (tmp_path / "some.zip").write_bytes(body)
    assert found(tmp_path) == {"some.zip!one.html": b"1", "some.zip!in/two.txt": b"2"}


@pytest.mark.parametrize("ending", PACKINGS)
def test_a_tar_gives_its_members_but_no_links(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"some.{ending}").write_bytes(tarred(ending, {"one.html": b"1", "two.txt": b"2"}))
    assert found(tmp_path) == {f"some.{ending}!one.html": b"1", f"some.{ending}!two.txt": b"2"}
    assert count_files([tmp_path]) == 2


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
    assert count_files([tmp_path]) >= 3


def test_a_member_that_unpacks_to_too_much_is_refused_without_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 100_000)
    (tmp_path / "bomb.zip").write_bytes(zipped({"bomb.html": bytes(5_000_000), "fine.html": b"fine"}))
    (tmp_path / "bomb.html.gz").write_bytes(gzip.compress(bytes(5_000_000)))
    taken = found(tmp_path)
    assert taken == {
        "bomb.html.gz!bomb.html": "body_too_large",
        "bomb.zip!bomb.html": "body_too_large",
        "bomb.zip!fine.html": b"fine",
    }


def test_an_archive_that_unpacks_to_too_much_is_refused_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_UNPACKED", 1_000_000)
    (tmp_path / "bomb.zip").write_bytes(zipped({"a.html": bytes(600_000), "b.html": bytes(600_000)}))
    assert found(tmp_path) == {"bomb.zip": "archive_too_large"}
