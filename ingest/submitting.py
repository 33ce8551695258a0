"""Accepting a submission: it is stored before anybody is told, and done at once where the article is known."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from ingest.blocking import Blocking
from ingest.fetch import FetchAllow, check_url
from ingest.queue.port import Queue
from ingest.sharing_changes import change_sharing
from ingest.work import done
from intel.canonical import canonical_url
from intel.errors import InvalidQuery, RefusedUrl
from intel.ids import OPERATOR, article_id, content_identity, refetch_id, submission_id
from intel.records import SUBMITTED_FILE, Article, HandedFile, Submission
from intel.store import Store
from intel.store.waiting import BOUNDS, WaitingBounds
from intel.tlp import Tlp, strictest
from intel.tracing import submission_span


@dataclass(frozen=True, slots=True)
class Submitting:
    """Takes submissions in for any account."""

    store: Store
    queue: Queue
    fetch_allow: FetchAllow
    clock: Callable[[], datetime]
    bounds: WaitingBounds = BOUNDS

    async def submit(
        self,
        account_id: str,
        url: str,
        source_name: str | None,
        not_before: datetime | None = None,
        tlp: Tlp | None = None,
    ) -> Submission:
        """Return the account's submission of that address, new or as it stands. RefusedUrl where its form forbids
        fetching.

        A new one is read at once, or from `not_before` on. What is known or waits becomes as strict as `tlp` at least;
        InvalidQuery where it is being read as less.
        """
        checked = await self._checked(url)
        address, now = canonical_url(checked), self.clock()
        submission = Submission(
            id=submission_id(account_id, address),
            account_id=account_id,
            url=checked,
            source_name=source_name or urlsplit(checked).hostname or checked,
            status="queued",
            created_at=now,
            due_at=not_before or now,
            tlp=tlp,
        )
        article = await self.known(checked)
        # The operator's name for a source takes the place of what an account claimed: the page is read again for it.
        if article is None or (account_id == OPERATOR and article.source_domain is not None):
            return await self._add(submission, now)
        await self._restrict(article, tlp)
        return await self._add(done(submission, article, now), now)

    async def submit_all(
        self, account_id: str, urls: Sequence[str], source_name: str | None, tlp: Tlp | None = None
    ) -> tuple[Submission, ...]:
        """Return the account's submission of each address, in their order.

        InvalidQuery, and nothing is submitted, where one of them may not be fetched. An error in the middle leaves the
        ones before it submitted: whoever asks for all again loses and doubles none.
        """
        for place, url in enumerate(urls):
            try:
                await self._checked(url)
            except RefusedUrl as refused:
                raise InvalidQuery(f"urls.{place}", refused.detail) from None
        return tuple([await self.submit(account_id, url, source_name, tlp=tlp) for url in urls])

    async def submit_file(
        self, account_id: str, name: str, body: bytes, source_name: str | None, tlp: Tlp | None = None
    ) -> Submission:
        """Return the account's submission of a file, new or as it stands. QueueFull where too much waits already.

        What is known or waits becomes as strict as `tlp` at least; InvalidQuery where it is being read as less.
        The bytes are stored before the submission that names them; whatever is left over is deleted later.
        """
        identity, now = await asyncio.to_thread(content_identity, body), self.clock()
        id = submission_id(account_id, identity)
        file = HandedFile(secrets.token_hex(16), account_id, id, len(body), now)
        submission = Submission(
            id=id,
            account_id=account_id,
            url="",
            source_name=source_name or SUBMITTED_FILE,
            status="queued",
            created_at=now,
            due_at=now,
            file_id=file.id,
            file_name=name,
            tlp=tlp,
        )
        article = await self._known_file(identity)
        if article is not None:
            await self._restrict(article, tlp)
            return await self._add(done(replace(submission, file_id=None), article, now), now)
        await self.store.files.put(file, body)
        stored = await self._add(submission, now)
        if stored.file_id != file.id:
            await self.store.files.remove(file.id)
        return stored

    async def _restrict(self, article: Article, tlp: Tlp | None) -> None:
        if strictest([article.tlp, tlp]) != article.tlp:
            await change_sharing(self.store, article.id, tlp)

    async def _known_file(self, identity: str) -> Article | None:
        led = await self.store.articles.id_of(identity)
        return await self.store.articles.get(led or article_id(identity))

    async def again(self, account_id: str, article: Article, tlp: Tlp | None = None) -> Submission:
        """Return the account's submission, of this minute, to read again a known article, which becomes as strict as
        `tlp` at least.

        RefusedUrl where its address may not be fetched (any more); ValueError for an article without an address.
        """
        if article.url is None:
            raise ValueError("an article from a file has no address")
        now = self.clock()
        submission = Submission(
            id=refetch_id(account_id, article.id, now),
            account_id=account_id,
            url=await self._checked(article.url),
            source_name=article.source_name,
            status="queued",
            created_at=now,
            due_at=now,
            again=True,
            tlp=tlp,
        )
        await self._restrict(article, tlp)
        return await self._add(submission, now)

    async def known(self, url: str) -> Article | None:
        """Return the article that an address is known to lead to. RefusedUrl where the address may not be fetched."""
        article_id = await self.store.articles.id_of(canonical_url(await self._checked(url)))
        return await self.store.articles.get(article_id) if article_id else None

    async def _checked(self, url: str) -> str:
        """Return the address as it is fetched. RefusedUrl where its form, or an administrator's block, forbids that."""
        checked = check_url(url, self.fetch_allow)
        await Blocking(self.store).check(checked)
        return str(checked)

    async def _add(self, submission: Submission, now: datetime) -> Submission:
        with submission_span("submit", submission.id):
            stored = await self.store.submissions.add(submission, self.bounds)
            stored = await self._restricted(stored, submission.tlp)
            if not stored.ended and stored.attempts == 0 and stored.due_at <= now:
                await self.queue.enqueue(stored)
        return stored

    async def _restricted(self, stored: Submission, tlp: Tlp | None) -> Submission:
        """Return a submission that may have been handed in before, or its article, as strict as it is asked for now."""
        if strictest([stored.tlp, tlp]) == stored.tlp:
            return stored
        if stored.status == "queued":
            stricter = replace(stored, tlp=tlp)
            # Does nothing where a worker has claimed it since.
            if await self.store.submissions.update(stricter):
                return stricter
        elif stored.article_id and (article := await self.store.articles.get(stored.article_id)):
            await self._restrict(article, tlp)
            return stored
        raise InvalidQuery("tlp", "is stricter than before, and this is being read already; submit it again when it is")
