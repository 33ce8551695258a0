"""The shapes of `/extract` for its body and the OpenAPI description."""

from __future__ import annotations

from pydantic import BaseModel, Field

from api.models import Body, IocType


class ExtractBody(Body):
    """A text to read."""

    text: str = Field(examples=["The loader called hxxps://evil[.]example/gate and 203.0.113[.]7."])


class ExtractedIocModel(BaseModel):
    type: IocType
    value: str
    defanged: str
    context: str = Field(description="the sentence that it stands in first")
    rule: str = Field(description="what kept it")


class ExtractModel(BaseModel):
    items: list[ExtractedIocModel] = Field(description="in order of first appearance")
    total: int = Field(description="how many were found; more than `items` beyond the limit of an article")
