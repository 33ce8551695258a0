"""Settings, Saved searches: made from a search, changed, paused and deleted, without JavaScript."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from intel.saved_searches import SavedSearch
from tests.api.running import GENEROUS, Running, running
from tests.api.web.reading import Reader, reading

HERE = "/settings/searches"


async def the_search(api: Running, reader: Reader) -> SavedSearch:
    page = await reader.open(HERE)
    (id,) = set(re.findall(rf'href="{HERE}/([0-9a-f-]+)"', page.answer.text))
    found = await api.store.searches.get(id)
    assert found is not None
    return found


@pytest.mark.promise("searches.page")
async def test_a_search_is_saved_from_its_results_and_kept_on_its_page(api: Running, member: Reader) -> None:
    await api.publish("one", "domain kestrel.example")
    results = await member.open("/search?q=kestrel&type=domain")
    assert f'href="{HERE}?q=kestrel&amp;type=domain"' in results.answer.text
    form = await member.open(f"{HERE}?q=kestrel&type=domain")
    assert all(f'value="{value}"' in form.answer.text for value in ("kestrel", "domain"))
    hook = "http://127.0.0.1:9/hook"
    fields = {"type": "domain", "webhook_url": hook, "exclude_warned": "yes"}
    saved = await member.submit(form, HERE, name="Kestrel <i>", q="kestrel", **fields)
    assert saved.status == 200 and "whsec_" in saved.answer.text and "Kestrel <i>" in saved.text
    search = await the_search(api, member)
    assert (search.q, search.filters) == ("kestrel", {"type": ["domain"], "exclude": ["warned"]})
    assert "whsec_" not in (await member.open(HERE)).answer.text
    own = f"{HERE}/{search.id}"
    page = await member.submit(await member.open(own), own, name="Renamed", every="day", **fields)
    changed = await the_search(api, member)
    assert page.status == 200 and (changed.name, changed.q, changed.every) == ("Renamed", "", "day")
    assert (changed.webhook_url, changed.filters) == (hook, search.filters)
    for wanted, enabled in (("pause", False), ("resume", True)):
        shown = await member.submit(await member.open(own), f"{own}/do", do=wanted)
        assert shown.status == 200 and (await the_search(api, member)).enabled is enabled
    await member.submit(await member.open(own), f"{own}/do", do="delete")
    assert await api.store.searches.get(search.id) is None


@pytest.mark.promise("searches.page")
async def test_a_wrong_form_says_what_is_wrong_and_keeps_what_was_typed(member: Reader) -> None:
    form = await member.open(HERE)
    for fields, told in (
        ({"name": "x", "type": "hostname"}, "type must be"),
        ({"name": "x", "webhook_url": "http://10.0.0.1/"}, "webhook_url"),
        ({"name": "x", "min_sources": "many"}, "number of sources"),
        ({"name": " "}, "a name"),
    ):
        page = await member.submit(form, HERE, **fields)
        assert page.status == 422 and told in page.text
    assert 'value="hostname"' in (await member.submit(form, HERE, name="x", type="hostname")).answer.text


@pytest.mark.promise("searches.page", "searches.kept")
async def test_nobody_sees_or_changes_the_search_of_another(api: Running, member: Reader) -> None:
    await member.submit(await member.open(HERE), HERE, name="mine")
    search = await the_search(api, member)
    async with reading(api.app, "198.51.100.9") as other:
        await other.sign_up("other@example.org")
        assert (await other.open(f"{HERE}/{search.id}")).status == 404
        assert "mine" not in (await other.open(HERE)).text


@pytest.mark.promise("searches.roundup")
async def test_the_roundup_is_asked_for_with_one_button_and_kept_when_its_form_is_saved(tmp_path: Path) -> None:
    mail = {"ioc_smtp_host": "127.0.0.1", "ioc_smtp_from": "ioc@service.example"}
    async with running(tmp_path, **GENEROUS, **mail) as api, reading(api.app, "198.51.100.8") as member:
        await member.sign_up()
        page = await member.open(HERE)
        assert "Send me the roundup" in page.answer.text
        await member.submit(page, HERE, name="Weekly roundup", every="roundup", email="soc@example.org")
        search = await the_search(api, member)
        assert search.roundup and search.email == "soc@example.org"
        form = await member.open(f"{HERE}/{search.id}")
        assert '<option value="roundup" selected>' in form.answer.text and 'href="/weekly"' in form.answer.text
        await member.submit(form, f"{HERE}/{search.id}", name="Digest", every="day", email="soc@example.org")
        assert not (await the_search(api, member)).roundup
