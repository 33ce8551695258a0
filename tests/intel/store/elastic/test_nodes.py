"""Where the nodes are, who asks them, and whom they trust."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest

from intel.errors import ConfigurationError
from intel.settings import ElasticsearchSettings
from intel.store.elastic.nodes import Nodes
from intel.store.elastic.store import ElasticStore
from tests.cases import each
from tests.engines.authority import make_certificates
from tests.intel.store.elastic.wire import Wire


@each("address", ["//user:word@no-scheme", "https://", "ftp://user:word@host", "http://host:port"])
def test_what_is_no_address_of_a_node_is_a_sentence_without_a_password(address: str) -> None:
    with pytest.raises(ConfigurationError, match="ELASTICSEARCH_URL") as refused:
        Nodes(ElasticsearchSettings(nodes=(address,)))
    assert "word" not in str(refused.value)


@pytest.mark.asyncio
async def test_the_user_in_an_address_signs_in_and_its_path_stands_before_every_request(wire: Wire) -> None:
    wire.canned, wire.canned_path = [(200, b'{"docs": [{"found": false}]}')], "/behind"
    address = wire.url.replace("://", "://us%20er:w%C3%B6rd%40@") + "/behind/a%20proxy/"
    store = ElasticStore(ElasticsearchSettings(nodes=(address,)))
    assert await store.accounts.get("nobody") is None
    await store.close()
    (head,) = wire.heads
    assert head.startswith("POST /behind/a%20proxy/_mget HTTP/1.1") and "@" not in head
    assert "authorization: basic dxmgzxi6d8o2cmra" in head.lower()


@pytest.mark.asyncio
async def test_a_node_is_trusted_by_its_own_authority_and_name_alone(tmp_path: Path) -> None:
    own, other = make_certificates(tmp_path / "own", ["127.0.0.1"]), make_certificates(tmp_path / "other")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.server, own.key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        asked = [
            ("127.0.0.1", own.authority, True),
            ("127.0.0.1", other.authority, False),
            ("127.0.0.1", None, False),
            ("localhost", own.authority, False),
        ]
        for host, authority, is_trusted in asked:
            nodes = Nodes(ElasticsearchSettings(nodes=(f"https://{host}:{port}",), ca_certs=authority))
            assert await nodes.choose().is_there() == is_trusted, (host, authority)
            await nodes.close()
