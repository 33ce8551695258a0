"""What operators see: every metric is told, and the dashboard and the alert rules ask for metrics that are."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingest.assembly import open_ingest
from ingest.samples import sample_paths
from intel.records import Catalogue
from tests.api.running import GENEROUS, Running, running

DOCS = Path(__file__).parents[2] / "docs"
ALERTS: list[dict[str, Any]] = yaml.safe_load((DOCS / "monitoring" / "prometheus-alerts.yml").read_text("utf-8"))[
    "groups"
][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((DOCS / "monitoring" / "grafana-dashboard.json").read_text("utf-8"))
NAME = re.compile(r"\b(?:ioc|process)_[a-z_]+\b")


async def metrics_of(api: Running) -> str:
    return (await api.client.get("/metrics")).text


@pytest.mark.promise("operations.monitoring")
async def test_dashboard_and_alerts_ask_for_metrics_that_are_told(tmp_path: Path) -> None:
    async with running(tmp_path, ioc_metrics_allow="0.0.0.0/0", **GENEROUS) as api:
        text = await metrics_of(api)
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    told = set(kinds)
    told |= {f"{name}_bucket" for name, kind in kinds.items() if kind == "histogram"}
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for rule in ALERTS]
    assert {name for expression in asked for name in NAME.findall(expression)} - told == set()
    assert all(rule["labels"]["severity"] and rule["annotations"]["summary"] for rule in ALERTS)
    explained = (DOCS / "operations.md").read_text("utf-8")
    assert [rule["alert"] for rule in ALERTS if f"`{rule['alert']}`" not in explained] == []


@pytest.mark.promise("operations.monitoring")
async def test_metrics_tell_what_was_done(tmp_path: Path) -> None:
    rates = {**GENEROUS, "ioc_rate_list": "2/hour"}
    async with running(tmp_path, ioc_metrics_allow="0.0.0.0/0", **rates) as api:
        body = sample_paths()[0].read_bytes()
        store = api.service.store
        as_of = datetime(2026, 11, 1, tzinfo=UTC)
        await store.catalogues.put(Catalogue("kev", as_of, as_of, "kev.json", 1), {"a": b"1"})
        ingest = open_ingest(api.service.settings, store, observer=api.service.metrics.work)
        await ingest.pipeline.take_file(body, "text/html", None)
        await ingest.close()
        for _ in range(3):
            answer = await api.client.get("/api/v1/articles")
        text = await metrics_of(api)
    assert answer.status_code == 429 and answer.headers["x-request-id"]
    for line in (
        r'ioc_http_requests_total{.*route="/api/v1/articles",status="200",tier="list"} 2.0',
        r'ioc_http_requests_total{.*status="429",tier="list"} 1.0',
        r'ioc_ingest_seconds_count{stage="read"} 1.0',
        r'ioc_ingest_seconds_count{stage="save"} [12].0',
        r'ioc_candidates_total{kept="yes",rule="identifier"} [0-9.]+',
        r'ioc_store_seconds_count{operation="write"} [0-9.]+',
        r'ioc_catalogue_as_of_timestamp_seconds{catalogue="kev"} 1.79[0-9]+e\+09',
        r"process_open_fds [0-9.]+",
        r"ioc_queue_oldest_seconds 0.0",
    ):
        assert re.search(line, text), line
