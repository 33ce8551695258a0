from __future__ import annotations

import base64
import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from search_mappings import elasticsearch_indices
from tests.scripts.conftest import ROOT

SCRIPT = ROOT / "scripts" / "compose_secrets.py"


def make(folder: Path, **values: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(folder)],
        env={"PATH": os.defpath, **values},
        capture_output=True,
        text=True,
        timeout=30,
    )


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_missing_secrets_are_made_and_kept(tmp_path: Path) -> None:
    assert make(tmp_path).returncode == 0
    first = contents(tmp_path)
    assert len(first["service/secret_key"]) >= 43
    assert len({first["service/secret_key"], first["redis/password"], first["elasticsearch/password"]}) == 3
    assert make(tmp_path).returncode == 0
    assert contents(tmp_path) == first


def test_the_service_and_the_engines_hold_the_same_passwords(tmp_path: Path) -> None:
    make(tmp_path)
    files = contents(tmp_path)
    assert files["service/elasticsearch_service_password"] == files["elasticsearch/service_password"]
    assert files["service/elasticsearch_service_password"] != files["elasticsearch/password"]
    assert files["service/redis_password"] == files["redis/password"]
    assert files["redis/redis.conf"] == f"requirepass {files['redis/password']}\n"


def test_only_the_owner_may_read_a_secret(tmp_path: Path) -> None:
    make(tmp_path)
    for path in tmp_path.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o400 if path.is_file() else 0o700), path


def test_a_given_value_replaces_the_kept_one_everywhere_and_only_that(tmp_path: Path) -> None:
    make(tmp_path)
    before = contents(tmp_path)
    assert make(tmp_path, REDIS_PASSWORD="correct-horse-battery").returncode == 0
    after = contents(tmp_path)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"redis/password", "redis/redis.conf", "service/redis_password"}
    assert make(tmp_path).returncode == 0
    assert contents(tmp_path) == after


@pytest.mark.parametrize("value", ["short", "with a blank in it all", 'with"quote"in-it-all', "back\\slash-in-it-all"])
def test_a_value_that_a_configuration_file_would_read_otherwise_is_refused(tmp_path: Path, value: str) -> None:
    done = make(tmp_path, REDIS_PASSWORD=value)
    assert done.returncode == 1
    assert "REDIS_PASSWORD must have" in done.stderr
    assert value not in done.stderr
    assert contents(tmp_path) == {}


def test_elasticsearch_is_given_a_user_whose_hash_is_of_the_service_s_password(tmp_path: Path) -> None:
    make(tmp_path)
    files = contents(tmp_path)
    name, _, hashed = files["elasticsearch/realm/users"].strip().partition(":")
    kind, salt, key = hashed.split("$")
    password = files["service/elasticsearch_service_password"].encode()
    assert (name, kind) == ("ioc_service", "{PBKDF2}10000")
    assert base64.b64decode(key) == hashlib.pbkdf2_hmac("sha512", password, base64.b64decode(salt), 10_000, 32)
    assert files["elasticsearch/realm/users_roles"] == "ioc_service:ioc_service\n"


def test_a_new_service_password_changes_its_hash_and_leaves_the_superuser_s(tmp_path: Path) -> None:
    make(tmp_path)
    before = contents(tmp_path)
    assert make(tmp_path, ELASTICSEARCH_PASSWORD="correct-horse-battery").returncode == 0
    after = contents(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {
        "elasticsearch/service_password",
        "elasticsearch/realm/users",
        "service/elasticsearch_service_password",
    }


def test_the_role_names_every_index_of_the_service_and_no_other() -> None:
    role = yaml.safe_load((ROOT / "search_mappings" / "elasticsearch_role.yml").read_text("utf-8"))["ioc_service"]
    names = {name for nouns in ([noun, f"{noun}-ioc-v*"] for noun in elasticsearch_indices()) for name in nouns}
    assert [set(entry["names"]) for entry in role["indices"]] == [names]
    assert "all" not in role["cluster"]
