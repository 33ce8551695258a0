"""The commands and what they take; each is carried out in a file of its own."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from api import VERSION
from api.cli.filter_options import Asked, IocType, filtered

app = typer.Typer(
    name="ioc",
    help="Give it a threat report, get its indicators of compromise; search them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
domain = typer.Typer(help="Domains whose pages are refused.", no_args_is_help=True)
app.add_typer(domain, name="domain")
article = typer.Typer(help="Articles.", no_args_is_help=True)
app.add_typer(article, name="article")
feeds = typer.Typer(help="Feeds.", no_args_is_help=True)
app.add_typer(feeds, name="feeds")
source = typer.Typer(help="Sources.", no_args_is_help=True)
app.add_typer(source, name="source")
weekly = typer.Typer(help="Weekly roundups.", no_args_is_help=True)
app.add_typer(weekly, name="weekly")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ExportFormat = StrEnum("ExportFormat", ["ndjson", "jsonl", "csv", "txt", "stix", "misp", "suricata", "rpz", "hosts"])
OnlyType = Annotated[IocType | None, typer.Option("--type", help="Only this type.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many, at most.")]
Wide = Annotated[bool, typer.Option("--wide", help="One line a row, however long.")]
AddedTags = Annotated[list[str] | None, typer.Option("--add", help="A tag to add; may be repeated.")]
RemovedTags = Annotated[list[str] | None, typer.Option("--remove", help="A tag to remove; may be repeated.")]
FeedUrl = Annotated[str, typer.Argument(help="Address of the feed.")]
Source = Annotated[str | None, typer.Option(help="Name of the source.")]
Published = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="When they were published (UTC); default what they say."
    ),
]
Sharing = Annotated[
    str | None, typer.Option("--tlp", help="How far they may be passed on at most: clear, green or amber.")
]
CATALOGUES = ("kev", "epss", "cvss", "attack", "warninglist")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"ioc {VERSION}")
        raise typer.Exit


@app.callback()
def common(
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of the embedded store; default IOC_DATA_DIR, else ./data.")
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Give it a threat report, get its indicators of compromise; search them."""
    if data_dir is not None:
        os.environ["IOC_DATA_DIR"] = str(data_dir)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; default IOC_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to listen on; default IOC_PORT.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that serve together.")] = 1,
    first_run: Annotated[
        bool, typer.Option("--first-run", help="On an empty store: import samples, make an account, greet.")
    ] = False,
) -> None:
    """Run the API and the pages; embedded, all of the service."""
    from api.cli.serving import serve

    serve(host, port, workers=workers, first_run=first_run)


@app.command()
def worker() -> None:
    """Read submissions from the queue; needs Elasticsearch and Redis."""
    from api.cli.serving import work

    work()


@app.command("import")
def import_(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Files (HTML, text, Markdown, PDF, Word, EML, MISP or STIX JSON), folders, archives; "
            "or kev, epss, cvss, attack or warninglist, then PATH-or-URL."
        ),
    ],
    source: Source = None,
    published: Published = None,
    tlp: Sharing = None,
    again: Annotated[bool, typer.Option("--again", help="Read files again that were imported before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take in articles from files, or a published catalogue. Goes on where it was stopped."""
    if paths[0] in CATALOGUES and not Path(paths[0]).exists():
        from api.cli.catalogues import import_from

        if len(paths) == 1 or source is not None:
            raise typer.BadParameter(f"write: ioc import {paths[0]} PATH-or-URL")
        sys.exit(import_from(paths[0], paths[1:], as_json=as_json))
    from ingest.isolated import Isolation

    # Begins to load what reading needs while this process loads the rest.
    isolation = Isolation.for_one_import()
    isolation.start()
    from api.cli.importing import import_paths

    found = [Path(path) for path in paths]
    sys.exit(import_paths(found, source, published, isolation, tlp=tlp, again=again, as_json=as_json))


@app.command()
def submit(
    url: Annotated[str, typer.Argument(help="Address of an article.")],
    source: Source = None,
    tlp: Sharing = None,
    again: Annotated[bool, typer.Option("--again", help="Read a known article again.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait until it is done or failed.")] = True,
    as_json: AsJson = False,
) -> None:
    """Submit an article's address and see what becomes of it."""
    from api.cli.submitting import submit_url

    sys.exit(submit_url(url, source, tlp, again=again, wait=wait, as_json=as_json))


@app.command()
def extract(
    path: Annotated[str, typer.Argument(help="A file (text, HTML, PDF), or - for standard input.")] = "-",
    explain: Annotated[bool, typer.Option(help="Show all candidates, kept or dropped, and why.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --explain: one JSON object a line.")] = False,
    wide: Wide = False,
    iocextract: Annotated[bool, typer.Option(help="Let iocextract read defanged lines that are left unread.")] = False,
) -> None:
    """Print the indicators of a text, one JSON object a line. Touches no store and no network."""
    from api.cli.extracting import extract

    extract(path, explain=explain, as_json=as_json, iocextract=iocextract, wide=wide)


@app.command()
@filtered
def search(
    q: Annotated[str, typer.Argument(help="Words, or an indicator, plain or defanged.")],
    limit: Limit = 20,
    wide: Wide = False,
    as_json: AsJson = False,
    *,
    filters: Asked,
) -> None:
    """Search indicators."""
    from api.cli.searching import search

    sys.exit(search(q, filters, limit, as_json=as_json, wide=wide))


@app.command("list")
@filtered
def list_(limit: Limit = 20, wide: Wide = False, as_json: AsJson = False, *, filters: Asked) -> None:
    """List indicators, newest first."""
    from api.cli.searching import list_newest

    list_newest(filters, limit, as_json=as_json, wide=wide)


@app.command()
def lookup(
    values: Annotated[
        list[str], typer.Argument(help="Exact values, plain or defanged; - reads them from standard input, one a line.")
    ],
    wide: Wide = False,
    as_json: AsJson = False,
) -> None:
    """Look values up; exit status 1 where none is known."""
    from api.cli.searching import lookup

    sys.exit(lookup(values, as_json=as_json, wide=wide))


@app.command()
@filtered
def export(
    format: Annotated[ExportFormat, typer.Option(help="How to write them.")] = ExportFormat.ndjson,
    q: Annotated[str, typer.Option("--q", help="Only what a search for this finds.")] = "",
    include: Annotated[
        str | None, typer.Option(help="`warned`: warned ones too, in txt, suricata, rpz and hosts.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="File to write; default standard output.")] = None,
    *,
    filters: Asked,
) -> None:
    """Write out every indicator that matches."""
    from api.cli.exporting import export

    export(format.value, q, filters, output, include=include)


@app.command()
def reindex() -> None:
    """Rebuild what searches read, while the service goes on."""
    from api.cli.upkeep import reindex

    reindex()


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what is reachable, what is not, and what to do about it."""
    from api.cli.upkeep import doctor

    sys.exit(doctor(as_json=as_json))


@app.command("tag")
def tag_indicator(
    value: Annotated[str, typer.Argument(help="The indicator, plain or defanged.")],
    add: AddedTags = None,
    remove: RemovedTags = None,
    as_json: AsJson = False,
) -> None:
    """Add and remove tags of an indicator, and print what it has."""
    from api.cli.remarks import tag_indicator

    tag_indicator(value, add or (), remove or (), as_json=as_json)


@app.command("note")
def note_indicator(
    value: Annotated[str, typer.Argument(help="The indicator, plain or defanged.")],
    add: Annotated[str, typer.Option("--add", help="A note to add: plain text, at most 2,000 characters.")] = "",
    remove: Annotated[str, typer.Option("--remove", metavar="ID", help="The id of a note to remove.")] = "",
    as_json: AsJson = False,
) -> None:
    """Add or remove a note of an indicator, and print what it has."""
    from api.cli.remarks import note_indicator

    note_indicator(value, add, remove, as_json=as_json)


@domain.command("block")
def block_domain(name: Annotated[str, typer.Argument(help="The domain; all below it is blocked too.")]) -> None:
    """Refuse every page of a domain. However it comes: submitted, by a feed or by a redirect."""
    from api.cli.domains import block_domain

    block_domain(name)


@domain.command("unblock")
def unblock_domain(name: Annotated[str, typer.Argument(help="The domain, as it was blocked.")]) -> None:
    """Let the pages of a domain be fetched again."""
    from api.cli.domains import unblock_domain

    unblock_domain(name)


@domain.command("list")
def list_domains(as_json: AsJson = False) -> None:
    """List the blocked domains."""
    from api.cli.domains import list_domains

    list_domains(as_json=as_json)


@article.command("remove")
def remove_articles(ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of articles.")]) -> None:
    """Remove articles and all that came from them."""
    from api.cli.removing import remove_articles

    sys.exit(remove_articles(ids))


@article.command("note")
def note_article(
    id: Annotated[str, typer.Argument(help="The article's id.")],
    add: Annotated[str, typer.Option("--add", help="A note to add: plain text, at most 2,000 characters.")] = "",
    remove: Annotated[str, typer.Option("--remove", metavar="ID", help="The id of a note to remove.")] = "",
    as_json: AsJson = False,
) -> None:
    """Add or remove a note of an article, and print what it has."""
    from api.cli.remarks import note_article

    note_article(id, add, remove, as_json=as_json)


@article.command("tlp")
def mark_article(
    id: Annotated[str, typer.Argument(help="The article's id.")],
    tlp: Annotated[str, typer.Argument(metavar="TLP", help="clear, green, amber; or none.")],
) -> None:
    """Say how far an article may be passed on."""
    from api.cli.sharing import mark_article

    mark_article(id, tlp)


@article.command("tag")
def tag_article(
    id: Annotated[str, typer.Argument(help="The article's id.")],
    add: AddedTags = None,
    remove: RemovedTags = None,
    as_json: AsJson = False,
) -> None:
    """Add and remove tags of an article, and print what it has."""
    from api.cli.remarks import tag_article

    tag_article(id, add or (), remove or (), as_json=as_json)


@source.command("trust")
def trust_source(
    name: Annotated[
        str | None, typer.Argument(help="The source's name; of pages that accounts submit, their domain.")
    ] = None,
    trust: Annotated[str | None, typer.Argument(metavar="N", help="0 to 100; 50 is usual.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say how far a source is trusted. Without a name: list those that are not trusted as usual."""
    from api.cli.trusting import list_trusts, trust_source

    if name is None:
        list_trusts(as_json=as_json)
    elif trust is None:
        raise typer.BadParameter("say how far, 0 to 100", param_hint="N")
    else:
        trust_source(name, trust, as_json=as_json)


@feeds.command("add")
def add_feed(
    url: FeedUrl,
    name: Annotated[str | None, typer.Option(help="Name of the source; default the address's host.")] = None,
    as_json: AsJson = False,
) -> None:
    """Follow an RSS, Atom or JSON feed."""
    from api.cli.feeds import add_feed

    add_feed(url, name, as_json=as_json)


@feeds.command("list")
def list_feeds(as_json: AsJson = False) -> None:
    """List the feeds and how each is doing."""
    from api.cli.feeds import list_feeds

    list_feeds(as_json=as_json)


@feeds.command("remove")
def remove_feed(url: FeedUrl) -> None:
    """Follow a feed no more; its articles stay."""
    from api.cli.feeds import remove_feed

    remove_feed(url)


@feeds.command("enable")
def enable_feed(url: FeedUrl) -> None:
    """Switch a feed on; one that had ended is asked again."""
    from api.cli.feeds import switch_feed

    switch_feed(url, on=True)


@feeds.command("disable")
def disable_feed(url: FeedUrl) -> None:
    """Switch a feed off."""
    from api.cli.feeds import switch_feed

    switch_feed(url, on=False)


@feeds.command("import")
def import_feeds(
    path: Annotated[Path | None, typer.Argument(help="OPML, or a text with one address a line.")] = None,
    starter: Annotated[bool, typer.Option("--starter", help="Well-known public feeds, switched off.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add the feeds of a list."""
    from api.cli.feeds import import_feeds

    if (path is None) != starter:
        raise typer.BadParameter("give a file, or --starter")
    sys.exit(import_feeds(path, as_json=as_json))


@feeds.command("poll")
def poll_feeds(
    url: Annotated[str | None, typer.Argument(help="Only this feed; default all that are switched on.")] = None,
    wait: Annotated[
        bool | None,
        typer.Option(help="Wait until the new articles are read; by default where this process reads them itself."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Poll feeds now; exit status 1 where one cannot be read."""
    from api.cli.feeds import poll_feeds

    sys.exit(poll_feeds(url, wait=wait, as_json=as_json))


@weekly.command("build")
def build_weeks(
    weeks: Annotated[list[str] | None, typer.Argument(help="Weeks, such as 2026-W47; default the two newest.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every week that has articles.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compute the roundups whose articles changed. Exit status 1 where a week has none."""
    from api.cli.reports import build_weeks

    sys.exit(build_weeks(weeks or [], every=every, as_json=as_json))


@weekly.command("show")
def show_week(
    week: Annotated[str | None, typer.Argument(help="A week, such as 2026-W47; default the running one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a roundup as Markdown."""
    from api.cli.reports import show_week

    show_week(week, as_json=as_json)
