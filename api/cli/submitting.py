"""`ioc submit`."""

from __future__ import annotations

import asyncio

from rich.console import Console

from api import views
from api.cli.filter_options import tlp_option
from api.cli.running import print_json, say, with_store
from ingest.assembly import open_ingest
from ingest.queue.embedded import EmbeddedQueue
from ingest.queue.port import Queue
from ingest.queue.redis import ArqQueue
from ingest.submitting import Submitting
from ingest.work import sweep
from intel.ids import OPERATOR
from intel.records import Submission
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now
from intel.tlp import Tlp

_POLL_SECONDS = 0.3


def submit_url(url: str, source: str | None, tlp: str | None = None, *, again: bool, wait: bool, as_json: bool) -> int:
    """Exit status 1 where the submission failed."""
    level = tlp_option(tlp)

    async def run(store: Store, settings: Settings) -> Submission:
        return await _submit(store, settings, url, source, level, again=again, wait=wait)

    with Console(stderr=True).status("reading the article …"):
        submission = with_store(run)
    if as_json:
        print_json(views.submission(submission))
    else:
        say(_sentence(submission))
    return 1 if submission.status == "failed" else 0


async def _submit(
    store: Store, settings: Settings, url: str, source: str | None, tlp: Tlp | None, *, again: bool, wait: bool
) -> Submission:
    """Submit an address; embedded, this process reads the article, unless a running service claims it first."""
    ingest = open_ingest(settings, store)
    redis = settings.redis_address
    queue: Queue = ArqQueue(redis) if redis else EmbeddedQueue(ingest.work.read)
    sweeping = asyncio.create_task(sweep(store, queue, utc_now))
    try:
        submitting = Submitting(store, queue, ingest.fetch_allow, utc_now)
        known = await submitting.known(url) if again else None
        if known is not None and known.url is not None:
            submission = await submitting.again(OPERATOR, known, tlp)
        else:
            submission = await submitting.submit(OPERATOR, url, source, tlp=tlp)
        while wait and not submission.ended:
            await asyncio.sleep(_POLL_SECONDS)
            submission = await store.submissions.get(submission.id) or submission
        return submission
    finally:
        sweeping.cancel()
        await asyncio.gather(sweeping, return_exceptions=True)
        await queue.close()
        await ingest.close()


def _sentence(submission: Submission) -> str:
    if submission.status == "done":
        left_out = f" ({submission.ioc_dropped} more left out)" if submission.ioc_dropped else ""
        return f"done: {submission.ioc_count} indicators{left_out} in article {submission.article_id}"
    if submission.status == "failed":
        return f"failed ({submission.reason}): {submission.detail}"
    return f"accepted as {submission.id}; a running service or worker reads it"
