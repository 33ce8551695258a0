"""Files that accounts hand in: kept with their submission, read as imported files are, and then deleted.

What such a file says of itself is a claim: it counts as one source, whatever it names, and a MISP event or STIX report
in it never takes the place of one that the operator or another account brought.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from ingest.body import file_type
from ingest.bundles import read_bundle
from ingest.isolated import Isolation
from ingest.pipeline import Pipeline
from ingest.reading import Page, ReadPage, checked
from intel.errors import ArticleUnreadable
from intel.ids import article_id, content_identity
from intel.records import IMPORTED_FILE, SUBMITTED_FILE, Article, Submission
from intel.store import Store

_JSON_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,60}(?:\{|\[\s{0,60}[\[{\]])")
_LARGE_JSON: Final = 1_000_000
# Nobody hands a file in for so long.
_LEFT_BEHIND: Final = timedelta(hours=1)
_FILES_AT_ONCE: Final = 100


def is_json(body: bytes) -> bool:
    """Tell whether a file begins as a JSON object or a list of them does; `[UPDATE …]` begins a text."""
    return _JSON_START.match(body) is not None


@dataclass(frozen=True, slots=True)
class HandedIn:
    """Takes in the file of a submission, in the share of the account that `pipeline` reads for."""

    store: Store
    pipeline: Pipeline
    isolation: Isolation
    most_indicators: int

    async def take(self, submission: Submission) -> Article:
        """Return the article of a file; of several in it the last one. Raises as the pipeline does."""
        body = await self.store.files.get(submission.file_id or "")
        if body is None:
            raise ArticleUnreadable("file_gone", "The file is not there any more; submit it again.")
        if is_json(body):
            found = await self._bundle(body, submission)
        else:
            found = (await self._page(body, submission),)
        *_, last = await self.pipeline.take_many([_claimed(page).restricted(submission.tlp) for page in found])
        if len(found) == 1:
            return last
        return replace(last, notes=(*last.notes, f"The file holds {len(found)} articles; this is the last one."))

    async def _page(self, body: bytes, submission: Submission) -> ReadPage:
        content_type = file_type(body)
        if content_type is None:
            detail = "The file is no HTML, text, Markdown, PDF, Word, EML, MISP event or STIX bundle."
            raise ArticleUnreadable("unsupported_content_type", detail)
        now = self.pipeline.clock()
        return await self.pipeline.read(Page(body, content_type, None, None, _named(submission), now))

    async def _bundle(self, body: bytes, submission: Submission) -> tuple[ReadPage, ...]:
        pages = await self.isolation.run(
            read_bundle,
            body,
            _named(submission),
            self.pipeline.clock(),
            self.most_indicators,
            account_id=submission.account_id,
            is_large=len(body) > _LARGE_JSON,
        )
        own = [_of_account(checked(page), submission.account_id) for page in pages]
        # Only when its last article is in is the file known.
        return (*own[:-1], replace(own[-1], addresses=(*own[-1].addresses, content_identity(body))))


def _named(submission: Submission) -> str | None:
    """Return what the account calls the file's source; None where it says nothing: then the file's own name counts."""
    return None if submission.source_name == SUBMITTED_FILE else submission.source_name


def _claimed(page: ReadPage) -> ReadPage:
    name = SUBMITTED_FILE if page.article.source_name == IMPORTED_FILE else page.article.source_name
    return replace(page, article=replace(page.article, source_name=name, source_domain=SUBMITTED_FILE))


def _of_account(page: ReadPage, account_id: str) -> ReadPage:
    """Return the page with an identity within the account: which event a file says it is, it can say of any."""
    identity = f"handed in\n{account_id}\n{page.article.id}"
    return replace(page, article=replace(page.article, id=article_id(identity)))


async def clear_files(store: Store, now: datetime) -> None:
    """Delete files that a killed process left: those whose submission has ended, is gone, or has another file."""
    for file in await store.files.before(now - _LEFT_BEHIND, _FILES_AT_ONCE):
        submission = await store.submissions.get(file.submission_id)
        if submission is None or submission.ended or submission.file_id != file.id:
            await store.files.remove(file.id)
