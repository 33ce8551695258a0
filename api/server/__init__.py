"""How connections are served: what one client may cost, how many may be open, and to which host names they belong."""
