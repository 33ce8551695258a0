"""Read the text of a mail message that was saved as a file (.eml)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default

from intel.errors import ArticleUnreadable
from intel.times import to_moment


@dataclass(frozen=True, slots=True)
class MailText:
    """The readable part of a message: its bytes with their declared charset, whether they are HTML, and the headers
    that tell of it. `attachments` counts what was not read.
    """

    body: bytes
    charset: str | None
    is_html: bool
    subject: str
    sender: str
    sent_at: datetime | None
    attachments: int


def read_mail(body: bytes) -> MailText:
    """Return the HTML of a message, or its plain text where it has none.

    Raises ArticleUnreadable: `no_text`, `mail_damaged`.
    """
    try:
        message: EmailMessage = BytesParser(policy=default).parsebytes(body)
        part = message.get_body(("html", "plain"))
        if part is None:
            raise ArticleUnreadable("no_text", "The mail message holds no text.")
        payload = part.get_payload(decode=True)
        return MailText(
            payload if isinstance(payload, bytes) else b"",
            part.get_content_charset(),
            part.get_content_subtype() == "html",
            str(message["subject"] or ""),
            _sender(message),
            _sent_at(message),
            sum(1 for _ in message.iter_attachments()) if message.is_multipart() else 0,
        )
    except ArticleUnreadable:
        raise
    except Exception:  # headers of strangers make the parser raise nearly anything
        raise ArticleUnreadable("mail_damaged", "The mail message is damaged and cannot be read.") from None


def _sender(message: EmailMessage) -> str:
    header = message["from"]
    addresses = header.addresses if header is not None else ()
    return addresses[0].display_name if addresses else ""


def _sent_at(message: EmailMessage) -> datetime | None:
    header = message["date"]
    sent = header.datetime if header is not None else None
    return to_moment(sent if sent.tzinfo else sent.replace(tzinfo=UTC)) if sent is not None else None
