"""Catalogues that are fetched by schedule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pytest_httpserver import HTTPServer

from ingest.fetch import FetchAllow
from ingest.fresh_catalogues import FreshCatalogues, Wanted, read_wanted
from intel.errors import ConfigurationError
from intel.store import Store
from tests.intel.catalogues.importing import kev_file

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def address_of(httpserver: HTTPServer) -> str:
    return httpserver.url_for("/kev.json").replace("localhost", "127.0.0.1")


@pytest.mark.slow
@pytest.mark.promise("operations.catalogues")
async def test_a_catalogue_is_fetched_once_a_day_and_a_failure_leaves_the_former(
    store: Store, httpserver: HTTPServer
) -> None:
    now = NOON
    wanted = (Wanted("kev", address_of(httpserver)),)
    fresh = FreshCatalogues(store, wanted, FetchAllow.parse("127.0.0.0/8"), None, lambda: now)
    body = kev_file({"CVE-2024-3400": "2026-11-15"})
    httpserver.expect_ordered_request("/kev.json").respond_with_data(body, content_type="application/json")
    assert await fresh.renew() == ["kev"]
    (first,) = await store.catalogues.all()
    assert (first.entries, first.imported_at) == (1, NOON)
    now = NOON + timedelta(hours=23)
    assert await fresh.renew() == []
    now = NOON + timedelta(hours=25)
    httpserver.expect_ordered_request("/kev.json").respond_with_data("<p>Gone</p>", content_type="application/json")
    assert await fresh.renew() == []
    assert await store.catalogues.all() == (first,)
    now += timedelta(minutes=61)
    httpserver.expect_ordered_request("/kev.json").respond_with_data(body, content_type="application/json")
    assert await fresh.renew() == ["kev"]


@pytest.mark.promise("operations.catalogues")
async def test_the_fetch_guard_holds_and_wrong_settings_are_refused(store: Store, httpserver: HTTPServer) -> None:
    wanted = (Wanted("kev", address_of(httpserver)),)
    assert await FreshCatalogues(store, wanted, FetchAllow.parse(""), None, lambda: NOON).renew() == []
    assert httpserver.log == []
    assert read_wanted(()) == ()
    for wrong in ("kev", "kev=file:///etc/passwd", "malware=https://lists.example/x"):
        with pytest.raises(ConfigurationError, match="IOC_CATALOGUES"):
            read_wanted([wrong])
