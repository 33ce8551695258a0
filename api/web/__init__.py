"""The web pages: server-rendered, on the same store calls and limits as the API."""
