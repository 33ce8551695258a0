"""The secret that signs cursors and sessions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.secret import secret_of
from intel.errors import ConfigurationError
from intel.settings import Settings


def embedded(folder: Path, **settings: str) -> Settings:
    return Settings.model_validate({"ioc_data_dir": folder, **settings})


@pytest.mark.promise("settings.secret-key-kept")
def test_a_secret_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    made = secret_of(embedded(folder))
    assert len(made) >= 32
    assert secret_of(embedded(folder)) == made
    assert secret_of(embedded(tmp_path / "other")) != made
    assert {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()} == {"secret_key": 0o600}


@pytest.mark.promise("settings.secret-key-kept")
def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as at_once:
        made = set(at_once.map(lambda _: secret_of(embedded(tmp_path / "data")), range(64)))
    assert len(made) == 1


def test_a_given_secret_is_used_and_nothing_is_written(tmp_path: Path) -> None:
    settings = embedded(tmp_path / "data", ioc_secret_key="a secret of one's own")
    assert secret_of(settings) == b"a secret of one's own"
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_written_is_a_sentence_about_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="IOC_DATA_DIR"):
        secret_of(embedded(tmp_path / "file" / "data"))
