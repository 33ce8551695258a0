"""How the service answers: REST, web pages and the command line."""
