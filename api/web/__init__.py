"""The web pages: server-rendered, on the same store calls and limits as the API."""

from api.web.routes import add_pages, error_page, failure_page, is_page

__all__ = ["add_pages", "error_page", "failure_page", "is_page"]
