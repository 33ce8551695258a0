"""What a text says about CVEs: whether somebody exploits them, whether code for that is about, and how they are scored.

Pure, bounded, and linear in the length of the text; knows nothing of how indicators are found.
"""

from ingest.wording.findings import findings_of

__all__ = ["findings_of"]
