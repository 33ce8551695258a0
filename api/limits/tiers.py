"""Who may ask how often, and for how many results: the table of limits."""

from __future__ import annotations

from dataclasses import dataclass

from api.limits.bucket import Rate

RESULTS_CAP = 50
SEARCH_RESULTS_CAP = 10
RESULTS_DEFAULT = 20
ACCOUNT_RATE = Rate(100, 60)
EXPORT_RATE = Rate(10, 3_600)


@dataclass(frozen=True, slots=True)
class Tier:
    """One row of the table: how often (`rate`), and at most how many results an answer has (`results_cap`)."""

    rate: Rate
    results_cap: int = RESULTS_CAP

    @property
    def name(self) -> str:
        return self.rate.policy


@dataclass(frozen=True, slots=True)
class Charge:
    """The bucket that pays for a request, and the row that it belongs to."""

    bucket: str
    tier: Tier


class Tiers:
    """The table, built from its rates; each method names the bucket of one caller."""

    def __init__(self, *, key: Rate, list: Rate, search: Rate, wrong_key: Rate, export: Rate = EXPORT_RATE) -> None:
        self.key = Tier(key.named("key"))
        self.list = Tier(list.named("list"))
        self.search = Tier(search.named("search"), SEARCH_RESULTS_CAP)
        self.wrong_key = Tier(wrong_key.named("wrong-key"))
        self.export = Tier(export.named("export"))
        self.account = Tier(ACCOUNT_RATE.named("account"))

    def for_key(self, key_id: str) -> Charge:
        """Return the charge for every request with the API key `key_id`."""
        return Charge(f"key:{key_id}", self.key)

    def for_export(self, key_id: str) -> Charge:
        """Return the charge for a whole export with the API key `key_id`."""
        return Charge(f"export:{key_id}", self.export)

    def for_visitor(self, address: str, *, searching: bool) -> Charge:
        """Return the charge for requests without a key, and of pages for who is not signed in, from the client address
        `address`.
        """
        if searching:
            return Charge(f"search:{address}", self.search)
        return Charge(f"list:{address}", self.list)

    def for_wrong_key(self, address: str) -> Charge:
        """Return the charge for requests from `address` that are answered with 401."""
        return Charge(f"wrong-key:{address}", self.wrong_key)

    def for_account(self, account_id: str) -> Charge:
        """Return the charge for pages for somebody signed in to `account_id`."""
        return Charge(f"account:{account_id}", self.account)


def results_limit(requested: int | None, cap: int) -> int:
    """Return how many results to answer with: `requested` lowered to `cap`, the default when it is None.

    Below 1 raises ValueError.
    """
    if requested is None:
        return min(RESULTS_DEFAULT, cap)
    if requested < 1:
        raise ValueError("limit must be at least 1")
    return min(requested, cap)
