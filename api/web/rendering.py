"""The templates: the one file that knows Jinja.

Everything that an expression gives is escaped, and freed of what cannot be seen unless it is `Verbatim`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from api.web import addresses, text
from api.web.text import Verbatim
from intel.canonical import defang
from intel.indicator_types import TYPES
from intel.names import technique_description, technique_name
from intel.records import IOC_TYPES, Ioc
from intel.times import rfc3339
from intel.unseen import plain

# What is compiled before anybody asks for a page.
FIRST_PAGES = ("layout.html", "macros.html", "home.html", "focus.html")
_LONGEST_IN_LISTS = 160
_CATALOGUES = {"kev": "KEV", "epss": "EPSS", "cvss": "CVSS", "attack": "ATT&CK"}


class _Compiled(BytecodeCache):
    """The code of templates, for all applications of one process."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[bucket.key, bucket.checksum] = bucket.code


_compiled = cache(_Compiled)


class Templates:
    """The templates of all pages, compiled once."""

    def __init__(self, static: Mapping[str, str]) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            bytecode_cache=_compiled(),
            finalize=_finalize,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(static=static, ioc_types=IOC_TYPES, ioc_path=addresses.ioc_path, defang=defang)
        self._environment.globals.update(
            source_path=addresses.source_path,
            actor_path=addresses.actor_path,
            technique_name=technique_name,
            technique_description=technique_description,
            longest_in_lists=_LONGEST_IN_LISTS,
        )
        self._environment.filters.update(
            defanged=_defanged,
            raw=lambda ioc: text.visible(ioc.value),
            known_name=lambda ioc: technique_name(ioc.value) or "" if ioc.type == "mitre_attack" else "",
            path=lambda ioc: addresses.ioc_path(ioc.type, ioc.value),
            outside=addresses.outside,
            catalogue=lambda name: _CATALOGUES.get(name, name),
            clipped=text.clipped,
            in_cells=text.in_cells,
            cells_apart=text.cells_apart,
            parted=text.parted,
            says_more=text.says_more,
            without_sign=text.without_sign,
            steps=lambda picture: "by day" if picture.unit == "day" else f"in steps of {picture.unit}",
            summarized=lambda article: text.without_title(article.summary or "", article.title),
            counted=text.counted,
            browser=text.browser,
            number=lambda number: f"{number:,}",
            day=text.day,
            minute=text.minute,
            rfc3339=rfc3339,
            title=_title,
            verbatim=Verbatim,
            type_label=lambda type: TYPES[type].label if type in TYPES else type,
        )

    def compile(self, names: Iterable[str]) -> None:
        """Compile templates before they are asked for."""
        for name in names:
            self._environment.get_template(name)

    def render(self, name: str, context: Mapping[str, Any]) -> str:
        """Return the template of that name, filled in."""
        return self._environment.get_template(name).render(context)


def _finalize(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, (Markup, Verbatim)):
        return plain(value)
    return value


def _defanged(ioc: Ioc) -> str:
    return text.visible(defang(ioc.type, ioc.value))


def _title(written: str) -> str:
    """Return an article's title as link text."""
    return text.clipped(written, 300) if text.is_shown(written) else "(no title)"
