"""The words of `--help`: what a person writes in each place, not what type it has in the code."""

from __future__ import annotations

from typing import Any, Final

_WRITTEN: Final = {"str": "TEXT", "list[str]": "TEXT", "int": "N", "int range": "N", "path": "PATH", "file": "PATH"}


def in_plain_words(command: Any) -> Any:
    """Return a command with the places of all its arguments and options named for whoever reads its help."""
    for parameter in command.params:
        kind = parameter.type_descriptor
        if parameter.metavar is None and parameter.param_type_name == "argument":
            parameter.metavar = parameter.name.upper()
        if kind.is_choice or getattr(parameter, "is_flag", False):
            continue
        if parameter.param_type_name == "argument":
            parameter.display_type = lambda ctx: ""
        elif parameter.metavar is None:
            written = "DATE" if kind.is_datetime else parameter.display_type(None).strip("<>")
            parameter.metavar = _WRITTEN.get(written, written)
    for each in getattr(command, "commands", {}).values():
        in_plain_words(each)
    return command
