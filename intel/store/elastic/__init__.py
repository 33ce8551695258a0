"""The served store, on any Elasticsearch 9: what it needs is in the server's core, without scripts or plugins."""
