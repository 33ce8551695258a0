"""What `ioc doctor` says of the ways out: the proxy that pages are fetched through, and how long certificates hold."""

from __future__ import annotations

import asyncio
import ssl
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509

from api.cli.finding import PATIENCE_SECONDS, Finding
from ingest.assembly import fetch_proxy
from intel.redis_client import tls_places
from intel.settings import Settings
from intel.times import rfc3339, utc_now

_SOON: Final = timedelta(days=14)
_PORTS: Final = {"http": 80, "https": 443}
_RENEW: Final = (
    "Renew it and let the server that shows it read it anew: once it has expired, the service no longer connects."
    " A new authority goes into ELASTICSEARCH_CA_CERTS or REDIS_CA_CERTS too."
)


async def look_at_proxy(settings: Settings) -> list[Finding]:
    """Tell whether the proxy takes connections, where there is one."""
    address = fetch_proxy(settings)
    if address is None:
        return []
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
    except (OSError, TimeoutError):
        advice = "Start it, or correct IOC_FETCH_PROXY: no page, feed or catalogue is fetched meanwhile."
        return [Finding("proxy", False, f"{host}:{port} takes no connections", advice)]
    return [Finding("proxy", True, f"{host}:{port} takes connections")]


async def look_at_certificates(settings: Settings) -> list[Finding]:
    """Tell which certificates of the engines, and of the authorities in files, have expired or expire soon."""
    nodes = [parts for node in settings.elasticsearch_url if (parts := urlsplit(node)).scheme == "https"]
    places = [(each.hostname or "", each.port or _PORTS["https"]) for each in nodes]
    places += await tls_places(settings.redis_address or "")
    ends = {f"{host}:{port}": await _shown_until(host, port) for host, port in places}
    for file in (settings.elasticsearch_ca_certs, settings.redis_ca_certs):
        ends |= {str(file): _held_until(file)} if file else {}
    told = [(end, whose) for whose, end in ends.items() if end]
    if not told:
        return []
    end, whose = min(told)
    if end > utc_now() + _SOON:
        return [
            Finding("certificates", True, f"all hold beyond {_SOON.days} days; the first, of {whose}, {_until(end)}")
        ]
    soon = [f"that of {whose} {_until(end)}" for end, whose in sorted(told) if end <= utc_now() + _SOON]
    return [Finding("certificates", False, "; ".join(soon), _RENEW)]


def _until(end: datetime) -> str:
    return f"{'expired' if end <= utc_now() else 'expires'} at {rfc3339(end)}"


async def _shown_until(host: str, port: int) -> datetime | None:
    """Return until when the certificate holds that a server shows; None where it shows none."""
    # Also an expired one is to be read, and nothing is sent.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except (OSError, TimeoutError):
        return None
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    return x509.load_der_x509_certificate(shown).not_valid_after_utc if shown else None


def _held_until(file: Path) -> datetime | None:
    """Return until when the first of the authorities in a file holds that expires; None where none can be read."""
    try:
        return min(each.not_valid_after_utc for each in x509.load_pem_x509_certificates(file.read_bytes()))
    except (OSError, ValueError):
        return None
