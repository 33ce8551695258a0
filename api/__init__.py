"""How the service answers: REST, web pages and the command line."""

VERSION = "0.1.0"
