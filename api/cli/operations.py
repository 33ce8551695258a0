"""More commands and what they take: those with which an operator keeps the store."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli.commands import AsJson, app

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
Engines = StrEnum("Engines", ["served", "embedded"])


@app.command()
def backup(
    dest: Annotated[Path, typer.Argument(help="Folder to make.")],
    overwrite: Overwrite = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="With the passphrase in IOC_BACKUP_PASSPHRASE, or asked for.")
    ] = False,
) -> None:
    """Write all that is stored into a folder, as it is at one moment; the service goes on."""
    from api.cli.backups import backup

    backup(dest, overwrite=overwrite, encrypt=encrypt)


@app.command()
def restore(
    src: Annotated[Path, typer.Argument(help="Folder that `ioc backup` made, on either engine.")],
    overwrite: Overwrite = False,
) -> None:
    """Fill the store with a backup, once that is found whole."""
    from api.cli.backups import restore

    restore(src, overwrite=overwrite)


@app.command()
def migrate(
    to: Annotated[Engines, typer.Option(help="Which store is filled.")] = Engines.served,
    overwrite: Overwrite = False,
) -> None:
    """Copy all that is stored from the embedded store to Elasticsearch, or back; the first one keeps it."""
    from api.cli.backups import migrate

    migrate(to_served=to is Engines.served, overwrite=overwrite)


@app.command()
def reread(
    since: Annotated[str | None, typer.Option(help="Only articles published (else read) since that day.")] = None,
    source: Annotated[str | None, typer.Option(help="Only articles of this source.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    rate: Annotated[float, typer.Option(min=0.1, max=1000, help="Articles a second, at most.")] = 10,
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Begin anew where an earlier run was stopped.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read stored articles again with today's rules; what changes is a new revision. Goes on where it was stopped."""
    from api.cli.rereading import reread

    sys.exit(reread(since, source, dry_run=dry_run, rate=rate, from_start=from_start, as_json=as_json))
