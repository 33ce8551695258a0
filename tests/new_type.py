"""What `test_new_type` runs in a copy of the project to which the type `bitcoin` and a language were added."""

from __future__ import annotations

import asyncio
import faulthandler
import json
import subprocess
import sys
from pathlib import Path

from api.formats import misp, stix
from ingest.bundles.stix import pattern_values
from ingest.indicators import document_from_text, extract
from intel.canonical import canonical, defang, readings
from intel.catalogues.warning_lists import WarningList, parse_warning_list
from tests.api.running import GENEROUS, Running, running

WALLET = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"
TEXT = f"The note asks to pay to {WALLET} within three days; the page is at hxxp://pay[.]example/."


def extraction() -> None:
    assert canonical("bitcoin", f" {WALLET} ") == WALLET == defang("bitcoin", WALLET)
    assert ("bitcoin", WALLET) in readings(WALLET)
    found = {(each.type, each.value) for each in extract(document_from_text(TEXT)).indicators}
    assert ("bitcoin", WALLET) in found
    assert list(pattern_values(f"[x-wallet:address = '{WALLET}']")) == [("bitcoin", WALLET)]
    entries = [json.dumps({"name": "House", "matching_attributes": ["btc"], "version": 1, "list": [WALLET]}).encode()]
    listed = parse_warning_list(entries)
    assert isinstance(listed, WarningList) and listed.types == ("bitcoin",)
    section = "Notes on the case\n\nMughom\n\nkestrel-cdn.net\nkestrel-mail.net\n\nOther\n\nWe met at lunch.\n"
    found = {(each.type, each.value) for each in extract(document_from_text(section * 3)).indicators}
    assert {("domain", "kestrel-cdn.net"), ("domain", "kestrel-mail.net")} <= found


async def service(api: Running) -> None:
    key = await api.key()
    await api.publish("one", f"bitcoin {WALLET}", "domain kestrel-cdn.net", title="Kestrel asks for coins")
    posted = await api.client.post("/api/v1/extract", content=TEXT, headers=key | {"Content-Type": "text/plain"})
    assert {"bitcoin", "url"} <= {item["type"] for item in posted.json()["items"]}
    assert await api.values(key, type="bitcoin") == [WALLET] == await api.values(key, q=WALLET)
    looked_up = (await api.post("/iocs/lookup", {"values": [WALLET]}, key)).json()["items"]
    assert looked_up[0]["found"] and looked_up[0]["iocs"][0]["type"] == "bitcoin"
    facets = (await api.get("/iocs", key, facets=True, q="kestrel")).json()["facets"]
    assert facets["types"] == {"bitcoin": 1, "domain": 1}
    for format, written in (("csv", WALLET), ("txt", WALLET), ("misp", '"btc"'), ("stix", "x-wallet:address")):
        assert written in (await api.get("/export", key, format=format)).text, format
    assert WALLET not in (await api.get("/export", key, format="hosts")).text
    assert '"bitcoin"' in json.dumps((await api.client.get("/api/v1/openapi.json")).json())
    collections = (await api.client.get("/taxii2/api/collections/", headers=key)).json()["collections"]
    assert "bitcoin" in {each["alias"] for each in collections}
    for page, shown in (
        ("/search?q=kestrel", "type=bitcoin"),
        (f"/ioc/bitcoin/{WALLET}", "blockchair.com"),
        ("/", "Bitcoin"),
    ):
        assert shown in (await api.client.get(page)).text, page
    assert ".t-bitcoin" in (await api.client.get("/static/site.css")).text
    called = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    called["params"] = {"name": "list_iocs", "arguments": {"type": "bitcoin"}}
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    told = await api.client.post("/mcp", json=called, headers=key | accepted)
    assert f"bitcoin {WALLET}" in told.text, told.text
    assert (await api.get("/iocs", key, type="hostname")).status_code == 422


def commands(folder: Path) -> None:
    command = [sys.executable, "-c", "from api.cli import main; main()", "--data-dir", str(folder)]
    lines = subprocess.run([*command, "extract", "-"], input=TEXT, capture_output=True, text=True, check=True).stdout
    assert {"type": "bitcoin", "value": WALLET}.items() <= json.loads(lines.splitlines()[0]).items()
    listed = subprocess.run(
        [*command, "list", "--type", "bitcoin", "--json"], capture_output=True, text=True, check=True
    )
    assert WALLET in listed.stdout


async def main(folder: Path) -> None:
    extraction()
    async with running(folder, **GENEROUS) as api:
        await service(api)
    commands(folder)
    assert stix.STIX_TYPES["indicator"][-1] == "bitcoin" and misp.is_attribute("bitcoin")


# Where it hangs is told before the test gives up.
faulthandler.dump_traceback_later(240, exit=True)
asyncio.run(main(Path(sys.argv[1])))
