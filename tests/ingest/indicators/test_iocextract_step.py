from __future__ import annotations

import time

from ingest.indicators.iocextract_step import second_reading


def test_the_second_reader_finds_what_is_disarmed() -> None:
    text = "It called hxxp://gale-post[.]com/a and 185.220.101[.]47; write to drop@gale-post[.]com."
    assert {("url", "http://gale-post.com/a"), ("ip", "185.220.101.47")} <= set(second_reading(text))


def test_the_second_reader_is_held_to_the_same_rules() -> None:
    assert second_reading("Next sentence [.] is here\nv10.2.4.1 and a::b at 09:27:13 [.]") == ()


def test_lines_without_a_mark_are_not_shown_to_the_second_reader() -> None:
    started = time.process_time()
    assert second_reading("a." * 200_000) == ()
    assert time.process_time() - started < 2
