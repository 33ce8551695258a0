from __future__ import annotations

from api.limits.bucket import Bucket, Rate, take
from api.limits.headers import limit_headers, retry_after


def test_an_answer_tells_its_limit_in_both_dialects() -> None:
    _, decision = take(None, Rate(100, 60, "key"), 0.0)
    assert limit_headers(decision) == [
        (b"ratelimit-policy", b'"key";q=100;w=60'),
        (b"ratelimit", b'"key";r=99;t=1'),
        (b"x-ratelimit-limit", b"100"),
        (b"x-ratelimit-remaining", b"99"),
        (b"x-ratelimit-reset", b"1"),
    ]


def test_a_refusal_tells_when_to_come_back() -> None:
    _, decision = take(Bucket(0.0, 0.0), Rate(10, 3600, "search"), 0.0)
    headers = dict(limit_headers(decision))
    assert headers[b"ratelimit"] == b'"search";r=0;t=3600'
    assert retry_after(decision) == {"Retry-After": "360"}
