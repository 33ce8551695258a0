"""`ioc article remove` and `ioc account remove`."""

from __future__ import annotations

from api.auditing import on_command_line
from api.cli.running import say, with_store
from api.web.text import counted
from ingest.removing import Removing
from intel.errors import NotFound
from intel.ids import account_id
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now


def remove_articles(ids: list[str]) -> int:
    """Remove articles; exit status 1 where one of them is not there, the others go all the same."""

    async def remove(store: Store, _: Settings) -> list[str]:
        unknown = []
        for id in ids:
            if await store.articles.remove(id):
                await on_command_line(store).note("article.removed", id)
            else:
                unknown.append(id)
        return unknown

    unknown = with_store(remove, reads=True)
    for id in unknown:
        say(f"no article has the id {id}")
    say(f"{len(ids) - len(unknown)} of {len(ids)} articles removed")
    return 1 if unknown else 0


def remove_account(email: str, *, with_submissions: bool) -> None:
    """Delete an account; with its submissions, the articles that no other account submitted go too."""

    async def remove(store: Store, _: Settings) -> int:
        account = await store.accounts.get(account_id(email))
        if account is None:
            raise NotFound(f"{email} has no account; see: ioc account list")
        gone = await Removing(store).remove_account(account, utc_now(), with_submissions=with_submissions)
        await on_command_line(store).note("account.removed", account.email, counted(gone, "article") if gone else "")
        return gone

    articles = with_store(remove, reads=True)
    say(f"account {email} removed" + (f", and {counted(articles, 'article')} with it" if with_submissions else ""))
