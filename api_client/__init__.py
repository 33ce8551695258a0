"""A client of the REST API: `Client`, the shapes of what it answers, and what it raises."""

from __future__ import annotations

from api_client.client import Client
from api_client.failures import NotReachable, RateLimited, ServiceRefused
from api_client.shapes import (
    Article,
    ArticleRef,
    Change,
    Changes,
    Extracted,
    Filters,
    Ioc,
    IocType,
    Submission,
    Warned,
)

__all__ = [
    "Article",
    "ArticleRef",
    "Change",
    "Changes",
    "Client",
    "Extracted",
    "Filters",
    "Ioc",
    "IocType",
    "NotReachable",
    "RateLimited",
    "ServiceRefused",
    "Submission",
    "Warned",
]
