"""Signing in through a provider that runs here, on a real socket, with real keys and signatures."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pytest_httpserver import HTTPServer
from werkzeug.wrappers import Request, Response

from api.accounts.boxes import Box
from intel.errors import ConfigurationError
from intel.ids import account_id
from intel.settings import load_settings
from tests.api.running import GENEROUS, Running, running
from tests.api.web.reading import ORIGIN, PASSWORD, Page, Reader, reading

CLIENT, SECRET = "ioc service", "s3cret:/"
EMAIL = "anna@corp.example"
CALLBACK = f"{ORIGIN}/signin/oidc/callback"


@dataclass
class Provider:
    """A provider of identities; what it says in ID tokens can be bent."""

    server: HTTPServer
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    claims: dict[str, Any] = field(default_factory=dict)
    signed_by: rsa.RSAPrivateKey | None = None
    asked: dict[str, str] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)

    @property
    def issuer(self) -> str:
        return self.server.url_for("/realm").rstrip("/")

    def start(self) -> None:
        found = {name: f"{self.issuer}/{name}" for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key())) | {"kid": "1", "use": "sig"}
        serve = self.server.expect_request
        serve("/realm/.well-known/openid-configuration").respond_with_json({"issuer": self.issuer, **found})
        serve("/realm/jwks_uri").respond_with_json({"keys": [public]})
        serve("/realm/token_endpoint", method="POST").respond_with_handler(self._token)

    def consent(self, location: str) -> dict[str, str]:
        """What the person's browser brings back after it was sent there."""
        assert location.startswith(f"{self.issuer}/authorization_endpoint?")
        self.asked = dict(parse_qsl(urlsplit(location).query))
        self.codes.add("the code")
        return {"code": "the code", "state": self.asked["state"]}

    def _token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs(request.get_data().decode()).items()}
        pair = base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        right = (
            form["code"] in self.codes
            and pair == "ioc%20service:s3cret%3A%2F"
            and challenge.decode() == self.asked["code_challenge"]
            and form["redirect_uri"] == self.asked["redirect_uri"] == CALLBACK
        )
        self.codes.clear()
        if not right:
            return Response('{"error": "invalid_grant"}', 400, content_type="application/json")
        now = int(time.time())
        told = {"iss": self.issuer, "aud": CLIENT, "sub": "1", "iat": now, "exp": now + 60, "email": EMAIL}
        told |= {"email_verified": True, "nonce": self.asked["nonce"]} | self.claims
        told = {name: value for name, value in told.items() if value is not None}
        token = jwt.encode(told, self.signed_by or self.key, "RS256", {"kid": "1"})
        return Response(json.dumps({"id_token": token}), content_type="application/json")


@pytest.fixture
def provider(httpserver: HTTPServer) -> Provider:
    made = Provider(httpserver)
    made.start()
    return made


@pytest_asyncio.fixture
async def api(tmp_path: Path, provider: Provider) -> AsyncIterator[Running]:
    """A service that may fetch from no address of this machine but the provider's."""
    settings: dict[str, Any] = {
        "ioc_oidc_issuer": provider.issuer,
        "ioc_oidc_client_id": CLIENT,
        "ioc_oidc_client_secret": SECRET,
        "ioc_oidc_name": "Corp <b>",
        "ioc_oidc_domains": "corp.example",
        "ioc_signup": "closed",
        "ioc_fetch_allow": "",
    }
    async with running(tmp_path, **GENEROUS, **settings) as started:
        yield started


async def begin(reader: Reader, provider: Provider, path: str = "/signin/oidc?next=/bulk") -> dict[str, str]:
    sent = await reader.client.get(path)
    assert sent.status_code == 303, sent.text
    return provider.consent(sent.headers["location"])


async def come_back(reader: Reader, brought: dict[str, str]) -> Page:
    return Page(await reader.client.get("/signin/oidc/callback", params=brought, follow_redirects=True))


@pytest.mark.promise("accounts.open-id")
async def test_who_signs_in_there_is_signed_in_here_and_gets_an_account(api: Running, provider: Provider) -> None:
    async with reading(api.app) as reader:
        links = (await reader.open("/signin?next=/bulk")).links()
        assert links["Sign in through Corp <b>"] == "/signin/oidc?next=/bulk"
        brought = await begin(reader, provider)
        assert {name: provider.asked[name] for name in ("response_type", "client_id", "code_challenge_method")} == {
            "response_type": "code",
            "client_id": CLIENT,
            "code_challenge_method": "S256",
        }
        assert (await come_back(reader, brought)).path == "/bulk"
        assert await reader.is_signed_in()
        own = await reader.open("/settings")
        assert "this account has no password" in own.text and "Change password" not in own.text
        assert (await come_back(reader, brought)).status == 403, "each sign-in is good for one time"
    account = await api.store.accounts.get(account_id(EMAIL))
    assert account is not None and account.email == EMAIL
    async with reading(api.app) as other:
        for password in ("", PASSWORD):
            assert (await other.sign_in(EMAIL, password)).status == 401
        await come_back(other, await begin(other, provider))
        assert await other.is_signed_in()
    assert [one.email for one in await api.store.accounts.all()] == [EMAIL]


@pytest.mark.slow
@pytest.mark.promise("accounts.open-id")
async def test_tokens_that_are_not_right_sign_nobody_in(api: Running, provider: Provider) -> None:
    past = int(time.time()) - 3_600
    for bent in (
        {"iss": "https://evil.example"},
        {"aud": "another service"},
        {"aud": [CLIENT, "another service"]},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": past},
        {"exp": None},
        {"email_verified": False},
        {"email_verified": None},
        {"email_verified": "true"},
        {"email": None},
        {"email": "anna@evil.example"},
        {"email": "no address @corp.example"},
    ):
        provider.claims = bent
        async with reading(api.app) as reader:
            page = await come_back(reader, await begin(reader, provider))
            assert (page.status, page.heading) == (403, "Sign in"), bent
            assert not await reader.is_signed_in(), bent
    provider.claims, provider.signed_by = {}, rsa.generate_private_key(65537, 2048)
    async with reading(api.app) as reader:
        assert (await come_back(reader, await begin(reader, provider))).status == 403
    assert await api.store.accounts.all() == ()


@pytest.mark.promise("accounts.open-id")
async def test_an_answer_counts_in_the_browser_that_asked_and_in_time(api: Running, provider: Provider) -> None:
    async with reading(api.app) as reader, reading(api.app) as thief:
        brought = await begin(reader, provider)
        assert (await come_back(thief, brought)).status == 403
        assert (await come_back(reader, brought | {"state": "another"})).status == 403
        brought = await begin(reader, provider)
        assert (await come_back(reader, brought | {"iss": "https://evil.example"})).status == 403
        refused = {"error": "access_denied", "state": (await begin(reader, provider))["state"]}
        assert (await come_back(reader, refused)).status == 403
        brought = await begin(reader, provider)
        api.clock.forward(601)
        assert (await come_back(reader, brought)).status == 403
        brought = await begin(reader, provider, "/signin/oidc?next=https://evil.example/")
        assert (await come_back(reader, brought)).answer.url.host == "ioc.example"


@pytest.mark.promise("accounts.open-id")
async def test_a_disabled_account_stays_out_and_a_provider_that_fails_is_told(
    api: Running, provider: Provider, httpserver: HTTPServer
) -> None:
    async with reading(api.app) as reader:
        await come_back(reader, await begin(reader, provider))
        account = await api.store.accounts.get(account_id(EMAIL))
        assert account is not None
        await api.store.accounts.update(replace(account, disabled_at=api.clock.now))
        page = await come_back(reader, await begin(reader, provider))
        assert page.status == 403 and "disabled" in page.text
        httpserver.clear()
        page = await reader.open("/signin/oidc")
        assert page.status == 502 and "failed" in page.text


async def test_without_a_provider_there_is_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, **GENEROUS) as api, reading(api.app) as reader:
        assert (await reader.open("/signin/oidc")).status == 404
        assert (await reader.open("/signin/oidc/callback?code=1&state=2")).status == 404
        assert "through" not in (await reader.open("/signin")).text
    with pytest.raises(ConfigurationError, match="IOC_OIDC_CLIENT_ID"):
        load_settings({"IOC_OIDC_ISSUER": "https://login.example.org"})
    with pytest.raises(ConfigurationError, match="IOC_OIDC_ISSUER"):
        load_settings({"IOC_OIDC_ISSUER": "login.example.org", "IOC_OIDC_CLIENT_ID": "x"})


def test_what_was_sealed_for_one_purpose_opens_for_no_other() -> None:
    box = Box(b"secret of this installation")
    sealed = box.seal(b"data", "one")
    assert box.open(sealed, "one") == b"data"
    assert box.open(sealed, "two") is None and Box(b"another").open(sealed, "one") is None
    assert [box.open(text, "one") for text in ("", "é", "AAAA", sealed[:-4], f"{sealed}x")] == [None] * 5
