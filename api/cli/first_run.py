"""What `scripts/start` adds to serving: samples on an empty store, a first account, and words that greet."""

from __future__ import annotations

import secrets
import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from api.accounts.keys import Keys
from api.accounts.passwords import Passwords
from api.accounts.sign_up import create_account
from api.auditing import on_command_line
from api.cli.running import progress_bar, with_store
from ingest.assembly import open_ingest
from ingest.samples import sample_paths
from intel.errors import AccountExists
from intel.settings import Settings
from intel.store import Store
from intel.times import utc_now

FIRST_ACCOUNT = "admin@localhost"


def greet(settings: Settings) -> None:
    """Import the samples into an empty store, make the first account, and print its password and key this once."""
    made = with_store(_prepare)
    console = Console(highlight=False, soft_wrap=True)
    if made is None:
        console.print(
            Text(f"IOC Intelligence at {settings.base_url}\nCtrl-C ends it; the next start keeps everything.")
        )
        return
    password, key = made
    lines = (
        f"Address    {settings.base_url}",
        f"Account    {FIRST_ACCOUNT}",
        f"Password   {password}",
        f"API key    {key}",
        "",
        "The password and the key are shown this once. Try:",
        "",
        f"  curl '{settings.base_url}/api/v1/iocs?q=fernbrook'",
        f"  curl -H 'Authorization: Bearer {key}' '{settings.base_url}/api/v1/iocs?type=domain'",
        f"  {shlex.quote(_command())} --data-dir {shlex.quote(str(settings.data_dir.absolute()))} lookup CVE-2024-3400",
    )
    console.print(Panel.fit(Text("Welcome to IOC Intelligence"), border_style="green"))
    console.print(Text("\n".join(lines)))
    console.print(Text("\nCtrl-C ends it; the next start keeps everything."))


def _command() -> str:
    """Return the path of the command that runs, so that it can be pasted anywhere."""
    return str(Path(sys.argv[0]).absolute()) if Path(sys.argv[0]).exists() else "ioc"


async def _prepare(store: Store, settings: Settings) -> tuple[str, str] | None:
    if (await store.totals()).articles == 0:
        await _import_samples(store, settings)
    password = secrets.token_urlsafe(15)
    try:
        account = await create_account(store, Passwords(), utc_now, FIRST_ACCOUNT, password)
    except AccountExists:
        return None
    await on_command_line(store).note("account.created", account.email, account.role)
    new = await Keys(store, utc_now).create(account.id, "first key")
    return password, new.secret


async def _import_samples(store: Store, settings: Settings) -> None:
    ingest = open_ingest(settings, store)
    try:
        with progress_bar() as progress:
            for path in progress.track(sample_paths(), description="reading sample articles"):
                await ingest.pipeline.take_file(path.read_bytes(), "text/html", None)
    finally:
        await ingest.close()
