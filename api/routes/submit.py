"""`/submit` and `/submissions/{id}`: handing an article in, and what became of it."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from api import views
from api.answers import json_answer, problems
from api.bodies import read_either
from api.limits.policy import access
from api.models import SubmitBody, SubmitManyBody
from api.service import account_of, service_of, submitter_of
from api.submission_models import SubmissionModel, SubmissionsModel
from intel.errors import NotFound

router = APIRouter(tags=["submissions"])


@router.post(
    "/submit",
    summary="Hand in an article to be read",
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
                }
            },
        }
    },
)
async def submit(request: Request) -> Response:
    account_id = submitter_of(request)
    submitting = service_of(request).submitting
    body = await read_either(request, SubmitBody, "urls", SubmitManyBody)
    if isinstance(body, SubmitManyBody):
        submissions = await submitting.submit_all(account_id, body.urls, body.source_name)
        return json_answer({"items": [*map(views.submission, submissions)]}, 202)
    submission = await submitting.submit(account_id, body.url, body.source_name)
    headers = {"Location": f"/api/v1/submissions/{submission.id}"}
    return json_answer(views.submission(submission), 200 if submission.status == "done" else 202, headers)


@router.get(
    "/submissions/{id:id}",
    summary="What became of a submission",
    responses={200: {"model": SubmissionModel}, **problems(404)},
)
@access(key=True)
async def get_submission(request: Request, id: str) -> Response:
    found = await service_of(request).store.submissions.get(id)
    if found is None or found.account_id != account_of(request):
        raise NotFound("Your account has no submission with this id.")
    return json_answer(views.submission(found))
