"""Texts that say at their head that they are not for everybody are kept out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ingest.reading import Page, read_page
from ingest.sharing import marks_of_text
from intel.errors import ArticleUnreadable
from tests.cases import each

STORY = "The loader asked evil[.]example for orders and wrote what it got to the disk of the victim.\n" * 5


def page(body: str, kind: str = "text/plain", url: str | None = None) -> Page:
    """A file, or what was fetched from an address."""
    return Page(body.encode(), kind, "utf-8", url, None, datetime(2026, 11, 20, tzinfo=UTC))


@pytest.mark.promise("import.restricted")
@each(
    ("head", "kind"),
    [
        ("TLP:RED\n\nKestrel report\n\n", "text/plain"),
        ("Kestrel report\n\n** TLP: AMBER+STRICT **\n\n", "text/plain"),
        ("Kestrel report\nClassification: TLP:RED\n\n", "text/plain"),
        ("---\ntitle: Kestrel\ntlp: red\n---\n\n", "text/markdown"),
        ('---\ntitle: Kestrel\nTLP: "amber+strict"\n---\n\n', "text/markdown"),
        ("[TLP:RED] Kestrel report\n\n", "text/plain"),
        ("Kestrel report [tlp:amber+strict]\n\n", "text/plain"),
    ],
)
def test_a_file_marked_red_or_amber_strict_at_its_head_is_not_taken_in(head: str, kind: str) -> None:
    with pytest.raises(ArticleUnreadable) as refused:
        read_page(page(head + STORY, kind))
    assert refused.value.reason == "restricted_sharing"


@pytest.mark.promise("tlp.read")
@each(
    ("head", "tlp"),
    [
        ("TLP:CLEAR\n\n", "clear"),
        ("TLP:WHITE\n\n", "clear"),
        ("TLP:AMBER\n\n", "amber"),
        ("TLP:GREEN\nKestrel report\n\n", "green"),
        ("Kestrel report [TLP:AMBER]\n\nDistribution: TLP:GREEN\n\n", "amber"),
        ("---\ntitle: Kestrel\ntlp: green\n---\n\n", "green"),
        ("Kestrel report\n\n", None),
        ("What TLP:AMBER means\n\n", None),
    ],
)
def test_the_head_of_a_text_says_how_far_it_may_be_passed_on(head: str, tlp: str | None) -> None:
    assert read_page(page(head + STORY, "text/markdown" if head[0] == "-" else "text/plain")).article.tlp == tlp


@each(
    "head",
    [
        "What TLP:RED means\n\n",
        "Never forward what is marked TLP:RED to anybody, however urgent it seems.\n\n",
        "TLP:REDACTED\n\n",
        "\n".join(f"Line {number} of a long introduction." for number in range(30)) + "\nTLP:RED\n",
    ],
)
def test_a_text_that_may_be_shared_or_only_speaks_of_marks_is_read(head: str) -> None:
    assert [one.value for one in read_page(page(head + STORY)).sightings] == ["evil.example"]


def test_a_public_page_is_read_whatever_it_says() -> None:
    read = read_page(page("TLP:RED\n\n" + STORY, url="https://blog.example/red"))
    assert read.sightings
    assert read.article.tlp == "amber"
    assert read_page(page("TLP:GREEN\n\n" + STORY, url="https://blog.example/green")).article.tlp == "green"


def test_marks_are_told_in_one_spelling() -> None:
    assert marks_of_text("Tlp:Amber + Strict", "") == {"tlp:amber+strict"}
    assert marks_of_text("", "tlp=red\n") == {"tlp:red"}
    assert marks_of_text("[TLP:AMBER_STRICT] x", "TLP:amber strict\nTLP:AMBER +  STRICT\n") == {"tlp:amber+strict"}
    assert marks_of_text("", "x" * 100_000 + "\nTLP:RED") == frozenset()
