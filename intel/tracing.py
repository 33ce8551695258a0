"""Traces of what becomes of a submission, from when it is taken to when it is searchable: the one file that knows
OpenTelemetry.

Nothing is traced until `start_tracing` is called. All spans of a submission are of one trace, whose id follows from the
submission's id, so that nothing has to be handed on from the server that takes it to the worker that reads it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from intel.errors import ConfigurationError

_NAME: Final = "ioc-intelligence"
_MISSING: Final = "IOC_TRACES is set, but OpenTelemetry is not installed: pip install 'ioc-intelligence[traces]'"


def start_tracing(address: str | None, role: str, version: str) -> None:
    """Send spans to a collector (OTLP over HTTP), in the background and in batches; without an address do nothing.

    `role` tells servers from workers. A collector that is away costs nothing but its spans. Raises ConfigurationError.
    """
    if address is None:
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(_MISSING) from None
    record_with(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=5)), role, version)


def record_with(processor: Any, role: str, version: str) -> None:
    """Give every span of this process to an OpenTelemetry span processor."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    told = {"service.name": _NAME, "service.version": version, "service.instance.role": role}
    provider = TracerProvider(resource=Resource.create(told))
    provider.add_span_processor(processor)
    trace.set_tracer_provider(provider)


@contextmanager
def submission_span(name: str, submission_id: str, **attributes: str | int) -> Iterator[None]:
    """Trace a step of a submission. An exception that ends it marks it as failed."""
    digest = hashlib.sha256(submission_id.encode()).digest()
    root = SpanContext(
        trace_id=int.from_bytes(digest[:16]),
        span_id=int.from_bytes(digest[16:24]),
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    context = trace.set_span_in_context(NonRecordingSpan(root))
    tracer = trace.get_tracer(_NAME)
    with tracer.start_as_current_span(name, context, attributes={"submission.id": submission_id, **attributes}):
        yield


@contextmanager
def span(name: str) -> Iterator[None]:
    """Trace a step within the current one."""
    with trace.get_tracer(_NAME).start_as_current_span(name):
        yield
