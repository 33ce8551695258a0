"""The fields before the text of a Markdown file."""

from __future__ import annotations

from ingest.front_matter import with_plain_fields
from ingest.reading import Page, read_page
from intel.times import utc_now
from tests.cases import each

FRONT = "---\ntitle: \"Emotet returns\"\ndescription: 'It came by CVE-2024-3400.'\ndate: 2026-11-20\n---\n"
BODY = "# Findings\n\ntitle: what the report calls login-kestrel[.]org.\n"


def test_the_sentence_of_an_indicator_is_what_a_field_says_without_its_key_and_quotes() -> None:
    page = Page((FRONT + BODY).encode(), "text/markdown", None, None, None, utc_now())
    contexts = {one.value: one.context for one in read_page(page, 100).sightings}
    assert contexts == {
        "Emotet": "Emotet returns",
        "CVE-2024-3400": "It came by CVE-2024-3400.",
        "login-kestrel.org": "title: what the report calls login-kestrel[.]org.",
    }


@each("text", [FRONT + BODY, FRONT.replace("\n", "\r\n") + BODY, BODY, "---\nNo field\n---\n", ""])
def test_what_stands_behind_front_matter_keeps_its_place(text: str) -> None:
    plain = with_plain_fields(text)
    assert len(plain) == len(text) and plain.endswith(text[len(FRONT) + 10 :])
    assert plain.split("\n")[3:] == text.split("\n")[3:]
