"""Take back what was taken in: an article, or all that an account submitted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from intel.errors import Forbidden, NotFound, StoreUnavailable
from intel.records import Account, Role
from intel.store import Store

# A page of the account that is being read is waited for: what comes of it goes too.
_READING_SECONDS: Final = 200
_LOOK_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Removing:
    """Removes articles and accounts from one store."""

    store: Store

    async def may_remove(self, account_id: str, role: Role, article_id: str) -> bool:
        """Return whether an account is an administrator, or the only one that submitted an article."""
        return role == "administrator" or await self.store.submissions.submitters(article_id) == {account_id}

    async def remove(self, account_id: str, role: Role, article_id: str) -> None:
        """Remove an article in an account's name. Raises NotFound and Forbidden."""
        if await self.store.articles.get(article_id) is None:
            raise NotFound("No article has this id.")
        if not await self.may_remove(account_id, role, article_id):
            raise Forbidden("Only an administrator, or the one account that submitted an article, may remove it.")
        await self.store.articles.remove(article_id)

    async def remove_account(self, account: Account, now: datetime, *, with_submissions: bool) -> int:
        """Delete an account with its keys, sessions, searches and submissions; return how many articles went with it.

        With its submissions go the articles that no other account submitted. The account is shut out first, so that
        nothing comes in meanwhile, and deleted last, so that a removal that was cut short can be repeated.
        """
        shut_out = replace(account, disabled_at=now, session_epoch=account.session_epoch + 1)
        await self.store.accounts.update(shut_out)
        removed = 0
        for _ in range(_READING_SECONDS):
            gone, being_read = await self._remove_submissions(account.id, with_submissions)
            removed += gone
            if not being_read:
                for search in await self.store.searches.of(account.id):
                    await self.store.searches.remove(search.id)
                await self.store.accounts.remove(account.id)
                return removed
            await asyncio.sleep(_LOOK_SECONDS)
        raise StoreUnavailable("a page of this account is still being read; repeat the command in a minute")

    async def _remove_submissions(self, account_id: str, with_submissions: bool) -> tuple[int, int]:
        """Remove what can be removed; return how many articles went, and how many submissions are still there."""
        gone = left = 0
        async for submission in self.store.submissions.all_of(account_id):
            if submission.status == "fetching":
                left += 1
                continue
            article_id = submission.article_id
            if with_submissions and article_id and await self.may_remove(account_id, "submitter", article_id):
                gone += await self.store.articles.remove(article_id)
            left += not await self.store.submissions.remove(submission)
        return gone, left
