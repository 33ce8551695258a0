"""`ioc feedback export`: what readers called wrong, as labelled examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from api.cli.exporting import destination
from api.cli.running import say, with_store
from api.web.text import counted
from intel.feedback import Feedback
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339


def export_feedback(output: Path | None) -> None:
    """Write one example a line: `label` is what the reader holds right, `readers` how many say so."""

    async def run(store: Store, _: Settings) -> int:
        written, last, readers = 0, None, 0
        with destination(output) as out:
            async for one in store.feedback.all():
                if last is not None and _candidate(last) != _candidate(one):
                    out.write(example_line(last, readers))
                    written, readers = written + 1, 0
                last, readers = one, readers + 1
            if last is not None:
                out.write(example_line(last, readers))
                written += 1
            out.flush()
        return written

    say(f"{counted(with_store(run, reads=True), 'example')} exported")


def _candidate(one: Feedback) -> str:
    return one.id.partition(":")[0]


def example_line(one: Feedback, readers: int) -> bytes:
    """Return a labelled example as a line of JSON."""
    example: dict[str, Any] = {
        "type": one.type,
        "value": one.value,
        "spelling": one.spelling,
        "text": one.text,
        "label": "no_indicator" if one.kept else "indicator",
        "rule": one.rule,
        "readers": readers,
        "article": {"id": one.article_id, "title": one.title, "url": one.url},
        "said_at": rfc3339(one.said_at),
    }
    return json.dumps(example).encode() + b"\n"
