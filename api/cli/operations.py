"""More commands and what they take: following what comes in, and keeping the store."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api.cli.commands import AsJson, app

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there already.")]
Engines = StrEnum("Engines", ["served", "embedded"])

feedback = typer.Typer(help="What readers call wrongly kept or dropped.", no_args_is_help=True)
app.add_typer(feedback, name="feedback")


@feedback.command("export")
def feedback_export(
    output: Annotated[Path | None, typer.Option("--output", help="File to write, instead of standard output.")] = None,
) -> None:
    """Write what readers called wrong as labelled examples. One JSON object a line."""
    from api.cli.feedback import export_feedback

    export_feedback(output)


@app.command()
def audit(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many, at most.")] = 50, as_json: AsJson = False
) -> None:
    """Print who did what, newest first. To accounts, keys, feeds, domains, catalogues and articles."""
    from api.cli.auditing import print_audit

    print_audit(limit, as_json=as_json)


@app.command()
def watch(
    q: Annotated[str, typer.Argument(help="Words, or an indicator, plain or defanged; empty for all.")] = "",
    type: Annotated[list[str] | None, typer.Option(help="Only this type; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only what this source names; may be repeated.")] = None,
    malware: Annotated[
        list[str] | None, typer.Option(help="Only indicators associated with it; may be repeated.")
    ] = None,
    status: Annotated[list[str] | None, typer.Option(help="Only what has this status; may be repeated.")] = None,
    exclude: Annotated[str | None, typer.Option(help="Leave out: warned, expired, false_positive.")] = None,
    min_sources: Annotated[int | None, typer.Option(min=1, help="Only what so many sources name.")] = None,
    since: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was last seen since that day.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Only what was last seen until that day.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """Print new indicators that match as they come, until Ctrl-C."""
    from api.cli.watching import watch

    filters = {
        "type": type, "source": source, "malware": malware, "status": status, "exclude": exclude,
        "min_sources": min_sources, "since": since, "until": until,
    }  # fmt: skip
    watch(q, filters, as_json=as_json)


@app.command()
def backup(
    dest: Annotated[Path, typer.Argument(help="Folder to make.")],
    overwrite: Overwrite = False,
    encrypt: Annotated[
        bool, typer.Option("--encrypt", help="With the passphrase in IOC_BACKUP_PASSPHRASE, or asked for.")
    ] = False,
) -> None:
    """Write all that is stored into a folder, as of one moment. The service goes on."""
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
    """Copy all from the embedded store to Elasticsearch, or back. The first one keeps it."""
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
    """Read stored articles again with today's rules. What changes is a new revision. Goes on where it was stopped."""
    from api.cli.rereading import reread

    sys.exit(reread(since, source, dry_run=dry_run, rate=rate, from_start=from_start, as_json=as_json))
