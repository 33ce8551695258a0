"""Catalogues that others publish about CVEs, techniques and harmless things: read from files, stored in parts, looked
up by key.
"""

from intel.catalogues.facts import CveFacts, Cvss, Epss, Kev, Technique
from intel.catalogues.lookups import catalogue_stamp, kev_names, lookup, techniques
from intel.catalogues.serializing import catalogue_facts
from intel.catalogues.warning import Indicator, ListWarning, warnings_of

__all__ = [
    "CveFacts",
    "Cvss",
    "Epss",
    "Indicator",
    "Kev",
    "ListWarning",
    "Technique",
    "catalogue_facts",
    "catalogue_stamp",
    "kev_names",
    "lookup",
    "techniques",
    "warnings_of",
]
