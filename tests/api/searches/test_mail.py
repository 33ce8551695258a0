"""Digests by mail: plain text, in time, nothing twice, and ended by the link that they hold."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.pages import eventually
from tests.api.running import GENEROUS, Running, running
from tests.api.searches.smtp_server import MailServer, mail_server
from tests.api.searches.test_searches import patch, saved
from tests.api.searches.test_served import telling

pytestmark = pytest.mark.slow

TAXII = {"Accept": "application/taxii+json;version=2.1"}


def settings(server: MailServer) -> dict[str, Any]:
    mail = {"ioc_smtp_host": "127.0.0.1", "ioc_smtp_port": server.port, "ioc_smtp_security": "none"}
    return {**GENEROUS, **mail, "ioc_smtp_from": "ioc@service.example", "ioc_base_url": "http://ioc.example"}


@asynccontextmanager
async def started(folder: Path, **given: Any) -> AsyncIterator[Running]:
    """The service with what tells of searches: in itself where it is embedded, else in a worker beside it."""
    async with running(folder, **given) as api:
        await api.store.setup()
        async with telling(api) if "elasticsearch_url" in given else nullcontext():
            yield api


async def mailed(server: MailServer, count: int) -> str:
    async def look() -> bool:
        return len(server.mails) >= count

    await eventually(look)
    assert len(server.mails) == count
    return str(server.mails[-1].get_content())


@pytest.mark.promise("searches.mail")
async def test_a_digest_tells_once_what_came_in_since_the_last_one(tmp_path: Path) -> None:
    async with mail_server() as server, running(tmp_path, **settings(server)) as api:
        key = await api.key()
        search = await saved(api, key, name="Kestrel <b>", q="kestrel", email="soc@example.org", every="hour")
        hostile = "\nBcc: victim@example.org\n\nA title\u202e"
        await api.publish("one", "domain kestrel-a.example", "domain other.example", title=hostile)
        for minutes in (30, 31):
            api.clock.forward(timedelta(minutes=minutes).total_seconds())
            await api.publish(f"at-{minutes}", f"domain kestrel-{minutes}.example")
        text = await mailed(server, 1)
        mail = server.mails[0]
        assert (mail["To"], mail["From"], mail["Bcc"]) == ("soc@example.org", "ioc@service.example", None)
        assert mail["Subject"].startswith("[IOC]") and "Kestrel <b>" in mail["Subject"]
        assert mail.get_content_type() == "text/plain"
        assert "kestrel-a[.]example" in text and "other" not in text and "\nBcc" not in text and "\u202e" not in text
        assert [line.upper() for line in server.recipients] == ["RCPT TO:<SOC@EXAMPLE.ORG>"]
        told = text.count("[.]example")
        api.clock.forward(3600)
        await api.publish("late", "domain kestrel-late.example")
        rest = await mailed(server, 2)
        assert told + rest.count("[.]example") == 4
        deliveries = await api.items(f"/searches/{search['id']}/deliveries", key)
        assert {(one["channel"], one["status"]) for one in deliveries} == {("email", "delivered")}


@pytest.mark.promise("searches.mail")
async def test_the_link_in_a_mail_ends_the_mails_and_no_other_link_does(tmp_path: Path) -> None:
    async with mail_server() as server, running(tmp_path, **settings(server)) as api:
        key = await api.key()
        search = await saved(api, key, email="soc@example.org")
        await api.publish("one", "domain a.example")
        await mailed(server, 1)
        link = server.mails[0]["List-Unsubscribe"].strip("<>")
        path = urlsplit(link).path
        assert "Stop these mails" in (await api.client.get(path)).text
        assert await email_of(api, search["id"], key) == "soc@example.org"
        assert (await api.client.post(path[:-1] + "~", data={"a": "b"})).status_code == 404
        ended = await api.client.post(path, data={"List-Unsubscribe": "One-Click"})
        assert ended.status_code == 200 and "No more mails" in ended.text
        assert await email_of(api, search["id"], key) is None


async def email_of(api: Running, id: str, key: dict[str, str]) -> Any:
    return (await api.get(f"/searches/{id}", key)).json()["email"]


@pytest.mark.promise("searches.mail")
async def test_a_refused_mail_is_tried_again(tmp_path: Path) -> None:
    async with mail_server() as server, running(tmp_path, **settings(server)) as api:
        key = await api.key()
        server.refusals = [b"451 later"]
        search = await saved(api, key, email="soc@example.org")
        await api.publish("one", "domain a.example")

        async def refused() -> bool:
            found = await api.items(f"/searches/{search['id']}/deliveries", key)
            return bool(found) and found[0]["last_error"] is not None and found[0]["status"] == "pending"

        await eventually(refused)
        api.clock.forward(30)
        await mailed(server, 1)


async def test_without_a_mail_server_nothing_is_gathered(api: Running) -> None:
    key = await api.key()
    search = await saved(api, key, email="soc@example.org")
    await api.publish("one", "domain a.example")
    newest = await api.store.iocs.newest()

    async def passed_over() -> bool:
        stored = await api.store.searches.get(search["id"])
        return stored is not None and stored.mail_number == newest.number

    await eventually(passed_over)
    assert (await patch(api, search["id"], {"every": "week"}, key)).status_code == 200
    assert await api.items(f"/searches/{search['id']}/deliveries", key) == []


@pytest.mark.promise("searches.roundup")
async def test_who_wants_it_gets_the_roundup_of_each_week_on_monday(
    tmp_path: Path, either_engines: dict[str, str]
) -> None:
    engines = {name.lower(): each for name, each in either_engines.items()}
    async with mail_server() as server, started(tmp_path, **settings(server), **engines) as api:
        key = await api.key()
        search = await saved(api, key, name="Roundup", email="soc@example.org", roundup=True)
        assert search["roundup"] is True
        hostile = "Kestrel\nBcc: victim@example.org\n\nA title\u202e"
        await api.publish("one", "domain kestrel-a.example", "malware Emotet", title=hostile)
        api.clock.forward(timedelta(days=2, hours=12).total_seconds())
        await api.publish("two", "domain kestrel-b.example", at=100)
        assert server.mails == []
        api.clock.forward(timedelta(hours=7).total_seconds())
        text = await mailed(server, 1)
        assert server.mails[0]["Subject"].startswith("[IOC]") and server.mails[0]["Bcc"] is None
        assert "2026-11-16 to 2026-11-22" in text and "http://ioc.example/weekly/2026-W47" in text
        assert "kestrel-a[.]example" in text and "Emotet" in text and "\nBcc" not in text and "\u202e" not in text
        assert "Stop these mails: http://ioc.example/unsubscribe/" in text
        api.clock.forward(timedelta(days=7).total_seconds())
        collections = await api.client.get("/taxii2/api/collections/", headers=key | TAXII)
        assert "Roundup" not in [each["title"] for each in collections.json()["collections"]]
        await api.publish("three", "domain kestrel-c.example", at=170)
        assert "2026-11-23 to 2026-11-29" in await mailed(server, 2)
