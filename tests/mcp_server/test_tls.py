from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from mcp_server.settings import Settings
from tests.mcp_server.calls import call_at, data_of, sentence_of
from tests.mcp_server.stand_in import KEY, running_stand_in


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the key and the self-signed certificate of 127.0.0.1."""
    path = tmp_path_factory.mktemp("tls") / "loopback.pem"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, *form) + signed.public_bytes(serialization.Encoding.PEM)
    path.write_bytes(pem)
    return path


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused_before_the_key_is_sent(certificate: Path) -> None:
    with running_stand_in(server_context(certificate)) as service:
        sentence = sentence_of(call_at(Settings(service.base_url, KEY), "list_iocs", {}))
        assert "certificate" in sentence and "SSL_CERT_FILE" in sentence
        assert service.asked == []


def test_a_certificate_of_a_private_authority_is_trusted_when_named(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with running_stand_in(server_context(certificate)) as service:
        assert service.base_url.startswith("https:")
        assert data_of(call_at(Settings(service.base_url, KEY), "list_iocs", {})) == {"items": []}
