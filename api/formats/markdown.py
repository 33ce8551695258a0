"""A weekly roundup as Markdown: what strangers wrote is text in it, never a heading, a link or a tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.web.text import clipped, is_shown
from intel.canonical import defang
from intel.records import IOC_TYPES, Week
from intel.unseen import plain

# CommonMark lets any of its punctuation be escaped; what is left out here means nothing within a line.
_MEANT = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&:@$^=])")
_LONGEST = 300
Row = Mapping[str, Any]


def week_markdown(week: Week, address: str) -> bytes:
    """Return one week; `address` is that of the service, which its links lead to."""
    body = week.body
    lines = [f"# {body['title']}", "", f"{body['starts_on']} to {body['ends_on']}, {_state(week)}.", ""]
    lines += [body["summary"], ""]
    lines += _section("Numbers", _counts(body))
    lines += _section("By type", _types(body))
    lines += _section("In focus", (_focus(item) for item in body["focus"]))
    lines += _section("Added to the KEV catalogue", map(escaped, body["kev_added"]))
    lines += _section("Top articles", (_article(row, address) for row in body["top_articles"]))
    lines += _section("Malware", (_row(row, "malware") for row in body["top_malware"]))
    lines += _section("Vulnerabilities", (_row(row, "cve") + _known(row) for row in body["top_cves"]))
    lines += _section("Techniques", (_row(row, "mitre_attack") for row in body["top_techniques"]))
    lines += _section("Most reported indicators", (_row(row, row["type"]) for row in body["top_iocs"]))
    if lesson := body["lesson"]:
        link = f"[{escaped(lesson['title'])}]({address}/awareness/{lesson['id']})"
        lines += ["## Lesson of the week", "", f"{link}. {lesson['reason']}", ""]
    return ("\n".join(lines).rstrip("\n") + "\n").encode()


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    shown = clipped(" ".join(plain(text).split()), _LONGEST)
    return _MEANT.sub(r"\\\1", shown)


def escaped_lines(text: str) -> str:
    """Return text of several lines that Markdown shows as it is."""
    return "\n\n".join(_MEANT.sub(r"\\\1", line.strip()) for line in plain(text).splitlines() if line.strip())


def code(text: str) -> str:
    """Return a value as code, whatever stands in it."""
    shown = clipped(" ".join(plain(text).split()), _LONGEST)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _state(week: Week) -> str:
    running = "in progress" if week.body["status"] == "open" else "closed"
    return f"{running}, revision {week.revision} of {week.generated_at:%Y-%m-%d %H:%M} UTC"


def _section(title: str, items: Iterator[str] | Sequence[str]) -> Iterator[str]:
    listed = [f"- {item}" for item in items]
    if listed:
        yield from (f"## {title}", "", *listed, "")


def _counts(body: Row) -> Iterator[str]:
    named = {
        "articles": "articles", "sources": "independent sources", "iocs_total": "indicators",
        "new_iocs_total": "new indicators",
    }  # fmt: skip
    for name, words in named.items():
        yield f"{words}: {body['counts'][name]}{_change(body['trend'] and body['trend'][name])}"


def _types(body: Row) -> Iterator[str]:
    counts, trend = body["counts"], body["trend"]
    for type in IOC_TYPES:
        if counts["iocs"][type]:
            change = _change(trend and trend["iocs"][type])
            yield f"{escaped(type)}: {counts['iocs'][type]}, {counts['new_iocs'][type]} new{change}"


def _change(change: Row | None) -> str:
    if not change:
        return ""
    pct = "" if change["pct"] is None else f", {change['pct']:+.1f} %"
    return f" ({change['delta']:+d}{pct} on the week before)"


def _focus(item: Row) -> str:
    return f"**{item['severity']}**: {escaped(item['title'])}"


def _article(row: Row, address: str) -> str:
    title = escaped(row["title"]) if is_shown(row["title"]) else r"\(no title\)"
    return f"[{title}]({address}/articles/{row['id']}), {escaped(row['source_name'])}. {row['reason']}"


def _row(row: Row, type: str) -> str:
    kind = f" ({escaped(type)})" if "name" not in row and "id" not in row else ""
    new = ", new" if row["new"] else ""
    return f"{code(defang(type, row['value']))}{kind}: sources {row['sources']}, articles {row['articles']}{new}"


def _known(row: Row) -> str:
    known = [f"{name.upper()} {row[name]}" for name in ("cvss", "epss") if row[name] is not None]
    if row["exploitation"] != "none":
        known.append(escaped(row["exploitation"].replace("_", " ")))
    return f", {', '.join(known)}" if known else ""
