"""Every page: readable by everybody in both schemes, whole on a small screen, and inert whatever an article says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, StorageState

from api.web.addresses import source_path
from tests.browser.site import EVIL, Visitor, visiting

# A whole walk through all pages, on a machine that does other things too.
pytestmark = pytest.mark.timeout(900)

OPEN_TO_ALL = (
    "/",
    "/search",
    "/search?q=sandpiper",
    "/search?q=nothing+at+all&since=2026-01-01",
    "/ioc/domain/login-sandpiper.org",
    "/ioc/cve/CVE-2024-3400",
    "/ioc/malware/Emotet",
    "/ioc/domain/evil-curlew.net",
    "/graph/malware/Emotet",
    "/actor/APT40",
    "/actors",
    "/malware",
    "/unsubscribe/5b6c0000-0000-4000-8000-000000000000/cut-off",
    "/graph/source/Shipyard%20Blog",
    "/ioc/domain/never.example",
    "/articles",
    "/articles?q=sandpiper",
    "/weekly",
    "/weekly/2026-W47",
    "/focus",
    "/awareness",
    "/awareness/three-copies",
    "/bulk",
    "/submit",
    "/sources",
    "/sources/Shipyard%20Blog",
    "/status",
    "/help",
    "/help/mcp",
    "/no/such/page",
)
FOR_STRANGERS = ("/signin", "/signup", "/search?q=curlew")
FOR_MEMBERS = (
    "/settings",
    "/settings/api-keys",
    "/settings/feeds",
    "/settings/searches",
    "/signout",
    "/bulk",
    "/submit",
    "/submissions",
)
FOR_ADMINISTRATORS = ("/admin", "/admin/feeds", "/admin/accounts", "/admin/audit", "/settings/two-factor")
SEEN_AS_404 = (
    "/unsubscribe/5b6c0000-0000-4000-8000-000000000000/cut-off",
    "/ioc/domain/never.example",
    "/no/such/page",
)


@pytest.fixture(scope="module")
def member(chromium: Browser, site: str) -> Iterator[StorageState]:
    with visiting(chromium, site) as visitor:
        visitor.sign_up("member@example.org")
        yield visitor.page.context.storage_state()


def look(visitor: Visitor, path: str) -> None:
    visitor.go(path)
    if path in SEEN_AS_404:
        visitor.complaints[:] = [said for said in visitor.complaints if "404" not in said]


def faults(visitor: Visitor) -> list[str]:
    found = Axe().run(visitor.page).response["violations"]
    grave = (fault for fault in found if fault["impact"] in ("serious", "critical"))
    return [f"{fault['id']}: {fault['nodes'][0]['html'][:150]}" for fault in grave]


@pytest.mark.timeout(900)  # axe takes a second a page where others are busy too
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_every_page(chromium: Browser, site: str, member: StorageState, scheme: str) -> None:
    with visiting(chromium, site, color_scheme=scheme) as stranger:
        for path in (*OPEN_TO_ALL, *FOR_STRANGERS):
            look(stranger, path)
            assert faults(stranger) == [], path
        stranger.follow("Curlew")
        assert faults(stranger) == [], "article"
    with visiting(chromium, site, color_scheme=scheme, storage_state=member) as visitor:
        for path in FOR_MEMBERS:
            look(visitor, path)
            assert faults(visitor) == [], path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_administrators_can_read_their_pages(chromium: Browser, site: str, member: StorageState, scheme: str) -> None:
    """The site's first account is its administrator; at 375 px too."""
    with visiting(chromium, site, color_scheme=scheme, storage_state=member) as visitor:
        for path in FOR_ADMINISTRATORS:
            visitor.page.set_viewport_size({"width": 1280, "height": 800})
            look(visitor, path)
            assert faults(visitor) == [], path
            visitor.page.set_viewport_size({"width": 375, "height": 800})
            assert visitor.width <= 375, path


def test_every_page_fits_a_small_screen(chromium: Browser, site: str, member: StorageState) -> None:
    small = {"width": 375, "height": 800}
    with visiting(chromium, site, viewport=small, storage_state=member) as visitor:
        for path in (*OPEN_TO_ALL, *FOR_MEMBERS):
            look(visitor, path)
            assert visitor.width <= 375, path
    with visiting(chromium, site, viewport=small) as stranger:
        for path in FOR_STRANGERS:
            look(stranger, path)
            assert stranger.width <= 375, path


# What a finger must meet, by what it touches: a box's label, and not links within a sentence.
_TOUCHED = """() => {
  const all = document.querySelectorAll("button, select, summary, nav a, .button, .name[href], .exports a,"
    + " input:not([type=hidden]), textarea");
  const size = (one) => (one.closest("label") ?? one).getBoundingClientRect();
  const shown = [...all].filter((one) => size(one).width && !one.closest(".words, .unseen"));
  const small = shown.filter((one) => size(one).height < 39.5);
  return [shown.length, small.map((one) => one.outerHTML.slice(0, 120))];
}"""


@pytest.mark.timeout(900)
def test_a_finger_meets_what_it_is_meant_for(chromium: Browser, site: str, member: StorageState) -> None:
    small = {"width": 390, "height": 844}
    with visiting(chromium, site, viewport=small, storage_state=member) as visitor:
        for path in (*OPEN_TO_ALL, *FOR_MEMBERS, *FOR_ADMINISTRATORS):
            look(visitor, path)
            count, too_small = visitor.page.evaluate(_TOUCHED)
            assert count > 5, path
            assert too_small == [], path


@pytest.mark.timeout(900)
def test_no_table_scrolls_sideways_on_a_small_screen(chromium: Browser, site: str, member: StorageState) -> None:
    """Rows become short paragraphs there; only an article's own tables and a graph's picture may be wider."""
    wide = """() => [...document.querySelectorAll("main .scroll")].filter((one) => !one.closest(".words")
      && one.scrollWidth > one.clientWidth).map((one) => one.outerHTML.slice(0, 200))"""
    with visiting(chromium, site, viewport={"width": 375, "height": 800}, storage_state=member) as visitor:
        for path in (*OPEN_TO_ALL, *FOR_MEMBERS, *FOR_ADMINISTRATORS):
            look(visitor, path)
            assert visitor.page.evaluate(wide) == [], path


@pytest.mark.parametrize("width", [1280, 375])
def test_no_word_of_a_name_is_broken_and_no_button_cut(
    chromium: Browser, site: str, member: StorageState, width: int
) -> None:
    """A name of malware stands on one line where it is one word, and an administrator's buttons within their table."""
    lines = """names => names.filter(one => !/[ -]/.test(one.textContent) && one.textContent.length < 20
      && one.getClientRects().length > 1).map(one => one.textContent)"""
    cut = """forms => forms.filter(one => one.getBoundingClientRect().right
      > one.closest(".scroll").getBoundingClientRect().right).length"""
    with visiting(chromium, site, viewport={"width": width, "height": 800}, storage_state=member) as visitor:
        for path in ("/malware", "/search?type=malware", "/ioc/malware/Emotet"):
            visitor.go(path)
            names = visitor.page.locator("main .value bdi, main .family bdi")
            assert names.count() > 0 and names.evaluate_all(lines) == [], path
        visitor.go("/admin/feeds")
        assert visitor.page.locator(".row-actions form").count() > 1
        assert visitor.page.locator(".row-actions form").evaluate_all(cut) == 0


def test_what_needs_a_script_is_not_shown_without_one(chromium: Browser, site: str, member: StorageState) -> None:
    options = {"java_script_enabled": False, "storage_state": member}
    with visiting(chromium, site, **options) as visitor:
        for path in ("/search?q=sandpiper", "/ioc/domain/login-sandpiper.org", "/help"):
            visitor.go(path)
            assert visitor.page.locator("[data-copy]").count() > 0
            assert visitor.page.locator("[data-copy]:visible").count() == 0, path


def colours(visitor: Visitor, ground: str, ink: str) -> tuple[str, str]:
    """What the system's own colours of these names are."""
    written = f"background: {ground}; color: {ink}; forced-color-adjust: none"
    script = """written => { const one = document.body.appendChild(document.createElement("i")); one.style = written;
      const style = getComputedStyle(one); return [style.backgroundColor, style.color]; }"""
    found: list[str] = visitor.page.evaluate(script, written)
    return found[0], found[1]


def test_forced_colours_tell_what_is_chosen(chromium: Browser, site: str) -> None:
    grounds = """links => links.map(link => [link.ariaCurrent !== null,
      getComputedStyle(link).backgroundColor, getComputedStyle(link).color])"""
    with visiting(chromium, site, forced_colors="active") as visitor:
        for path, links in (("/search?type=domain", ".facets a"), ("/search", ".top nav a")):
            visitor.go(path)
            told = visitor.page.locator(links).evaluate_all(grounds)
            system = "Highlight", "HighlightText"
            assert {(ground, ink) for chosen, ground, ink in told if chosen} == {colours(visitor, *system)}, path
            assert colours(visitor, *system)[0] not in {ground for chosen, ground, _ in told if not chosen}, path


@pytest.mark.promise("promises.hostile-article-is-data")
def test_a_hostile_article_is_inert_wherever_it_shows(chromium: Browser, site: str, member: StorageState) -> None:
    with visiting(chromium, site, storage_state=member) as visitor:
        visitor.go("/search?q=curlew")
        links = "[...document.querySelectorAll('main a[href]')].map(a => a.getAttribute('href'))"
        found = {link for link in visitor.page.evaluate(links) if "format=" not in link and link.startswith("/")}
        assert len(found) >= 3
        for path in sorted(found | {"/", "/articles", "/sources", source_path(EVIL), "/weekly/2026-W47"}):
            visitor.go(path)
            assert visitor.page.evaluate("window.xss") is None, path
            assert visitor.page.locator("img, [onerror], [onload]").count() == 0, path
            assert visitor.page.locator("[href^='javascript:' i]").count() == 0, path
            assert visitor.width <= 1280, path


def test_the_first_page_is_light(chromium: Browser, site: str) -> None:
    with visiting(chromium, site) as visitor:
        sizes: list[int] = []
        visitor.page.on("requestfinished", lambda request: sizes.append(sum_of(request.sizes())))
        visitor.go("/")
        visitor.page.wait_for_load_state("networkidle")
        assert 3 <= len(sizes) <= 6
        assert sum(sizes) < 100_000


def sum_of(sizes: object) -> int:
    assert isinstance(sizes, dict)
    return int(sizes["responseBodySize"]) + int(sizes["responseHeadersSize"])


def test_a_saved_searchs_own_page_is_readable_and_fits(chromium: Browser, site: str, member: StorageState) -> None:
    small = {"width": 375, "height": 800}
    with visiting(chromium, site, viewport=small, storage_state=member) as visitor:
        visitor.go("/settings/searches?q=sandpiper&min_sources=2")
        visitor.page.fill("#name", "Sandpiper " + "x" * 180)
        visitor.page.get_by_role("button", name="Save search").click()
        path = visitor.page.locator("main a[href^='/settings/searches/']").first.get_attribute("href")
        assert path is not None
        visitor.go(path)
        assert visitor.width <= 375
        assert faults(visitor) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tags_and_notes_are_readable_and_fit(chromium: Browser, site: str, member: StorageState, scheme: str) -> None:
    with visiting(chromium, site, color_scheme=scheme, storage_state=member) as visitor:
        visitor.go("/search?q=sandpiper")
        article = visitor.page.locator("main a[href^='/articles/']").first.get_attribute("href")
        for path in ("/ioc/domain/login-sandpiper.org", article or ""):
            visitor.page.set_viewport_size({"width": 1280, "height": 800})
            visitor.go(path)
            visitor.page.get_by_label("Add tags").fill("admiralty-scale:source-reliability=b " + "x" * 64)
            with visitor.page.expect_navigation():
                visitor.page.get_by_role("button", name="Add", exact=True).click()
            visitor.page.get_by_label("Add a note").fill("Seen in our proxy log.\n" + "x" * 300)
            with visitor.page.expect_navigation():
                visitor.page.get_by_role("button", name="Add note").click()
            visitor.page.locator(".note .written").first.wait_for()
            assert faults(visitor) == [], path
            visitor.page.set_viewport_size({"width": 375, "height": 800})
            assert visitor.width <= 375, path


def test_no_value_or_name_of_malware_in_a_list_is_cut(chromium: Browser, site: str, member: StorageState) -> None:
    """Long values wrap, at any width; an article's title has two lines."""
    cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent.trim())"
    with visiting(chromium, site, storage_state=member) as visitor:
        for width in (1280, 375):
            visitor.page.set_viewport_size({"width": width, "height": 800})
            visitor.go("/search?q=curlew")
            cells = visitor.page.locator(".iocs tbody :is(.what, .family)")
            assert cells.count() > 3
            assert cells.evaluate_all(cut) == [], width
            height = "link.clientHeight / parseFloat(getComputedStyle(link).lineHeight)"
            lines = f"links => links.map(link => Math.round({height}))"
            assert max(visitor.page.locator(".iocs tbody .in a").evaluate_all(lines)) <= 2


def test_no_label_in_the_status_of_a_list_is_cut(chromium: Browser, site: str) -> None:
    """An amber and warned indicator has three of them."""
    with visiting(chromium, site, viewport={"width": 1280, "height": 800}) as visitor:
        visitor.go("/search?tlp=amber")
        cells = visitor.page.locator(".iocs tbody .state:has(.tlp):has(.warned)")
        assert cells.count() > 0
        wide = "cells => cells.map(cell => [cell.scrollWidth, cell.clientWidth])"
        assert [cut for cut in cells.evaluate_all(wide) if cut[0] > cut[1]] == []
