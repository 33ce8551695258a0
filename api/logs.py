"""Logs: one JSON object a line for services, readable lines on a terminal; never a line that a stranger wrote."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

# The shapes of API keys and feed tokens, of what signs webhooks, and of who asks in a URL: whatever finds its way into
# a log line by mistake is masked.
_KEY = re.compile(r"ioc(?:feed)?_[0-9A-Za-z]{17}_[0-9A-Za-z]{8,}")
_SIGNING_SECRET = re.compile(r"whsec_[0-9A-Za-z+/=_-]{8,}")
_USER_IN_A_URL = re.compile(r"(?<=://)[^\s/?#\"'<>]{1,512}@")

_BROKEN_CONNECTION = re.compile(r"Fatal (?:read |write )?error on ")


def configure_logs(*, level: str = "INFO") -> None:
    """Send every log line, the libraries' too, to standard error."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        masked,
    ]
    # JSON escapes control characters; the readable form quotes them with repr.
    render: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=True, exception_formatter=structlog.dev.plain_traceback)
        if sys.stderr.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for quiet in ("httpx", "httpcore", "elastic_transport", "arq", "trafilatura", "htmldate", "uvicorn.access"):
        logging.getLogger(quiet).setLevel(logging.ERROR)
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    logging.getLogger("asyncio").addFilter(_without_traceback_of_broken_connection)


def _without_traceback_of_broken_connection(record: logging.LogRecord) -> bool:
    """Take the traceback off what a loop says of a connection that broke under it: whoever used that has the error.

    Both loops say `Fatal error on SSL protocol`, `Fatal read error on socket transport` and the like of that; what a
    protocol of ours does wrong is `Fatal error: …` and keeps its traceback.
    """
    if _BROKEN_CONNECTION.match(record.getMessage()):
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = None
    return True


def masked(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = _masked(value)
    return event


def _masked(value: Any) -> Any:
    """Return a value without the secrets in its texts; a value of any other kind than these as it is."""
    if isinstance(value, str):
        shown = _SIGNING_SECRET.sub("whsec_***", _KEY.sub("ioc_***", value))
        return _USER_IN_A_URL.sub("***@", shown)
    if isinstance(value, dict):
        return {_masked(name): _masked(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    return value
