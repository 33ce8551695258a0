"""A running service that one account keeps busy: another's page is read all the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.end_to_end.processes import Installation, installed, until
from tests.end_to_end.site import Site


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Installation]:
    yield from installed(tmp_path, {})


@pytest.fixture
def dripping() -> Iterator[HTTPServer]:
    """Pages that come in byte by byte and never end."""
    ending = threading.Event()

    def bytes_of_a_page() -> Iterator[bytes]:
        while not ending.wait(0.5):
            yield b"x"

    def answer(_: Request) -> Response:
        return Response(bytes_of_a_page(), content_type="text/html")

    with HTTPServer("127.0.0.1", threaded=True) as server:
        for n in range(40):
            server.expect_request(f"/{n}").respond_with_handler(answer)
        yield server
        ending.set()


@pytest.mark.timeout(900)
@pytest.mark.promise("fairness.another-account-within-60-seconds")
def test_forty_dripping_pages_of_one_account_do_not_keep_anothers_waiting(
    here: Installation, dripping: HTTPServer, site: Site
) -> None:
    server = here.serve()
    busy, another = here.key("busy@example.org"), here.key("another@example.org")
    for n in range(40):
        server.submit(dripping.url_for(f"/{n}"), busy)
    honest = server.submit(site.post(1), another)["id"]

    def is_done() -> bool:
        return bool(server.get(f"/submissions/{honest}", another).json()["status"] == "done")

    until(is_done, "the other account's page is read", 30)
