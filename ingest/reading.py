"""Reading what was fetched: from a page's bytes to an article and what is seen in it.

Pure, from values to values, so that it runs in a process that can be killed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ingest.body import is_large_body
from ingest.front_matter import with_plain_fields
from ingest.indicators import Document, Extraction, document_from_text, extract
from ingest.indicators.candidate_records import candidate_records
from ingest.indicators.missed_defanging import MissedPiece, missed_pieces
from ingest.indicators.rows import examples_in
from ingest.messages import conforms, rehearse
from ingest.near_duplicates import bands
from ingest.sharing import marks_of_text, sharing_of, sharing_of_page
from intel import ids
from intel.candidate_records import CandidateRecord
from intel.canonical import canonical_url
from intel.errors import IsolationFailed
from intel.records import IMPORTED_FILE, IOC_TYPES, Article, Sighting
from intel.text_blocks import LONGEST_STRUCTURE
from intel.times import utc_now
from intel.tlp import Tlp, strictest
from intel.unseen import plain
from intel.words import encoded_words

if TYPE_CHECKING:
    from ingest.article_text import ArticleText

_MOST_DROPPED: Final = 1 << 31
_TRIED_BEFOREHAND: Final = ("evidence.toml", "notes.toml", "clauses.toml")
_FIRST_PAGE: Final = (
    b"<html><body><p>The loader called evil[.]example.com with T1059 and Emotet, once.</p></body></html>"
)
_LEFT_OUT: Final = "an article were left out."


@dataclass(frozen=True, slots=True)
class Page:
    """What was fetched, or a file; `url` is where it came from after redirects, None for a file.

    `published_at` is what the operator says, whatever the text does; `named_at` is the date in a file's name, for one
    that says none itself.
    """

    body: bytes
    content_type: str
    charset: str | None
    url: str | None
    source_name: str | None
    fetched_at: datetime
    published_at: datetime | None = None
    named_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """An article, its sightings, and the canonical URLs that lead to it.

    `candidates` are all that was weighed (see `candidate_records`), `unread` the defanged lines that none of them
    accounts for. `bands` are the keys under which copies of the text are found (see `near_duplicates`).
    `source_stated`: the operator says whose it is, also where the article is known as another source's.
    """

    article: Article
    sightings: tuple[Sighting, ...]
    addresses: tuple[str, ...]
    candidates: tuple[CandidateRecord, ...] = ()
    unread: tuple[MissedPiece, ...] = ()
    bands: tuple[str, ...] = ()
    source_stated: bool = False

    def restricted(self, tlp: Tlp | None) -> ReadPage:
        """Return the same, as strict as `tlp` at least."""
        return replace(self, article=replace(self.article, tlp=strictest([self.article.tlp, tlp])))


def is_large(page: Page) -> bool:
    """Tell whether reading a page may take much memory."""
    return is_large_body(page.body, page.content_type)


def read_page(page: Page, most_indicators: int = 20_000) -> ReadPage:
    """Find the article on a page and the indicators in it. Raises ArticleUnreadable."""
    # Pages are read in processes apart: the one that answers requests has no use for parsers, which take much memory.
    from ingest.article_text import read_article
    from ingest.wording import findings_of

    text = read_article(page.body, page.content_type, page.charset, page.url)
    marks = marks_of_text(text.title, text.text)
    tlp = sharing_of(marks) if page.url is None else sharing_of_page(marks)
    extraction = extract(_document(text, page.url), most_indicators=most_indicators)
    address = canonical_url(text.canonical_link or page.url) if page.url else None
    identity = address or ids.content_identity(page.body)
    sightings = sightings_of(extraction)
    weighed = candidate_records(extraction)
    article = Article(
        id=ids.article_id(identity),
        url=text.canonical_link or page.url,
        title=plain(text.title),
        source_name=plain(page.source_name or "").strip() or text.site_name or IMPORTED_FILE,
        author=text.author,
        published_at=_not_after(page.published_at or text.published_at or page.named_at, page.fetched_at),
        fetched_at=page.fetched_at,
        language=text.language,
        summary=text.summary,
        cluster_id=cluster_of(text.text),
        text=text.text,
        notes=text.notes + _dropped_note(extraction.dropped, most_indicators) + weighed.notes,
        ioc_counts=counts_by_type(sightings),
        ioc_dropped=extraction.dropped,
        findings=findings_of(
            f"{text.title}\n\n{text.text}", [found.value for found in extraction.indicators if found.type == "cve"]
        ),
        structure=text.structure,
        tlp=tlp,
    )
    addresses = {canonical_url(link) for link in (page.url, text.canonical_link, *text.amp_links) if link}
    return ReadPage(
        article,
        sightings,
        tuple(sorted(addresses)),
        weighed.records,
        missed_pieces(extraction),
        bands(text.text),
    )


def read_pages(pages: list[Page], most_indicators: int) -> Iterator[ReadPage]:
    """Yield what `read_page` finds on each page, in their order. Raises ArticleUnreadable at the first without any."""
    for page in pages:
        yield read_page(page, most_indicators)


def cluster_of(text: str) -> str:
    """Return the cluster of all articles that say the same words."""
    return hashlib.sha256(encoded_words(text).encode()).hexdigest()


def checked(found: ReadPage) -> ReadPage:
    """Return what a confined reader gave, where its numbers and types can be true. Raises IsolationFailed.

    Its types were checked as it came in; a reader that an author took over could still break what counts on it.
    """
    article, sightings = found.article, found.sightings
    sound = (
        all(sighting.type in IOC_TYPES and sighting.position == place for place, sighting in enumerate(sightings))
        and article.ioc_counts == counts_by_type(sightings)
        and 0 <= article.ioc_dropped < _MOST_DROPPED
        and article.revision == 1
        and len(article.structure) <= LONGEST_STRUCTURE
        and (not article.findings or _are_findings(article.findings))
        and all(0 <= finding["cvss"]["score"] <= 10 for finding in article.findings.values() if "cvss" in finding)
    )
    if not sound:
        raise IsolationFailed("parse_crashed", "The page could not be read: its reader crashed.")
    return found


def _are_findings(findings: dict[str, Any]) -> bool:
    from ingest.wording import Finding

    return conforms(findings, dict[str, Finding])


def limited(found: ReadPage, most_indicators: int) -> ReadPage:
    """Return the page with no more than its first `most_indicators`, and the others counted as dropped."""
    beyond = len(found.sightings) - most_indicators
    if beyond <= 0:
        return found
    kept, dropped = found.sightings[:most_indicators], found.article.ioc_dropped + beyond
    notes = tuple(note for note in found.article.notes if not note.endswith(_LEFT_OUT))
    article = replace(
        found.article,
        notes=notes + _dropped_note(dropped, most_indicators),
        ioc_counts=counts_by_type(kept),
        ioc_dropped=dropped,
    )
    return replace(found, article=article, sightings=kept)


def load() -> None:
    """Load everything that a first page would wait for: parsers, stop words, lists of names, how results are sent."""
    rehearse(read_page, _html(_FIRST_PAGE), 1)
    rehearse(read_pages, [_html(_FIRST_PAGE)], 1)


def warm_up() -> Iterator[None]:
    """Load everything that a first page would wait for.

    Further steps read the samples, and then the examples of tables of rules, which ask what short texts ask: what a
    text asks for, such as most of the patterns, is made on first use.
    """
    from ingest.samples import sample_paths

    load()
    yield
    for path in sample_paths():
        rehearse(read_page, _html(path.read_bytes()), 20_000)
        yield
    for table in _TRIED_BEFOREHAND:
        for example in examples_in(table):
            extract(document_from_text(example))
        yield


def _html(body: bytes) -> Page:
    return Page(body, "text/html", None, None, None, utc_now())


def _document(text: ArticleText, url: str | None) -> Document:
    if text.html is None:
        return document_from_text(with_plain_fields(text.text))
    from ingest.indicators.html_document import document_from_html

    return document_from_html(text.html, url, text.text)


def sightings_of(extraction: Extraction) -> tuple[Sighting, ...]:
    """Return what was found, each with its sentence and the malware named near it."""
    return tuple(
        Sighting(found.type, found.value, extraction.sentence(found), extraction.malware_near(found), position)
        for position, found in enumerate(extraction.indicators)
    )


def counts_by_type(sightings: Iterable[Sighting]) -> dict[str, int]:
    """Return how many indicators of each type were seen, of those that were."""
    counts: dict[str, int] = {}
    for sighting in sightings:
        counts[sighting.type] = counts.get(sighting.type, 0) + 1
    return counts


def _dropped_note(dropped: int, most_indicators: int) -> tuple[str, ...]:
    if not dropped:
        return ()
    return (f"{dropped:,} indicators beyond the limit of {most_indicators:,} {_LEFT_OUT}",)


def _not_after(published_at: datetime | None, fetched_at: datetime) -> datetime | None:
    """Return no date in the future: a page may claim any, and would stand on top of every list until then."""
    return min(published_at, fetched_at) if published_at else None
