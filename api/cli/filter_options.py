"""The options that choose indicators, alike on every command that lists or writes them out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from intel.errors import InvalidQuery
from intel.indicator_types import NAMES
from intel.times import utc_now
from intel.tlp import Tlp, read_tlp

Asked = dict[str, Any]
if TYPE_CHECKING:

    class IocType(StrEnum):
        """A type of indicator, as the table of types names it."""
else:
    IocType = StrEnum("IocType", NAMES)
Command = TypeVar("Command", bound=Callable[..., Any])

_Several = list[str] | None
_OPTIONS: Final[dict[str, Any]] = {
    "type": Annotated[_Several, typer.Option("--type", help="Only this type; may be repeated.")],
    "source": Annotated[_Several, typer.Option("--source", help="Only what this source names; may be repeated.")],
    "malware": Annotated[
        _Several, typer.Option("--malware", help="Only indicators associated with it; may be repeated.")
    ],
    "tag": Annotated[_Several, typer.Option("--tag", help="Only indicators with this tag; may be repeated.")],
    "tlp": Annotated[_Several, typer.Option("--tlp", help="Only indicators with this TLP; may be repeated.")],
    "since": Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Last seen on this date or time, or later.")
    ],
    "until": Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="Last seen on this date or time, or before.")
    ],
    "added_since": Annotated[
        str | None, typer.Option("--added-since", metavar="DATE", help="Stored at this time or later.")
    ],
    "status": Annotated[_Several, typer.Option("--status", help="active, ageing or expired; may be repeated.")],
    "exclude": Annotated[
        _Several, typer.Option("--exclude", help="Leave out: warned, expired, false_positive (comma-separated).")
    ],
    "min_sources": Annotated[
        int | None, typer.Option("--min-sources", min=1, help="Only what so many independent sources name.")
    ],
    "sort": Annotated[
        str | None, typer.Option("--sort", help="By last_seen, first_seen, added_at or sources, highest first.")
    ],
}


def _check(asked: Asked) -> None:
    """Raise what Typer tells as wrong usage."""
    from api.filters import read_filter, read_sort

    try:
        read_filter(asked, utc_now())
        read_sort(asked)
    except InvalidQuery as error:
        raise typer.BadParameter(error.message, param_hint=f"--{error.field.replace('_', '-')}") from None


def tlp_option(written: str | None) -> Tlp | None:
    """Return what `--tlp` says of a submission or an import. Raises what Typer tells as wrong usage."""
    try:
        return read_tlp(written) if written else None
    except InvalidQuery as error:
        raise typer.BadParameter(error.message, param_hint="--tlp") from None


def filtered(command: Command) -> Command:
    """Give a command these options: its argument `filters`, as `api.filters` reads them."""
    own = inspect.signature(command, eval_str=True)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _OPTIONS.items()
    ]

    @functools.wraps(command)
    def run(**values: Any) -> Any:
        asked = {name: values.pop(name, None) for name in _OPTIONS}
        _check(asked)
        return command(filters=asked, **values)

    others = [parameter for name, parameter in own.parameters.items() if name != "filters"]
    run.__signature__ = own.replace(parameters=[*others, *options])  # type: ignore[attr-defined]  # what Typer reads
    return run  # type: ignore[return-value]  # the same with other arguments
