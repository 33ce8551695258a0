"""How the service answers: REST, web pages and the command line."""

from intel.imports import put_off_without

# With `rich` come 5 MB of colours for tracebacks that no log shows; a command that logs nothing starts without either.
put_off_without("structlog", "rich")

VERSION = "0.1.0"
