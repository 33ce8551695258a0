"""A site whose pages wait until they are let go."""

from __future__ import annotations

import threading

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from tests.api.pages import article_page

_LONGEST_SECONDS = 60.0


class Site:
    """Serves `/post/{n}`, one article each, while `gate` is open; counts who waits."""

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self.gate = threading.Event()
        self.gate.set()
        self.asked = 0
        for n in range(20):
            server.expect_request(f"/post/{n}").respond_with_handler(self._page)

    def post(self, n: int) -> str:
        return self._server.url_for(f"/post/{n}")

    def _page(self, request: Request) -> Response:
        self.asked += 1
        self.gate.wait(_LONGEST_SECONDS)
        number = request.path.rpartition("/")[2]
        sentence = f"The loader of campaign {number} called hxxps://c{number}[.]kestrel-files[.]net/gate.php at night."
        return Response(
            article_page(f"Kestrel report {number}", *(sentence for _ in range(6))), content_type="text/html"
        )
