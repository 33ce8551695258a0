"""The same way on Elasticsearch and Redis, across two servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, expect

from intel.settings import Settings
from tests.browser.site import serving, visiting
from tests.browser.test_journey import generate, status_with, walk_to_the_article


@pytest.fixture
def servers(
    elasticsearch_url: str, index_prefix: str, redis_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    settings = Settings.model_validate(
        {
            "elasticsearch_url": elasticsearch_url,
            "elasticsearch_index_prefix": index_prefix,
            "redis_url": redis_database,
            "ioc_secret_key": "a secret that both servers know",
            "ioc_data_dir": tmp_path_factory.mktemp("served"),
        }
    )
    with ExitStack() as stack:
        yield stack.enter_context(serving(settings)), stack.enter_context(serving(settings))


@pytest.mark.promise("keys.revoked-within-a-second")
def test_one_session_and_one_key_hold_on_both_servers(chromium: Browser, servers: tuple[str, str]) -> None:
    first, second = servers
    with visiting(chromium, first) as visitor:
        visitor.sign_up()
        key = generate(visitor, "browser key")
        assert status_with(first, key) == status_with(second, key) == 200
        visitor.go(f"{second}/settings/api-keys")
        expect(visitor.page.get_by_text("browser key")).to_be_visible()
        visitor.page.get_by_text("Revoke…").click()
        visitor.page.get_by_role("button", name="Revoke browser key").click()
        visitor.page.wait_for_load_state()
        assert status_with(first, key) == status_with(second, key) == 401
        walk_to_the_article(visitor)
        visitor.page.get_by_role("button", name="Sign out").click()
        visitor.page.wait_for_load_state()
        visitor.go(f"{second}/settings")
        expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
