"""Settings from the environment; an unset one means the embedded part. Any NAME may also come from a file named in
NAME_FILE.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError, field_validator

from intel.errors import ConfigurationError
from intel.pivots import SERVICES, is_pivot
from intel.redis_client import is_redis_address

SHORTEST_SECRET = 16
Network = IPv4Network | IPv6Network


def _comma_list(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _networks(value: object) -> object:
    parts = _comma_list(value)
    return tuple(ip_network(p, strict=False) if isinstance(p, str) else p for p in parts)  # type: ignore[attr-defined]


CommaList = Annotated[tuple[str, ...], BeforeValidator(_comma_list)]
Networks = Annotated[tuple[Network, ...], BeforeValidator(_networks)]


class ElasticsearchSettings(BaseModel):
    """How to reach Elasticsearch; secrets are masked in every representation."""

    model_config = ConfigDict(frozen=True)

    nodes: tuple[str, ...]
    api_key: SecretStr | None = None
    username: str | None = None
    password: SecretStr | None = None
    ca_certs: Path | None = None
    index_prefix: str = ""
    shards: int | None = None
    replicas: int | None = None
    refresh_seconds: int | None = None


class Settings(BaseModel):
    """Everything that an operator can set; `Settings()` is the embedded service with every default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    elasticsearch_url: CommaList = Field((), description="nodes of Elasticsearch, comma-separated")
    elasticsearch_api_key: SecretStr | None = Field(None, description="API key for Elasticsearch")
    elasticsearch_username: str | None = Field(None, description="user name for Elasticsearch")
    elasticsearch_password: SecretStr | None = Field(None, description="password for Elasticsearch")
    elasticsearch_ca_certs: Path | None = Field(None, description="file of the certificate authority of Elasticsearch")
    elasticsearch_index_prefix: str = Field("", pattern=r"^[a-z0-9-]*$", description="put before every index name")
    elasticsearch_shards: int | None = Field(
        None, ge=1, le=256, description="shards of each large index that is made; one for 25 million documents"
    )
    elasticsearch_replicas: int | None = Field(
        None, ge=0, le=5, description="copies of each shard; one where there are several nodes"
    )
    elasticsearch_refresh_seconds: int | None = Field(
        None, ge=1, le=600, description="after so long searches see counts that nobody waits for; 30"
    )
    redis_url: SecretStr | None = Field(
        None, description="address of Redis, as `redis://[:password@]host:port/0`; see `docs/cluster.md`"
    )
    redis_password: SecretStr | None = Field(None, description="password of Redis where the address holds none")
    redis_sentinel_password: SecretStr | None = Field(
        None, description="password of the Sentinels, if they ask for one"
    )
    redis_ca_certs: Path | None = Field(None, description="file of the certificate authority of Redis")
    ioc_data_dir: Path = Field(Path("data"), description="folder of the embedded store")
    ioc_host: str = Field("127.0.0.1", description="address that `ioc serve` listens on")
    ioc_port: int = Field(8000, ge=0, le=65535, description="port that `ioc serve` listens on")
    ioc_base_url: str | None = Field(None, description="public address of the service")
    ioc_secret_key: SecretStr | None = Field(None, description="signs cursors and sessions; at least 16 characters")
    ioc_oidc_issuer: str | None = Field(None, description="provider to sign in through (OpenID Connect)")
    ioc_oidc_client_id: str | None = Field(None, description="what that provider calls this service")
    ioc_oidc_client_secret: SecretStr | None = Field(None, description="secret for that provider, if it gave one")
    ioc_oidc_name: str = Field("your organisation", max_length=40, description="what people call that provider")
    ioc_oidc_domains: CommaList = Field((), description="domains of e-mail addresses that may sign in there; any")
    ioc_signup: Literal["open", "closed"] = Field("open", description="whether strangers may make accounts")
    ioc_signup_role: Literal["submitter", "reader"] = Field(
        "submitter", description="role of accounts that people make themselves: `reader` may not submit"
    )
    ioc_trusted_proxies: Networks = Field((), description="networks whose `X-Forwarded-For` is believed")
    ioc_fetch_allow: CommaList = Field((), description="networks, or exact `address:port`, exempt from the fetch guard")
    ioc_fetch_proxy: SecretStr | None = Field(
        None, description="proxy to fetch through, as `http://[user:password@]host:port`"
    )
    ioc_fetch_connect_seconds: float = Field(5, gt=0, le=30, description="for a connection to a site, at most")
    ioc_fetch_read_seconds: float = Field(10, gt=0, le=60, description="for a site's next bytes, at most")
    ioc_fetch_total_seconds: float = Field(45, gt=0, le=60, description="for a page with names and redirects, at most")
    ioc_fetch_most_bytes: int = Field(10_485_760, ge=1_024, le=52_428_800, description="bytes of a page, packed or not")
    ioc_fetch_header_bytes: int = Field(65_536, ge=1_024, le=1_048_576, description="bytes of a page's headers")
    ioc_fetch_redirects: int = Field(5, ge=0, le=10, description="redirects that are followed")
    ioc_most_indicators: int = Field(20_000, ge=1, le=100_000, description="indicators kept of one article")
    ioc_rate_key: str = Field("100/minute", description="requests with a key")
    ioc_rate_list: str = Field("30/minute", description="lists without a key, per client address")
    ioc_rate_search: str = Field("10/hour", description="searches without a key, per client address")
    ioc_rate_export: str = Field("10/hour", description="whole exports, per key")
    ioc_rate_wrong_key: str = Field("10/minute", description="answers 401, per client address")
    ioc_most_connections: int | None = Field(
        None, ge=1, le=100_000, description="connections at once; 2048 where the limit of open files allows, else fewer"
    )
    ioc_most_connections_per_address: int | None = Field(
        None, ge=1, le=100_000, description="connections at once from one address; half of all by default"
    )
    ioc_allowed_hosts: CommaList = Field((), description="more host names under which the service answers")
    ioc_cors_origins: CommaList = Field((), description="origins whose pages may read the API, or `*` for all")
    ioc_metrics_allow: Networks = Field((), description="networks that may read `/metrics`")
    ioc_metrics_port: int | None = Field(
        None, ge=1, le=65535, description="port on which `ioc worker` answers `/metrics`, at IOC_HOST"
    )
    ioc_traces: str | None = Field(
        None,
        description="collector of OpenTelemetry, as `http://collector:4318/v1/traces`; without it nothing is traced",
    )
    ioc_smtp_host: str | None = Field(None, description="server that mail goes out through; without it none is sent")
    ioc_smtp_port: int = Field(587, ge=1, le=65535, description="port of that server")
    ioc_smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="how mail is protected on its way to that server"
    )
    ioc_smtp_username: str | None = Field(None, description="user name for that server")
    ioc_smtp_password: SecretStr | None = Field(None, description="password for that server")
    ioc_smtp_from: str | None = Field(None, description="address that mail comes from; required beside the server")
    ioc_retention_days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="days after which articles are archived in IOC_DATA_DIR and removed; all are kept",
    )
    ioc_catalogues: CommaList = Field(
        (), description="catalogues fetched once a day, each as `name=address`; see `docs/operations.md`"
    )
    ioc_pivots: CommaList = Field(
        (), description="outside look-ups that indicators' pages link to; see `docs/operations.md`"
    )
    ioc_feeds: Path | None = Field(None, description="file of feeds to follow")

    @field_validator("ioc_rate_key", "ioc_rate_list", "ioc_rate_search", "ioc_rate_export", "ioc_rate_wrong_key")
    @classmethod
    def _is_rate(cls, value: str) -> str:
        if not re.fullmatch(r"[1-9][0-9]{0,8}/(second|minute|hour|day)", value):
            raise ValueError("must be written like 100/minute (second, minute, hour or day)")
        return value

    @field_validator("ioc_cors_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(origin == "*" or _is_origin(origin) for origin in value):
            raise ValueError("must be `*` or origins like https://app.example.org, with commas between them")
        return tuple(origin.lower() for origin in value)

    @field_validator("ioc_pivots")
    @classmethod
    def _are_pivots(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [each for each in value if not is_pivot(each)]:
            raise ValueError(f"has {wrong[0]!r}: a name is one of {' '.join(SERVICES)}, or NAME=https://ADDRESS")
        return value

    @field_validator("elasticsearch_url")
    @classmethod
    def _is_cluster(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_is_web_address, value)):
            raise ValueError("must be written like https://node:9200, or several with commas between them")
        return value

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not is_redis_address(value.get_secret_value()):
            raise ValueError(
                "must be written like redis://[:password@]host:6379/0 (or rediss://, unix://), or like "
                "redis+sentinel://host:26379,host:26379/master/0 (or rediss+sentinel://)"
            )
        return value

    @field_validator("ioc_fetch_proxy")
    @classmethod
    def _is_proxy(cls, value: SecretStr | None) -> SecretStr | None:
        address = value.get_secret_value() if value else ""
        if address and not re.fullmatch(r"https?://(?:[^\s/@]+@)?[^\s/@:]+(?::[0-9]{1,5})?/?", address):
            raise ValueError("must be written like http://[user:password@]host:3128")
        return value

    @field_validator("ioc_traces")
    @classmethod
    def _is_collector(cls, value: str | None) -> str | None:
        if value is not None and not _is_web_address(value):
            raise ValueError("must be written like http://collector:4318/v1/traces")
        return value

    @field_validator("ioc_smtp_from")
    @classmethod
    def _is_sender(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}", value):
            raise ValueError("must be written like alerts@example.org")
        return value

    @field_validator("ioc_base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and urlsplit(value).scheme not in ("http", "https"):
            raise ValueError("must begin with http:// or https://")
        return value.rstrip("/") if value else None

    @field_validator("ioc_oidc_issuer")
    @classmethod
    def _is_issuer(cls, value: str | None) -> str | None:
        if value is not None and not _is_web_address(value):
            raise ValueError("must be written like https://login.example.org")
        return value

    @field_validator("ioc_secret_key")
    @classmethod
    def _is_long(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"must have at least {SHORTEST_SECRET} characters")
        return value

    @property
    def served(self) -> bool:
        """Whether the service runs on Elasticsearch and Redis."""
        return bool(self.elasticsearch_url)

    @property
    def data_dir(self) -> Path:
        return self.ioc_data_dir

    @property
    def base_url(self) -> str:
        """The public address of the service."""
        return self.ioc_base_url or f"http://{_bracketed(self.ioc_host)}:{self.ioc_port}"

    @property
    def elasticsearch(self) -> ElasticsearchSettings | None:
        if not self.elasticsearch_url:
            return None
        return ElasticsearchSettings(
            nodes=self.elasticsearch_url,
            api_key=self.elasticsearch_api_key,
            username=self.elasticsearch_username,
            password=self.elasticsearch_password,
            ca_certs=self.elasticsearch_ca_certs,
            index_prefix=self.elasticsearch_index_prefix,
            shards=self.elasticsearch_shards,
            replicas=self.elasticsearch_replicas,
            refresh_seconds=self.elasticsearch_refresh_seconds,
        )

    @property
    def redis_address(self) -> str | None:
        """The address of Redis with its passwords and certificate authority; only adapters may use it."""
        if self.redis_url is None:
            return None
        parts = urlsplit(self.redis_url.get_secret_value())
        user, _, hosts = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        if self.redis_password is not None and not password:
            parts = parts._replace(netloc=f"{name}:{quote(self.redis_password.get_secret_value(), safe='')}@{hosts}")
        more = {}
        if self.redis_ca_certs is not None:
            more["ssl_ca_certs"] = str(self.redis_ca_certs)
        if self.redis_sentinel_password is not None:
            more["sentinel_password"] = self.redis_sentinel_password.get_secret_value()
        return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, urlencode(more))))))


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_origin(text: str) -> bool:
    return _is_web_address(text) and text == "{0.scheme}://{0.netloc}".format(urlsplit(text)) and "@" not in text


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of an environment (default: the process's). Raises ConfigurationError with a sentence."""
    environ = os.environ if environ is None else environ
    given = {name: value for name in Settings.model_fields if (value := _read(name.upper(), environ))}
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise ConfigurationError(_sentence(error)) from None
    _check_engines(settings)
    return settings


def _read(name: str, environ: Mapping[str, str]) -> str:
    value, file = environ.get(name, ""), environ.get(f"{name}_FILE", "")
    if value or not file:
        return value.strip()
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"{name}_FILE: {file} cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{name}_FILE: {file} holds no text; write the value into it as UTF-8") from None


def _sentence(error: ValidationError) -> str:
    first: Any = error.errors(include_input=False, include_url=False)[0]
    name = str(first["loc"][0]).upper() if first["loc"] else "settings"
    said = first["msg"].removeprefix("Value error, ").partition(", unable to parse")[0]
    return f"{name} {said.replace('Input should be', 'must be').replace('valid integer', 'whole number')}"


def _check_engines(settings: Settings) -> None:
    if bool(settings.elasticsearch_url) != (settings.redis_url is not None):
        missing = "REDIS_URL" if settings.elasticsearch_url else "ELASTICSEARCH_URL"
        raise ConfigurationError(
            f"{missing} is not set: give both ELASTICSEARCH_URL and REDIS_URL, or neither for the embedded service"
        )
    _check_redis(settings)
    if settings.ioc_oidc_issuer and not settings.ioc_oidc_client_id:
        raise ConfigurationError("IOC_OIDC_CLIENT_ID is not set: it is required beside IOC_OIDC_ISSUER")
    if settings.ioc_smtp_host and settings.ioc_smtp_from is None:
        raise ConfigurationError("IOC_SMTP_FROM is not set: it is required beside IOC_SMTP_HOST")
    if settings.served and settings.ioc_secret_key is None:
        raise ConfigurationError("IOC_SECRET_KEY is not set: it is required beside ELASTICSEARCH_URL and REDIS_URL")


def _check_redis(settings: Settings) -> None:
    scheme = urlsplit(settings.redis_url.get_secret_value()).scheme if settings.redis_url else ""
    if settings.redis_ca_certs is not None and not scheme.startswith("rediss"):
        raise ConfigurationError("REDIS_CA_CERTS is set, but REDIS_URL does not begin with rediss")
    if settings.redis_ca_certs is not None and not settings.redis_ca_certs.is_file():
        raise ConfigurationError(f"REDIS_CA_CERTS: {settings.redis_ca_certs} cannot be read")
    if settings.redis_sentinel_password is not None and not scheme.endswith("+sentinel"):
        raise ConfigurationError("REDIS_SENTINEL_PASSWORD is set, but REDIS_URL names no Sentinels")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
