"""How many connections may be open, in all and from one address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from api.server.limits import connection_limits
from intel.settings import Settings
from tests.api.server.bounded import QUICK, Client, Server, bounded
from tests.cases import each


@pytest.fixture
def server() -> Iterator[Server]:
    with bounded() as running:
        yield running


def served(client: Client) -> bool:
    return client.ask().startswith(b"HTTP/1.1 200")


@pytest.mark.promise("server.ceilings")
def test_one_address_has_its_share_and_no_more_until_its_idle_connections_end(server: Server) -> None:
    mine = [server.connect() for _ in range(QUICK.connections_per_address)]
    server.until(lambda: server.told.open == len(mine))
    refused = server.connect().receive()
    assert refused.startswith(b"HTTP/1.1 503") and b"retry-after: 15" in refused
    assert server.told.refused == {"too_many_of_address": 1}
    assert served(server.connect("127.0.0.2"))
    server.until(lambda: served(server.connect()))


@pytest.mark.promise("server.ceilings")
def test_all_addresses_together_have_no_more_than_the_ceiling(server: Server) -> None:
    for number in range(QUICK.connections):
        server.connect(f"127.0.0.{2 + number % 4}")
    server.until(lambda: server.told.open == QUICK.connections)
    assert server.connect("127.0.0.9").receive().startswith(b"HTTP/1.1 503")
    assert server.told.refused == {"too_many": 1}
    server.until(lambda: served(server.connect("127.0.0.9")))


@pytest.mark.promise("server.ceilings")
def test_a_trusted_proxy_may_have_all_connections() -> None:
    with bounded(trusted=["127.0.0.0/8"]) as server:
        many = [server.connect() for _ in range(QUICK.connections_per_address + 5)]
        assert all(served(client) for client in many)


def test_a_hundred_refusals_are_one_line_of_the_log(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(100):
        client = server.connect()
        client.send(b"nonsense\r\n\r\n")
        client.receive()
        client.close()
    logged = list[str]()

    def look() -> bool:
        logged.append(capsys.readouterr().out)
        return "not valid HTTP" in "".join(logged)

    server.until(look)
    assert "".join(logged).count("not valid HTTP") == 1
    assert server.told.refused == {"malformed": 100}


@each(
    "open_files, given, expected",
    [
        (128, {}, (64, 32)),
        (1024, {}, (768, 384)),
        (4096, {}, (2048, 1024)),
        (1_000_000, {}, (2048, 1024)),
        (20, {}, (8, 4)),
        (1_000_000, {"ioc_most_connections": 5000}, (5000, 2500)),
        (128, {"ioc_most_connections": 5000}, (64, 32)),
        (4096, {"ioc_most_connections_per_address": 9999}, (2048, 2048)),
        (4096, {"ioc_most_connections": 1}, (1, 1)),
    ],
)
def test_ceilings_leave_open_files_for_the_service_itself(
    open_files: int, given: dict[str, int], expected: tuple[int, int]
) -> None:
    limits = connection_limits(Settings.model_validate(given), open_files)
    assert (limits.connections, limits.connections_per_address) == expected
