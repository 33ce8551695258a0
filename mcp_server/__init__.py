"""The MCP server: three read-only tools for AI clients, over the REST API alone."""

VERSION = "0.1.0"
