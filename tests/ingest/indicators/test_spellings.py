"""Every way to defang that is read in a report is read in a search and in a look-up too, under any suffix."""

from __future__ import annotations

from typing import Final

from ingest.indicators import document_from_text, extract
from intel.canonical import readings
from intel.query import exact_value, parse_search
from tests.cases import each

DOTS: Final = (
    "<dot>", "<.>", "{dot}", "[dot]", "(dot)", "[DOT]", "(.)", "{.}", "[.", ".]", "[[.]]", "\\.", "\\[.\\]", " [.] ",
    "[.] ", " [.]", " (.) ", " dot ", " DOT ", " [dot] ", "&#46;", "&#x2e;", "&period;", "\uff0e", "\u2024", "[d0t]",
    "\u200b[.]",
)  # fmt: skip
SUFFIXES: Final = ("com", "club", "shop", "systems", "co.uk", "news")
HEADS: Final = (
    "hxxp://", "hXXp://", "hxxp(s)://", "hxxp[s]://", "hxxp[:]//", "hxxp[://]", "hxxp[:/]/", "hxxp:[//]", "hxxp:\\\\",
    "h**p://", "htxp://", "hxtp://", "hzzp://", "h__p://", "hxxp__", "meow://", "[http]://", "http[:]//", "hxxp:// ",
    "hxxp//", "hxxp\uff1a//", "http:\uff0f\uff0f", "http&#58;//",
)  # fmt: skip
OTHERS: Final = (
    ("evil[.]club[:]8080", "domain evil.club"),
    ("evil[.]club:8080", "domain evil.club"),
    ("update [.] systemdriver [.] net", "domain update.systemdriver.net"),
    ("update dot systemdriver dot shop", "domain update.systemdriver.shop"),
    ("cdn-4 dot in", "domain cdn-4.in"),
    ("77[.]91[.]124[.]20[:]443", "ip 77.91.124.20"),
    ("77 [.] 91 [.] 124 [.] 20", "ip 77.91.124.20"),
    ("77 dot 91 dot 124 dot 20", "ip 77.91.124.20"),
    ("77\u300291\u3002124\u300220", "ip 77.91.124.20"),
    ("2001[:]41d0[:][:]1", "ip 2001:41d0::1"),
    ("drop[at]evil[dot]club", "email drop@evil.club"),
    ("drop(at)evil.club", "email drop@evil.club"),
    ("drop\uff20evil[.]club", "email drop@evil.club"),
    ("drop<at>evil<dot>club", "email drop@evil.club"),
    ("drop at evil dot club", "email drop@evil.club"),
    ("drop AT evil DOT club", "email drop@evil.club"),
    ("drop [at] evil [dot] club", "email drop@evil.club"),
    ("evil[.]club/a", "url http://evil.club/a"),
    ("evil[.]club[/]a", "url http://evil.club/a"),
    ("http:\\/\\/evil.club\\/a", "url http://evil.club/a"),
    ("http://[evil.club]/a", "url http://evil.club/a"),
    ("http://evil[.]club[:]8080/x", "url http://evil.club:8080/x"),
    ("hxxp://evil<dot>club/x", "url http://evil.club/x"),
    ("hxxp://evil dot club/x", "url http://evil.club/x"),
)
PROSE: Final = (
    "We dot the i's dot net result: nothing.",
    "The polka dot design and a quantum dot display.",
    "Use dot net and the dot com bubble.",
    "A sentence ends here [.] it goes on.",
    "A sentence ends here [.] Another begins, with [.] in the middle.",
    "Write [.] or (.) to match any dot in names.",
)


def read_everywhere(spelled: str) -> tuple[set[str], ...]:
    search = parse_search(spelled)
    assert search is not None
    extracted = {
        f"{each.type} {each.value}" for each in extract(document_from_text(f"It calls {spelled} daily.")).indicators
    }
    named = (readings(spelled), exact_value(spelled), search.exact)
    return (extracted, *({f"{type} {value}" for type, value in pairs} for pairs in named))


@each("suffix", SUFFIXES)
def test_every_disarmed_dot_is_read_alike_everywhere(suffix: str) -> None:
    for dot in DOTS:
        spelled = f"evil-panel{dot}{suffix.replace('.', dot)}"
        assert all(f"domain evil-panel.{suffix}" in found for found in read_everywhere(spelled)), spelled


def test_every_disarmed_scheme_is_read_alike_everywhere() -> None:
    for head in HEADS:
        expected = f"url http{'s' * ('(s)' in head or '[s]' in head)}://evil.club/a"
        assert all(expected in found for found in read_everywhere(f"{head}evil[.]club/a")), head


@each(("spelled", "expected"), OTHERS)
def test_whole_values_are_read_alike_everywhere(spelled: str, expected: str) -> None:
    assert all(expected in found for found in read_everywhere(spelled)), read_everywhere(spelled)


@each("text", PROSE)
def test_prose_that_speaks_of_dots_holds_nothing(text: str) -> None:
    assert not extract(document_from_text(text)).indicators
