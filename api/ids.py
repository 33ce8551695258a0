"""Ids in paths: `{id:id}` matches a UUID as this service writes it, so that no handler is asked for anything else."""

from __future__ import annotations

from starlette.convertors import Convertor, register_url_convertor


class IdConvertor(Convertor[str]):
    """The one check of an id; a path with anything else there leads nowhere (404)."""

    regex = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("id", IdConvertor())
