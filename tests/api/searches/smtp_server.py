"""A mail server on the loopback that takes every mail, and says what it was told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default


@dataclass
class MailServer:
    port: int = 0
    recipients: list[str] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    refusals: list[bytes] = field(default_factory=list)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def say(line: bytes) -> None:
            writer.write(line + b"\r\n")
            await writer.drain()

        await say(b"220 ready")
        while line := (await reader.readline()).rstrip():
            verb = line[:4].upper()
            if verb == b"RCPT":
                self.recipients.append(line.decode())
                await say(self.refusals.pop(0) if self.refusals else b"250 ok")
            elif verb == b"DATA":
                await say(b"354 go on")
                body = await reader.readuntil(b"\r\n.\r\n")
                self.mails.append(message_from_bytes(body[:-3], policy=default))
                await say(b"250 taken")
            elif verb == b"QUIT":
                await say(b"221 bye")
                break
            else:
                await say(b"250 ok")
        writer.close()


@asynccontextmanager
async def mail_server() -> AsyncIterator[MailServer]:
    server = MailServer()
    listening = await asyncio.start_server(server.talk, "127.0.0.1", 0, limit=2**24)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server
