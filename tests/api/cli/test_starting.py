"""Starts that are in vain: one sentence on standard error that says what to do, and the right exit status."""

from __future__ import annotations

import os
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.processes import Installation

pytestmark = [pytest.mark.timeout(900), pytest.mark.promise("cli.start-up-failures")]

ENGINES = {
    "ELASTICSEARCH_URL": "http://127.0.0.1:9",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "IOC_SECRET_KEY": "0123456789abcdef",
}


def refused(folder: Path, settings: dict[str, str], *command: str) -> tuple[int, str]:
    """The exit status and the one line of a command that must not begin to work."""
    here = Installation(folder, settings)
    ended = here.run(*(command or ("serve", "--port", "0")))
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("ioc: ")
    return ended.returncode, line


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"IOC_DATA_DIR": "file"}, "IOC_DATA_DIR: file cannot be written"),
        ({"IOC_DATA_DIR": "file/data"}, "IOC_DATA_DIR: file/data cannot be written"),
        ({"IOC_DATA_DIR": "damaged-secret"}, "damaged-secret/secret_key is damaged: remove it"),
        ({"IOC_DATA_DIR": "foreign"}, "foreign/ioc.sqlite3 is not a store of this service"),
        ({"IOC_SECRET_KEY_FILE": "absent"}, "IOC_SECRET_KEY_FILE: absent cannot be read"),
        ({"IOC_SECRET_KEY_FILE": "bytes"}, "IOC_SECRET_KEY_FILE: bytes holds no text"),
        ({"IOC_PORT": "http"}, "IOC_PORT must be a whole number"),
        ({"IOC_FEEDS": "absent"}, "IOC_FEEDS: absent cannot be read"),
        ({"IOC_FEEDS": "bytes"}, "IOC_FEEDS: bytes names no feed"),
        (ENGINES | {"REDIS_URL": "127.0.0.1:6379"}, "REDIS_URL must be written like redis://"),
        (ENGINES | {"REDIS_URL": "redis://127.0.0.1:six/0"}, "REDIS_URL must be written like redis://"),
        (ENGINES | {"REDIS_URL": "redis://127.0.0.1:6379/x"}, "REDIS_URL must be written like redis://"),
        (ENGINES | {"ELASTICSEARCH_URL": "nonsense"}, "ELASTICSEARCH_URL must be written like https://"),
        (
            ENGINES | {"ELASTICSEARCH_URL": "http://one:9200,http://two:x"},
            "ELASTICSEARCH_URL must be written like https://",
        ),
        (ENGINES | {"IOC_SECRET_KEY": ""}, "IOC_SECRET_KEY is not set"),
    ],
)
def test_a_wrong_setting_is_one_sentence_and_status_2(tmp_path: Path, settings: dict[str, str], told: str) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for folder, name, body in (("damaged-secret", "secret_key", b""), ("foreign", "ioc.sqlite3", b"no database" * 99)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(body)
    status, line = refused(tmp_path, settings)
    assert (status, told in line) == (2, True), line


def test_a_port_that_is_taken_is_one_sentence_and_status_1(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, line = refused(tmp_path, {}, "serve", "--port", str(taken.getsockname()[1]))
    assert (status, "another program" in line) == (1, True), line
    assert not (tmp_path / "data").exists()


def test_a_locked_database_that_must_be_upgraded_is_one_sentence_and_status_1(tmp_path: Path) -> None:
    create = ("account", "create", "a@example.org")
    assert Installation(tmp_path, {}).run(*create, typed="a long enough password\n").returncode == 0
    with closing(sqlite3.connect(tmp_path / "data" / "ioc.sqlite3", isolation_level=None)) as holder:
        holder.execute("PRAGMA user_version = 1")
        holder.execute("BEGIN EXCLUSIVE")
        status, line = refused(tmp_path, {})
    assert (status, "another program holds the database" in line) == (1, True), line


def test_a_store_of_a_newer_version_is_one_sentence_and_status_2(tmp_path: Path) -> None:
    create = ("account", "create", "a@example.org")
    assert Installation(tmp_path, {}).run(*create, typed="a long enough password\n").returncode == 0
    with closing(sqlite3.connect(tmp_path / "data" / "ioc.sqlite3", isolation_level=None)) as newer:
        newer.execute("PRAGMA user_version = 999")
    status, line = refused(tmp_path, {})
    assert (status, "newer version" in line) == (2, True), line


def test_a_wrong_password_of_redis_is_one_sentence_and_status_2(tmp_path: Path, redis_url: str) -> None:
    address = redis_url.replace("redis://", "redis://nobody:wrong@")
    for command in (("serve", "--port", "0"), ("worker",)):
        status, line = refused(tmp_path, ENGINES | {"REDIS_URL": address}, *command)
        assert (status, "correct REDIS_PASSWORD" in line) == (2, True), line


@pytest.mark.promise("cli.own-files")
@pytest.mark.parametrize("made_before", [False, True])
def test_files_of_a_new_data_folder_are_their_owners_alone(tmp_path: Path, made_before: bool) -> None:
    data = tmp_path / "data"
    former = os.umask(0o022)
    try:
        if made_before:
            data.mkdir(mode=0o755)
        here = Installation(tmp_path, {})
        server = here.serve()
        here.key()
        modes = {file.name: file.stat().st_mode & 0o777 for file in data.rglob("*")}
        here.close()
    finally:
        os.umask(former)
    assert server.process.poll() is not None
    assert {"ioc.sqlite3", "ioc.sqlite3-wal", "ioc.sqlite3-shm", "secret_key"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert data.stat().st_mode & 0o777 == (0o755 if made_before else 0o700)
