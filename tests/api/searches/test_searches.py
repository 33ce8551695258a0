"""`/searches`: saved, changed and owned; what is added later is told once, signed, and again where that fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.searches.delivering import Outcome, after, after_outcome
from api.searches.keeping import MOST_SEARCHES
from api.searches.matching import MOST_ITEMS, Matching
from intel.ids import account_id
from intel.records import Sighting
from intel.saved_searches import Delivery
from tests.api.pages import eventually
from tests.api.running import GENEROUS, NOON, Running, running
from tests.api.searches.receiver import Receiver, receiving
from tests.contract.store.test_searches import make_search

pytestmark = pytest.mark.slow


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


async def saved(api: Running, key: dict[str, str], receiver: Receiver | None = None, **members: Any) -> dict[str, Any]:
    """A search that was just saved, whose webhook leads to the receiver."""
    if receiver is not None:
        members.setdefault("webhook_url", f"{receiver.url}/")
    answer = await api.post("/searches", {"name": "Kestrel", **members}, key)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    if receiver is not None:
        receiver.secrets[found["id"]] = found["secret"]
    return found


async def patch(api: Running, id: str, body: dict[str, Any], key: dict[str, str]) -> httpx.Response:
    return await api.client.patch(f"/api/v1/searches/{id}", json=body, headers=key)


async def told(receiver: Receiver, count: int, path: str = "/") -> list[str]:
    async def look() -> list[str] | None:
        return values if len(values := receiver.values(path)) >= count else None

    return await eventually(look)


@pytest.mark.promise("searches.kept")
async def test_a_search_is_saved_changed_listed_and_deleted_by_its_account_alone(api: Running) -> None:
    key, other = await api.key(), await api.key("other@example.org")
    answer = await api.post(
        "/searches",
        {"name": " Kestrel ", "q": "kestrel", "type": "domain", "webhook_url": "https://8.8.8.8/hook", "every": "day"},
        key,
    )
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["secret"].startswith("whsec_")
    assert answer.headers["location"] == f"/api/v1/searches/{made['id']}"
    record = {name: value for name, value in made.items() if name != "secret"}
    assert (record["name"], record["q"], record["type"], record["every"]) == ("Kestrel", "kestrel", ["domain"], "day")
    assert (await api.get(f"/searches/{made['id']}", key)).json() == record
    assert await api.items("/searches", key) == [record]
    for path in (f"/searches/{made['id']}", f"/searches/{made['id']}/deliveries"):
        assert (await api.get(path, other)).status_code == 404
    assert (await patch(api, made["id"], {"name": "mine"}, other)).status_code == 404
    assert await api.items("/searches", other) == []
    changed = (await patch(api, made["id"], {"q": None, "type": None, "email": "soc@example.org"}, key)).json()
    assert changed == record | {"q": None, "type": [], "email": "soc@example.org"}
    refused = await api.client.delete(f"/api/v1/searches/{made['id']}", headers=other)
    assert refused.status_code == 404
    assert (await api.client.delete(f"/api/v1/searches/{made['id']}", headers=key)).status_code == 204
    assert (await api.get(f"/searches/{made['id']}", key)).status_code == 404
    assert (await api.get("/searches")).json()["code"] == "missing_api_key"


@pytest.mark.promise("searches.kept")
async def test_what_cannot_be_a_saved_search_is_refused(api: Running) -> None:
    key = await api.key()
    for member, wrong in (
        ("name", ""),
        ("name", "a\nb"),
        ("q", "a" * 513),
        ("type", "hostname"),
        ("webhook_url", "ftp://site.example/"),
        ("webhook_url", "http://10.0.0.1/"),
        ("webhook_url", "http://localhost/"),
        ("email", "nobody"),
        ("email", "a@example.org\r\nBcc: b@example.org"),
        ("every", "minute"),
        ("secret", "whsec_mine"),
        ("enabled", "yes"),
    ):
        answer = await api.post("/searches", {"name": "x", member: wrong}, key)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_parameter"), (member, wrong, answer.text)
        assert answer.json()["errors"][0]["field"].partition(".")[0] == member
    assert (await api.post("/searches", {"q": "x"}, key)).status_code == 422
    for _ in range(MOST_SEARCHES):
        await saved(api, key)
    full = await api.post("/searches", {"name": "x"}, key)
    assert (full.status_code, full.json()["code"]) == (409, "search_limit_reached")
    first = (await api.get("/searches", key, limit=30)).json()
    rest = (await api.get("/searches", key, cursor=first["next_cursor"])).json()
    assert (len(first["items"]), len(rest["items"]), first["total"]) == (30, 20, MOST_SEARCHES)


@pytest.mark.promise("searches.told-once", "webhook.signed")
async def test_what_is_added_later_and_matches_is_told_once_and_signed(api: Running, receiver: Receiver) -> None:
    key = await api.key()
    await api.publish("before", "domain kestrel-old.example")
    search = await saved(api, key, receiver, q="kestrel", type="domain")
    assert search["webhook_url"] == f"{receiver.url}/"
    await api.publish("one", "domain kestrel-a.example", "domain other.example", "url https://kestrel.example/a")
    assert await told(receiver, 1) == ["kestrel-a.example"]
    await api.publish("two", "domain kestrel-a.example", "domain kestrel-old.example", "domain kestrel-b.example")
    assert await told(receiver, 2) == ["kestrel-a.example", "kestrel-b.example"]
    _, id, body = receiver.posted[0]
    assert (body["type"], body["search"]) == ("iocs.matched", {"id": search["id"], "name": "Kestrel"})
    record = (await api.get(f"/iocs/{body['items'][0]['id']}")).json()
    assert body["items"][0].keys() <= record.keys()
    deliveries = await api.items(f"/searches/{search['id']}/deliveries", key)
    assert [one["status"] for one in deliveries] == ["delivered"] * 2
    assert (deliveries[1]["id"], deliveries[1]["last_status"], deliveries[1]["attempts"]) == (id, 204, 1)
    assert receiver.wrong == []


@pytest.mark.promise("searches.told-once")
async def test_filters_of_a_search_are_those_of_lists(api: Running, receiver: Receiver) -> None:
    key = await api.key()
    near = Sighting("domain", "kestrel-files.net", "Emotet called it.", ("Emotet",), 0)
    filters = {
        "exclude": "warned,expired",
        "malware": ["emotet", "Kestrel"],
        "type": ["domain", "url"],
        "min_sources": 1,
    }
    search = await saved(api, key, receiver, **filters)
    assert (search["exclude"], search["malware"]) == (["warned", "expired"], ["emotet", "Kestrel"])
    for member in ({"exclude": "harmless"}, {"min_sources": 0}, {"status": ["well"]}, {"since": "yesterday"}):
        refused = await patch(api, search["id"], member, key)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, *member)
    warned = replace(near, value="kestrel.example", warned=True)
    await api.publish("one", warned, near, "domain unnamed-files.net")
    assert await told(receiver, 1) == ["kestrel-files.net"]


@pytest.mark.promise("searches.told-once")
async def test_many_are_told_in_several_messages_in_the_order_of_addition(api: Running, receiver: Receiver) -> None:
    await saved(api, await api.key(), receiver)
    names = [f"domain d{number:04}.example" for number in range(2 * MOST_ITEMS + 30)]
    for start in range(0, len(names), 50):
        await api.publish(f"report-{start}", *names[start : start + 50])
    values = await told(receiver, len(names))
    assert sorted(values) == sorted(name.partition(" ")[2] for name in names)
    assert all(len(body["items"]) <= MOST_ITEMS for _, _, body in receiver.posted)


@pytest.mark.promise("searches.told-once")
async def test_two_workers_and_one_that_dies_tell_each_addition_once(tmp_path: Path, receiver: Receiver) -> None:
    async with running(tmp_path, **GENEROUS) as api, running(tmp_path, **GENEROUS) as second:
        key = await api.key()
        search = await saved(api, key, receiver)
        held = await api.store.searches.get(search["id"])
        assert held is not None
        for number in range(12):
            await (api, second)[number % 2].publish(f"report-{number}", f"domain d{number}.example")
            await asyncio.sleep(0)
        await told(receiver, 12)
    async with running(tmp_path, **GENEROUS) as api:
        await api.publish("late", "domain late.example")
        values = await told(receiver, 13)
    assert sorted(values) == sorted([*(f"d{number}.example" for number in range(12)), "late.example"])


class _Dying(Exception):
    """The process died."""


@pytest.mark.promise("searches.told-once")
async def test_who_dies_between_place_and_message_loses_and_repeats_nothing(api: Running, receiver: Receiver) -> None:
    key = await api.key()
    search = await saved(api, key, receiver, enabled=True)
    await patch(api, search["id"], {"enabled": False}, key)
    stored = await api.store.searches.get(search["id"])
    assert stored is not None
    await api.publish("one", "domain a.example")
    newest = await api.store.iocs.newest()
    dying = Matching(_DyingStore(api.store), api.clock, "http://ioc.example", sends_mail=False)
    with pytest.raises(_Dying):
        await dying._tell(stored, newest)
    left = await api.store.searches.get(search["id"])
    assert left is not None and left.outbox and left.webhook_number == newest.number
    api.clock.forward(61)
    await api.store.searches.update(replace(left, enabled=True))
    await api.publish("two", "domain b.example")
    assert await told(receiver, 2) == ["a.example", "b.example"]
    assert receiver.posted[0][1] == left.outbox["batches"][0]["id"]


class _DyingStore:
    """A store whose process dies when a message is to be written."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.deliveries = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def count(self, _: str) -> tuple[int, int]:
        return 0, 0

    async def put(self, _: object) -> None:
        raise _Dying


@pytest.mark.promise("webhook.retried")
async def test_a_failed_message_is_retried_under_its_id_and_again_when_asked(api: Running, receiver: Receiver) -> None:
    key = await api.key()
    receiver.statuses = [500, 302, 200, 200]
    search = await saved(api, key, receiver)
    await api.publish("one", "domain a.example")
    path = f"/searches/{search['id']}/deliveries"

    async def attempted(times: int, answer: int) -> dict[str, Any]:
        """Waits for the answer too: an attempt counts from its beginning, when the former answer still stands."""

        async def look() -> dict[str, Any] | None:
            found = await api.items(path, key)
            expected = ("delivered" if answer == 200 else "pending", times, answer)
            told = [(one["status"], one["attempts"], one["last_status"]) for one in found]
            return found[0] if told == [expected] else None

        return await eventually(look)

    first = await attempted(1, 500)

    async def failing(is_so: bool) -> bool:
        return ((await api.get(f"/searches/{search['id']}", key)).json()["failing_since"] is not None) is is_so

    await eventually(lambda: failing(True))
    api.clock.forward(30)
    await attempted(2, 302)
    api.clock.forward(300)
    await attempted(3, 200)
    await eventually(lambda: failing(False))
    again = await api.client.post(f"/api/v1{path}/{first['id']}/again", headers=key)
    assert (again.status_code, again.json()["status"]) == (202, "pending")
    await attempted(4, 200)
    assert {id for _, id, _ in receiver.posted} == {first["id"]} and len(receiver.posted) == 4
    assert {at for at, _, _ in receiver.posted} == {"/"}
    stranger = await api.client.post(f"/api/v1{path}/{first['id']}/again", headers=await api.key("b@example.org"))
    assert stranger.status_code == 404
    assert (await api.client.post(f"/api/v1{path}/unknown/again", headers=key)).status_code == 404


@pytest.mark.promise("webhook.guarded")
async def test_a_webhook_reaches_no_private_address(tmp_path: Path, receiver: Receiver) -> None:
    async with running(tmp_path, **GENEROUS) as api:
        search = await saved(api, await api.key(), receiver)
    async with running(tmp_path, **{**GENEROUS, "ioc_fetch_allow": ""}) as api:
        key = await api.key()
        refused = await api.post("/searches", {"name": "x", "webhook_url": f"{receiver.url}/"}, key)
        assert refused.status_code == 422
        await api.publish("one", "domain a.example")

        async def look() -> str | None:
            found = await api.items(f"/searches/{search['id']}/deliveries", key)
            return found[0]["last_error"] if found else None

        assert "public" in await eventually(look)
    assert receiver.posted == []


@pytest.mark.promise("webhook.retried")
async def test_a_slow_receiver_holds_up_no_other(api: Running, receiver: Receiver) -> None:
    receiver.slow = threading.Event()
    key = await api.key("slow@example.org")
    for number in range(6):
        await saved(api, key, receiver, webhook_url=f"{receiver.url}/slow", name=str(number))
    await saved(api, await api.key("quick@example.org"), receiver, webhook_url=f"{receiver.url}/quick")
    await api.publish("one", "domain a.example")
    assert await told(receiver, 1, "/quick") == ["a.example"]
    assert receiver.values("/slow") == []


@pytest.mark.promise("searches.told-once")
async def test_a_paused_search_begins_anew(api: Running, receiver: Receiver) -> None:
    key = await api.key()
    search = await saved(api, key, receiver)
    assert (await patch(api, search["id"], {"enabled": False}, key)).json()["enabled"] is False
    await api.publish("one", "domain a.example")
    await patch(api, search["id"], {"enabled": True}, key)
    await api.publish("two", "domain b.example")
    assert await told(receiver, 1) == ["b.example"]


@pytest.mark.promise("searches.kept")
async def test_searches_go_with_their_account(api: Running, receiver: Receiver) -> None:
    from ingest.removing import Removing

    search = await saved(api, await api.key(), receiver)
    account = await api.store.accounts.get(account_id("analyst@example.org"))
    assert account is not None
    await Removing(api.store).remove_account(account, api.clock.now, with_submissions=False)
    assert await api.store.searches.get(search["id"]) is None


@pytest.mark.promise("webhook.retried")
def test_a_message_is_tried_for_a_day_and_a_receiver_for_a_week() -> None:
    delivery = Delivery("a", "s", "account-1", "webhook", "{}", "pending", NOON, NOON, NOON)
    failure, now, waits = Outcome(503, "The receiver answered 503."), NOON, []
    while delivery.status == "pending":
        delivery = after(replace(delivery, attempts=delivery.attempts + 1), failure, now)
        waits.append(delivery.due_at - now)
        now = delivery.due_at
    assert delivery.status == "failed" and delivery.attempts >= 8
    assert timedelta(hours=16) < now - NOON <= timedelta(days=1)
    assert waits[0] < timedelta(seconds=15)
    search = after_outcome(make_search(), failure, NOON)
    assert search.enabled and search.first_failure_at == NOON
    assert after_outcome(search, failure, NOON + timedelta(days=6, hours=23)) == search
    off = after_outcome(search, failure, NOON + timedelta(days=7))
    assert not off.enabled and off.switched_off_at == NOON + timedelta(days=7)
    assert after_outcome(search, Outcome(204, None), NOON) == make_search()
    assert not after_outcome(make_search(), Outcome(410, "gone"), NOON).enabled
