"""Reading JSON bodies strictly: size, media type, encoding, repeated and unknown members."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from api.models import NoBody
from api.problems import Problem

LARGEST_BODY = 256_000
_Model = TypeVar("_Model", bound=BaseModel)


async def read_json(request: Request, model: type[_Model]) -> _Model:
    """Return the body as `model`; every way in which it can be wrong is a Problem of its own."""
    _check_media_type(request)
    return _validate(_parse(await read_body(request)), model)


def _check_media_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Problem(415, "unsupported_media_type", "Send JSON with Content-Type: application/json.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "unsupported_media_type", "Send the body without Content-Encoding.")


async def read_no_members(request: Request) -> None:
    """A body that is empty or an object without members; anything else is a Problem, as with `read_json`."""
    body = await read_body(request)
    if body.strip():
        _check_media_type(request)
        _validate(_parse(body), NoBody)


async def read_body(request: Request, largest: int = LARGEST_BODY) -> bytes:
    """Return the body, read no further than it may be long."""
    if int(_digits(request.headers.get("content-length"))) > largest:
        _too_large(largest)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > largest:
            _too_large(largest)
    return bytes(body)


def _digits(text: str | None) -> str:
    return text if text and text.isascii() and text.isdigit() and len(text) < 20 else "0"


def _too_large(largest: int) -> NoReturn:
    raise Problem(413, "payload_too_large", f"The body may have at most {largest // 1000} kB.")


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_unrepeated, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Problem(400, "invalid_json", f"The body is not valid JSON: {reason}"[:300]) from None


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member stands in it twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _validate(value: Any, model: type[_Model]) -> _Model:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors = [
            {"field": ".".join(map(str, item["loc"])) or "body", "message": _plain(item["msg"])}
            for item in error.errors(include_url=False, include_input=False, include_context=False)[:20]
        ]
        detail = f"{errors[0]['field']}: {errors[0]['message']}"
        raise Problem(422, "invalid_parameter", detail[:300], errors=errors) from None


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").encode(errors="replace").decode()[:200]
