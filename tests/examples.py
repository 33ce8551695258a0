"""How many examples properties are tried on."""

from __future__ import annotations

from hypothesis import settings

QUICK = "quick"


def examples(whole: int) -> int:
    """That many in a whole run, and a tenth with --quick."""
    return whole // 10 if settings.get_current_profile_name() == QUICK else whole
