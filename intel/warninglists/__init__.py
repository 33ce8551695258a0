"""Packaged lists of what is widely used and rarely to be blocked: they annotate indicators and remove none.

They are made from the MISP warning lists; lists that an operator imports are catalogues (`intel.catalogues`).
"""

from __future__ import annotations

from intel.warninglists.lists import Kind, Subject, WarningList, compiled, to_json
from intel.warninglists.packaged import is_packaged, load_packaged, packaged_lists, packaged_warnings

__all__ = [
    "Kind",
    "Subject",
    "WarningList",
    "compiled",
    "is_packaged",
    "load_packaged",
    "packaged_lists",
    "packaged_warnings",
    "to_json",
]
