"""A page about a host that the text names is no indicator; one that steals passwords names its victims' hosts."""

from __future__ import annotations

from ingest.indicators import document_from_text, extract
from tests.cases import each

LISTED = "## Indicators of compromise\n\n- https://gale-verify.top/login?domain=orlop-bank.com\n"
ACCUSED = "The phishing kit was served from https://gale-verify.top/report?url=orlop-bank.com and stole passwords."
OWN = "The malware calls its C2 server at http://www.gale-c2.top/search?q=gale-c2.top every hour."
REPORT = "The site orlop-post.top was checked: https://gale-scan.com/report?url=orlop-post.top"


def urls_of(text: str) -> list[str]:
    return [one.value for one in extract(document_from_text(text)).indicators if one.type == "url"]


@each("text", [LISTED, ACCUSED, OWN])
def test_what_a_text_accuses_is_kept_whatever_host_it_names(text: str) -> None:
    assert len(urls_of(text)) == 1


def test_a_report_of_a_scanner_is_none() -> None:
    assert urls_of(REPORT) == []
