"""The command line `ioc`. Commands import what they need when they run, so that each starts as fast as it can."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from intel.errors import ConfigurationError, CredentialsRefused, InvalidQuery, IocError


def main() -> None:
    """Run one command: exit status 0, 1 failed, 2 usage or settings."""
    try:
        _check_spelling(sys.argv[1:])
        _run(sys.argv[1:])
    except (ConfigurationError, CredentialsRefused) as error:
        _end(error, 2)
    except InvalidQuery as error:
        # A message that is no sentence by itself speaks of its parameter.
        _end(f"{error.field}: {error}" if error.message[:1].islower() else error, 1)
    except IocError as error:
        _end(error, 1)
    except BrokenPipeError:
        _end_quietly()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _end(f"{where}{error.strerror or error}", 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _check_spelling(arguments: list[str]) -> None:
    """Raise ConfigurationError for an argument that is no text; a file's name may be any bytes."""
    for argument in arguments:
        if not argument.isascii() and not argument.isprintable() and not os.path.lexists(argument):
            try:
                argument.encode()
            except UnicodeEncodeError:
                raise ConfigurationError(f"this argument is not UTF-8 text: {argument!a}") from None


def _run(arguments: list[str]) -> None:
    if _is_plain_extract(arguments):
        from api.cli.extracting import extract

        extract((arguments[1:] or ["-"])[0], explain=False, as_json=False, iocextract=False, wide=False)
    else:
        from typer import BadParameter

        command = whole()
        invoke = command.invoke

        # Before Click meets them: it calls the one a failure, and begins the other with a word about the code.
        def until_cut_off(context: Any) -> Any:
            try:
                return invoke(context)
            except BrokenPipeError:
                _end_quietly()
            except BadParameter as wrong:
                wrong.message = wrong.message.removeprefix("Value error, ")
                raise

        command.invoke = until_cut_off
        command()


def whole() -> Any:
    """Return the command line with all its commands."""
    from typer.main import get_command

    from api.cli import account_commands, operations  # noqa: F401 - they add their commands
    from api.cli.commands import app
    from api.cli.helping import in_plain_words

    return in_plain_words(get_command(app))


def _is_plain_extract(arguments: list[str]) -> bool:
    """Tell whether it is `ioc extract` without options: to read those takes longer than to read a report."""
    return arguments[:1] == ["extract"] and len(arguments) < 3 and not any(a[:1] == "-" != a for a in arguments)


def _end_quietly() -> NoReturn:
    """End well: whoever read our output has seen enough, and what Python flushes at exit must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)


def _end(error: IocError | str, status: int) -> None:
    sys.stderr.write(f"ioc: {error}\n")
    sys.exit(status)
