"""A certificate authority of a test's own, and a certificate of it for this machine."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM: the authority's certificate, and a server's with its key."""

    authority: Path
    server: Path
    key: Path


def make_certificates(folder: Path, names: Sequence[str] = LOOPBACK, days: int = 1) -> Certificates:
    """Write an authority and a server's certificate for these names and addresses into a folder that is made; they
    hold for so many days from now on, or until so many days ago.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = Certificates(folder / "ca.crt", folder / "server.crt", folder / "server.key")
    own, of_server = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = (
        _begun("Test authority", "Test authority", own, days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(_may_sign(), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
        .sign(own, hashes.SHA256())
    )
    server = (
        _begun("Test server", "Test authority", of_server, days)
        .add_extension(x509.SubjectAlternativeName([_name(each) for each in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own.public_key()), critical=False)
        .sign(own, hashes.SHA256())
    )
    made.authority.write_bytes(root.public_bytes(serialization.Encoding.PEM))
    made.server.write_bytes(server.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    made.key.write_bytes(of_server.private_bytes(serialization.Encoding.PEM, *plain))
    return made


def _begun(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey, days: int) -> x509.CertificateBuilder:
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 9 * day)
        .not_valid_after(now + days * day)
    )


def _may_sign() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)
