"""What the keyboard alone can do."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, expect

from tests.browser.site import visiting


def test_a_slash_goes_to_the_search_and_enter_searches(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.go("/weekly")
        visitor.page.keyboard.press("/")
        expect(visitor.page.get_by_role("searchbox").first).to_be_focused()
        visitor.page.keyboard.type("sandpiper/x")
        visitor.page.keyboard.press("Enter")
        visitor.page.wait_for_url(re.compile("q=sandpiper%2Fx"))


def test_the_first_stop_leads_past_the_header(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.go("/search")
        visitor.page.keyboard.press("Tab")
        skip = visitor.page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        visitor.page.keyboard.press("Enter")
        expect(visitor.page.get_by_role("main")).to_be_focused()


def test_all_keys_are_shown_and_put_away_again(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.go("/")
        visitor.page.keyboard.press("?")
        expect(visitor.page.get_by_role("dialog", name="Keys")).to_be_visible()
        visitor.page.keyboard.press("Escape")
        expect(visitor.page.get_by_role("dialog", name="Keys")).to_be_hidden()
        visitor.page.keyboard.press("g")
        visitor.page.keyboard.press("a")
        visitor.page.wait_for_url(re.compile("/articles$"))


def test_results_are_walked_with_two_keys(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.go("/search?q=sandpiper")
        visitor.page.keyboard.press("j")
        expect(visitor.page.locator("[data-hit]").nth(0).get_by_role("link").first).to_be_focused()
        visitor.page.keyboard.press("j")
        expect(visitor.page.locator("[data-hit]").nth(1).get_by_role("link").first).to_be_focused()
        visitor.page.keyboard.press("k")
        visitor.page.keyboard.press("Enter")
        visitor.page.wait_for_url(re.compile("/ioc/"))


def test_a_row_that_the_keys_lead_back_to_stands_below_what_stays_at_the_top(chromium: Browser, site: str) -> None:
    with visiting(chromium, site, viewport={"width": 1280, "height": 240}) as visitor:
        visitor.go("/search")
        rows = visitor.page.locator("[data-hit]").count()
        assert rows > 8
        for key in "j" * rows + "k" * (rows - 3):
            visitor.page.keyboard.press(key)
        row, bar = visitor.page.locator("[data-hit].at").bounding_box(), visitor.page.locator(".toolbar").bounding_box()
        assert row and bar and row["y"] >= bar["y"] + bar["height"]


def test_rows_are_ticked_and_values_shown_raw_by_key(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        visitor.go("/search?q=sandpiper&type=domain")
        defanged = visitor.page.get_by_role("button", name="Defanged").first
        expect(defanged).to_be_disabled()
        visitor.page.keyboard.press("j")
        visitor.page.keyboard.press("x")
        expect(visitor.page.get_by_role("checkbox").nth(1)).to_be_checked()
        expect(defanged).to_be_enabled()
        visitor.page.keyboard.press("d")
        expect(visitor.page.get_by_role("link", name="login-sandpiper.org")).to_be_visible()


def test_colours_change_at_once_and_stay(chromium: Browser, site: str) -> None:
    with visiting(chromium, site, color_scheme="light") as visitor:
        visitor.go("/")
        paper = "getComputedStyle(document.body).backgroundColor"
        light = visitor.page.evaluate(paper)
        visitor.page.get_by_role("button", name="Dark").click()
        dark = visitor.page.evaluate(paper)
        assert dark != light
        visitor.go("/focus")
        assert visitor.page.evaluate(paper) == dark
        visitor.page.get_by_role("button", name="System").click()
        assert visitor.page.evaluate(paper) == light
