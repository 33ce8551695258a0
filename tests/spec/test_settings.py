"""What docs/settings.md tells is what the service knows, and all settings that the contract asks for are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from intel.settings import Settings

ROOT = Path(__file__).parent.parent.parent


def documented_settings() -> dict[str, tuple[str, str]]:
    """By name in the table of docs/settings.md: default and description."""
    text = (ROOT / "docs" / "settings.md").read_text("utf-8")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    return {name: (default, says) for name, default, says in rows}


@pytest.mark.promise("settings.all")
def test_the_documents_and_the_settings_tell_the_same() -> None:
    fields = Settings.model_fields
    expected = {
        name.upper(): (f"`{field.default}`" if field.default not in (None, "", ()) else "unset", field.description)
        for name, field in fields.items()
    }
    assert documented_settings() == expected


@pytest.mark.promise("settings.all")
def test_every_setting_of_the_contract_is_there() -> None:
    for name in (
        "ELASTICSEARCH_URL", "ELASTICSEARCH_API_KEY", "ELASTICSEARCH_USERNAME", "ELASTICSEARCH_PASSWORD",
        "ELASTICSEARCH_CA_CERTS", "REDIS_URL", "IOC_DATA_DIR", "IOC_HOST", "IOC_PORT", "IOC_BASE_URL", "IOC_SECRET_KEY",
        "IOC_SIGNUP", "IOC_TRUSTED_PROXIES", "IOC_FETCH_ALLOW", "IOC_RATE_KEY", "IOC_RATE_LIST", "IOC_RATE_SEARCH",
        "IOC_RATE_EXPORT", "IOC_RATE_WRONG_KEY", "IOC_METRICS_ALLOW", "IOC_FEEDS",
    ):  # fmt: skip
        assert name.lower() in Settings.model_fields, name
    assert "SERVICE_API_KEY" in (ROOT / "README.md").read_text("utf-8")
