"""The form by which pages change tags."""

from __future__ import annotations

from api.service import check_may_tag
from api.tagging import change_tags, split_tags
from api.web.visit import Visit
from intel.errors import InvalidQuery
from intel.store.tags import TaggedKind


async def tag_fault(visit: Visit, kind: TaggedKind, id: str) -> str:
    """Do what the form says to a record's tags; return what is wrong with it, or nothing.

    Raises Forbidden where the account may not tag, and NotFound.
    """
    check_may_tag(visit.member.account.role)
    remove = visit.form.get("remove_tag", "")
    try:
        added = [] if remove else split_tags(visit.form.get("tags", ""))
        await change_tags(visit.service.store, visit.audit, kind, id, added, [remove] if remove else [])
    except InvalidQuery as wrong:
        return f"A tag {wrong.message}."
    return ""
