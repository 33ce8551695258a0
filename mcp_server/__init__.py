"""The MCP server: three read-only tools for AI clients, over the REST API alone."""
