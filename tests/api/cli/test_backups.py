"""`ioc backup`, `ioc restore` and `ioc migrate` as an operator runs them."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.processes import Installation

SETTINGS = {"IOC_BACKUP_PASSPHRASE": "a passphrase of this test"}


def well(here: Installation, *arguments: str) -> str:
    ended = here.run(*arguments, seconds=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def take_in(here: Installation, *names: str) -> None:
    for name in names:
        (here.folder / f"{name}.txt").write_text(
            f"{name}\n\nIt asked {name}[.]example and both[.]example for orders.\n"
        )
    well(here, "import", *(f"{name}.txt" for name in names))


def refused(here: Installation, *arguments: str) -> str:
    ended = here.run(*arguments)
    assert ended.returncode == 1, ended
    return ended.stderr


@pytest.mark.promise("operations.backup")
@pytest.mark.timeout(900)
def test_a_backup_is_restored_whole_and_only_where_it_may(here: Installation) -> None:
    here.environment |= SETTINGS
    take_in(here, "first", "second")
    key = here.key()
    before = json.loads(well(here, "list", "--json"))
    well(here, "backup", "kept")
    well(here, "backup", "sealed", "--encrypt")
    assert "exists" in refused(here, "backup", "kept")
    take_in(here, "third")
    assert "--overwrite" in refused(here, "restore", "kept")
    well(here, "restore", "kept", "--overwrite")
    assert json.loads(well(here, "list", "--json")) == before
    assert key.split("_")[1][:8] in well(here, "key", "list", "analyst@example.org", "--json")
    _sealed_backups_open_to_their_passphrase_alone(here, before)


def _sealed_backups_open_to_their_passphrase_alone(here: Installation, before: object) -> None:
    texts = b"".join(file.read_bytes() for file in (here.folder / "sealed").iterdir())
    assert b"both" not in texts and b"analyst" not in texts
    here.environment["IOC_BACKUP_PASSPHRASE"] = "another one"
    assert "passphrase" in refused(here, "restore", "sealed", "--overwrite")
    here.environment |= SETTINGS
    assert json.loads(well(here, "list", "--json")) == before
    well(here, "restore", "sealed", "--overwrite")


@pytest.mark.timeout(900)
def test_a_damaged_or_newer_backup_changes_nothing(here: Installation) -> None:
    take_in(here, "first")
    before = well(here, "list", "--json")
    well(here, "backup", "kept")
    manifest = here.folder / "kept" / "manifest.json"
    said = manifest.read_text()
    manifest.write_text(said.replace('"format": 1', '"format": 99'))
    assert "newer version" in refused(here, "restore", "kept", "--overwrite")
    manifest.write_text(said)
    with (here.folder / "kept" / "ioc.sqlite3").open("r+b") as file:
        file.seek(9000)
        file.write(b"\x00damaged\x00")
    assert "not as it was written" in refused(here, "restore", "kept", "--overwrite")
    manifest.unlink()
    assert "no backup" in refused(here, "restore", "kept", "--overwrite")
    assert well(here, "list", "--json") == before


@pytest.mark.promise("operations.migrate", "operations.backup")
@pytest.mark.timeout(900)
def test_a_store_moves_to_elasticsearch_and_back(
    here: Installation, elasticsearch_url: str, index_prefix: str, redis_database: str
) -> None:
    served = {
        "ELASTICSEARCH_URL": elasticsearch_url,
        "ELASTICSEARCH_INDEX_PREFIX": index_prefix,
        "REDIS_URL": redis_database,
        "IOC_SECRET_KEY": "a secret of this test alone",
    }
    take_in(here, "first", "second")
    before = well(here, "list", "--json")
    assert here.run("migrate").returncode == 2
    here.environment |= served
    well(here, "migrate")
    assert well(here, "list", "--json") == before
    assert "--overwrite" in refused(here, "migrate")
    well(here, "backup", "kept")
    well(here, "restore", "kept", "--overwrite")
    here.environment["IOC_DATA_DIR"] = str(here.folder / "back")
    well(here, "migrate", "--to", "embedded")
    for name in served:
        del here.environment[name]
    assert well(here, "list", "--json") == before
    here.environment["IOC_DATA_DIR"] = str(here.folder / "restored")
    well(here, "restore", "kept")
    assert well(here, "list", "--json") == before
