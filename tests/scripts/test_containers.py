from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from intel.settings import load_settings
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


@pytest.mark.parametrize("name", LASTING)
def test_a_lasting_service_restarts_and_has_a_memory_limit_and_bounded_logs(name: str) -> None:
    assert service(name)["restart"] == "unless-stopped"
    assert service(name)["mem_limit"]
    assert service(name)["logging"]["options"]["max-size"] == "10m"


@pytest.mark.parametrize("name", LASTING)
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


@pytest.mark.parametrize("name", ["elasticsearch", "redis", "secrets"])
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


def test_what_the_image_is_made_of_reaches_the_builder() -> None:
    allowed = {
        line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"
    }
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    assert {source for line in copied for source in line.split()} == allowed
