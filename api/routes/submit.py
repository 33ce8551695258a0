"""`/submit` and `/submissions/{id}`: handing an article in, and what became of it."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems
from api.bodies import JSON, media_type_of, parse_fields, read_either
from api.limits.policy import access
from api.models import SubmitBody, SubmitFileBody, SubmitManyBody
from api.multipart import MULTIPART, read_form
from api.service import account_of, service_of, submitter_of
from api.submission_models import SubmissionModel, SubmissionsModel
from api.uploads import LARGEST_UPLOAD
from intel.errors import InvalidQuery, NotFound
from intel.records import Submission
from intel.tlp import LEVELS

router = APIRouter(tags=["submissions"])

_WANTED: Final = "Send JSON with Content-Type: application/json, or a file as multipart/form-data."
_FIELDS: Final = frozenset({"source_name", "tlp"})


@router.post(
    "/submit",
    summary="Submit an article to be read",
    status_code=202,
    responses={
        200: {"model": SubmissionModel, "description": "The article is known already."},
        202: {
            "model": SubmissionModel | SubmissionsModel,
            "description": "Accepted; it will be done or will say why. Of several addresses: a submission each.",
        },
        **problems(400, 403, 413, 415, 422),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/SubmitBody"},
                            {"$ref": "#/components/schemas/SubmitManyBody"},
                        ]
                    }
                },
                MULTIPART: {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {
                            "file": {
                                "type": "string",
                                "format": "binary",
                                "description": "HTML, text, Markdown, PDF, Word, EML, a MISP event or a "
                                "STIX 2.1 bundle; at most 10 MB",
                            },
                            "source_name": {"type": "string", "minLength": 1, "maxLength": 200},
                            "tlp": {"type": "string", "enum": [*LEVELS]},
                        },
                    }
                },
            },
        }
    },
)
async def submit_article(request: Request) -> Response:
    account_id = submitter_of(request)
    submitting = service_of(request).submitting
    if media_type_of(request, (JSON, MULTIPART), _WANTED).name == MULTIPART:
        return _answer(await _submit_file(request, account_id))
    body = await read_either(request, SubmitBody, "urls", SubmitManyBody)
    if isinstance(body, SubmitManyBody):
        submissions = await submitting.submit_all(account_id, body.urls, body.source_name, body.tlp)
        return json_answer({"items": [*map(views.submission, submissions)]}, 202)
    return _answer(await submitting.submit(account_id, body.url, body.source_name, tlp=body.tlp))


async def _submit_file(request: Request, account_id: str) -> Submission:
    service = service_of(request)
    with service.uploads.room(account_id):
        form = await read_form(request, "file", _FIELDS, LARGEST_UPLOAD)
        body = parse_fields(form.fields, SubmitFileBody)
        if form.file is None or not form.file.body:
            raise InvalidQuery("file", "is missing or empty; send one file in this field")
        name = form.file.name or "file"
        submitting = service.submitting
        return await submitting.submit_file(account_id, name, form.file.body, body.source_name, body.tlp)


def _answer(submission: Submission) -> Response:
    headers = {"Location": f"/api/v1/submissions/{submission.id}"}
    return json_answer(views.submission(submission), 200 if submission.status == "done" else 202, headers)


@router.get(
    "/submissions/{id:id}",
    summary="What became of a submission",
    responses={200: {"model": SubmissionModel}, **problems(404)},
)
@access(key=True, scopes=("read", "submit"))
async def get_submission(request: Request, id: str) -> Response:
    found = await service_of(request).store.submissions.get(id)
    if found is None or found.account_id != account_of(request):
        raise NotFound("Your account has no submission with this id.")
    return json_answer(views.submission(found))
