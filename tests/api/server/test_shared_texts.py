"""Texts that several processes show each other."""

from __future__ import annotations

import os

from api.server.shared_texts import SharedTexts


def test_what_another_process_puts_is_seen_and_replaced_whole() -> None:
    texts = SharedTexts(3)
    assert texts.all() == {}
    for text in (b"a long one, for the first time", b"short"):
        child = os.fork()
        if child == 0:
            texts.put(2, text)
            os._exit(0)
        os.waitpid(child, 0)
        assert texts.all() == {2: text}


def test_a_text_beyond_its_room_leaves_that_of_others_and_its_own_as_they_were() -> None:
    texts = SharedTexts(2)
    texts.put(0, b"first")
    texts.put(1, b"second")
    texts.put(0, bytes(2 << 20))
    assert texts.all() == {0: b"first", 1: b"second"}


def test_a_text_that_is_only_half_written_counts_as_none() -> None:
    texts = SharedTexts(1)
    texts.put(0, b"whole")
    texts._memory[16:18] = b"HA"
    assert texts.all() == {}
