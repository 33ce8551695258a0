"""What a page shows, as a file to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from starlette.responses import Response

from api.annotating import annotate
from api.article_records import READ_AT_ONCE
from api.formats import Format, render, render_article
from api.web.visit import Visit, private
from intel.records import Article, Ioc
from intel.store.walking import pages_of


def is_format(asked: str) -> TypeGuard[Format]:
    """Tell whether a page can be had in that format."""
    return asked in ("csv", "misp", "stix", "txt")


async def export(visit: Visit, format: Format, iocs: Sequence[Ioc]) -> Response:
    """Answer with the indicators of a page as a file in that format."""
    noted = await annotate(visit.service.store, iocs, visit.service.clock())
    return private(render(format, iocs, noted, visit.service.settings.base_url))


async def export_article(visit: Visit, format: Format, article: Article) -> Response:
    """Answer with all indicators of an article as a file in that format."""
    pages = pages_of(visit.service.store.articles, article.id, READ_AT_ONCE)
    return private(await render_article(format, article, pages, visit.service))
