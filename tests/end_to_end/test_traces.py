"""Traces, as a collector gets them: of a submission one, whichever processes had a part in it."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.end_to_end.processes import Installation, installed, until
from tests.end_to_end.site import Site

messages = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")


@pytest.fixture
def here(tmp_path: Path, httpserver: HTTPServer) -> Iterator[Installation]:
    settings = {"IOC_TRACES": httpserver.url_for("/v1/traces"), "OTEL_BSP_SCHEDULE_DELAY": "200"}
    yield from installed(tmp_path, settings)


@pytest.mark.promise("operations.traces")
def test_a_submission_is_one_trace_from_submit_to_searchable(
    here: Installation, site: Site, httpserver: HTTPServer
) -> None:
    spans: dict[bytes, dict[str, Any]] = defaultdict(dict)

    def collect(request: Request) -> Response:
        told = messages.ExportTraceServiceRequest.FromString(request.get_data())
        for resource in told.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    spans[span.trace_id][span.name] = span
        return Response(b"", content_type="application/x-protobuf")

    httpserver.expect_request("/v1/traces").respond_with_handler(collect)
    key = here.key()
    server = here.serve()
    server.ended(server.submit(site.post(1), key)["id"], key)
    steps = {"submit", "take in", "fetch", "read", "save"}
    trace = until(lambda: next((one for one in spans.values() if steps <= {*one}), None), "the trace is there")
    for inner in ("fetch", "read", "save"):
        assert trace[inner].parent_span_id == trace["take in"].span_id
    assert trace["submit"].start_time_unix_nano <= trace["take in"].start_time_unix_nano


def test_a_collector_that_is_away_costs_nothing_but_its_traces(tmp_path: Path, site: Site) -> None:
    for here in installed(tmp_path, {"IOC_TRACES": "http://127.0.0.1:9/v1/traces", "OTEL_BSP_SCHEDULE_DELAY": "200"}):
        key = here.key()
        server = here.serve()
        assert server.ended(server.submit(site.post(1), key)["id"], key)["status"] == "done"


_STARTED_WITH_DEFAULTS = """
import sys
from intel.settings import load_settings
from intel.tracing import start_tracing, submission_span
start_tracing(load_settings({}).ioc_traces, "server", "1")
with submission_span("fetch", "a submission"):
    print([name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))])
"""


@pytest.mark.promise("operations.traces")
def test_nothing_is_traced_unless_a_collector_is_named() -> None:
    started = subprocess.check_output([sys.executable, "-c", _STARTED_WITH_DEFAULTS], text=True, timeout=60)
    assert started == "[]\n"
