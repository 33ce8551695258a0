"""What an operator can set, and what is said of a mistake."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from intel.errors import ConfigurationError
from intel.settings import Settings, load_settings
from tests.cases import each

SERVED = {
    "ELASTICSEARCH_URL": "http://one:9200, http://two:9200",
    "REDIS_URL": "redis://cache:6379/0",
    "IOC_SECRET_KEY": "0123456789abcdef",
}


def test_nothing_set_is_the_embedded_service() -> None:
    settings = load_settings({})
    assert settings == Settings.model_validate({})
    assert not settings.served and settings.elasticsearch is None and settings.redis_address is None
    assert settings.data_dir == Path("data")
    assert settings.base_url == "http://127.0.0.1:8000"
    assert (settings.ioc_rate_key, settings.ioc_rate_list) == ("100/minute", "30/minute")
    assert (settings.ioc_rate_search, settings.ioc_rate_wrong_key) == ("10/hour", "10/minute")


def test_empty_and_unknown_variables_are_as_good_as_unset() -> None:
    assert load_settings({"IOC_PORT": "", "IOC_FEEDS": " ", "PATH": "/bin", "IOC_OTHER": "x"}).ioc_port == 8000


def test_both_engines_are_the_served_service() -> None:
    settings = load_settings(SERVED)
    assert settings.served
    assert settings.elasticsearch is not None
    assert settings.elasticsearch.nodes == ("http://one:9200", "http://two:9200")
    assert settings.redis_address == "redis://cache:6379/0"


@each("missing", ["ELASTICSEARCH_URL", "REDIS_URL", "IOC_SECRET_KEY"])
def test_half_of_the_engines_is_refused_by_name(missing: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{missing} is not set"):
        load_settings({name: value for name, value in SERVED.items() if name != missing})


@each(
    ("name", "value"),
    [
        ("IOC_PORT", "70000"),
        ("IOC_PORT", "http"),
        ("IOC_SIGNUP", "maybe"),
        ("IOC_RATE_KEY", "100"),
        ("IOC_RATE_LIST", "0/minute"),
        ("IOC_RATE_SEARCH", "10/week"),
        ("IOC_RATE_WRONG_KEY", "-1/hour"),
        ("IOC_TRUSTED_PROXIES", "10.0.0.0/8,nonsense"),
        ("IOC_METRICS_ALLOW", "10.0.0.0/40"),
        ("IOC_BASE_URL", "ioc.example"),
        ("IOC_SECRET_KEY", "short"),
        ("ELASTICSEARCH_INDEX_PREFIX", "Ü*"),
    ],
)
def test_a_wrong_value_is_one_sentence_that_names_the_setting(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} ") as error:
        load_settings({name: value})
    assert "\n" not in str(error.value)


def test_secrets_are_never_shown() -> None:
    secrets = {
        **SERVED,
        "ELASTICSEARCH_API_KEY": "elastic-api-key",
        "ELASTICSEARCH_PASSWORD": "elastic-password",
        "REDIS_URL": "redis://user:redis-password@cache:6379/0",
    }
    settings = load_settings(secrets)
    shown = repr(settings) + str(settings) + repr(settings.elasticsearch)
    for secret in ("0123456789abcdef", "elastic-api-key", "elastic-password", "redis-password"):
        assert secret not in shown
    with pytest.raises(ConfigurationError) as error:
        load_settings({**secrets, "IOC_SECRET_KEY": "too-short-key"})
    assert "too-short-key" not in str(error.value)


def test_a_value_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("a-key-of-some-length\n")
    settings = load_settings({"IOC_SECRET_KEY_FILE": str(tmp_path / "key")})
    assert settings.ioc_secret_key is not None
    assert settings.ioc_secret_key.get_secret_value() == "a-key-of-some-length"
    with pytest.raises(ConfigurationError, match=r"IOC_SECRET_KEY_FILE: .* cannot be read"):
        load_settings({"IOC_SECRET_KEY_FILE": str(tmp_path / "absent")})


def test_the_password_of_redis_may_be_given_apart() -> None:
    apart = {**SERVED, "REDIS_PASSWORD": "p@ss/word"}
    assert load_settings(apart).redis_address == "redis://:p%40ss%2Fword@cache:6379/0"
    within = {**apart, "REDIS_URL": "redis://:other@cache:6379/0"}
    assert load_settings(within).redis_address == "redis://:other@cache:6379/0"


def test_sentinels_and_tls_of_redis_go_into_one_address(tmp_path: Path) -> None:
    (authority := tmp_path / "ca.crt").write_text("")
    given = {
        **SERVED,
        "REDIS_URL": "rediss+sentinel://one:26379,two/ioc/3",
        "REDIS_PASSWORD": "p@ss",
        "REDIS_SENTINEL_PASSWORD": "a&b",
        "REDIS_CA_CERTS": str(authority),
    }
    address = load_settings(given).redis_address or ""
    assert address.startswith("rediss+sentinel://:p%40ss@one:26379,two/ioc/3?ssl_ca_certs=")
    assert address.endswith("sentinel_password=a%26b")
    for wrong in (
        {"REDIS_URL": "redis+sentinel://one:26379,two"},
        {"REDIS_URL": "redis+sentinel://one:26379,/ioc"},
        {"REDIS_URL": "redis+sentinel://one:port/ioc"},
        {"REDIS_URL": "redis+sentinel://one/ioc/first"},
        {"REDIS_URL": "redis+sentinel://one/ioc"},
        {"REDIS_URL": "rediss://one"},
        {"REDIS_CA_CERTS": "/nowhere/ca.crt"},
    ):
        with pytest.raises(ConfigurationError, match=r"^REDIS_"):
            load_settings({**given, **wrong})


def test_networks_are_lists() -> None:
    settings = load_settings({"IOC_TRUSTED_PROXIES": "10.0.0.0/8, 192.0.2.7 ,2001:db8::/32,"})
    expected = (ip_network("10.0.0.0/8"), ip_network("192.0.2.7/32"), ip_network("2001:db8::/32"))
    assert settings.ioc_trusted_proxies == expected


def test_the_public_address_has_no_slash_at_its_end() -> None:
    assert load_settings({"IOC_BASE_URL": "https://ioc.example/"}).base_url == "https://ioc.example"
    assert load_settings({"IOC_HOST": "::1", "IOC_PORT": "1"}).base_url == "http://[::1]:1"


@pytest.mark.promise("settings.fetch-limits")
@each(
    ("name", "wrong"),
    [
        ("IOC_FETCH_CONNECT_SECONDS", ("0", "-1", "31", "soon", "nan", "inf")),
        ("IOC_FETCH_READ_SECONDS", ("0", "61", "1e9")),
        ("IOC_FETCH_TOTAL_SECONDS", ("0", "61", "")),
        ("IOC_FETCH_MOST_BYTES", ("0", "1023", "52428801", "10MB", "1.5")),
        ("IOC_FETCH_HEADER_BYTES", ("0", "2000000")),
        ("IOC_FETCH_REDIRECTS", ("-1", "11", "many")),
        ("IOC_MOST_INDICATORS", ("0", "100001", "all")),
        ("IOC_FETCH_PROXY", ("proxy:3128", "socks5://proxy:1080", "http://a b:1", "http://", "http://proxy:3128/path")),
    ],
)
def test_the_limits_of_fetching_have_bounds(name: str, wrong: tuple[str, ...]) -> None:
    for value in filter(None, wrong):
        with pytest.raises(ConfigurationError, match=name):
            load_settings({name: value})


@pytest.mark.promise("settings.fetch-limits")
def test_the_limits_of_fetching_are_those_that_are_set() -> None:
    settings = load_settings(
        {
            "IOC_FETCH_CONNECT_SECONDS": "1.5",
            "IOC_FETCH_TOTAL_SECONDS": "20",
            "IOC_FETCH_MOST_BYTES": "2048",
            "IOC_FETCH_REDIRECTS": "0",
            "IOC_MOST_INDICATORS": "7",
            "IOC_FETCH_PROXY": "http://me:secret@proxy.example:3128",
        }
    )
    assert (settings.ioc_fetch_connect_seconds, settings.ioc_fetch_total_seconds) == (1.5, 20)
    assert (settings.ioc_fetch_most_bytes, settings.ioc_fetch_redirects, settings.ioc_most_indicators) == (2048, 0, 7)
    assert "me:" not in repr(settings)
