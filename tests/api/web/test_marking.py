from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from api.web.addresses import here
from api.web.blocks import blocks
from api.web.marking import marked, part_of, spans_in
from api.web.sightings import drawn, picture
from api.web.text import ago, browser, clipped, visible
from intel.unseen import plain
from tests.cases import each

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@given(st.text(max_size=300))
def test_marking_loses_no_character(text: str) -> None:
    assert "".join(piece.text for piece in marked(text, spans_in(text), {})) == text


def test_the_structure_of_a_text_is_told_from_its_lines() -> None:
    text = (
        "Loader report\n" + "It was seen by many. " * 8 + "\n- one item\n- another item\n"
        "| name | hash |\n|---|---|\n| a.exe | d41d8 |\n\n```\ncurl x\n  | sh\n```\n"
        "# Indicators\nevil[.]test\nother[.]test\n"
    )
    found = [(block.kind, [[text[a:b].strip() for a, b in row] for row in block.rows]) for block in blocks(text)]
    assert [kind for kind, _ in found] == ["heading", "paragraph", "list", "table", "code", "heading", "paragraph"]
    assert found[2][1] == [["one item"], ["another item"]]
    assert found[3][1] == [["name", "hash"], ["a.exe", "d41d8"]]
    assert found[6][1] == [["evil[.]test"], ["other[.]test"]]


@given(st.text(alphabet="ab. |-#=`*\n", max_size=400))
def test_no_word_is_lost_among_the_blocks_of_a_text(text: str) -> None:
    kept = "".join(text[a:b] for block in blocks(text) for row in block.rows for a, b in row)
    without_languages = re.sub(r"^ {0,3}`{3,}[ab#-]{1,20} *$", "", text, flags=re.MULTILINE)
    assert [c for c in kept if c.isalpha()] == [c for c in without_languages if c.isalpha()]


def test_what_follows_three_backticks_is_kept_unless_it_names_a_language() -> None:
    text = "```sh\ncurl evil.example\n```\n\n```curl -O evil.example/a\n"
    kept = [text[a:b] for block in blocks(text) for row in block.rows for a, b in row]
    assert kept == ["curl evil.example", "```curl -O evil.example/a"]


@given(st.text(alphabet="a \n", min_size=0, max_size=3000))
def test_parts_put_together_are_the_text(text: str) -> None:
    text, start, read = text * 60, 0, ""
    while True:
        part, following = part_of(text, start)
        read += part
        if following is None:
            break
        assert following > start
        start = following
    assert read == text


def test_the_picture_has_a_bar_for_each_day_with_articles() -> None:
    drawn = picture([NOW, NOW, NOW - timedelta(days=3)])
    assert [(bar.label, bar.count) for bar in drawn.seen] == [("17 Nov 2026", 1), ("20 Nov 2026", 2)]
    assert drawn.unit == "day" and drawn.seen[-1].height == 64


def test_a_bar_that_would_flatten_all_others_is_broken_and_bears_its_number() -> None:
    counts = [90, 120, 0, 60, 10_400, 110]
    chart = drawn([(str(place), count) for place, count in enumerate(counts)], "week", "0", "5")
    assert [bar.count for bar in chart.broken] == [10_400] and chart.scale == 120
    assert [bar.height for bar in chart.bars] == [36, 48, 0, 24, 64, 44]


@each("counts", [[], [0], [7], [1, 2, 4, 8, 16, 32, 64, 128], [100, 90, 5, 5, 6], [12, 60, 14], [1, 1, 1, 50, 50, 50]])
def test_a_scale_holds_every_bar_where_none_stands_far_above_all_others(counts: list[int]) -> None:
    chart = drawn([("", count) for count in counts], "week", "", "")
    assert not chart.broken and chart.scale == max([1, *counts])


def test_numbers_of_broken_bars_leave_room_for_each_other() -> None:
    counts = [9] * 20 + [5_000, 6_000] + [9] * 8 + [7_000]
    chart = drawn([("", count) for count in counts], "week", "", "")
    assert [bar.count for bar in chart.broken] == [5_000, 7_000]
    assert sum(bar.broken for bar in chart.bars) == 3


@given(st.lists(st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1)), min_size=1, max_size=50))
def test_every_article_is_in_the_picture_and_the_picture_in_its_frame(moments: list[datetime]) -> None:
    drawn = picture(moments)
    assert sum(bar.count for bar in drawn.bars) == len(moments)
    assert len(drawn.bars) <= 60
    assert all(bar.x >= 0 and bar.x + bar.width <= 600 and 0 <= bar.y <= 64 for bar in drawn.bars)


def test_what_cannot_be_seen_is_taken_out_of_words_and_written_out_in_values() -> None:
    assert plain("a\u202eb\u200bc\x00d\te\nf") == "abcd\te\nf"
    assert visible("evil\u202e.example") == "evil\\u{202e}.example"


def test_times_are_told_in_the_largest_whole_unit() -> None:
    spans = {30: "just now", 60: "1 minute ago", 7200: "2 hours ago", 259_200: "3 days ago", 69_120_000: "2 years ago"}
    assert {seconds: ago(NOW - timedelta(seconds=seconds), NOW) for seconds in spans} == spans
    assert ago(NOW + timedelta(days=1), NOW) == "just now"


def test_long_words_are_clipped() -> None:
    assert clipped("x" * 1000, 10) == "x" * 9 + "…"
    assert clipped("short", 10) == "short"


@given(st.text())
def test_nobody_is_sent_to_another_host(path: str) -> None:
    kept = here(path)
    assert kept.startswith("/") and not kept.startswith(("//", "/\\"))


def test_a_browser_is_told_in_two_words() -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
    assert browser(firefox) == "Firefox on Linux"
    edge = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0"
    assert browser(edge) == "Edge on Windows"
    assert browser("python-httpx/0.28.1") == "python-httpx/0.28.1"
    assert browser("") == "An unknown browser"
