"""Read what the words around a candidate say about it: its line, its section, the verbs before it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Final, NamedTuple

from ingest.indicators.document import Document, Place
from ingest.indicators.gated import Gated
from ingest.indicators.harm import is_of_no_harm, without_hosts, words_of_a_threat
from ingest.indicators.late import late
from ingest.indicators.required_pieces import required_pieces
from ingest.indicators.sections import LONGEST_HEADING, Section, Sections
from ingest.indicators.sentences import line_span
from ingest.indicators.topics import Topics, TopicsOfText
from ingest.indicators.vocabulary import pieces, table, words
from intel.refanging import AT, PlainText
from intel.suffixes import registered_domain

SHORT_NOTE: Final = 1500  # characters; below, a text is somebody's note and not an article
LONGEST_QUESTION: Final = 160
SIGNS_IN_A_WORD: Final = 3  # of Latin letters, for each of a script that writes a word with one or two signs
MOST_WORDS: Final = 6  # a line of more is prose all the same

_POINTERS: Final = words("pointers")
# `via gale-post.com`, and no `sent via DNS to the backdoor's gale-post.com`.
_NEAR_POINTERS: Final = words("near_pointers")
_REACH_OF_A_NEAR_POINTER: Final = 2
_ATTACK_WORDS: Final = words("attack")
# Of writing without blanks.
_ATTACK_SIGNS: Final = late(pieces("attack"))
_PUNCTUATION: Final = ".,;:()[]`'\"-*"
_WORD: Final = late(r"[^\s,;:()\[\]`'\"*=<>{}]+")
_ITEM: Final = late(r"\s*(?:[-*\u2022\u00b7\u25cf\u2013|>+]|\d{1,3}[.)])\s*")
_ALPHANUMERIC: Final = late(r"[^\W_]")
_REPORTS_TO: Final = late(
    r"(?i)\breport(?:s|ed|ing)? (?:back )?to (?:[\w.-]{3,80}(?:, | and |, and ))*[\"'(]?\Z"
)  # of programs
_FOOTNOTE: Final = late(r"\s*(?:\[\d{1,3}\]|\^|\u21a9):?\s*")
_ENDS_OF_A_FOOTNOTE: Final = ("]", "^", "\u21a9", ":")
_WORDING_REACH: Final = 100
_FETCHING: Final = Gated(
    late(
        r"\b(?:(?i:curl|wget|certutil|bitsadmin|mshta|regsvr32|msiexec|iwr|irm|invoke-webrequest|invoke-restmethod"
        r"|start-bitstransfer|tftp|ftpget)(?:\.exe)?[ \t]+(?:[^\s|;]{1,40}[ \t]+){0,6}[\"'(<`]{0,2}"
        r"|(?i:download(?:string|file|data)|urldownloadtofile|urlopen|urlretrieve|requests\.(?:get|post))[aw]?\s?\([\"'\s]{0,3})\Z"
    )
)
_DOWNLOADED: Final = late(
    r"(?i)\b(?:downloads|downloaded|fetche[sd]|retrieve[sd]|pulls|pulled|grabs|grabbed|loads|loaded|drops|dropped)\b"
    r"[^.!?\n]{0,50}\bfrom(?: the)?(?: (?:url|link|address|repository|location))?:?[ \"'`(<]{1,3}\Z"
)
_REQUESTING: Final = late(r"\b(?:GET|POST|PUT|CONNECT)[ \t]+[\"'`]?\Z")
# `$u='https://evil.example/x';$b=$w.DownloadData($u)`
_VARIABLE: Final = late(r"[$\w]\w{0,20}\s?=\s?[\"']\Z")
_FETCHES: Final = late(r"(?i)\b(?:download(?:string|file|data)|invoke-(?:webrequest|restmethod)|iwr|irm|urlopen)\b")
_ANCHOR: Final = late(r"<a\b[^<>\n]{0,120}(?<=\s)href=[\"']?\Z", re.IGNORECASE)
_PICTURE: Final = late(r"(?m)^\s{0,8}<img\b[^<>\n]{0,160}(?<=\s)src=[\"']?\Z", re.IGNORECASE)
_FENCE: Final = late(r"(?m)^[ \t]{0,8}(?:```|~~~)")
_QUOTES: Final = frozenset("\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb")
_CALLED_A_HOST: Final = late(
    r"(?i)\b(?:domains?|host(?:name)?s?|c2|c&c|servers?|(?:web)?sites?|panel"
    r"|(?:connect|beacon|resolv|call|redirect|talk)[a-z]{0,4} (?:back |out )?to)[:=]?[ \t]{1,2}[(\[]?\Z"
)
_FIELD_OF_A_HOST: Final = late(
    r"(?i)(?:\b(?:q(?:uery)?_?name|rrname|(?:destination|dest|dst|remote)_?host(?:name)?|server_?name|query)"
    r"[\"']?[ \t]?[:=][ \t]?[\"']?|\bsni[:=]?[ \t]?[\"']?|(?P<option>[ \t]-o[ \t]+[\"']?))\Z"
)
_BEFORE_A_HOST: Final = " \t\"'"
_ENDS_OF_A_FIELD: Final = (":", "=", "sni", "-o")
_PORT: Final = late(r":[0-9]{2,5}(?![0-9])")
# `Received: from mail.evil.example (198.51.100.7) by ...`: the one that handed a letter over from outside.
_RECEIVED: Final = late(r"(?i)\breceived:[ \t]+from[ \t]+\Z")
_FROM_OUTSIDE: Final = late(
    r"\.?[ \t]+\((?:[\w.-]{1,253} )?\[?(?!10\.|127\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)[0-9]"
)
_INVITATION: Final = Gated(
    late(
        r"(?:(?:follow|find) us\b(?:[^.!?\n]|[.?](?=\S)){0,100}"
        r"|(?:our (?:\w{1,12} ){0,2}(?:posts?|blog(?: ?posts?)?|reports?|articles?|analysis|write-?ups?)"
        r"|more(?=:)|more (?:information|details|info)"
        r"(?:(?: is)? available| can be found| (?:about|on)(?: \w{1,20}){1,4}?)?"
        r"|mehr dazu|weitere informationen|en savoir plus|m[áa]s información)"
        r"(?: is)?(?: (?:at|on|in|from|here|under|unter|auf|sur|en))?[ :(<]{1,3}|подробнее[ :]{1,2})\Z"
    )
)
_DEAD_DROP: Final = late(r"(?i)\bdead[ -]?drops?\b(?:[^.!?\n]|[.](?=\S)){0,160}\Z")
# `reads the address of its server from`
_READ_FOR_ORDERS: Final = Gated(
    late(
        r"(?i)\b(?:reads?|retriev\w{1,4}|obtain\w{0,3}|gets?|fetch\w{0,3}|extract\w{0,3}|pars\w{1,3}"
        r"|resolv\w{1,3}|takes?|learns?|pulls?|hid\w{1,3}|stores?|keeps?|finds?)\b[^.!?\n]{0,40}"
        r"\b(?:c2s?|servers?|config\w{0,8}|address(?:es)?|orders|commands|instructions)\b(?:[^.!?\n]|[.](?=\S)){0,160}\Z"
    )
)
_IS_A_MAILBOX: Final = late(rf"[\s>|*\u2022-]{{0,6}}[^\s@]{{1,64}}(?:@|{AT}++)[^\s@]{{4,100}}\s*")
_IDEOGRAPH: Final = late(r"[\u3040-\u30ff\u3400-\u9fff]")
_IDEOGRAPHS_IN_A_WORD: Final = 4
_BLOCK: Final = 64
_SHORTEST_HEX_DUMP: Final = 17
_HEX_DUMP: Final = late(r"\s*(?:0x)?[0-9A-Fa-f]{4,16}:?[ \t]+(?:[0-9A-Fa-f]{2,8}[ \t]+){4}")
_REGISTRAR: Final = late(
    r"(?i)\b(?:registrar(?: whois server| url| abuse contact e-?mail)?|whois server|referral url): ?\Z"
)
# `[the first post]: `, to which `[post][the first post]` leads.
_LABEL_OF_A_LINK: Final = late(r"(?:\A|\n) {0,3}\[(?=[^\]\n]*[^\W\d_])[^\]\n]{2,80}\]: \Z")
_TITLE_OF_A_LINK: Final = late(r"(?:https?://)?[^\s\[\]]{4,200}\](?:\[[^\]\n]|\(http)")
_PATH_WITH_BLANKS: Final = late(r"[\s>*`\"'\u2022-]{0,12}~?/(?:[\w .-]{1,60}/){1,8}(?:[\w-]{1,40} ){1,4}")
_HASH: Final = late(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{32,64}+(?![0-9A-Za-z])")

# What the words before or around a candidate may speak of.
_OF_ATTACK, _OF_POINTERS, _OF_AN_INVITATION, _OF_FETCHING, _OF_A_REGISTRAR, _OF_ORDERS = (1 << bit for bit in range(6))


def pieces_of_topics() -> Mapping[int, Collection[str]]:
    """Return for each topic the pieces of text of which one stands wherever it is spoken of."""
    signs = [piece for each in table("attack", "pieces").values() for piece in required_pieces(each)]
    return {
        _OF_ATTACK: [*_ATTACK_WORDS, *signs],
        _OF_POINTERS: _POINTERS | _NEAR_POINTERS,
        _OF_AN_INVITATION: required_pieces(_INVITATION.pattern),
        _OF_FETCHING: [piece.lower() for each in (_FETCHING, _REQUESTING) for piece in required_pieces(each.pattern)],
        _OF_A_REGISTRAR: required_pieces(_REGISTRAR.pattern),
        _OF_ORDERS: required_pieces(_READ_FOR_ORDERS.pattern),
    }


_TOPICS: Final = Topics(pieces_of_topics)


class Line(NamedTuple):
    """The line of a candidate: where it is, how many words of prose it holds (to `MOST_WORDS`), what it is.

    `is_item`: an item of a list; `has_cells`: a row of a table.
    """

    start: int
    end: int
    words: int
    is_item: bool
    has_cells: bool


class TextContext:
    """Answers questions about places of one text; what needs a pass over the text is computed once, on demand."""

    def __init__(self, document: Document, plain: PlainText, *, names_malware: bool) -> None:
        """`names_malware`: the text names malware, which is a threat without any other word for it."""
        self.document = document
        self.text = plain.text
        self._plain = plain
        self._lines: dict[tuple[int, int], Line] = {}
        # The same place is asked about time and again.
        self._asked = (-1, -1)
        self._answered = Line(0, 0, 0, False, False)
        self._accusing: dict[int, bool] = {}
        self._holding: dict[Line, bool] = {}
        self._topics = TopicsOfText(_TOPICS, plain.text)
        self.names_malware = names_malware

    @cached_property
    def is_note(self) -> bool:
        """Tell whether the text is short and without markup: what stands in it, somebody put there on purpose."""
        if len(self.text) >= SHORT_NOTE or self.document.structured:
            return False
        return len(self.text) + SIGNS_IN_A_WORD * len(_IDEOGRAPH.findall(self.text)) < SHORT_NOTE

    @cached_property
    def is_of_no_harm(self) -> bool:
        """Tell whether the text is a note that names no malware, and nothing in it speaks of harm."""
        return self.is_note and not self.names_malware and is_of_no_harm(self.text)

    @cached_property
    def _is_of_a_threat(self) -> bool:
        return self.names_malware or words_of_a_threat().search(without_hosts(self.text.lower()))

    @cached_property
    def is_one_line(self) -> bool:
        """Tell whether the text is one short line, as of who asks what stands in it."""
        return len(self.text) <= LONGEST_QUESTION and "\n" not in self.text.strip() and not self.document.structured

    def place(self, position: int) -> Place:
        """Return the place of a character of the plain text."""
        return self.document.place(self._plain.original(position)) if self.document.structured else "main"

    def begins_a_row(self, line: Line, start: int, end: int) -> bool:
        """Tell whether a line begins with `text[start:end]`, and nothing or what parts values follows."""
        return line.start == start and (line.end == end or self.text[end] in ",;|\t" or self.text.startswith("  ", end))

    def in_template(self, position: int) -> bool:
        """Tell whether a character stands in a menu, a side bar, a box of other posts or the like, by the page's
        markup.
        """
        return self.document.structured and self.document.in_template(self._plain.original(position))

    def line(self, start: int, end: int) -> Line:
        if (start, end) == self._asked:
            return self._answered
        span = line_span(self.text, start, end)
        line = self._lines.get(span)
        if span == (start, end):
            line = Line(start, end, 0, False, False)
        elif line is None:
            content = self.text[span[0] : span[1]]
            line = self._lines[span] = Line(
                *span, _words(content), _ITEM.match(content) is not None, "\t" in content or "|" in content
            )
        self._asked, self._answered = (start, end), line
        return line

    def holds_hash(self, line: Line) -> bool:
        """Tell whether a hash stands in the line."""
        holds = self._holding.get(line)
        if holds is None:
            holds = self._holding[line] = _HASH.search(self.text, line.start, line.end) is not None
        return holds

    def hash_below(self, line: Line) -> bool:
        """Tell whether the next line is a hash and nothing else."""
        hash = _HASH.match(self.text, line.end + 1)
        return hash is not None and self.text[hash.end() : hash.end() + 1] in ("", "\n")

    def in_cell(self, line: Line, start: int, end: int) -> bool:
        """Tell whether `start:end` is all that stands in its cell of a table."""
        if not line.has_cells:
            return False
        text = self.text
        before, after = text[line.start : start], text[end : line.end]
        left = max(before.rfind("\t"), before.rfind("|"))
        rights = [at for at in (after.find("\t"), after.find("|")) if at >= 0]
        if left < 0 and not rights:
            return False
        beside = f"{before[left + 1 :]} {after[: min(rights, default=None)]}"
        return _ALPHANUMERIC.search(beside, 0, LONGEST_HEADING) is None

    def quoted(self, start: int, end: int) -> bool:
        """Tell whether backticks set `start:end` as code."""
        return "`" in self.text[max(0, start - 3) : start] and "`" in self.text[end : end + 3]

    def is_among_mailboxes(self, line: Line) -> bool:
        """Tell whether the line above or below is a mailbox too: senders are listed, who is to be asked is one."""
        above = self.text.rfind("\n", max(0, line.start - LONGEST_HEADING), max(0, line.start - 1)) + 1
        below = self.text[line.end + 1 : line.end + 1 + LONGEST_HEADING].partition("\n")[0]
        return _IS_A_MAILBOX.fullmatch(self.text[above : max(0, line.start - 1)]) is not None or (
            _IS_A_MAILBOX.fullmatch(below) is not None
        )

    def is_home_of_what_is_named(self, host: str, start: int) -> bool:
        """Tell whether the word right before a host in brackets is its own name: `rclone (rclone.org)`."""
        if self.text[max(0, start - 1) : start] != "(":
            return False
        before = self.text[max(0, start - _WORDING_REACH) : start - 1].rstrip().lower()
        name = registered_domain(host).partition(".")[0]
        return len(name) > 2 and (before.endswith(name) or before.replace(" ", "").endswith(name))

    def in_quotes(self, start: int, end: int) -> bool:
        """Tell whether quotes or angle brackets stand right around `start:end`."""
        before, after = self.text[max(0, start - 1) : start], self.text[end : end + 1]
        return (before in _QUOTES and after in _QUOTES) or (before == "<" and after == ">")

    def sets_apart(self, start: int, end: int) -> bool:
        """Tell whether `start:end` is one thing beyond doubt: in quotes, alone on its line, or a host by the word
        before.
        """
        text = self.text
        if text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES and start:
            return True
        return self.line(start, end).words == 0 or _CALLED_A_HOST.search(text, max(0, start - 30), start) is not None

    def is_dead_drop(self, start: int) -> bool:
        """Tell whether the words before call what stands here a dead drop."""
        before = self.text[max(0, start - 2 * _WORDING_REACH) : start]
        return "ead" in before and _DEAD_DROP.search(before) is not None

    def is_read_for_orders(self, start: int, end: int) -> bool:
        """Tell whether the words before say that the address of a server, or orders, are read from what stands here."""
        first = max(0, start - 2 * _WORDING_REACH)
        if not self._topics.may_stand(_OF_ORDERS, start, end):
            return False
        return _READ_FOR_ORDERS.search(self.text, first, start) is not None

    def in_field_of_a_host(self, start: int, end: int) -> bool:
        """Tell whether the field of a log, or the option of a command, right before `start:end` holds a host."""
        leads = self.text[max(0, start - 30) : start].rstrip(_BEFORE_A_HOST).lower()
        if leads.endswith("from") and _RECEIVED.search(self.text, max(0, start - 30), start):
            return _FROM_OUTSIDE.match(self.text, end) is not None
        if leads.isascii() and not leads.endswith(_ENDS_OF_A_FIELD):
            return False
        field = _FIELD_OF_A_HOST.search(self.text, max(0, start - 30), start)
        return field is not None and (field["option"] is None or _PORT.match(self.text, end) is not None)

    def in_hex_dump(self, line: Line) -> bool:
        """Tell whether a line shows bytes as numbers and, behind them, as signs: a name may be cut at both ends."""
        return (
            line.end - line.start >= _SHORTEST_HEX_DUMP and _HEX_DUMP.match(self.text, line.start, line.end) is not None
        )

    def is_of_a_registrar(self, line: Line, start: int, end: int) -> bool:
        """Tell whether the field of a WHOIS record right before a candidate is about the one who sold a name."""
        if ":" not in self.text[max(line.start, start - 2) : start]:
            return False
        first = max(line.start, start - 40)
        if not self._topics.may_stand(_OF_A_REGISTRAR, start, end):
            return False
        before = self.text[first:start]
        return _REGISTRAR.search(before) is not None

    def goes_on_in_a_path(self, start: int) -> bool:
        """Tell whether all that stands before a name on its line is a path with blanks: `/Applications/Gale Virus `."""
        first = max(0, start - LONGEST_HEADING)
        before = self.text[self.text.rfind("\n", first, start) + 1 or first : start]
        return "/" in before and _PATH_WITH_BLANKS.fullmatch(before) is not None

    def in_markdown_link(self, start: int) -> bool:
        """Tell whether a link of Markdown leads to `start` or begins there (`[a](...)`, `[a]: ...`, `[...][a]`), or the
        page shows it as a picture.
        """
        text = self.text
        if start < 2:
            return False
        if text.startswith("](", start - 2):
            return True
        if text.startswith("]: ", start - 3):
            return _LABEL_OF_A_LINK.search(text, max(0, start - LONGEST_HEADING), start) is not None
        if text[start - 1] == "[":
            return _TITLE_OF_A_LINK.match(text, start) is not None
        attribute = text[max(0, start - 6) : start].rstrip("\"'")
        if attribute.endswith("href="):
            return not self.is_note and self._is_of_a_tag(_ANCHOR, start)
        return attribute.endswith("src=") and self._is_of_a_tag(_PICTURE, start)

    def _is_of_a_tag(self, tag: re.Pattern[str], start: int) -> bool:
        """Tell whether the tag (`<img src="` alone on its line, `<a href="`) stands before `start`, in no listing."""
        reach = max(0, start - _WORDING_REACH)
        first = max(reach, self.text.rfind("\n", reach, start) + 1)
        return tag.search(self.text, first, start) is not None and bisect_right(self._fences, start) % 2 == 0

    @cached_property
    def _fences(self) -> list[int]:
        """Where listings of Markdown begin and end."""
        return [fence.start() for fence in _FENCE.finditer(self.text)]

    @cached_property
    def _sections(self) -> Sections:
        return Sections(self.text)

    def section(self, position: int) -> Section:
        """Return what the nearest telling heading above a position announces."""
        return self._sections.at(position)

    def heading(self, position: int) -> str:
        """Return the telling heading above a position, or nothing where another line like a heading stands between."""
        return self._sections.heading(position)

    def refers(self, line: Line, start: int, end: int) -> bool:
        """Tell whether the words before a candidate, in its sentence, point the reader somewhere."""
        before = self.text[max(line.start, start - 60) : start]
        if before.rstrip()[-1:] in _ENDS_OF_A_FOOTNOTE and _FOOTNOTE.fullmatch(before.rpartition(". ")[2]):
            return True
        if not self._topics.may_stand(_OF_POINTERS, start, end):
            return False
        before = before.rpartition(". ")[2]
        if _REPORTS_TO.search(before):
            return False
        said = _words_of(before.replace("POST", ""))  # of a request
        return not _POINTERS.isdisjoint(said) or not _NEAR_POINTERS.isdisjoint(said[-_REACH_OF_A_NEAR_POINTER:])

    def invites(self, line: Line, start: int, end: int) -> bool:
        """Tell whether the words before a candidate, in its sentence, invite the reader to what the author keeps
        there.
        """
        first = max(line.start, start - 2 * _WORDING_REACH)
        if not self._topics.may_stand(_OF_AN_INVITATION, start, end):
            return False
        before = self.text[first:start]
        return _INVITATION.search(before.lower()) is not None

    def is_fetched(self, line: Line, start: int, end: int) -> bool:
        """Tell whether a command or a request that the text shows fetches what stands here."""
        before = max(line.start, start - _WORDING_REACH)
        if self._topics.may_stand(_OF_FETCHING, start, end) and (
            _REQUESTING.search(self.text, before, start) or _FETCHING.search(self.text, before, start)
        ):
            return True
        is_quoted = self.text[start - 1 : start] in ("'", '"')
        variable = _VARIABLE.search(self.text, before, start) if is_quoted else None
        return variable is not None and _FETCHES.search(self.text, start, line.end) is not None

    def is_downloaded(self, line: Line, start: int) -> bool:
        """Tell whether the words before say that something was downloaded from what stands here, as no reader is
        told to.
        """
        before = self.text[max(line.start, start - _WORDING_REACH) : start]
        return _DOWNLOADED.search(before) is not None

    def threatens(self, line: Line, start: int, end: int, *, in_note: bool) -> bool:
        """Tell whether the words around a candidate speak of an attack beyond doubt: on its line, or `in_note`,
        anywhere in a note.
        """
        if in_note and self.is_note:
            return self._is_of_a_threat
        first, last = max(line.start, start - 2 * _WORDING_REACH), min(line.end, end + _WORDING_REACH)
        said = f"{self.text[first:start]} {self.text[end:last]}"
        return words_of_a_threat().search(without_hosts(said.lower()))

    def accuses(self, line: Line, start: int, end: int) -> bool:
        """Tell whether the words around a candidate speak of an attack."""
        block = start // _BLOCK
        found = self._accusing.get(block)
        if found is None or line.start > block * _BLOCK - _WORDING_REACH:
            first, last = max(line.start, block * _BLOCK - _WORDING_REACH), min(line.end, end + _WORDING_REACH // 2)
            may_accuse = self._topics.may_stand(_OF_ATTACK, start, end)
            found = self._accusing[block] = may_accuse and _speaks_of_an_attack(self.text[first:last])
        return found


def _speaks_of_an_attack(piece: str) -> bool:
    if not _ATTACK_WORDS.isdisjoint(_words_of(piece)):
        return True
    return not piece.isascii() and _ATTACK_SIGNS.search(piece) is not None


def _words_of(text: str) -> list[str]:
    """Return the words of a piece of text in lower case; a dotted name is one word."""
    said: list[str] = _WORD.findall(text.lower())
    return [word.rstrip(".") for word in said] if "." in text else said


def _words(text: str) -> int:
    """Return how many words of prose or code a piece of a line holds, to `MOST_WORDS`; indicators and numbers are
    none.
    """
    count = 0
    for word in text.split():
        if len(word) > 1 and (word.isalpha() or word[-1] in ";)" or word.strip(_PUNCTUATION).isalpha()):
            count += 1
            if count == MOST_WORDS:
                return count
    if not text.isascii():
        count = min(MOST_WORDS, count + len(_IDEOGRAPH.findall(text)) // _IDEOGRAPHS_IN_A_WORD)
    return count
