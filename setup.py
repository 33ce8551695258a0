"""Puts the rooms into the package `ioc_intelligence`: names such as `api` belong to nobody in a shared environment."""

from setuptools import find_namespace_packages, setup

ROOMS = ("api", "api_client", "ingest", "intel", "mcp_server", "search_mappings")
PACKAGES = [package for room in ROOMS for package in find_namespace_packages(include=[room, f"{room}.*"])]

setup(
    packages=["ioc_intelligence", *(f"ioc_intelligence.{package}" for package in PACKAGES)],
    package_dir={f"ioc_intelligence.{package}": package.replace(".", "/") for package in PACKAGES},
)
