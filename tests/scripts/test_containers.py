from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from intel.settings import load_settings
from tests.cases import each
from tests.scripts.conftest import ROOT

SERVICES = ("api", "worker", "elasticsearch", "redis", "secrets")
LASTING = ("api", "worker", "elasticsearch", "redis")


def compose() -> Any:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))


def service(name: str) -> Any:
    return compose()["services"][name]


def without_defaults(value: str) -> str:
    """`${NAME:-default}` as it reads with nothing set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


@pytest.mark.promise("ways.compose")
def test_these_services_and_no_more() -> None:
    assert set(compose()["services"]) == set(SERVICES)


def test_no_variable_must_be_given() -> None:
    assert not re.search(r"\$\{\w+(:?\?[^}]*)?\}", (ROOT / "docker-compose.yml").read_text("utf-8"))


def test_only_the_api_publishes_a_port() -> None:
    assert [name for name in SERVICES if "ports" in service(name)] == ["api"]
    assert [without_defaults(port) for port in service("api")["ports"]] == ["127.0.0.1:8000:8000"]


def test_the_engines_have_no_way_out() -> None:
    assert compose()["networks"]["engines"]["internal"] is True
    for name in ("elasticsearch", "redis"):
        assert service(name)["networks"] == ["engines"]


@each("name", LASTING)
def test_a_lasting_service_restarts_and_has_a_memory_limit_and_bounded_logs(name: str) -> None:
    assert service(name)["restart"] == "unless-stopped"
    assert service(name)["mem_limit"]
    assert service(name)["logging"]["options"]["max-size"] == "10m"


@each("name", LASTING)
def test_a_lasting_service_has_a_health_check(name: str) -> None:
    own = service(name).get("healthcheck", {}).get("test")
    assert own or (name == "api" and "HEALTHCHECK" in (ROOT / "Dockerfile").read_text("utf-8"))


@pytest.mark.parametrize("name", ["api", "worker"])
def test_the_service_waits_for_its_secrets_and_healthy_engines(name: str) -> None:
    conditions = {other: rule["condition"] for other, rule in service(name)["depends_on"].items()}
    assert conditions == {
        "secrets": "service_completed_successfully",
        "elasticsearch": "service_healthy",
        "redis": "service_healthy",
    }


@each("name", ["elasticsearch", "redis", "secrets"])
def test_what_must_last_is_on_a_named_volume(name: str) -> None:
    named = {volume.split(":")[0] for volume in service(name)["volumes"]}
    assert named <= set(compose()["volumes"])
    assert {"elasticsearch": "elasticsearch", "redis": "redis", "secrets": "secrets"}[name] in named


def test_elasticsearch_asks_for_a_password_and_redis_keeps_every_write() -> None:
    assert service("elasticsearch")["environment"]["xpack.security.enabled"] == "true"
    command = " ".join(service("redis")["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command
    assert "requirepass" not in command


@pytest.mark.parametrize("name", ["api", "worker"])
def test_the_service_accepts_its_settings_as_they_stand_with_nothing_overridden(name: str) -> None:
    given = {key: without_defaults(value) for key, value in service(name)["environment"].items()}
    secret = {key.removesuffix("_FILE"): "a-secret-of-some-length" for key in given if key.endswith("_FILE")}
    settings = load_settings({**{key: value for key, value in given.items() if not key.endswith("_FILE")}, **secret})
    assert settings.served
    assert settings.ioc_rate_key == load_settings({}).ioc_rate_key


@pytest.mark.parametrize("name", ["api", "worker"])
def test_no_secret_stands_in_the_service_s_environment(name: str) -> None:
    for variable in ("ELASTICSEARCH_PASSWORD", "REDIS_PASSWORD", "IOC_SECRET_KEY"):
        assert variable not in service(name)["environment"]


def test_every_variable_of_the_compose_file_is_explained_in_the_example_and_the_other_way_round() -> None:
    used = set(re.findall(r"\$\{(\w+):-", (ROOT / "docker-compose.yml").read_text("utf-8")))
    shown = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text("utf-8"), re.M))
    assert used == shown


def test_the_image_runs_as_an_ordinary_user_on_the_locked_packages_alone() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER ioc$", text, re.M)
    assert re.findall(r"pip install", text) == []
    assert "RUN scripts/install" in text


image_root: Any = importlib.import_module("scripts.image_root")
image_config: Any = importlib.import_module("scripts.image_config")


@each(
    ("path", "kept"),
    [
        ("babel/locale-data/root.dat", True),
        ("babel/locale-data/de_AT.dat", False),
        ("regex/tests/test_regex.py", False),
        ("regex/testing.py", True),
        ("lxml/etree.cpython-313-x86_64-linux-gnu.so", True),
        ("lxml/objectify.cpython-313-x86_64-linux-gnu.so", False),
        ("pygments/lexers/python.py", True),
        ("pygments/lexers/ruby.py", False),
        ("site-packages/pip/__init__.py", False),
        ("json/__pycache__/decoder.cpython-313.pyc", False),
        ("test_of_ours.py", True),
    ],
)
def test_what_nobody_asks_for_is_left_out_of_the_image(path: str, kept: bool) -> None:
    assert bool(image_root.LEFT_OUT.match(path)) is not kept


def test_a_module_without_its_symbols_is_smaller_and_loads(tmp_path: Path) -> None:
    original = importlib.util.find_spec("uvloop.loop")
    assert original and original.origin
    copied = Path(shutil.copy(original.origin, tmp_path / "cut.so"))
    image_root.drop_symbols(copied)
    assert copied.stat().st_size < Path(original.origin).stat().st_size
    load = "import ctypes, sys; print(bool(ctypes.PyDLL(sys.argv[1]).PyInit_loop))"
    assert subprocess.check_output([sys.executable, "-c", load, str(copied)], text=True, timeout=300) == "True\n"


def test_a_file_lies_in_the_image_where_it_lay_with_the_links_that_lead_to_it(tmp_path: Path) -> None:
    system, root = tmp_path / "system", tmp_path / "image"
    (system / "usr" / "lib").mkdir(parents=True)
    (system / "usr" / "lib" / "libx.so.1.2").write_text("x")
    (system / "usr" / "lib" / "libx.so.1").symlink_to("libx.so.1.2")
    (system / "lib").symlink_to("usr/lib")
    image_root.add(system / "lib" / "libx.so.1", root)
    there = root / system.relative_to("/")
    assert (there / "lib").readlink() == Path("usr/lib")
    assert (there / "usr" / "lib" / "libx.so.1").readlink() == Path("libx.so.1.2")
    assert (there / "lib" / "libx.so.1").read_text() == "x"


def test_every_room_of_the_package_is_in_the_image() -> None:
    rooms = re.search(r"^ROOMS = \((.+)\)$", (ROOT / "setup.py").read_text("utf-8"), re.M)
    assert rooms
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "Dockerfile").read_text("utf-8"), re.M))
    assert copied == {"ioc_intelligence", *re.findall(r'"(\w+)"', rooms[1])}


def saved_image(path: Path, built_at: str, container: str) -> Path:
    """An image as `docker save` writes it, with what every build says of itself."""
    config = {
        "architecture": "amd64",
        "os": "linux",
        "created": built_at,
        "container": container,
        "docker_version": built_at,
        "config": {
            "Hostname": container,
            "Image": container,
            "User": "ioc",
            "Env": ["A=b"],
            "Cmd": ["serve"],
            "Labels": {},
        },
        "container_config": {"Hostname": container},
        "history": [
            {"created": built_at, "created_by": "COPY dir:abc in /"},
            {"created": built_at, "empty_layer": True},
        ],
        "rootfs": {"type": "layers", "diff_ids": ["sha256:abc"]},
    }
    described = [{"Config": f"blobs/{container}", "RepoTags": ["built:latest"], "Layers": ["blobs/layer"]}]
    files = {f"blobs/{container}": json.dumps(config), "blobs/layer": "content", "manifest.json": json.dumps(described)}
    with tarfile.open(path, "w") as target:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(text), len(built_at)
            target.addfile(member, io.BytesIO(text.encode()))
    return path


def test_two_builds_of_the_same_image_have_the_same_digest(tmp_path: Path) -> None:
    written = []
    for number, built_at in enumerate(("2026-11-23T20:00:00Z", "2027-01-01T00:00:00.123Z")):
        same = tmp_path / f"same-{number}.tar"
        image_config.main(saved_image(tmp_path / f"{number}.tar", built_at, f"container-{number}"), same, "ours")
        written.append(same.read_bytes())
    assert written[0] == written[1]
    with tarfile.open(tmp_path / "same-0.tar") as image:
        manifest, layer = (image.extractfile(name) for name in ("manifest.json", "0.tar"))
        assert manifest and layer and layer.read() == b"content"
        (described,) = json.loads(manifest.read())
        assert (described["RepoTags"], described["Layers"]) == (["ours:latest"], ["0.tar"])
        config = image.extractfile(described["Config"])
        assert config
        content = config.read()
    assert described["Config"] == f"{hashlib.sha256(content).hexdigest()}.json"
    assert json.loads(content)["config"] == {"User": "ioc", "Env": ["A=b"], "Cmd": ["serve"]}


def test_what_the_image_is_made_of_reaches_the_builder() -> None:
    allowed = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"
    }
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    assert {source for line in copied for source in line.split()} == allowed
