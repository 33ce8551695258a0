"""Fetch pages from the public internet, and from nowhere else."""

from ingest.fetch.addresses import FetchAllow
from ingest.fetch.fetcher import FetchedPage, Fetcher
from ingest.fetch.limits import FetchLimits
from ingest.fetch.posting import Poster
from ingest.fetch.resolving import Resolver
from ingest.fetch.urls import SubmittableUrl, check_url

__all__ = ["FetchAllow", "FetchLimits", "FetchedPage", "Fetcher", "Poster", "Resolver", "SubmittableUrl", "check_url"]
