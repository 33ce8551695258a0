"""The command line `ioc`. Commands import what they need when they run, so that each starts as fast as it can."""

from __future__ import annotations

import os
import sys

from api.cli import operations  # noqa: F401 - adds its commands
from api.cli.commands import app
from intel.errors import ConfigurationError, CredentialsRefused, IocError


def main() -> None:
    """Run one command: exit status 0, 1 failed, 2 usage or settings."""
    try:
        app()
    except (ConfigurationError, CredentialsRefused) as error:
        _end(error, 2)
    except IocError as error:
        _end(error, 1)
    except BrokenPipeError:
        # Whoever read our output has seen enough; what Python flushes at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _end(f"{where}{error.strerror or error}", 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _end(error: IocError | str, status: int) -> None:
    sys.stderr.write(f"ioc: {error}\n")
    sys.exit(status)
