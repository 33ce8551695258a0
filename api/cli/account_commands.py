"""`ioc account …` and `ioc key …`: the commands and what they take."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.commands import AsJson, app
from intel.records import Role

account = typer.Typer(help="Accounts.", no_args_is_help=True)
key = typer.Typer(help="API keys.", no_args_is_help=True)
app.add_typer(account, name="account")
app.add_typer(key, name="key")
Email = Annotated[str, typer.Argument(help="The account's e-mail address.")]


@account.command("create")
def create_account(email: Email, as_json: AsJson = False) -> None:
    """Make an account. Asks for the password, or reads it from standard input that is no terminal."""
    from api.cli.accounts import create_account

    create_account(email, as_json=as_json)


@account.command("list")
def list_accounts(as_json: AsJson = False) -> None:
    """List the accounts."""
    from api.cli.accounts import list_accounts

    list_accounts(as_json=as_json)


@account.command("disable")
def disable_account(email: Email) -> None:
    """Disable an account: its keys and sessions end."""
    from api.cli.accounts import disable_account

    disable_account(email)


@account.command("remove")
def remove_account(
    email: Email,
    with_submissions: Annotated[
        bool, typer.Option("--with-submissions", help="With the articles that no other account submitted.")
    ] = False,
) -> None:
    """Delete an account with its keys and sessions. Its articles stay unless told otherwise."""
    from api.cli.removing import remove_account

    remove_account(email, with_submissions=with_submissions)


@account.command("enable")
def enable_account(email: Email) -> None:
    """Enable a disabled account. It may sign in again, and its keys work again."""
    from api.cli.accounts import enable_account

    enable_account(email)


@account.command("role")
def set_role(
    email: Email,
    role: Annotated[Role, typer.Argument(help="What it may do: read, submit articles, or administer.")],
) -> None:
    """Set what an account may do, at once and on every server."""
    from api.cli.accounts import set_role

    set_role(email, role)


@account.command("reset-two-factor")
def reset_two_factor(email: Email) -> None:
    """Turn an account's two-factor codes off. For those who lost telephone and recovery codes."""
    from api.cli.accounts import reset_two_factor

    reset_two_factor(email)


@account.command("reset-password")
def reset_password(
    email: Email,
    keep_keys: Annotated[bool, typer.Option("--keep-keys", help="Leave its API keys as they are.")] = False,
) -> None:
    """Give an account a new password. Its sessions end and its API keys are revoked."""
    from api.cli.accounts import reset_password

    reset_password(email, keep_keys=keep_keys)


@key.command("create")
def create_key(
    email: Email,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "command line",
    scopes: Annotated[str, typer.Option(help="What it may do, with commas: read, submit, export.")] = "",
    expires_in_days: Annotated[str, typer.Option(help="Days until it expires; never by default.")] = "",
) -> None:
    """Make an API key and print it, alone, on standard output."""
    from api.cli.accounts import create_key

    create_key(email, name, scopes, expires_in_days)


@key.command("list")
def list_keys(email: Email, as_json: AsJson = False) -> None:
    """List an account's keys."""
    from api.cli.accounts import list_keys

    list_keys(email, as_json=as_json)


@key.command("revoke")
def revoke_key(
    email: Email, slot: Annotated[int, typer.Argument(min=0, max=4, help="As `key list` shows it.")]
) -> None:
    """Revoke a key, on every server."""
    from api.cli.accounts import revoke_key

    revoke_key(email, slot)
