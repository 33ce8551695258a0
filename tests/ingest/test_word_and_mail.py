"""Word documents and saved mail messages are read as articles."""

from __future__ import annotations

import gc
import io
import random
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import docx
import pytest

from api.cli.extracting import extract
from ingest.body import HTML, MAIL, MARKDOWN, PLAIN, WORD, file_type
from ingest.reading import Page, ReadPage, read_page
from intel.errors import ArticleUnreadable
from tests.cases import each

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Barge loader"
    document.core_properties.author = "Mara Quay"
    document.core_properties.created = datetime(2026, 10, 1, 8)
    document.add_heading("Barge loader", 1)
    document.add_paragraph("The loader asks barge[.]kestrel-files[.]net for its next stage.")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Type", "Value", "C2", "45.61.137[.]20"), strict=True):
        cell.text = text
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def mail(*, html: bool = True) -> bytes:
    message = EmailMessage()
    message["From"] = "Mara Quay <mara@tidewatch.example>"
    message["To"] = "list@tidewatch.example"
    message["Subject"] = "Barge loader, second wave"
    message["Date"] = "Fri, 02 Oct 2026 08:00:00 +0200"
    message.set_content("The loader asks barge[.]kestrel-files[.]net for its next stage, says the plain text.")
    if html:
        said = "<p>The loader asks <b>quay[.]kestrel-files[.]net</b> for its next stage, says the page – twice.</p>"
        message.add_alternative(f"<html><body>{said}</body></html>", subtype="html", charset="windows-1252")
    message.add_attachment(b"MZ", maintype="application", subtype="octet-stream", filename="invoice.exe")
    return message.as_bytes()


def read(body: bytes) -> ReadPage:
    kind = file_type(body)
    assert kind is not None
    return read_page(Page(body, kind, None, None, None, NOW))


def values(page: ReadPage) -> set[str]:
    return {sighting.value for sighting in page.sightings}


def test_a_word_document_is_read_with_its_tables_and_what_it_says_of_itself() -> None:
    found = read(word())
    assert values(found) == {"barge.kestrel-files.net", "45.61.137.20", "Barge"}
    article = found.article
    assert (article.title, article.author) == ("Barge loader", "Mara Quay")
    assert article.published_at == datetime(2026, 10, 1, 8, tzinfo=UTC)
    assert "C2 | 45.61.137[.]20" in (article.text or "")


def test_a_message_is_read_by_its_html_under_its_subject_sender_and_date() -> None:
    found = read(mail())
    assert values(found) == {"quay.kestrel-files.net"}
    article = found.article
    assert (article.title, article.author) == ("Barge loader, second wave", "Mara Quay")
    assert article.published_at == datetime(2026, 10, 2, 6, tzinfo=UTC)
    assert "What was attached to the message was not read (1)." in article.notes


def test_a_message_that_does_not_say_that_it_is_mime_is_read_without_its_headers() -> None:
    found = read(
        b"From: Mara Quay <mara@tidewatch.example>\r\nTo: list@tidewatch.example\r\nSubject: Barge loader\r\n"
        b"Date: Fri, 02 Oct 2026 08:00:00 +0200\r\n\r\nThe loader asks barge[.]kestrel-files[.]net for its stage.\r\n"
    )
    assert values(found) == {"barge.kestrel-files.net"}
    assert (found.article.title, found.article.author) == ("Barge loader", "Mara Quay")


def test_a_message_without_html_is_read_by_its_text() -> None:
    assert values(read(mail(html=False))) == {"barge.kestrel-files.net"}


@each(
    ("body", "kind"),
    [
        (word(), WORD),
        (mail(), MAIL),
        (b"Return-Path: <a@b.example>\r\nReceived: by c\r\n\tfor d\r\nMIME-Version: 1.0\r\n\r\nBody", MAIL),
        (b"From: Mara <a@b.example>\r\nTo: c@d.example\r\nDate: Tue, 24 Nov 2026 10:00:00 +0000\r\n\r\nIt", MAIL),
        (b"From a@b.example Tue Nov 24 10:00:00 2026\nFROM:\n a@b.example\nDate: 4 Nov 2026 1:00\n\nBody", MAIL),
        (b"From: a[@]b[.]example\nDate: Tue, 24 Nov 2026 10:00:00 +0000\nSubject: as quoted\n\nBody", PLAIN),
        (b"From: Mara <a@b.example>\nDate: last week\n\nA note.", PLAIN),
        (b"Report\nFrom: Mara <a@b.example>\nDate: Tue, 24 Nov 2026 10:00:00 +0000\n\nA note.", PLAIN),
        (b"Subject: a note that is no message\n\nMIME-Version: 1.0 is a header.\n", PLAIN),
        (b"---\ntitle: A post\n---\nText of it.\n", MARKDOWN),
        (b"<html><body><p>MIME-Version: 1.0</p></body></html>", HTML),
        (b"<!-- copied > here -->\n<main class='post'><h1>Report</h1>\n<p>It called evil[.]example.</p></main>", HTML),
        (b"<table><tr><td>evil[.]example</td></tr></table>", HTML),
        (b"<pre># a comment\n# another</pre><p>It called evil[.]example.</p>", HTML),
        (b"<p align=center><img src=logo.png></p>\n\n# Loader\n\nIt called evil[.]example.", PLAIN),
        (b"<unknown> called evil[.]example", PLAIN),
        (b"PK\x03\x04 some archive of other things", None),
    ],
)
def test_what_a_file_is_shows_in_its_bytes(body: bytes, kind: str | None) -> None:
    assert file_type(body) == kind


@pytest.mark.slow
def test_a_word_document_that_unpacks_to_too_much_is_refused() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * 100_000_001)
    with pytest.raises(ArticleUnreadable) as refused:
        read(file.getvalue())
    assert refused.value.reason == "word_too_large"


@pytest.mark.parametrize("whole", [word(), mail()])
def test_damaged_files_are_refused_by_a_reason_and_never_by_a_crash(whole: bytes) -> None:
    chance = random.Random(7)
    for _ in range(60):
        body = bytearray(whole)
        for _ in range(chance.randrange(1, 30)):
            body[chance.randrange(4, len(body))] = chance.randrange(256)
        kind = WORD if whole.startswith(b"PK") else MAIL
        try:
            read_page(Page(bytes(body), kind, None, None, None, NOW))
        except ArticleUnreadable as refused:
            assert refused.reason in ("word_damaged", "word_too_large", "mail_damaged", "no_text")


def test_the_command_line_extracts_from_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gc, "disable", lambda: None)  # this process goes on
    for name, body in (("report.docx", word()), ("report.eml", mail())):
        (tmp_path / name).write_bytes(body)
        extract(str(tmp_path / name), explain=False, as_json=False, iocextract=False, wide=False)
        assert "kestrel-files.net" in capsys.readouterr().out
