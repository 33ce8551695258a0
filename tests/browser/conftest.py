from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from api.limits import tiers
from api.limits.bucket import Rate
from intel.settings import Settings
from tests.browser.site import serving

# So that no test meets a limit by chance. An account's is no setting, and a walk through all pages takes half of it.
NO_LIMIT = "100000/second"
NO_LIMIT_OF_AN_ACCOUNT = Rate(100_000, 1)


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    """A browser for one module: playwright occupies the thread's event loop while it runs."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the embedded service with a few articles."""
    folder = tmp_path_factory.mktemp("site")
    limits = {"ioc_rate_list": NO_LIMIT, "ioc_rate_search": NO_LIMIT}
    settings = Settings.model_validate({"ioc_data_dir": folder, **limits})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tiers, "ACCOUNT_RATE", NO_LIMIT_OF_AN_ACCOUNT)
        with serving(settings) as address:
            yield address
