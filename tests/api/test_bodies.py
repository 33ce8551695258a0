"""Bodies are read strictly: what is not exactly the JSON that is asked for is refused with its own code."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.api.running import Running
from tests.api.test_errors import check_problem
from tests.cases import each

JSON = {"Content-Type": "application/json"}
LOOKUP = "/api/v1/iocs/lookup"
SUBMIT = "/api/v1/submit"


@pytest.mark.promise("errors.invalid-json")
@each(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"{]",
        b"nonsense",
        b"{'url': 1}",
        b'{"url": "x",}',
        b'{"url": NaN}',
        b'{"url": Infinity}',
        b'{"url": 01}',
        b'{"url": "x"} {}',
        b'{"url": "\xff"}',
        '{"url": "x"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"url": "x"}',
        b'{"url": "a\nb"}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"url": ' + b"9" * 5000 + b"}",
    ],
    ids=lambda body: repr(body[:16]),
)
async def test_what_is_no_json_is_400(api: Running, key: dict[str, str], body: bytes) -> None:
    for path in (LOOKUP, SUBMIT):
        answer = await api.client.post(path, content=body, headers=key | JSON)
        if body.endswith(b"9}"):
            assert answer.status_code in (400, 422)
            continue
        check_problem(answer, 400, "invalid_json")


@pytest.mark.promise("errors.repeated-members-400")
@each("body", [b'{"values": ["a"], "values": ["b"]}', b'{"values": [{"a": 1, "a": 2}]}', b'{"\\u0061": 1, "a": 1}'])
async def test_a_repeated_member_is_400(api: Running, body: bytes) -> None:
    answer = await api.client.post(LOOKUP, content=body, headers=await api.key() | JSON)
    check_problem(answer, 400, "invalid_json")


@pytest.mark.promise("errors.unknown-members-422")
async def test_an_unknown_member_is_422(api: Running) -> None:
    key = await api.key()
    problem = check_problem(
        await api.post("/iocs/lookup", {"values": ["a"], "limit": 5}, key), 422, "invalid_parameter"
    )
    assert problem["errors"][0]["field"] == "limit"
    check_problem(
        await api.post("/submit", {"url": "https://blog.example.org/", "admin": True}, key), 422, "invalid_parameter"
    )


@pytest.mark.promise("errors.invalid-parameter")
@each("body", ["null", "[]", '"text"', "5", "true", "{}"])
async def test_json_of_another_shape_is_422(api: Running, key: dict[str, str], body: str) -> None:
    for path in (LOOKUP, SUBMIT):
        answer = await api.client.post(path, content=body, headers=key | JSON)
        check_problem(answer, 422, "invalid_parameter")


@pytest.mark.promise("errors.invalid-parameter")
@each("url", [None, 5, 1.5, True, [], {}, ["https://blog.example.org/"], "https://blog.example.org/\0", "\ud800"])
async def test_a_url_of_the_wrong_type_is_422(api: Running, key: dict[str, str], url: object) -> None:
    check_problem(await api.post("/submit", {"url": url}, key), 422, "invalid_parameter")


@pytest.mark.promise("errors.payload-too-large")
async def test_a_body_over_256_kb_is_413_with_or_without_a_length(api: Running) -> None:
    key = await api.key()

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(300):
            yield b" " * 1000

    for path in (LOOKUP, SUBMIT):
        whole = await api.client.post(path, content=b" " * 256_001, headers=key | JSON)
        check_problem(whole, 413, "payload_too_large")
        chunked = await api.client.post(path, content=pieces(), headers=key | JSON)
        check_problem(chunked, 413, "payload_too_large")


@pytest.mark.promise("errors.payload-too-large")
async def test_a_body_of_256_kb_is_read(api: Running) -> None:
    body = b'{"values": ["evil.example"]}'.ljust(256_000)
    answer = await api.client.post(LOOKUP, content=body, headers=await api.key() | JSON)
    assert answer.status_code == 200


@pytest.mark.promise("errors.payload-too-large")
async def test_a_body_in_pieces_is_read(api: Running) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for piece in (b'{"val', b'ues": ["evil', b'.example"]}'):
            yield piece

    answer = await api.client.post(LOOKUP, content=pieces(), headers=await api.key() | JSON)
    assert answer.status_code == 200


@pytest.mark.promise("errors.unsupported-media-type")
@each(
    "media_type",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "application/xml",
     "application/jsonp", "application/problem+json", "json", "text/json"],
)  # fmt: skip
async def test_another_media_type_is_415(api: Running, key: dict[str, str], media_type: str | None) -> None:
    headers = key | ({} if media_type is None else {"Content-Type": media_type})
    for path in (LOOKUP, SUBMIT):
        answer = await api.client.post(path, content=b'{"values": ["a"]}', headers=headers)
        check_problem(answer, 415, "unsupported_media_type")


@pytest.mark.promise("errors.unsupported-media-type")
@each("media_type", ["application/json; charset=utf-8", "Application/JSON", "application/json ;x=y"])
async def test_json_may_be_declared_with_parameters(api: Running, media_type: str) -> None:
    headers = await api.key() | {"Content-Type": media_type}
    assert (await api.client.post(LOOKUP, content=b'{"values": ["a"]}', headers=headers)).status_code == 200


@pytest.mark.promise("errors.unsupported-media-type")
async def test_a_compressed_body_is_415(api: Running) -> None:
    headers = await api.key() | JSON | {"Content-Encoding": "gzip"}
    check_problem(await api.client.post(LOOKUP, content=b"\x1f\x8b", headers=headers), 415, "unsupported_media_type")


@pytest.mark.promise("errors.401-before-body")
async def test_a_wrong_key_is_refused_before_the_body_is_read(api: Running) -> None:
    read = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 1
            yield b" " * 1000

    answer = await api.client.post(SUBMIT, content=pieces(), headers=JSON | {"Authorization": "Bearer wrong"})
    check_problem(answer, 401, "invalid_api_key")
    assert read == 0
