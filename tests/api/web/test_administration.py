from __future__ import annotations

import re

import pytest

from api.auditing import Auditing
from intel.ids import account_id, ioc_id
from tests.api.running import Running
from tests.api.web.reading import EMAIL, Reader, reading
from tests.contract.store.builders import make_article

FEEDS, ACCOUNTS, AUDIT = "/admin/feeds", "/admin/accounts", "/admin/audit"
PAGES = ("/admin", FEEDS, ACCOUNTS, AUDIT)
OTHER = "other@example.org"


async def token(reader: Reader) -> dict[str, str]:
    return (await reader.open("/settings")).fields("/signout")


async def entries(reader: Reader) -> list[list[str]]:
    """The audit log's rows: who, action, to, detail."""
    tree = (await reader.open(AUDIT)).tree
    return [[" ".join(cell.text_content().split()) for cell in row][1:] for row in tree.xpath("//tbody/tr")]


@pytest.mark.promise("admin.pages")
async def test_only_administrators_open_the_pages_and_change_anything(
    api: Running, member: Reader, visitor: Reader
) -> None:
    for path in PAGES:
        assert (await member.open(path)).path == path
        assert (await visitor.open(path)).path.startswith("/signin")
    await visitor.sign_up(OTHER)
    mine = await token(visitor)
    for path in PAGES:
        assert (await visitor.open(path)).status == 403
    promoted = {"account": account_id(OTHER), "do": "role", "role": "administrator"}
    assert (await visitor.post(ACCOUNTS, mine | promoted)).status == 403
    assert (await visitor.post(FEEDS, mine | {"do": "add", "url": "https://news.example/f"})).status == 403
    assert (await member.post(ACCOUNTS, {"account": account_id(OTHER), "do": "disable"})).status == 403
    other = await api.store.accounts.get(account_id(OTHER))
    assert other is not None and (other.role, other.disabled_at) == ("submitter", None)
    assert await api.store.feeds.all() == ()
    assert "Administration" not in (await visitor.open("/settings")).text


@pytest.mark.promise("admin.pages", "admin.audit")
async def test_feeds_are_added_checked_paused_resumed_and_removed(api: Running, member: Reader) -> None:
    page = await member.submit(await member.open(FEEDS), FEEDS, url="https://news.example/feed.xml", name="<b>News")
    assert page.path == FEEDS and "<b>News" in page.text
    (feed,) = await api.store.feeds.all()
    again = await member.submit(page, FEEDS, url=feed.url)
    assert (again.status, "followed already" in again.text) == (409, True)
    assert (await member.submit(page, FEEDS, url="http://10.0.0.1/feed")).status == 422
    mine = await token(member)

    async def do(what: str) -> int:
        return (await member.post(FEEDS, mine | {"feed": feed.id, "do": what})).status

    api.clock.forward(-3_600)
    assert await do("check") == 200
    checked = await api.store.feeds.get(feed.id)
    assert checked is not None and checked.next_poll_at == api.clock.now
    assert await do("pause") == 200
    assert "Polling is turned off." in (await member.open(FEEDS)).text
    assert await do("resume") == 200
    resumed = await api.store.feeds.get(feed.id)
    assert resumed is not None and resumed.enabled
    assert await do("remove") == 200
    assert (await do("pause"), await do("remove"), await do("nonsense")) == (404, 404, 422)
    api.clock.forward(7_200)
    assert {tuple(row[:2]) for row in await entries(member)} == {
        (EMAIL, f"feed.{did}") for did in ("added", "checked", "paused", "resumed", "removed")
    } | {(EMAIL, "account.created")}


@pytest.mark.promise("admin.pages", "admin.audit")
async def test_accounts_get_roles_and_are_disabled_but_never_ones_own(
    api: Running, member: Reader, visitor: Reader
) -> None:
    await visitor.sign_up(OTHER)
    mine, other = await token(member), {"account": account_id(OTHER)}
    assert (await member.post(ACCOUNTS, mine | other | {"do": "role", "role": "reader"})).status == 200
    assert (await member.post(ACCOUNTS, mine | other | {"do": "role", "role": "owner"})).status == 422
    changed = await api.store.accounts.get(account_id(OTHER))
    assert changed is not None and changed.role == "reader"
    assert (await member.post(ACCOUNTS, mine | other | {"do": "disable"})).status == 200
    assert not await visitor.is_signed_in()
    assert (await member.post(ACCOUNTS, mine | other | {"do": "enable"})).status == 200
    assert (await visitor.sign_in(OTHER)).status == 200
    own = await member.post(ACCOUNTS, mine | {"account": account_id(EMAIL), "do": "role", "role": "reader"})
    assert (own.status, "another administrator has to" in own.text) == (422, True)
    assert (await member.post(ACCOUNTS, mine | {"account": "nobody", "do": "disable"})).status == 404
    assert [EMAIL, "account.role", OTHER, "submitter to reader"] in await entries(member)
    assert OTHER in (await member.open(f"{ACCOUNTS}?find=OTHER")).text
    assert EMAIL not in (await member.open(f"{ACCOUNTS}?find=OTHER")).text


@pytest.mark.promise("admin.audit")
async def test_the_log_is_paged_and_holds_no_secrets(api: Running, member: Reader) -> None:
    keys = "/settings/api-keys"
    made = await member.submit(await member.open(keys), keys, name="<i>SIEM")
    (secret,) = set(re.findall(r"ioc_\w{17}_\w{49}", made.answer.text))
    await member.submit(await member.open(keys), f"{keys}/revoke")
    article = await api.publish("Known", "domain evil.example")
    await member.submit(await member.open(f"/articles/{article.id}/remove"), f"/articles/{article.id}/remove")
    rest = await api.publish("Other", "domain evil.example")
    header = await api.key(EMAIL)
    assert (await api.client.delete(f"/api/v1/articles/{rest.id}", headers=header)).status_code == 204
    shown = await entries(member)
    assert {(row[1], row[2]) for row in shown if row[1] == "article.removed"} == {
        ("article.removed", article.id),
        ("article.removed", rest.id),
    }
    kept = " ".join(f"{one!r}" for one in await api.store.audit.newest(100))
    assert "<i>SIEM" in kept and "key.revoked" in kept
    assert secret not in kept and secret.split("_")[2][:8] not in kept
    for number in range(60):
        api.clock.forward(1)
        await Auditing(api.store, "a feed", api.clock).note("feed.added", f"feed {number}")
    first = await member.open(AUDIT)
    assert len(first.tree.xpath("//tbody/tr")) == 50
    second = await member.open(first.links()["Next page"])
    assert "account.created" in second.text
    found = await member.open(f"{AUDIT}?find=FEED.added")
    assert len(found.tree.xpath("//tbody/tr")) == 50
    rest = (await member.open(found.links()["Next page"])).tree.xpath("//tbody/tr")
    assert len(rest) == 10 and all("feed.added" in row.text_content() for row in rest)
    assert len((await member.open(f"{AUDIT}?find=feed+7")).tree.xpath("//tbody/tr")) == 1
    assert "No kept action" in (await member.open(f"{AUDIT}?find=nobody")).text


@pytest.mark.promise("admin.audit")
async def test_the_audit_log_names_indicators_as_links_while_they_are_there(api: Running, member: Reader) -> None:
    await api.publish("one", "domain evil.example")
    path = "/ioc/domain/evil.example"
    await member.submit(await member.open(path), path, tags="c2")
    assert (await member.open(AUDIT)).links()["evil[.]example"] == path
    await api.store.articles.remove(make_article("one").id)
    assert "evil[.]example" not in (await member.open(AUDIT)).links()
    assert ioc_id("domain", "evil.example") in [row[2] for row in await entries(member)]


@pytest.mark.slow
async def test_the_audit_log_names_articles_by_their_titles_and_tells_of_notes_in_words(
    api: Running, member: Reader
) -> None:
    article = await api.publish("one", title="Kestrel letters")
    path = f"/articles/{article.id}"
    await member.submit(await member.open(path), path, tlp="amber")
    await member.submit(await member.open(path), path, note_text="Seen here too.")
    page = await member.open(AUDIT)
    assert page.links()["Kestrel letters"] == path
    told = {(row[1], row[-1]) for row in await entries(member)}
    assert {detail for _, detail in told} >= {"none → amber", "note added"}


async def test_catalogues_queue_storage_versions_and_policy_are_shown(api: Running, member: Reader) -> None:
    text = (await member.open("/admin")).text
    for word in ("open: anybody", "embedded", "SQLite", "Python", "waiting", "None imported yet"):
        assert word in text, word
    async with reading(api.app) as stranger:
        assert "/admin" not in (await stranger.open("/")).answer.text
