"""What the client raises.

NotReachable             nothing answers at the address, or not in time
ServiceRefused           the service answered with an error
└── RateLimited          the limit is used up: ask again after `retry_after` seconds
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class NotReachable(Exception):
    """Nothing answers at the address, or not in time."""


class ServiceRefused(Exception):
    """The service answered with an error; `code` is its own word for it, `fields` the faults of parameters by name."""

    def __init__(self, status: int, code: str, detail: str, fields: Mapping[str, str]) -> None:
        super().__init__(f"{status} {code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = dict(fields)


class RateLimited(ServiceRefused):
    """The limit is used up; after `retry_after` seconds the next request passes."""

    retry_after: int = 0


def failure(status: int, headers: Mapping[str, str], body: bytes) -> ServiceRefused:
    """Return what an answer that is no success raises."""
    problem = _problem(body)
    fields = {each.get("field", ""): each.get("message", "") for each in problem.get("errors", ())}
    told = (status, problem.get("code", ""), problem.get("detail") or problem.get("title", ""), fields)
    if status != 429:
        return ServiceRefused(*told)
    limited = RateLimited(*told)
    wait = headers.get("Retry-After", "")
    limited.retry_after = int(wait) if wait.isdecimal() else 60
    return limited


def _problem(body: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}
