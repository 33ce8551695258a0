"""Mail: what a digest says, and the one file that knows how to send it."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import formatdate, make_msgid
from typing import Final

from api.searches.asked import address_of
from intel.canonical import defang
from intel.records import Ioc
from intel.saved_searches import SavedSearch
from intel.settings import Settings
from intel.times import rfc3339
from intel.unseen import plain

_SECONDS: Final = 20.0
_LONGEST_TITLE: Final = 120


class MailFailed(Exception):
    """A mail was not taken; `status` is the server's answer, where it gave one, `detail` a sentence for a person."""

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail in plain text; `unsubscribe` is the address that ends such mails with one click."""

    to: str
    subject: str
    text: str
    unsubscribe: str


class Mailer:
    """Sends mail through the server that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def send(self, mail: Mail) -> None:
        """Hand a mail to the server. Raises MailFailed."""
        try:
            await asyncio.to_thread(self._send, mail)
        except smtplib.SMTPRecipientsRefused:
            raise MailFailed("The mail server does not take mail for this address.", 550) from None
        except smtplib.SMTPResponseException as error:
            raise MailFailed("The mail server refused the mail.", error.smtp_code) from None
        except (OSError, smtplib.SMTPException, ssl.SSLError, ValueError):
            raise MailFailed("The mail could not be handed to the mail server.") from None

    def _send(self, mail: Mail) -> None:
        settings = self._settings
        host, port = settings.ioc_smtp_host or "", settings.ioc_smtp_port
        if settings.ioc_smtp_security == "tls":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=ssl.create_default_context())
        else:
            server = smtplib.SMTP(host, port, timeout=_SECONDS)
        with server:
            if settings.ioc_smtp_security == "starttls":
                server.starttls(context=ssl.create_default_context())
            if settings.ioc_smtp_username:
                password = settings.ioc_smtp_password.get_secret_value() if settings.ioc_smtp_password else ""
                server.login(settings.ioc_smtp_username, password)
            server.send_message(self._message(mail))

    def _message(self, mail: Mail) -> EmailMessage:
        sender = self._settings.ioc_smtp_from or ""
        # The policy refuses a line break in a header.
        message = EmailMessage(policy=SMTP)
        message["From"] = sender
        message["To"] = mail.to
        message["Subject"] = line(mail.subject)
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2] or None)
        message["Auto-Submitted"] = "auto-generated"
        message["List-Unsubscribe"] = f"<{mail.unsubscribe}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content(mail.text)
        return message


def digest(search: SavedSearch, iocs: Sequence[Ioc], total: int, base_url: str) -> tuple[str, str]:
    """Return subject and text of a mail that tells of these indicators, of `total`; values are defanged."""
    count = f"{total:,} new indicator{'' if total == 1 else 's'}"
    lines = [f"{count}: {line(search.name)}", ""]
    for ioc in iocs:
        lines.append(f"{ioc.type}  {line(defang(ioc.type, ioc.value))}")
        lines.append(f"    {line(ioc.article.title)[:_LONGEST_TITLE]} ({line(ioc.article.source_label)})")
        if ioc.malware:
            lines.append(f"    {line(', '.join(ioc.malware[:5]))}")
    if total > len(iocs):
        lines += ["", f"and {total - len(iocs):,} more"]
    lines += [
        "",
        f"Search: {base_url}{address_of(search)}",
        f"Not found does not mean harmless. Told at {rfc3339(search.mail_at)}.",
        "",
        f"Saved searches: {base_url}/settings/searches",
        f"Stop these mails: {unsubscribe_address(search, base_url)}",
    ]
    return f"[IOC] {count}: {line(search.name)}", "\n".join(lines) + "\n"


def unsubscribe_address(search: SavedSearch, base_url: str) -> str:
    """Return the address that ends the mails of a search for whoever has it."""
    return f"{base_url}/unsubscribe/{search.id}/{search.mail_token}"


def line(text: str) -> str:
    """Return what a stranger wrote as one line of plain text."""
    return " ".join(plain(text).split())
