"""Tell the names of malware that only the titles of links to others' articles bear, and the text itself does not."""

from __future__ import annotations

from typing import Final

from ingest.indicators.late import late
from ingest.indicators.malware import JudgedMalware, MalwareSighting
from ingest.indicators.verdict import Verdict

CITED: Final = "named by the title of a link alone"
_CITED: Final = Verdict(False, CITED, 0)
_LONGEST_TITLE: Final = 160
# `](https://…` behind the rest of a title, which may be broken over two lines.
_ENDS_A_TITLE: Final = late(rf"[^\[\]]{{0,{_LONGEST_TITLE}}}\]\(\s{{0,4}}<?https?:")
# `[Emotet](…)` is a list of families; of a title there are more words.
_FEWEST_WORDS: Final = 4


def without_cited(text: str, judged: list[JudgedMalware]) -> list[JudgedMalware]:
    """Return `judged` without the names that stand nowhere but in the titles of links."""
    if "](" not in text:
        return judged
    cited: dict[str, bool] = {}
    for sighting, verdict in judged:
        if verdict.kept and cited.get(sighting.name, True):
            cited[sighting.name] = _is_in_a_title(text, sighting)
    if True not in cited.values():
        return judged
    return [
        (sighting, _CITED) if verdict.kept and cited[sighting.name] else (sighting, verdict)
        for sighting, verdict in judged
    ]


def _is_in_a_title(text: str, sighting: MalwareSighting) -> bool:
    start = text.rfind("[", max(0, sighting.start - _LONGEST_TITLE), sighting.start)
    if start < 0 or "]" in text[start : sighting.start]:
        return False
    end = _ENDS_A_TITLE.match(text, sighting.end)
    return end is not None and len(text[start : end.end()].split()) >= _FEWEST_WORDS
