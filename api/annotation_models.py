"""The shapes of what administrators say of articles and sources."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.models import Body, SharedBody
from intel.confidence import MOST_TRUST
from intel.tlp import Tlp


class SharingBody(SharedBody):
    """How far an article may be passed on; null for what nobody says."""

    tlp: Tlp | None


class SharingModel(BaseModel):
    """How far an article may be passed on."""

    tlp: Tlp | None


class TrustBody(Body):
    """How far to trust a source."""

    trust: int = Field(ge=0, le=MOST_TRUST, description="50 is usual")


class TrustModel(BaseModel):
    """How far a source is trusted."""

    name: str
    trust: int
