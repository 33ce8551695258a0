"""How the service learns: fetching articles, reading them, finding their indicators."""
