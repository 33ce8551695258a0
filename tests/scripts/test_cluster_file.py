"""docker-compose.cluster.yml: what one machine's file promises holds for it too, and its parts fit together."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from cryptography import x509

from intel.settings import load_settings
from tests.scripts.conftest import ROOT
from tests.scripts.test_containers import without_defaults

FILE: Any = yaml.safe_load((ROOT / "docker-compose.cluster.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = FILE["services"]
LASTING = [name for name in SERVICES if name != "secrets"]
NODES = [f"es-{number}" for number in (1, 2, 3)]
SENTINELS = [f"sentinel-{number}" for number in (1, 2, 3)]


def test_it_is_the_shape_that_it_says() -> None:
    assert {*SERVICES} == {"secrets", "redis-1", "redis-2", "api-1", "api-2", "worker", *NODES, *SENTINELS}
    assert SERVICES["worker"]["deploy"]["replicas"] == 3


def test_what_lasts_restarts_with_bounded_memory_and_logs_and_is_looked_after() -> None:
    for name in LASTING:
        one = SERVICES[name]
        assert one["restart"] == "unless-stopped" and one["mem_limit"] and one["logging"]["options"]["max-file"], name
        assert "no-new-privileges:true" in one["security_opt"], name
        assert "healthcheck" in one or name.startswith("api"), name
        for volume in one.get("volumes", ()):
            assert volume.split(":")[0] in FILE["volumes"], name
        for other in one.get("depends_on", {}):
            assert other in SERVICES, name
    for name in (*NODES, *SENTINELS, "redis-1", "redis-2"):
        assert SERVICES[name]["networks"] == ["engines"] and "ports" not in SERVICES[name]
    assert FILE["networks"]["engines"]["internal"] is True


def test_the_service_accepts_its_settings_and_finds_every_node(tmp_path: Path) -> None:
    given = {key: without_defaults(value) for key, value in SERVICES["api-1"]["environment"].items()}
    for key in [key for key in given if key.endswith("_FILE")]:
        del given[key]
        given[key.removesuffix("_FILE")] = "a-secret-of-some-length"
    (tmp_path / "ca.crt").write_text("")
    settings = load_settings(given | {"REDIS_CA_CERTS": str(tmp_path / "ca.crt")})
    assert settings.elasticsearch is not None
    assert settings.elasticsearch.nodes == tuple(f"https://{node}:9200" for node in NODES)
    assert all(sentinel in (settings.redis_address or "") for sentinel in SENTINELS)


def test_secrets_are_made_once_and_certificates_name_every_host(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, ROOT / "scripts" / "cluster_secrets.py", tmp_path]
    subprocess.run(command, check=True, timeout=300)
    made = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    subprocess.run(command, check=True, timeout=300)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == made
    for reader in ("elasticsearch", "redis"):
        certificate = x509.load_pem_x509_certificate((tmp_path / reader / "tls" / "server.crt").read_bytes())
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert {*names.get_values_for_type(x509.DNSName)} >= {*NODES, *SENTINELS, "redis-1", "redis-2"}
        authority = x509.load_pem_x509_certificate((tmp_path / "service" / "tls" / "ca.crt").read_bytes())
        certificate.verify_directly_issued_by(authority)
    asked = {file.relative_to(tmp_path).as_posix() for file in made}
    named = set(re.findall(r"/secrets/([\w./-]+)", (ROOT / "docker-compose.cluster.yml").read_text("utf-8")))
    assert {name for name in named if "." in name or "password" in name or "key" in name} <= asked
    assert all(oct(file.stat().st_mode & 0o777) == "0o400" for file in made)
