"""Run `ioc-mcp`: a local stdio process between one MCP client and the service."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mcp_server import VERSION
from mcp_server.settings import Settings, SettingsError, settings_from

if TYPE_CHECKING:
    from mcp_server.client import RestService

EXIT_OK, EXIT_FAILED, EXIT_USAGE = 0, 1, 2

_DESCRIPTION = """\
MCP server of the IOC Intelligence Service: search, list and look up indicators of compromise over stdio. An MCP client
starts it; by hand, --check tells whether key and address are right."""
_ENVIRONMENT = """\
environment:
  SERVICE_API_KEY   an API key of the service (required)
  SERVICE_BASE_URL  address of the service (default http://127.0.0.1:8000); https, or http for local hosts"""


def main() -> None:
    """Run `ioc-mcp` with the arguments and environment of the process, and exit with its status."""
    # Ctrl-C ends the process at once: Python's own way would wait for the thread that reads standard input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(run(sys.argv[1:], os.environ))


def run(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Serve or check; return the exit status: 0, 1 failed, 2 usage."""
    options = _parser().parse_args(arguments)
    try:
        settings = settings_from(environment)
    except SettingsError as failure:
        print(f"ioc-mcp: {failure}", file=sys.stderr)
        return EXIT_USAGE
    return asyncio.run(_check(settings)) if options.check else _serve(settings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ioc-mcp",
        description=_DESCRIPTION,
        epilog=_ENVIRONMENT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--check", action="store_true", help="ask the service whether it knows the key, and exit")
    parser.add_argument("--version", action="version", version=f"ioc-mcp {VERSION}")
    return parser


async def _check(settings: Settings) -> int:
    from mcp_server.client import RestService
    from mcp_server.service import ServiceFailure

    service = RestService(settings, VERSION)
    try:
        await service.check()
    except ServiceFailure as failure:
        print(f"ioc-mcp: {failure}", file=sys.stderr)
        return EXIT_FAILED
    finally:
        await service.aclose()
    print(f"ioc-mcp: the service at {settings.base_url} answers and knows the key.")
    return EXIT_OK


def _serve(settings: Settings) -> int:
    # Loaded only here: a client waits for the start, and a refused start should not load anything.
    from mcp_server.server import build_server
    from mcp_server.service import OneService

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="ioc-mcp: %(levelname)s %(message)s")
    if sys.stdin.isatty():
        print("ioc-mcp: waiting for an MCP client on standard input (Ctrl-C ends; see --help).", file=sys.stderr)
    build_server(OneService(lambda: _open_service(settings)), VERSION).run()
    return EXIT_OK


def _open_service(settings: Settings) -> RestService:
    from mcp_server.client import RestService

    return RestService(settings, VERSION)


if __name__ == "__main__":
    main()
