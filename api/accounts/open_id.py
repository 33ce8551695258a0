"""Sign in through OpenID Connect: code flow with PKCE, state and nonce. The one file that knows PyJWT.

Between the two requests all that has to be remembered stands sealed in a cookie of the browser, so that a code that was
given to one browser signs in no other. Issuer, audience, signature, nonce and times of the ID token are checked, and an
address counts only where the provider says that it verified it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

from api.accounts.boxes import Box
from ingest.fetch.provider import Provider
from intel.errors import Forbidden, IngestFailed
from intel.times import to_milliseconds

LIFETIME: Final = timedelta(minutes=10)
_PURPOSE = "open-id"
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_REQUIRED = ("exp", "iat", "iss", "aud", "sub")
_LEEWAY_SECONDS = 60
_DISCOVERY = "/.well-known/openid-configuration"
_FAILED: Final = "Signing in there failed. Try again, or ask who runs this service."
_UNVERIFIED: Final = "The provider did not confirm your e-mail address."


@dataclass(frozen=True, slots=True)
class Begun:
    """Where to send the browser, and what it has to bring back in a cookie."""

    location: str
    cookie: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the provider says this is, and where they wanted to go."""

    email: str
    back: str


@dataclass(frozen=True, slots=True)
class OpenId:
    """One provider; `domains` are those of e-mail addresses that may sign in, any where there are none."""

    issuer: str
    client_id: str
    client_secret: str | None
    domains: tuple[str, ...]
    provider: Provider
    box: Box

    def __repr__(self) -> str:
        return f"OpenId({self.issuer!r})"

    async def begin(self, redirect_uri: str, back: str, now: datetime) -> Begun:
        """Return where the browser signs in. Raises Forbidden where the provider cannot be asked."""
        found = await self._discovered()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "scope": "openid email",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        held = [state, nonce, verifier, back, to_milliseconds(now + LIFETIME)]
        address = str(found["authorization_endpoint"])
        location = f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"
        return Begun(location, self.box.seal(json.dumps(held).encode(), _PURPOSE))

    async def finish(self, redirect_uri: str, cookie: str, query: Mapping[str, str], now: datetime) -> Identity:
        """Return who signed in. Raises Forbidden with a sentence for a person."""
        opened = self.box.open(cookie, _PURPOSE)
        state, nonce, verifier, back, ends = json.loads(opened) if opened else ("", "", "", "/", 0)
        code, given = query.get("code", ""), query.get("state", "")
        if not state or not hmac.compare_digest(state.encode(), given.encode()) or to_milliseconds(now) >= ends:
            raise Forbidden("This sign-in is out of date or was begun in another browser. Try again.")
        if not code or query.get("iss", self.issuer) != self.issuer:
            raise Forbidden(_FAILED)
        found = await self._discovered()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
        answer = await self._ask(
            str(found["token_endpoint"]),
            form | {"client_id": self.client_id, "code_verifier": verifier},
            self._credentials(),
        )
        claims = self._claims(str(answer.get("id_token", "")), await self._ask(str(found["jwks_uri"])))
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise Forbidden(_FAILED)
        return Identity(self._email(claims), back)

    async def _discovered(self) -> dict[str, Any]:
        found = await self._ask(self.issuer.rstrip("/") + _DISCOVERY)
        named = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if found.get("issuer") != self.issuer or not all(isinstance(found.get(name), str) for name in named):
            raise Forbidden(_FAILED)
        if not str(found["authorization_endpoint"]).startswith(("https://", "http://")):
            raise Forbidden(_FAILED)
        return found

    async def _ask(
        self, url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        try:
            return await self.provider.ask(url, form, headers)
        except IngestFailed:
            raise Forbidden(_FAILED) from None

    def _credentials(self) -> dict[str, str]:
        if self.client_secret is None:
            return {}
        pair = f"{quote(self.client_id, safe='')}:{quote(self.client_secret, safe='')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}

    def _claims(self, token: str, keys: dict[str, Any]) -> dict[str, Any]:
        # It takes 20 MB with what it stands on, which a service without a provider never needs.
        import jwt

        try:
            head = jwt.get_unverified_header(token)
            usable = [key for key in jwt.PyJWKSet.from_dict(keys).keys if head.get("kid") in (None, key.key_id)]
            claims: dict[str, Any] = jwt.decode(
                token,
                usable[0],
                algorithms=[one for one in _ALGORITHMS if one == head.get("alg")],
                audience=self.client_id,
                issuer=self.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": list(_REQUIRED)},
            )
        except (jwt.PyJWTError, IndexError, ValueError, TypeError):
            raise Forbidden(_FAILED) from None
        party = claims.get("azp", self.client_id if isinstance(claims["aud"], str) or len(claims["aud"]) == 1 else "")
        if party != self.client_id:
            raise Forbidden(_FAILED)
        return claims

    def _email(self, claims: Mapping[str, Any]) -> str:
        email = claims.get("email")
        if not isinstance(email, str) or claims.get("email_verified") is not True:
            raise Forbidden(_UNVERIFIED)
        domain = email.rpartition("@")[2].casefold()
        if self.domains and domain not in self.domains:
            raise Forbidden("Addresses of this domain may not sign in here.")
        return email
