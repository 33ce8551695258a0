"""The installed distribution: its rooms (`api`, `ingest` …) lie in this package, so that no other program meets them.

Who imports it gets their folder onto the path, where they find each other under their own names.
"""

from __future__ import annotations

import sys
from pathlib import Path

_FOLDER = Path(__file__).parent
# In a checkout the rooms lie at its root, which is on the path already.
if (_FOLDER / "search_mappings").is_dir():
    sys.path.insert(0, str(_FOLDER))
