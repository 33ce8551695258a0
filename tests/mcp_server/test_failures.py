from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from mcp_server.settings import Settings
from tests.cases import each
from tests.mcp_server.calls import call, call_at, data_of, sentence_of
from tests.mcp_server.stand_in import KEY, StandIn, record


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that is bound but does not listen: nothing can be reached there, and nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def listed(service: StandIn) -> str:
    return sentence_of(call(service, "list_iocs", {}))


@pytest.mark.promise("mcp.failures")
def test_a_refused_key_names_its_variable_and_not_the_key(service: StandIn) -> None:
    sentence = sentence_of(call(service, "list_iocs", {}, key="ioc_wrong_key"))
    assert "SERVICE_API_KEY" in sentence
    assert "ioc_wrong_key" not in sentence


@pytest.mark.promise("mcp.failures")
def test_a_rate_limit_says_the_seconds(service: StandIn) -> None:
    service.answers(429, {"status": 429, "code": "rate_limited"}, Retry_After="17")
    assert "try again in 17 seconds" in listed(service)


@each("retry_after", ["soon", "-3", "", "9" * 5000, "\xb2"])
def test_a_retry_after_that_is_no_number_of_seconds_is_left_out(service: StandIn, retry_after: str) -> None:
    service.answers(429, b"", Retry_After=retry_after)
    assert "try again later" in listed(service)


def test_a_service_without_its_store_says_when_to_return(service: StandIn) -> None:
    service.answers(503, b"", Retry_After="5")
    assert "try again in 5 seconds" in listed(service)


def test_the_services_own_detail_on_bad_arguments_is_passed_on(service: StandIn) -> None:
    errors = [{"field": "q", "message": "has a NUL"}]
    service.answers(422, {"status": 422, "detail": "A parameter\x00 is\nnot valid.", "errors": errors})
    assert listed(service) == "The service refused the arguments: A parameter is not valid.; q: has a NUL"


@each("body", [b"", b"<html>", b"[1]", b'{"detail": null, "errors": {"a": 1}}', b'{"errors": [3]}'])
def test_a_refusal_without_a_detail_is_still_a_sentence(service: StandIn, body: bytes) -> None:
    service.answers(422, body)
    assert listed(service) == "The service refused the arguments: no reason given."


@each(("status", "said"), [(403, "SERVICE_API_KEY"), (404, "SERVICE_BASE_URL"), (418, "HTTP 418"), (500, "HTTP 500")])
def test_every_other_refusal_is_a_sentence(service: StandIn, status: int, said: str) -> None:
    service.answers(status, b"Traceback: secret")
    sentence = listed(service)
    assert said in sentence and "secret" not in sentence


def test_a_redirect_is_not_followed(service: StandIn) -> None:
    service.answers(302, b"", Location=f"{service.base_url}/elsewhere")
    assert "SERVICE_BASE_URL" in listed(service)
    assert [asked.path for asked in service.asked] == ["/api/v1/iocs"]


def test_an_unreachable_service_names_its_address_variable(free_port: int) -> None:
    address = f"http://127.0.0.1:{free_port}"
    sentence = sentence_of(call_at(Settings(address, KEY), "list_iocs", {}))
    assert "SERVICE_BASE_URL" in sentence and address in sentence
    assert KEY not in sentence


@pytest.mark.parametrize("bytes_sent", [0, 5])
def test_a_service_that_stops_answering_is_given_up_at_the_deadline(service: StandIn, bytes_sent: int) -> None:
    service.hangs(after=bytes_sent)
    sentence = sentence_of(call(service, "list_iocs", {}, timeout_seconds=0.3))
    assert "no answer within 0.3 seconds" in sentence and "SERVICE_BASE_URL" in sentence


def test_a_service_that_drips_is_given_up_at_the_same_deadline(service: StandIn) -> None:
    service.drips()
    assert "no answer within 0.3 seconds" in sentence_of(call(service, "list_iocs", {}, timeout_seconds=0.3))


@each(
    "body",
    [
        b"",
        b"<html>Welcome to nginx!</html>",
        b'{"items": [{"value": "evil.example"}]}',
        b'{"items": "many"}',
        b'{"items": [{"type": "ip", "value": "192.0.2.1", "sightings": -4}]}',
        b'{"items": [{"type": "ip", "value": "192.0.2.1", "sightings": ' + b"9" * 5_000 + b"}]}",
        b'{"items": [{"type": "ip", "value": "\\ud800"}]}',
        b"[" * 100_000,
        b"\xff\xfe\x00",
    ],
)
def test_an_answer_of_another_shape_is_not_taken_for_the_service(service: StandIn, body: bytes) -> None:
    service.answers(200, body)
    assert "not the IOC service" in listed(service)


def test_an_answer_over_a_megabyte_is_not_read(service: StandIn) -> None:
    service.answers(200, b'{"items": [], "padding": "' + b"x" * 1_000_000 + b'"}')
    assert "not the IOC service" in listed(service)


def test_an_answer_in_a_coding_that_was_not_asked_for_is_not_decoded(service: StandIn) -> None:
    service.answers(200, b"\x1f\x8b", Content_Encoding="gzip")
    assert "not the IOC service" in listed(service)
    assert service.asked[0].headers["accept-encoding"] == "identity"


def test_a_failure_does_not_end_the_session(service: StandIn) -> None:
    service.answers(503)
    listed(service)
    service.reply = None
    service.holds(record("ip", "192.0.2.1"))
    assert data_of(call(service, "list_iocs", {}))["total"] == 1


def test_more_records_than_asked_for_are_not_passed_on(service: StandIn) -> None:
    service.answers(200, {"items": [record("ip", f"192.0.2.{number}") for number in range(80)]})
    assert len(data_of(call(service, "list_iocs", {"limit": 3}))["items"]) == 3
    assert len(data_of(call(service, "list_iocs", {"limit": 80}))["items"]) == 50
    assert len(data_of(call(service, "lookup_ioc", {"value": "192.0.2.1"}))["items"]) == 50


def test_a_proxy_of_the_environment_never_sees_a_plain_http_call(
    service: StandIn, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port}")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert data_of(call(service, "list_iocs", {})) == {"items": []}
