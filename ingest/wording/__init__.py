"""Read what a text says about CVEs: whether they are exploited, whether exploit code exists, and how they are scored.

Pure, bounded, and linear in the length of the text; knows nothing of how indicators are found.
"""

from ingest.wording.findings import Finding, findings_of

__all__ = ["Finding", "findings_of"]
