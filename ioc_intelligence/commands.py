"""The installed commands `ioc` and `ioc-mcp`."""

from __future__ import annotations


def ioc() -> None:
    """Run `ioc`."""
    from api.cli import main

    main()


def ioc_mcp() -> None:
    """Run `ioc-mcp`."""
    from mcp_server.main import main

    main()
