"""The served store, on any Elasticsearch 9; it needs only the server's core, without scripts or plugins."""
