from __future__ import annotations

import pytest

from api.limits.bucket import Rate
from api.limits.tiers import Tiers, results_limit
from tests.cases import each

TIERS = Tiers(key=Rate(100, 60), list=Rate(30, 60), search=Rate(10, 3600), wrong_key=Rate(10, 60))


def test_only_an_anonymous_search_is_capped_at_ten_results() -> None:
    caps = {tier.name: tier.results_cap for tier in (TIERS.key, TIERS.list, TIERS.search, TIERS.account)}
    assert caps == {"key": 50, "list": 50, "search": 10, "account": 50}


def test_the_default_is_twenty_results_and_ten_where_the_cap_is_ten() -> None:
    defaults = [results_limit(None, tier.results_cap) for tier in (TIERS.key, TIERS.list, TIERS.search)]
    assert defaults == [20, 20, 10]


def test_signed_in_pages_have_a_hundred_requests_a_minute() -> None:
    charge = TIERS.for_account("a1")
    assert (charge.bucket, charge.tier.rate) == ("account:a1", Rate(100, 60, "account"))


def test_a_visitor_s_searches_and_lists_are_paid_from_two_buckets() -> None:
    search = TIERS.for_visitor("192.0.2.1", searching=True)
    listing = TIERS.for_visitor("192.0.2.1", searching=False)
    assert (search.bucket, search.tier.rate) == ("search:192.0.2.1", Rate(10, 3600, "search"))
    assert (listing.bucket, listing.tier.rate) == ("list:192.0.2.1", Rate(30, 60, "list"))


def test_keys_and_wrong_keys_have_buckets_of_their_own() -> None:
    assert TIERS.for_key("k1").bucket == "key:k1"
    assert TIERS.for_wrong_key("192.0.2.1").bucket == "wrong-key:192.0.2.1"


@each(("requested", "cap", "answered"), [(None, 50, 20), (None, 10, 10), (3, 50, 3), (1_000, 50, 50), (20, 10, 10)])
def test_a_limit_is_lowered_to_the_cap(requested: int | None, cap: int, answered: int) -> None:
    assert results_limit(requested, cap) == answered


@pytest.mark.parametrize("requested", [0, -1])
def test_a_limit_below_one_is_an_error(requested: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        results_limit(requested, 50)
