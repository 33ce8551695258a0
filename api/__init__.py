"""How the service answers: REST, web pages and the command line."""

from intel.imports import without

# With it come 5 MB of colours for tracebacks that no log shows.
with without("rich"):
    import structlog  # noqa: F401 - as everything here finds it

VERSION = "0.1.0"
