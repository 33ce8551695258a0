"""Define what a word is, for everything that is searched.

A word is a maximal run of letters or digits after NFKC and case folding; scripts written without spaces are taken
character by character. Stores index words in the spelling of `encode_word`, which every tokenizer leaves alone, so
that all answer alike.
"""

from __future__ import annotations

import re
import unicodedata

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}](?>(?:[^\W_{_CJK}]|[\u0300-\u036f])*)")
# What may stand in a word and is not ASCII; quotes and dashes do not.
_IN_WORDS = re.compile(rf"[^\W\x00-\x7f]|[\u0300-\u036f{_CJK}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Of a text in ASCII the words are what stands between blanks after this.
_ASCII_WORDS = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))
_LONGEST_ENCODED_WORD = 240  # below the 255 at which Elasticsearch's standard tokenizer cuts


def words(text: str) -> list[str]:
    """Return the words of a text, in order, with repetitions."""
    if text.isascii():
        return _ascii_words(text)
    found: list[str] = []
    # No word goes on in the next line, and most lines are in ASCII.
    for line in unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split("\n"):
        if line.isascii():
            found += _ascii_words(line)
        elif _IN_WORDS.search(line):
            found += _WORD.findall(line)
        else:
            found += _ascii_words(_NOT_ASCII.sub(" ", line))
    return found


def _ascii_words(text: str) -> list[str]:
    return text.encode().translate(_ASCII_WORDS).decode().split()


def is_plain(text: str) -> bool:
    """Tell whether the words of a text are its runs of letters and digits in lower case, each its own encoding."""
    return len(text) <= _LONGEST_ENCODED_WORD and text.isascii()


def encode_word(word: str) -> str:
    """Return a word as stores index it: `[a-z0-9]` as is, any other character as `_` and six hex digits.

    Keeps prefixes: if a word begins with another, so do their encodings. Cut at 240 characters.
    """
    if not word.isascii():
        word = "".join(c if c.isascii() else f"_{ord(c):06x}" for c in word[:_LONGEST_ENCODED_WORD])
    return word[:_LONGEST_ENCODED_WORD]


def encoded_words(text: str) -> str:
    """Return all words of a text as stores index them, separated by spaces."""
    found = words(text)
    # Most words are their own encoding.
    if text.isascii() and (
        len(text) <= _LONGEST_ENCODED_WORD or max(map(len, found), default=0) <= _LONGEST_ENCODED_WORD
    ):
        return " ".join(found)
    return " ".join(
        [word if word.isascii() and len(word) <= _LONGEST_ENCODED_WORD else encode_word(word) for word in found]
    )
