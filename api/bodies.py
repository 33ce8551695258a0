"""Reading bodies strictly: size, media type, encoding, and of JSON repeated and unknown members."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from api.models import NoBody
from api.problems import Problem

JSON = "application/json"
LARGEST_BODY = 256_000
_SEND_JSON = "Send JSON with Content-Type: application/json."
_Model = TypeVar("_Model", bound=BaseModel)
_Other = TypeVar("_Other", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class MediaType:
    """What a body is declared as, in lower case; the charset only where it is given."""

    name: str
    charset: str | None


def json_body(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return what a route adds to its description for a body that `read_json` reads as `model`."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": required, "content": {JSON: {"schema": schema}}}}


async def read_json(request: Request, model: type[_Model]) -> _Model:
    """Return the body as `model`; every way in which it can be wrong is a Problem of its own."""
    media_type_of(request, (JSON,), _SEND_JSON)
    return parse_json(await read_body(request), model)


async def read_either(request: Request, model: type[_Model], member: str, other: type[_Other]) -> _Model | _Other:
    """Return the body as `other` where it has that member, else as `model`; problems as with `read_json`."""
    media_type_of(request, (JSON,), _SEND_JSON)
    value = _parse(await read_body(request))
    return _validate(value, other) if isinstance(value, dict) and member in value else _validate(value, model)


def parse_fields(fields: Mapping[str, str], model: type[_Model]) -> _Model:
    """Return the fields of a form as `model`; what is wrong with them is a Problem."""
    return _validate(dict(fields), model)


def parse_json(body: bytes, model: type[_Model]) -> _Model:
    """Return JSON as `model`; every way in which it can be wrong is a Problem of its own."""
    return _validate(_parse(body), model)


def media_type(request: Request) -> str:
    """Return the media type that a body declares, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def media_type_of(request: Request, accepted: Collection[str], otherwise: str) -> MediaType:
    """Return the media type that a body declares. Problem, with the sentence `otherwise`, for what is not accepted."""
    headers = request.headers
    declared, kind = headers.get("content-type", ""), media_type(request)
    if kind not in accepted:
        raise Problem(415, "unsupported_media_type", otherwise)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Problem(415, "unsupported_media_type", "Send the body without Content-Encoding.")
    if ";" not in declared:
        return MediaType(kind, None)
    parameters = Message()
    parameters["content-type"] = declared
    return MediaType(kind, parameters.get_content_charset())


async def read_no_members(request: Request) -> None:
    """Read a body that is empty or an object without members; anything else is a Problem, as with `read_json`."""
    body = await read_body(request)
    if body.strip():
        media_type_of(request, (JSON,), _SEND_JSON)
        _validate(_parse(body), NoBody)


async def read_body(request: Request, largest: int = LARGEST_BODY) -> bytes:
    """Return the body, read no further than it may be long."""
    if int(_digits(request.headers.get("content-length"))) > largest:
        refuse_too_large(largest)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > largest:
            refuse_too_large(largest)
    return bytes(body)


def _digits(text: str | None) -> str:
    return text if text and text.isascii() and text.isdigit() and len(text) < 20 else "0"


def _size(bytes: int) -> str:
    return f"{bytes // 1_000_000} MB" if bytes >= 1_000_000 else f"{bytes // 1000} kB"


def refuse_too_large(largest: int) -> NoReturn:
    """Raise the Problem of a body of more than so many bytes."""
    raise Problem(413, "payload_too_large", f"What is sent may have at most {_size(largest)}.")


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
