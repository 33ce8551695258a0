"""deploy/kubernetes: every object keeps Kubernetes' own schema, and the parts fit together."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from intel.settings import load_settings
from tests.scripts.conftest import ROOT

kubernetes_validate = pytest.importorskip("kubernetes_validate")

FOLDER = ROOT / "deploy" / "kubernetes"
OBJECTS: list[Any] = [
    one for file in sorted(FOLDER.glob("*.yaml")) for one in yaml.safe_load_all(file.read_text("utf-8"))
]
PODS = {
    one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in OBJECTS if "template" in one.get("spec", {})
}


@pytest.mark.promise("operations.kubernetes")
def test_every_object_keeps_the_schema() -> None:
    for one in OBJECTS:
        kubernetes_validate.validate(one, "1.33", strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(OBJECTS[0] | {"specification": {}}, "1.33", strict=True)


@pytest.mark.promise("operations.kubernetes")
def test_every_pod_is_bounded_probed_and_unprivileged_and_may_be_disrupted_in_turn() -> None:
    assert {*PODS} == {"elasticsearch", "ioc-api", "ioc-worker", "redis"}
    budgets = {one["metadata"]["name"] for one in OBJECTS if one["kind"] == "PodDisruptionBudget"}
    assert budgets == {*PODS}
    for name, pod in PODS.items():
        (container,) = pod["containers"]
        assert container["resources"]["limits"]["memory"] and container["resources"]["requests"], name
        assert "livenessProbe" in container and ("readinessProbe" in container or name == "ioc-worker"), name
        assert container["securityContext"]["allowPrivilegeEscalation"] is False, name
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name
        assert pod["securityContext"]["runAsNonRoot"] is True and pod["automountServiceAccountToken"] is False, name
        volumes = {volume["name"] for volume in pod["volumes"]} | {"data"}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes, name


def test_selectors_find_their_pods_and_the_settings_are_the_service_s() -> None:
    labels = {
        one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"]
        for one in OBJECTS
        if one["metadata"]["name"] in PODS and "template" in one["spec"]
    }
    for one in OBJECTS:
        selector = one.get("spec", {}).get("selector")
        if selector:
            assert selector.get("matchLabels", selector) == labels[one["metadata"]["name"]], one["metadata"]["name"]
    (given,) = (one["data"] for one in OBJECTS if one["kind"] == "ConfigMap")
    plain = {key: value for key, value in given.items() if not key.endswith(("_FILE", "REDIS_CA_CERTS"))}
    secret = {key.removesuffix("_FILE"): "a-secret-of-some-length" for key in given if key.endswith("_FILE")}
    settings = load_settings(plain | secret)
    assert settings.elasticsearch is not None and len(settings.elasticsearch.nodes) == 3
    assert settings.ioc_signup == "closed" and settings.redis_address


def test_the_documents_make_every_secret_that_is_named() -> None:
    text = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    named = {volume["secret"]["secretName"] for pod in PODS.values() for volume in pod["volumes"] if "secret" in volume}
    assert named == set(re.findall(r"create secret generic ([\w-]+)", text))
