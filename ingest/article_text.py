"""From the bytes of a page or a file to an article. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

import lxml.html

from ingest import body as bodies
from ingest.front_matter import read_front_matter
from ingest.linked_lists import linked_lists
from ingest.mail_text import read_mail
from ingest.main_text import LEAST_TEXT, PageFacts, facts_of, main_text
from ingest.markdown_signs import HEADING, is_aside, without_signs
from ingest.markup import Markup, is_deeper, parse, text_of_source
from ingest.own_address import amp_links, canonical_link
from ingest.pdf_text import read_pdf
from ingest.published import date_in_text, published_at, read_date
from ingest.signatures import as_signed, without_site
from ingest.structure import structure_of
from ingest.word_text import read_word
from intel.errors import ArticleUnreadable

Kind = Literal["html", "text", "pdf", "markdown", "word", "mail"]

LONGEST_TITLE: Final = 500
LONGEST_NAME: Final = 200
LONGEST_SUMMARY: Final = 500
LONGEST_TEXT: Final = 1_000_000
LONGEST_HTML: Final = 10_500_000

# Measured: trafilatura takes time in the square of an element's children and depth; 15,000 children take it 5 s.
_MOST_TAGS: Final = 30_000
_LONGEST_SOURCE: Final = 3_000_000
_DEEPEST: Final = 256
_LOGIN_TEXT: Final = 250
_SCRIPT_TEXT: Final = 300
_LONGEST_DOOR: Final = max(LEAST_TEXT, _LOGIN_TEXT, _SCRIPT_TEXT)

_ALL_READ: Final = (
    "The page is too large or too deeply nested to tell the article from the rest: all of its text was read."
)
_NEEDS_SCRIPT: Final = re.compile(
    r"(?i)(?:enable|requires?|without|turn on|activate) (?:java ?script|js)\b|javascript (?:is|to be|must be) |"
    r"checking your browser|verify (?:that )?you are (?:a )?human|just a moment"
)
_BLANK: Final = re.compile(r"[\s\u2028\u2029]+")
_TEXT_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LABEL_CONTROLS: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_SENTENCE_END: Final = re.compile(r"[.!?。！？][\"')\]]?(?=\s)")
_LANGUAGE: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?", re.S)
_MOST_HEAD_LINES: Final = 20
_TITLE_FIELD: Final = re.compile(r"(?i)\s*title\s*:\s*[\"']?(\S.*?)[\"']?\s*$")
_ATTRIBUTE: Final = re.compile(r"\s*:[\w-]+:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class ArticleText:
    """An article as it was read. Everything in it is the author's word and no markup.

    `title` (≤ 500 characters), `author`, `site_name` (≤ 200) and `summary` (≤ 500) are single lines without control or
    bidirectional characters. `published_at` may lie in the future. `canonical_link` is of the page's own site, and
    `amp_links` are further addresses of the same article there. `text`
    is the readable text (≤ 1,000,000 characters), `structure` the stored form of its blocks (`intel.text_blocks`) where
    a page tells them, `html` the source for HTML that a parser can hold, else None.
    `notes` are sentences about limits that were reached.
    """

    kind: Kind
    title: str
    author: str | None
    published_at: datetime | None
    language: str | None
    site_name: str | None
    canonical_link: str | None
    summary: str
    text: str
    html: str | None
    notes: tuple[str, ...]
    amp_links: tuple[str, ...] = ()
    structure: str = ""


def read_article(body: bytes, content_type: str, charset: str | None, url: str | None) -> ArticleText:
    """Find the article in a page (`url` is where it came from) or a file (`url` None).

    Raises ArticleUnreadable: `unsupported_content_type no_text login_wall script_only pdf_encrypted pdf_damaged
    word_damaged word_too_large mail_damaged`.
    """
    if content_type == bodies.WORD:
        return _from_word(body)
    if content_type == bodies.MAIL:
        return _from_mail(body)
    kind = bodies.article_type(content_type or None, body)
    if kind is None:
        raise ArticleUnreadable("unsupported_content_type", "This is not a page, a text or a PDF.")
    if kind == bodies.PDF:
        return _from_pdf(body, url)
    is_markup = kind in (bodies.HTML, bodies.XHTML)
    text = bodies.decode(body, charset, markup=is_markup)
    if bodies.is_noise(text):
        raise _no_text("This holds no text that can be read, whatever it is declared as.")
    if is_markup:
        return _from_html(text, url)
    return _from_markdown(text, url) if kind == bodies.MARKDOWN else _from_text(text, url)


def clean_label(text: str | None, longest: int) -> str:
    """Return one line of a stranger's text: blanks collapsed, control and bidirectional characters gone, cut at
    `longest`.
    """
    if not text:
        return ""
    line = _BLANK.sub(" ", text[: longest * 8])
    # What was taken out may have parted two blanks.
    return _BLANK.sub(" ", _LABEL_CONTROLS.sub("", line)).strip()[:longest].rstrip()


def _from_html(source: str, url: str | None) -> ArticleText:
    markup = parse(source[:LONGEST_HTML])
    if markup.tree is None:
        return _from_shattered_html(markup, url)
    tree = markup.tree
    small = markup.tags <= _MOST_TAGS and len(markup.source) <= _LONGEST_SOURCE and not is_deeper(tree, _DEEPEST)
    date = published_at(tree)
    about = facts_of(tree, markup.source, url, dated=date is not None) if small else PageFacts()
    written, body = main_text(tree) if small else (text_of_source(markup.source), None)
    text = _clean_text(written)
    _check_readable(text, tree)
    notes = () if small else (_ALL_READ,)
    site_name = clean_label(about.site_name, LONGEST_NAME) or None
    own_title = without_site(clean_label(tree.findtext(".//title"), LONGEST_TITLE), tree, site_name)
    found_title = without_site(clean_label(about.title, LONGEST_TITLE), tree, site_name)
    titles = (found_title, own_title) if url else (own_title, found_title)
    date = date or read_date(about.date or "") or (date_in_text(text) if url is None else None)
    return ArticleText(
        kind="html",
        title=titles[0] or titles[1] or _first_line(text) or url or "",
        author=clean_label(as_signed(about.author, tree), LONGEST_NAME) or None,
        published_at=date,
        language=_language(tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang")),
        site_name=site_name,
        canonical_link=canonical_link(tree, url),
        summary=_summary(about.description, text),
        text=text[:LONGEST_TEXT],
        html=markup.source,
        notes=notes + _cut_note(text) + _lists_note(linked_lists(tree, url)),
        amp_links=amp_links(tree, url),
        structure=structure_of(body, text[:LONGEST_TEXT]) if body is not None else "",
    )


def _from_shattered_html(markup: Markup, url: str | None) -> ArticleText:
    text = _clean_text(text_of_source(markup.source))
    _check_readable(text, None)
    return _plain_article("html", text, _first_line(text) or url or "", (_ALL_READ,))


def _from_text(text: str, url: str | None) -> ArticleText:
    text = _clean_text(text)
    if not any(character.isalnum() for character in text):
        raise _no_text("The text is empty.")
    return _plain_article("text", text, _first_line(text) or url or "")


def _from_markdown(text: str, url: str | None) -> ArticleText:
    article = _from_text(text, url)
    fields, length = read_front_matter(article.text)
    rest = article.text[length:]
    headings = (match[1] for line in rest.splitlines()[:200] if (match := HEADING.fullmatch(line[:1000])))
    title = clean_label(fields.get("title"), LONGEST_TITLE) or _label_of_line(next(headings, ""))
    return replace(
        article,
        kind="markdown",
        title=title or _first_line(rest) or article.title,
        author=clean_label(fields.get("author"), LONGEST_NAME) or None,
        published_at=read_date(fields.get("date", "")) or article.published_at,
        language=_language(fields.get("lang")),
        summary=_summary(fields.get("description"), _beginning(rest)),
    )


def _from_pdf(body: bytes, url: str | None) -> ArticleText:
    pdf = read_pdf(body, LONGEST_TEXT)
    text = _clean_text(pdf.text)
    if len(text) < LEAST_TEXT:
        raise _no_text("The PDF holds no text; it may be a scan.")
    notes = (f"{pdf.skipped_pages} pages of the PDF were not read.",) if pdf.skipped_pages else ()
    title = clean_label(pdf.title, LONGEST_TITLE) or _first_line(text) or url or ""
    article = _plain_article("pdf", text, title, notes)
    return replace(
        article,
        author=clean_label(pdf.author, LONGEST_NAME) or None,
        published_at=pdf.published_at or article.published_at,
    )


def _from_word(body: bytes) -> ArticleText:
    word = read_word(body, LONGEST_TEXT)
    text = _clean_text(word.text)
    if len(text) < LEAST_TEXT:
        raise _no_text("The Word document holds no text.")
    article = _plain_article("word", text, clean_label(word.title, LONGEST_TITLE) or _first_line(text))
    return replace(
        article,
        author=clean_label(word.author, LONGEST_NAME) or None,
        published_at=word.published_at or article.published_at,
    )


def _from_mail(body: bytes) -> ArticleText:
    """Return the article in a message: its HTML or text, under its subject, sender and date."""
    mail = read_mail(body)
    article = read_article(mail.body, bodies.HTML if mail.is_html else bodies.PLAIN, mail.charset, None)
    unread = f"What was attached to the message was not read ({mail.attachments})."
    return replace(
        article,
        kind="mail",
        title=clean_label(mail.subject, LONGEST_TITLE) or article.title,
        author=clean_label(mail.sender, LONGEST_NAME) or article.author,
        published_at=mail.sent_at or article.published_at,
        notes=(*article.notes, unread) if mail.attachments else article.notes,
    )


def _plain_article(kind: Kind, text: str, title: str, notes: tuple[str, ...] = ()) -> ArticleText:
    return ArticleText(
        kind=kind,
        title=title,
        author=None,
        published_at=date_in_text(text),
        language=None,
        site_name=None,
        canonical_link=None,
        summary=_summary(None, _beginning(text) if kind == "text" else text),
        text=text[:LONGEST_TEXT],
        html=None,
        notes=notes + _cut_note(text),
    )


def _check_readable(text: str, tree: lxml.html.HtmlElement | None) -> None:
    """Refuse pages that hold a door instead of an article."""
    if len(text) >= _LONGEST_DOOR:
        return
    if tree is not None and len(text) < _LOGIN_TEXT and tree.xpath("boolean(//input[@type='password'])"):
        raise ArticleUnreadable("login_wall", "The page asks for a sign-in instead of showing an article.")
    scripted = tree is not None and tree.find(".//script") is not None
    if scripted and (len(text) < LEAST_TEXT or (len(text) < _SCRIPT_TEXT and _NEEDS_SCRIPT.search(text))):
        raise ArticleUnreadable("script_only", "The page shows its text only to a browser that runs its scripts.")
    if len(text) < LEAST_TEXT:
        raise _no_text("The page holds no text.")


def _language(tag: str | None) -> str | None:
    match = _LANGUAGE.fullmatch((tag or "").strip())
    return match[1].lower() if match else None


def _summary(description: str | None, text: str) -> str:
    """Return the author's own description, or the first sentences."""
    if summary := clean_label(description, LONGEST_SUMMARY):
        return summary
    lead = clean_label(text, LONGEST_SUMMARY + 1)
    if len(lead) <= LONGEST_SUMMARY:
        return lead
    ends = [match.end() for match in _SENTENCE_END.finditer(lead)]
    if ends and ends[-1] > LONGEST_SUMMARY // 4:
        return lead[: ends[-1]]
    return lead[: LONGEST_SUMMARY - 1].rpartition(" ")[0].rstrip(" ,;:") + "…"


def _clean_text(text: str) -> str:
    return _TEXT_CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _first_line(text: str) -> str:
    """Return the first line that says something, without the signs of a heading or a field `title:`."""
    lines = text[: LONGEST_TITLE * 8].lstrip().splitlines()[:_MOST_HEAD_LINES]
    titles = (match[1] for line in lines if (match := _TITLE_FIELD.match(line)))
    said = [line for line in lines if not _ATTRIBUTE.match(line) and _label_of_line(line)] or lines[:1]
    headings = (line for line in said if HEADING.fullmatch(line))
    first = next(titles, "") or (next(headings, "") if said and is_aside(said[0]) else "") or "".join(said[:1])
    return _label_of_line(first) or clean_label(first, LONGEST_TITLE)


def _label_of_line(line: str) -> str:
    return clean_label(without_signs(line), LONGEST_TITLE)


def _beginning(text: str) -> str:
    """Return as much as a summary may take of what somebody wrote in Markdown, without its signs."""
    return without_signs(text[: LONGEST_SUMMARY * 8])


def _cut_note(text: str) -> tuple[str, ...]:
    return (f"The text was cut after {LONGEST_TEXT:,} characters.",) if len(text) > LONGEST_TEXT else ()


def _lists_note(links: tuple[str, ...]) -> tuple[str, ...]:
    return (f"Links to indicator lists, which were not read: {' '.join(links)}",) if links else ()


def _no_text(detail: str) -> ArticleUnreadable:
    return ArticleUnreadable("no_text", detail)
