from __future__ import annotations

import asyncio

import pytest

from intel.store.sqlite.articles import SqliteArticles
from tests.api.running import Running


@pytest.mark.slow
async def test_of_many_who_ask_for_an_article_at_once_few_have_it_read(
    api: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    article = await api.publish("report", text="It asked gale-post[.]com.")
    reading = most = 0
    found = SqliteArticles.iocs_of

    async def counted(self: SqliteArticles, *arguments: object) -> object:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        try:
            return await found(self, *arguments)  # type: ignore[arg-type]  # passed on as they came
        finally:
            reading -= 1

    monkeypatch.setattr(SqliteArticles, "iocs_of", counted)
    answers = await asyncio.gather(*(api.client.get(f"/articles/{article.id}") for _ in range(12)))
    assert {answer.status_code for answer in answers} == {200}
    assert 0 < most <= 2
