"""What the imported catalogues call the vulnerabilities on a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from intel.catalogues import kev_names
from intel.records import Ioc
from intel.store import Store

_MOST_NAMED: Final = 100


async def cve_names(store: Store, iocs: Iterable[Ioc]) -> dict[str, str]:
    """Return the names of those of the indicators that are in the imported KEV, by CVE; of the first 100 CVEs."""
    return await kev_names(store, list(dict.fromkeys(ioc.value for ioc in iocs if ioc.type == "cve"))[:_MOST_NAMED])
