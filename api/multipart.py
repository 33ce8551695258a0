"""Reading forms with files: parsed while they come in, files on disk; the one file that knows the parser of forms."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from api.bodies import refuse_too_large
from api.problems import Problem
from intel.unseen import UNSEEN

MULTIPART: Final = "multipart/form-data"
# Around the file: boundaries, heads, other fields.
_LARGEST_FRAME: Final = 64_000
_LARGEST_FIELD: Final = 1_000_000
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as a form brought it; `name` is for showing alone."""

    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class SentForm:
    """The fields of a form, and its file; None where there is none, or an empty one without a name."""

    fields: Mapping[str, str]
    file: SentFile | None


async def read_form(request: Request, file: str, fields: frozenset[str], largest_file: int) -> SentForm:
    """Return a form with at most one file, in the field `file`, and no other fields than `fields`.

    Problem for anything else: 400 for what is no such form, 413 for a file that is too large, 422 for other fields.
    """
    stream = _bounded(request, largest_file + _LARGEST_FRAME)
    most = len(fields) + 1
    parser = MultiPartParser(request.headers, stream, max_files=2, max_fields=most, max_part_size=_LARGEST_FIELD)
    try:
        form = await parser.parse()
    except MultiPartException as wrong:
        raise Problem(400, "invalid_form", f"The form cannot be read: {wrong.message}"[:300]) from None
    try:
        return await _checked(form, file, fields, largest_file)
    finally:
        await form.close()


async def _checked(form: FormData, file: str, fields: frozenset[str], largest_file: int) -> SentForm:
    sent: dict[str, str] = {}
    found: SentFile | None = None
    for name, value in form.multi_items():
        if name in sent or (found is not None and name == file):
            raise _wrong(name, "stands in the form twice")
        if name not in fields and name != file:
            raise _wrong(name, "is no field of this form")
        if isinstance(value, UploadFile) != (name == file):
            raise _wrong(name, "must be sent as a file, with a file name" if name == file else "must not be a file")
        if isinstance(value, UploadFile):
            found = await _read(value, largest_file)
        else:
            sent[name] = value
    # Browsers send a file that nobody chose as an empty one.
    return SentForm(sent, found if found and (found.body or found.name) else None)


async def _read(sent: UploadFile, largest: int) -> SentFile:
    if (sent.size or 0) > largest:
        refuse_too_large(largest)
    path = UNSEEN.sub("", sent.filename or "").replace("\\", "/").replace("\n", " ").replace("\t", " ")
    return SentFile(path.rpartition("/")[2].strip()[:_LONGEST_NAME], await sent.read())


def _wrong(field: str, message: str) -> Problem:
    field = UNSEEN.sub("", field)[:100] or "body"
    errors = [{"field": field, "message": message}]
    return Problem(422, "invalid_parameter", f"{field} {message}", errors=errors)


async def _bounded(request: Request, largest: int) -> AsyncGenerator[bytes, None]:
    count = 0
    async for piece in request.stream():
        count += len(piece)
        if count > largest:
            refuse_too_large(largest - _LARGEST_FRAME)
        yield piece
