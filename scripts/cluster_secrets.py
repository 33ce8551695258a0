"""Makes what docker-compose.cluster.yml needs beyond the secrets of one machine, each once.

These are a certificate authority, a certificate for all hosts of the cluster, and the configuration of the Sentinels.
`CLUSTER_HOSTS` names more hosts for the certificate, with commas between them. Runs as root in the service `secrets`,
in the place of compose_secrets.py, whose work it does first.
"""

from __future__ import annotations

import datetime
import os
import secrets
import sys
from pathlib import Path

import compose_secrets
from compose_secrets import ELASTICSEARCH_USER, REDIS_USER, SERVICE_USER, kept, write, write_if_changed
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HOSTS = ("es-1", "es-2", "es-3", "redis-1", "redis-2", "sentinel-1", "sentinel-2", "sentinel-3", "localhost")
YEARS = 10
TLS_OF_REDIS = """tls-cert-file /secrets/redis/tls/server.crt
tls-key-file /secrets/redis/tls/server.key
tls-ca-cert-file /secrets/redis/tls/ca.crt
tls-auth-clients no
tls-replication yes
"""


def certificates() -> dict[str, str]:
    """Return a new authority's certificate, and a certificate of it for every host with its key, in PEM."""
    own, of_hosts = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    more = filter(None, os.environ.get("CLUSTER_HOSTS", "").split(","))
    names = x509.SubjectAlternativeName([x509.DNSName(host) for host in (*HOSTS, *more)])
    usage = dict.fromkeys(("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"), False)
    usage |= dict.fromkeys(("key_agreement", "encipher_only", "decipher_only"), False)
    authority = (
        begun("IOC Intelligence cluster", own)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage, key_cert_sign=True, crl_sign=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
        .sign(own, hashes.SHA256())
    )
    server = (
        begun("a host of the cluster", of_hosts)
        .add_extension(names, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(own.public_key()), critical=False)
        .sign(own, hashes.SHA256())
    )
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return {
        "ca.crt": authority.public_bytes(serialization.Encoding.PEM).decode(),
        "server.crt": server.public_bytes(serialization.Encoding.PEM).decode(),
        "server.key": of_hosts.private_bytes(serialization.Encoding.PEM, *plain).decode(),
    }


def begun(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(named(subject))
        .issuer_name(named("IOC Intelligence cluster"))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=365 * YEARS))
    )


def named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def make(folder: Path) -> None:
    """Write what is missing; the authority's own key is thrown away, so that nobody can sign with it."""
    if not kept(folder / "service" / "tls" / "ca.crt"):
        for name, text in certificates().items():
            for reader, user in (("elasticsearch", ELASTICSEARCH_USER), ("redis", REDIS_USER)):
                write(folder / reader / "tls" / name, text, user)
            if name == "ca.crt":
                write(folder / "service" / "tls" / name, text, SERVICE_USER)
    password = kept(folder / "service" / "redis_password")
    sentinels = kept(folder / "service" / "sentinel_password") or secrets.token_urlsafe(32)
    write_if_changed(folder / "service" / "sentinel_password", sentinels, SERVICE_USER)
    write_if_changed(folder / "redis" / "sentinel_password", sentinels, REDIS_USER)
    own = f"requirepass {password}\nmasterauth {password}\n{TLS_OF_REDIS}"
    write_if_changed(folder / "redis" / "cluster.conf", own, REDIS_USER)
    write_if_changed(folder / "redis" / "sentinel.conf", sentinel(password, sentinels), REDIS_USER)


def sentinel(password: str, own: str) -> str:
    return "\n".join(
        (
            "sentinel resolve-hostnames yes",
            "sentinel announce-hostnames yes",
            "sentinel monitor ioc redis-1 6379 2",
            f"sentinel auth-pass ioc {password}",
            "sentinel down-after-milliseconds ioc 2000",
            "sentinel failover-timeout ioc 10000",
            f"sentinel sentinel-pass {own}",
            f"requirepass {own}",
            TLS_OF_REDIS,
        )
    )


def main(arguments: list[str]) -> int:
    if (status := compose_secrets.main(arguments)) == 0:
        try:
            make(Path(arguments[0]))
        except OSError as error:
            print(error, file=sys.stderr)
            return 1
    return status


if __name__ == "__main__":
    os.umask(0o077)
    sys.exit(main(sys.argv[1:]))
