"""Why a connection is refused or ended: what the client is told, and what the log says."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason; `reason` names it in the metrics, `says` is for the client, `log` for the operator."""

    reason: str
    status: int
    says: str
    log: str

    def answer(self) -> bytes:
        """Return the whole answer, which ends the connection."""
        body = f"{self.says}\n".encode()
        wait = "retry-after: 15\r\n" if self.status == HTTPStatus.SERVICE_UNAVAILABLE else ""
        head = (
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\n"
            f"content-type: text/plain; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
            f"x-content-type-options: nosniff\r\n{wait}connection: close\r\n\r\n"
        )
        return head.encode() + body


TOO_MANY = Refusal(
    "too_many",
    503,
    "Too many connections are open. Try again shortly.",
    "connections refused: as many are open as IOC_MOST_CONNECTIONS and the open-files limit allow",
)
TOO_MANY_OF_ADDRESS = Refusal(
    "too_many_of_address",
    503,
    "Too many connections from your address are open. Close some and try again.",
    "connections refused: one address has as many open as IOC_MOST_CONNECTIONS_PER_ADDRESS allows",
)
MALFORMED = Refusal("malformed", 400, "This is not a valid HTTP request.", "requests refused: they are not valid HTTP")
HEAD_TOO_LARGE = Refusal(
    "head_too_large",
    431,
    "The head of the request is too large: send at most 64 kB in 1,000 header fields.",
    "requests refused: their head is too large",
)
HEAD_TIMEOUT = Refusal(
    "head_timeout",
    408,
    "The head of the request did not arrive in time: send it within 10 seconds.",
    "connections ended: the head of a request did not arrive within 10 seconds",
)
BODY_TIMEOUT = Refusal(
    "body_timeout",
    408,
    "The body of the request did not arrive in time: send it within 15 seconds.",
    "connections ended: the body of a request did not arrive within 15 seconds",
)
BODY_UNWANTED = Refusal(
    "body_unwanted",
    413,
    "The body of the request is too large.",
    "connections ended: the client goes on sending a body that was already answered",
)
UNREAD = Refusal(
    "unread_answer",
    408,
    "The answer was not read in time.",
    "connections ended: the client did not read its answer within 30 seconds",
)
