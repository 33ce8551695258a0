"""Every answer that is not 2xx has one shape and says nothing of the inside."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.running import GENEROUS, Running, running
from tests.cases import each

UNKNOWN_ID = "00000000-0000-5000-8000-000000000000"


def check_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The members of a problem that is as the contract says."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "instance", "code"} <= set(problem), problem
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["detail"].strip()
    assert answer.request.method == "HEAD" or problem["instance"] == answer.request.url.path
    if status == 422:
        assert problem["errors"] and all(set(error) == {"field", "message"} for error in problem["errors"])
    assert "Traceback" not in answer.text and "sqlite" not in answer.text.lower() and "/work" not in answer.text
    return problem


@pytest.mark.promise("errors.not-found", "errors.problem-json")
@each(
    "path",
    [
        "/api/v1/",
        "/api/v1",
        "/api",
        "/api/",
        "/api/v2/iocs",
        "/api/v10/iocs",
        "/api/v1/nothing",
        "/api/v1/iocs/",
        "/api/v1/iocs/unknown",
        f"/api/v1/iocs/{UNKNOWN_ID}",
        "/api/v1/iocs/" + "a" * 5000,
        "/api/v1/iocs/%00",
        "/api/v1/iocs/..%2f..%2fetc%2fpasswd",
        "/api/v1/iocs/' OR '1'='1",
        f"/api/v1/articles/{UNKNOWN_ID}",
        "/api/v1/articles/" + "é" * 36,
        "/api/v1/weekly/2026-W99",
        "/api/v1/weekly/2026-W00",
        "/api/v1/weekly/0000-W01",
        "/api/v1/weekly/9999-W52",
        "/api/v1/weekly/2026-W4",
        "/api/v1/weekly/２０２６-W47",
        "/api/v1/weekly/2001-W01",
        "/api/v1/awareness/nothing",
        "/api/v1/awareness/..%2f__init__",
        "/api/v1//iocs",
        "/api/v1/IOCS",
    ],
)
async def test_what_is_not_there_is_404(api: Running, path: str) -> None:
    check_problem(await api.client.get(path), 404, "not_found")


@pytest.mark.promise("errors.method-not-allowed")
@each(
    ("method", "path", "allowed"),
    [
        ("POST", "/iocs", "GET"),
        ("DELETE", f"/iocs/{UNKNOWN_ID}", "GET"),
        ("PUT", "/articles", "GET"),
        ("PATCH", "/weekly", "GET"),
        ("TRACE", "/awareness", "GET"),
        ("FROBNICATE", "/iocs", "GET"),
        ("POST", "/iocs", "GET, HEAD"),
        ("POST", f"/iocs/{UNKNOWN_ID}/false-positive", "PUT, DELETE"),
        ("GET", f"/iocs/{UNKNOWN_ID}/false-positive", "PUT, DELETE"),
        ("GET", "/iocs/lookup", "POST"),
        ("DELETE", "/iocs/lookup", "POST"),
        ("HEAD", "/submit", "POST"),
    ],
)
async def test_another_method_is_405_and_says_which_would_do(
    api: Running, method: str, path: str, allowed: str
) -> None:
    answer = await api.client.request(method, f"/api/v1{path}")
    if method == "HEAD":
        assert answer.status_code == 405
    else:
        check_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] in (allowed, f"{allowed}, HEAD")


@pytest.mark.promise("errors.method-not-allowed")
async def test_reading_what_is_only_posted_to_is_405(api: Running) -> None:
    for path in ("/submit",):
        check_problem(await api.get(path, await api.key()), 405, "method_not_allowed")


@pytest.mark.promise("errors.missing-api-key")
@each(
    ("method", "path"),
    [
        ("POST", "/submit"),
        ("POST", "/iocs/lookup"),
        ("GET", "/usage"),
        ("GET", f"/submissions/{UNKNOWN_ID}"),
        ("GET", "/iocs?cursor=x"),
    ],
)
async def test_what_needs_a_key_is_401_without_one(api: Running, method: str, path: str) -> None:
    answer = await api.client.request(method, f"/api/v1{path}")
    check_problem(answer, 401, "missing_api_key")
    assert answer.headers["www-authenticate"] == "Bearer"


WELL_FORMED = "ioc_" + "A" * 16 + "0_" + "B" * 43 + "000000"


@pytest.mark.promise("errors.invalid-api-key", "keys.malformed-never-anonymous")
@each(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic dXNlcjpwYXNz",
        "Bearer wrong",
        f"Bearer {WELL_FORMED}",
        f"bearer {WELL_FORMED} extra",
        "Bearer " + "a" * 5000,
        "Bearer ioc_\x7f",
        "Bearer é",
        "Token abc",
        WELL_FORMED,
    ],
)
async def test_an_authorization_that_is_no_valid_key_is_401_everywhere(api: Running, value: str) -> None:
    headers = {"Authorization": value.encode("latin-1").decode("latin-1")}
    for path in ("/iocs", "/iocs?q=a", "/articles", "/usage", "/weekly/2026-W47"):
        answer = await api.client.get(f"/api/v1{path}", headers=[(b"Authorization", value.encode("latin-1"))])
        check_problem(answer, 401, "invalid_api_key")
        assert answer.headers["www-authenticate"] == "Bearer"
    assert headers


@pytest.mark.promise("keys.malformed-never-anonymous")
async def test_two_authorization_headers_are_401_even_if_one_is_right(api: Running) -> None:
    right = (await api.key())["Authorization"]
    for pair in ((right, right), (right, "Bearer wrong"), ("Basic x", right)):
        answer = await api.client.get("/api/v1/iocs", headers=[("Authorization", value) for value in pair])
        check_problem(answer, 401, "invalid_api_key")


@pytest.mark.promise("errors.store-unavailable", "errors.no-inside-shown")
async def test_a_store_out_of_reach_is_503_with_a_time_to_try_again(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        key = await api.key()
        with sqlite3.connect(tmp_path / "ioc.sqlite3") as database:
            tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert tables
        await api.store.close()
        for path in ("/iocs", "/iocs?q=evil", "/articles", f"/iocs/{UNKNOWN_ID}", "/weekly", "/focus"):
            answer = await api.client.get(f"/api/v1{path}")
            check_problem(answer, 503, "store_unavailable")
            assert int(answer.headers["retry-after"]) > 0
        answer = await api.post("/submit", {"url": "https://blog.example.org/"}, key)
        check_problem(answer, 503, "store_unavailable")
        assert (await api.client.get("/readyz")).status_code == 503
        assert (await api.client.get("/healthz")).status_code == 200


@pytest.mark.promise("errors.no-inside-shown")
async def test_a_fault_of_ours_is_a_problem_that_shows_nothing_of_the_inside(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        await api.publish("one", "domain evil.example")
        with sqlite3.connect(tmp_path / "ioc.sqlite3", isolation_level=None) as database:
            database.execute("PRAGMA foreign_keys = OFF")
            for (name,) in database.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'iocs'"
            ).fetchall():
                database.execute(f"ALTER TABLE {name} RENAME TO elsewhere")
        database.close()
        answer = await api.get("/iocs")
        assert answer.status_code in (500, 503)
        check_problem(
            answer, answer.status_code, "internal_error" if answer.status_code == 500 else "store_unavailable"
        )
        assert {"ratelimit", "x-ratelimit-remaining"} <= set(answer.headers)


@pytest.mark.promise("limits.headers-on-every-answer")
async def test_refusals_carry_the_limits_too(api: Running) -> None:
    for answer in (
        await api.get("/nothing"),
        await api.get("/iocs", limit="0"),
        await api.client.delete("/api/v1/iocs"),
        await api.client.post("/api/v1/submit"),
        await api.client.get("/api/v1/iocs", headers={"Authorization": "x"}),
    ):
        names = {"ratelimit-policy", "ratelimit", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}
        assert names <= set(answer.headers), answer.request.url
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.promise("errors.invalid-parameter")
async def test_every_wrong_parameter_is_named(api: Running) -> None:
    problem = check_problem(await api.get("/iocs", limit="x", type="y", format="z"), 422, "invalid_parameter")
    assert {error["field"] for error in problem["errors"]} == {"limit", "type", "format"}
    check_problem(await api.get("/focus", severity="urgent"), 422, "invalid_parameter")


@pytest.mark.slow
async def test_head_answers_as_get_without_a_body(api: Running) -> None:
    for path in ("/api/v1/iocs", "/api/v1/weekly", "/healthz", "/api/v1/docs", "/api/v1/openapi.json"):
        get, head = await api.client.get(path), await api.client.head(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-length"] == get.headers["content-length"], path
    assert (await api.client.head("/api/v1/nothing")).status_code == 404
    assert (await api.client.head("/api/v1/usage")).status_code == 401
    assert (await api.client.head("/api/v1/submit", headers=await api.key())).status_code == 405


@each(
    "path",
    [
        "/iocs?type=&limit=&since=%20&until=&source=&status=&cursor=&facets=&format=&value=&q=",
        "/articles?limit=&source=&cursor=%E3%80%80",
        "/focus?severity=&status=%09&limit=&cursor=",
        "/focus.atom?severity=",
        "/awareness?topic=&q=&limit",
        "/weekly?limit=",
        "/catalogues?cursor",
        "/sources?cursor=+",
    ],
)
async def test_a_blank_parameter_counts_as_absent(api: Running, path: str) -> None:
    assert (await api.client.get(f"/api/v1{path}")).status_code == 200
