"""A small web on loopback that answers byte for byte what a test says, however wrong that is."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]

ARTICLE = b"<html><head><title>Report</title></head><body><p>The implant called evil[.]example twice.</p></body></html>"


@dataclass
class Web:
    """Pages by path; `requests` are the heads of all requests that came in, in order."""

    port: int
    host: str = "127.0.0.1"
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)

    def url(self, path: str, host: str | None = None, scheme: str = "http") -> str:
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    def raw(self, path: str, *pieces: bytes) -> str:
        """Sends these bytes and closes."""

        async def answer(writer: asyncio.StreamWriter) -> None:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()

        self.pages[path] = answer
        return self.url(path)

    def page(
        self, path: str, body: bytes = ARTICLE, *headers: str, kind: str | None = "text/html", status: int = 200
    ) -> str:
        """A well-formed answer; `kind` None leaves the type out."""
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
        if kind is not None:
            lines.append(f"Content-Type: {kind}")
        return self.raw(path, "\r\n".join([*lines, "", ""]).encode() + body)

    def redirect(self, path: str, to: str, status: int = 302) -> str:
        return self.page(path, b"", f"Location: {to}", status=status)

    def without_end(self, path: str, head: bytes, piece: bytes, pause_seconds: float = 0.0) -> str:
        """Sends `head`, then `piece` for ever."""

        async def answer(writer: asyncio.StreamWriter) -> None:
            writer.write(head)
            while not writer.is_closing():
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause_seconds)

        self.pages[path] = answer
        return self.url(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.requests.append(head)
            path = head.split(b" ", 2)[1].decode("latin-1")
            answer = self.pages.get(path.partition("?")[0])
            if answer is None:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            else:
                await answer(writer)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the other side has heard enough
        finally:
            writer.close()


@asynccontextmanager
async def open_web(tls: ssl.SSLContext | None = None) -> AsyncIterator[Web]:
    web = Web(0)
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        with suppress(asyncio.CancelledError):
            await web.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
