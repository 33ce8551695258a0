"""Copies of one text are told from texts about the same thing."""

from __future__ import annotations

import random
import time

import pytest

from ingest import near_duplicates
from ingest.near_duplicates import bands, copies_among, is_copy, tell
from tests.cases import each
from tests.ingest.writing import prose, reworded, table

ORIGINAL = f"{prose(1)}\n\nIndicators\n{table(0)}"
BYLINE = "By our own correspondent in Rotterdam, with agencies. Photo by the harbour police."
FOOTER = "Subscribe to our letter for more stories of this kind. All rights are reserved by the publishing house."
COPIES = {
    "the same": ORIGINAL,
    "another header and footer": f"{BYLINE}\n{ORIGINAL}\n{FOOTER}",
    "a few other words": reworded(ORIGINAL, 0.03),
    "without its table": prose(1),
    "among other people's words": f"{prose(7, 12)}\n{ORIGINAL}\n{prose(8, 12)}",
    "armed": ORIGINAL.replace("[.]", "."),
    "otherwise disarmed": ORIGINAL.replace("[.]", "(.)"),
    "in capitals with other spaces": ORIGINAL.upper().replace(" ", "\u00a0 "),
    "in curly quotes": ORIGINAL.replace(" the ", " \u201cthe\u201d "),
}
OTHERS = {
    "shares the table": f"{prose(2)}\n\nIndicators\n{table(0)}",
    "shares a large table": f"{prose(2, 10)}\n\n{table(0, 300)}",
    "quotes a paragraph": f"{prose(3, 30)}\n{prose(1)[:600]}\n{prose(4, 10)}",
    "the same template with other indicators": f"{prose(1)}\n\nIndicators\n{table(500)}",
    "something else": prose(5),
}


def shares_a_band(one: str, other: str) -> bool:
    return bool(set(bands(one)) & set(bands(other)))


@pytest.mark.promise("articles.near-copies-same-cluster")
@each("name", COPIES)
def test_a_copy_is_found_and_told(name: str) -> None:
    copy = COPIES[name]
    assert shares_a_band(ORIGINAL, copy)
    assert set(copies_among(ORIGINAL, {"copy": copy})) == {"copy"}
    assert set(copies_among(copy, {"original": ORIGINAL})) == {"original"}


@pytest.mark.promise("articles.near-copies-same-cluster")
@each("name", OTHERS)
def test_another_report_is_no_copy(name: str) -> None:
    assert copies_among(ORIGINAL, {"other": OTHERS[name]}) == {}
    assert copies_among(OTHERS[name], {"original": ORIGINAL}) == {}


def test_two_reports_with_one_large_table_are_no_copies() -> None:
    one, other = (f"{prose(n, 10)}\n{table(0, 400)}" for n in (11, 12))
    assert not is_copy(tell(one), tell(other))


def test_a_copy_is_found_nearly_always() -> None:
    dice, found, told = random.Random(4), 0, 0
    for seed in range(60):
        original = prose(100 + seed, dice.randint(12, 60))
        copy = f"{prose(900 + seed, 4)} {reworded(original, 0.05, seed)} {prose(500 + seed, 4)}"
        found += shares_a_band(original, copy)
        told += is_copy(tell(original), tell(copy))
    assert (found, told) >= (59, 58)


def test_texts_without_spaces_between_words_are_told_apart_too() -> None:
    longer = (
        "攻击者通过钓鱼邮件投递恶意文档并在受害主机上建立持久化机制随后窃取浏览器凭据和加密货币钱包"
        "研究人员还观察到该组织使用合法的远程管理工具在内网中横向移动并最终部署勒索软件对文件进行加密"
    )
    assert set(copies_among(longer, {"copy": "转载：" + longer + "本文来自网络"})) == {"copy"}
    assert shares_a_band(longer, "转载：" + longer + "本文来自网络")
    assert copies_among(longer, {"other": longer[::-1]}) == {}


def test_words_of_the_page_around_a_copy_are_no_facts_that_it_lacks() -> None:
    around = "Win11 24h2 guide 5min read 2FA tips Q3 outlook K8s class Web3 news"
    assert set(copies_among(ORIGINAL, {"copy": f"{around}\n{prose(1)}\n{around}"})) == {"copy"}


def test_one_template_with_one_other_indicator_is_another_report() -> None:
    one, other = (f"{prose(1, 20)} It called c{n}[.]kestrel-files[.]net by CVE-2024-{3400 + n}." for n in (1, 2))
    assert shares_a_band(one, other)
    assert copies_among(one, {"other": other}) == {}


def test_a_short_text_has_no_bands() -> None:
    assert bands("The loader called evil[.]example once, and nothing else was seen.") == ()
    assert bands("") == ()
    assert len(bands(prose(1, 8))) > 0


def test_bands_are_the_same_everywhere_and_ascend() -> None:
    found = bands(ORIGINAL)
    assert list(found) == sorted(set(found))
    assert bands(ORIGINAL) == found
    assert found[0] == "near:00:af31a97b2b84afcd6b6b"


@each(
    "text",
    [
        "a " * 500_000,
        "a-" * 500_000,
        "a." * 500_000,
        "[.]" * 300_000,
        "\u0301" * 900_000,
        "a\u200b" * 400_000,
        "'" * 999_999,
    ],
    ids=lambda text: repr(text[:3]),
)
def test_hostile_texts_take_no_longer_than_others(text: str) -> None:
    begun = time.monotonic()
    bands(text)
    assert time.monotonic() - begun < 10


def test_texts_are_compared_alike_time_and_again_and_few_and_no_long_ones_are_kept_for_that() -> None:
    texts = {**COPIES, **OTHERS, **{f"other {number}": prose(100 + number, 4) for number in range(40)}}
    plainly = {name: tell(text).bands for name, text in texts.items() if is_copy(tell(ORIGINAL), tell(text))}
    assert [copies_among(ORIGINAL, texts) for _ in range(2)] == [plainly, plainly]
    assert near_duplicates._kept.cache_info().currsize <= 32
    near_duplicates._kept.cache_clear()
    assert copies_among(ORIGINAL, {"long": ORIGINAL + 40_000 * " "}).keys() == {"long"}
    assert near_duplicates._kept.cache_info().currsize == 0
