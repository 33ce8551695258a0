"""From signing up to a revoked key, and from a search to an article, by clicking."""

from __future__ import annotations

import re
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.site import TITLE, Visitor, visiting

KEY = re.compile(r"ioc_[A-Za-z0-9]+_[A-Za-z0-9_\-]{16,}")


def status_with(address: str, key: str) -> int:
    asked = urllib.request.Request(f"{address}/api/v1/usage", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def generate(visitor: Visitor, name: str) -> str:
    visitor.page.get_by_label("Name of a new key").fill(name)
    visitor.page.get_by_role("button", name="Generate key").click()
    visitor.page.wait_for_load_state()
    shown = set(KEY.findall(visitor.page.content()))
    assert len(shown) == 1
    return str(shown.pop())


def walk_through_keys(visitor: Visitor, address: str) -> None:
    """Signs up, makes a key that works, and revokes it."""
    visitor.sign_up()
    key = generate(visitor, "browser key")
    assert status_with(address, key) == 200
    visitor.page.get_by_role("link", name="Settings").click()
    visitor.page.get_by_role("main").get_by_role("link", name="API Keys").click()
    expect(visitor.page.get_by_text("browser key")).to_be_visible()
    assert not KEY.findall(visitor.page.content())
    visitor.page.get_by_text("Revoke…").click()
    visitor.page.get_by_role("button", name="Revoke browser key").click()
    visitor.page.wait_for_load_state()
    assert status_with(address, key) == 401


def walk_to_the_article(visitor: Visitor) -> None:
    """Searches, and goes by links to the indicator's page and on to its article."""
    visitor.go("/")
    box = visitor.page.get_by_role("searchbox").first
    box.fill("sandpiper")
    box.press("Enter")
    visitor.page.wait_for_url(re.compile("q=sandpiper"))
    visitor.follow("login-sandpiper[.]org")
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("login-sandpiper[.]org")
    visitor.follow(TITLE)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(TITLE)
    visitor.page.get_by_role("link", name="CVE-2024-3400").first.click()
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("CVE-2024-3400")


@pytest.mark.promise("accounts.pages")
def test_from_sign_up_to_a_revoked_key(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        walk_through_keys(visitor, site)
        visitor.page.get_by_role("button", name="Sign out").click()
        visitor.page.wait_for_load_state()
        visitor.go("/settings")
        expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_everything_works_without_javascript(chromium: Browser, site: str) -> None:
    with visiting(chromium, site, java_script_enabled=False) as visitor:
        visitor.sign_up("plain@example.org")
        key = generate(visitor, "plain key")
        visitor.go("/settings/api-keys")
        visitor.page.get_by_text("Revoke…").click()
        visitor.page.get_by_role("button", name="Revoke plain key").click()
        visitor.page.wait_for_load_state()
        assert status_with(site, key) == 401
        walk_to_the_article(visitor)
        visitor.page.get_by_role("button", name="Dark").click()
        visitor.page.wait_for_load_state()
        assert visitor.page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


def test_from_a_search_to_an_article(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        walk_to_the_article(visitor)


def test_values_are_copied_raw_and_defanged(chromium: Browser, site: str) -> None:
    with visiting(chromium, site, permissions=["clipboard-read", "clipboard-write"]) as visitor:
        visitor.go("/ioc/domain/login-sandpiper.org")
        for button, copied in (("Copy raw", "login-sandpiper.org"), ("Copy defanged", "login-sandpiper[.]org")):
            visitor.page.get_by_role("button", name=button).click()
            visitor.page.get_by_role("button", name="Copied").wait_for()
            assert visitor.page.evaluate("navigator.clipboard.readText()") == copied
            visitor.page.get_by_role("button", name=button).wait_for()


def test_a_submission_keeps_itself_up_to_date(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.sign_up("submitter@example.org")
        visitor.go("/submit")
        visitor.page.get_by_label("Address", exact=True).fill("https://unknown-host.invalid/report")
        visitor.page.get_by_role("button", name="Submit").click()
        visitor.page.wait_for_url(re.compile("/submissions/"))
        expect(visitor.page.get_by_text("Attempts")).to_be_visible()
        visitor.page.get_by_text(re.compile("could not be read|tried again")).wait_for(timeout=120_000)
        expect(visitor.page).not_to_have_title(re.compile("queued"))
