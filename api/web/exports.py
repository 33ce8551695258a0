"""What a page shows, as a file to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeGuard

from starlette.responses import Response

from api.formats import render
from api.web.visit import private
from intel.records import ArticleRef, Ioc

Format = Literal["csv", "stix", "txt"]


def is_format(asked: str) -> TypeGuard[Format]:
    """Whether a page can be had in that format."""
    return asked in ("csv", "stix", "txt")


def export(format: Format, iocs: Sequence[Ioc], article: ArticleRef | None = None) -> Response:
    """The indicators, or those of one article, as a file in that format."""
    return private(render(format, iocs, article))
