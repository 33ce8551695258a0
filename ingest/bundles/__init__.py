"""Read files in which others share indicators, MISP events and STIX 2.1 bundles, as articles. Pure."""

from __future__ import annotations

import json
from datetime import datetime

from ingest.bundles.misp import misp_events, misp_report
from ingest.bundles.report import as_article
from ingest.bundles.stix import stix_bundle, stix_marks, stix_reports
from ingest.reading import ReadPage
from ingest.sharing import sharing_of
from intel.errors import ArticleUnreadable

__all__ = ["read_bundle"]


def read_bundle(
    body: bytes, source_name: str | None, fetched_at: datetime, most_indicators: int = 20_000
) -> tuple[ReadPage, ...]:
    """Return the articles of a MISP or STIX file, each with its indicators.

    Raises ArticleUnreadable: `invalid_json`, `unknown_json`, `restricted_sharing` (marked TLP:RED or
    TLP:AMBER+STRICT, all of it or a part), `no_text` (it reports nothing).
    """
    try:
        parsed = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise ArticleUnreadable("invalid_json", "The file is no well-formed JSON in UTF-8.") from None
    if (bundle := stix_bundle(parsed)) is not None:
        sharing_of(stix_marks(bundle))
        reports = stix_reports(bundle)
    elif (events := misp_events(parsed)) is not None:
        reports = [misp_report(event) for event in events]
    else:
        raise ArticleUnreadable("unknown_json", "The JSON is neither a MISP event nor a STIX 2.1 bundle.")
    articles = tuple(as_article(report, source_name, fetched_at, most_indicators) for report in reports)
    if not any(read.sightings or len(read.article.text or "") > len(read.article.title) for read in articles):
        raise ArticleUnreadable("no_text", "The file reports nothing: no indicators and no text.")
    return articles
