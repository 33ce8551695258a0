"""`ioc account …` and `ioc key …`."""

from __future__ import annotations

import getpass
import sys
from dataclasses import replace

from api.accounts.keys import API_KEYS, FEED_TOKENS, LONGEST_NAME, Keys, NewKey, key_prefix, read_lifetime, read_scopes
from api.accounts.password_strength import check_password
from api.accounts.passwords import Passwords
from api.accounts.sign_up import check_email
from api.accounts.sign_up import create_account as sign_up
from api.auditing import on_command_line
from api.cli.running import print_json, print_table, say, with_store
from intel.errors import AccountExists, InvalidQuery, IocError, KeyLimitReached, NotFound
from intel.ids import account_id
from intel.records import Account, ApiKey, Role
from intel.settings import Settings
from intel.store import Store
from intel.times import rfc3339, utc_now

_ROLE_WORDS: dict[Role, str] = {
    "reader": "a reader: it may not submit articles",
    "submitter": "a submitter",
    "administrator": "an administrator",
}


def create_account(email: str, *, as_json: bool) -> None:
    """Ask for the password first, so that nothing is stored without one."""
    email = check_email(email)
    password = _ask_password(email)

    async def create(store: Store, _: Settings) -> Account:
        account = await sign_up(store, Passwords(), utc_now, email, password)
        await on_command_line(store).note("account.created", account.email, account.role)
        return account

    try:
        account = with_store(create)
    except AccountExists:
        raise AccountExists(f"{email} has an account already; make a key with: ioc key create {email}") from None
    if as_json:
        print_json({"id": account.id, "email": account.email, "role": account.role})
    else:
        say(f"account {account.email} created, {_ROLE_WORDS[account.role]}; make a key with: ioc key create {email}")


def list_accounts(*, as_json: bool) -> None:
    """List every account, by e-mail address."""

    async def read(store: Store, _: Settings) -> tuple[Account, ...]:
        return await store.accounts.all()

    accounts = [
        {
            "email": account.email,
            "role": account.role,
            "created_at": rfc3339(account.created_at),
            "disabled_at": rfc3339(account.disabled_at) if account.disabled_at else None,
        }
        for account in with_store(read, reads=True)
    ]
    if as_json:
        print_json({"items": accounts})
    else:
        print_table("Accounts", ("e-mail", "role", "created", "disabled"), [tuple(a.values()) for a in accounts])


def disable_account(email: str) -> None:
    """Disable an account: its keys are refused and its sessions end at once."""

    async def disable(store: Store, _: Settings) -> None:
        account = await _account(store, email)
        await store.accounts.update(replace(account, disabled_at=utc_now(), session_epoch=account.session_epoch + 1))
        await on_command_line(store).note("account.disabled", account.email)

    with_store(disable, reads=True)
    say(f"account {email} disabled")


def enable_account(email: str) -> None:
    """Let a disabled account sign in and use its keys again."""

    async def enable(store: Store, _: Settings) -> None:
        account = await _account(store, email)
        await store.accounts.update(replace(account, disabled_at=None))
        await on_command_line(store).note("account.enabled", account.email)

    with_store(enable, reads=True)
    say(f"account {email} enabled")


def set_role(email: str, role: Role) -> None:
    """Set what an account may do."""

    async def change(store: Store, _: Settings) -> None:
        account = await _account(store, email)
        await store.accounts.update(replace(account, role=role))
        await on_command_line(store).note("account.role", account.email, f"{account.role} to {role}")

    with_store(change, reads=True)
    say(f"account {email} is now {_ROLE_WORDS[role]}")


def reset_two_factor(email: str) -> None:
    """Let an account sign in with its password alone."""

    async def reset(store: Store, _: Settings) -> None:
        account = await _account(store, email)
        await store.accounts.update(replace(account, two_factor={}))
        await on_command_line(store).note("account.two_factor_off", account.email)

    with_store(reset, reads=True)
    say(f"account {email} signs in without two-factor codes")


def reset_password(email: str, *, keep_keys: bool) -> None:
    """Set a new password, end every session and, unless told otherwise, revoke every API key."""
    password = _ask_password(email)

    async def reset(store: Store, _: Settings) -> int:
        account = await _account(store, email)
        hashed = await Passwords().hash(password, email)
        await store.accounts.update(replace(account, password_hash=hashed, session_epoch=account.session_epoch + 1))
        await on_command_line(store).note("account.password", account.email)
        kinds = () if keep_keys else (API_KEYS, FEED_TOKENS)
        return sum([await Keys(store, utc_now, kind).revoke_all(account.id) for kind in kinds])

    revoked = with_store(reset, reads=True)
    say(f"account {email} has a new password; its sessions have ended; API keys and feed tokens revoked: {revoked}")


def create_key(email: str, name: str, scopes: str, expires_in_days: str) -> None:
    """Print the key alone on standard output; it is shown this once."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise IocError(f"a key's name has 1 to {LONGEST_NAME} printable characters")
    allowed, lifetime = read_scopes(scopes), read_lifetime(expires_in_days)

    async def create(store: Store, _: Settings) -> NewKey:
        account = await _account(store, email)
        new = await Keys(store, utc_now).create(account.id, name.strip(), allowed, lifetime)
        await on_command_line(store).note("key.created", key_prefix(new.record), f"{account.email}: {name.strip()}")
        return new

    try:
        new = with_store(create, reads=True)
    except KeyLimitReached as error:
        raise KeyLimitReached(f"{error} See: ioc key list {email}") from None
    sys.stdout.write(new.secret + "\n")
    say("keep it: it is not shown again")


def list_keys(email: str, *, as_json: bool) -> None:
    """List an account's live keys; never their secrets."""

    async def read(store: Store, _: Settings) -> tuple[ApiKey, ...]:
        return await store.accounts.keys((await _account(store, email)).id)

    keys = [
        {
            "slot": key.slot,
            "name": key.name,
            "prefix": key_prefix(key),
            "created_at": rfc3339(key.created_at),
            "last_used_at": rfc3339(key.last_used_at) if key.last_used_at else None,
            "scopes": " ".join(key.scopes),
            "expires_at": rfc3339(key.expires_at) if key.expires_at else None,
        }
        for key in with_store(read, reads=True)
    ]
    if as_json:
        print_json({"items": keys})
    else:
        print_table(
            f"Keys of {email}",
            ("slot", "name", "prefix", "created", "last used", "scopes", "expires"),
            [tuple(k.values()) for k in keys],
        )


def revoke_key(email: str, slot: int) -> None:
    """Revoke what is in the slot now."""

    async def revoke(store: Store, _: Settings) -> bool:
        account = await _account(store, email)
        key = await store.accounts.get_key(account.id, slot)
        if key is None or not await Keys(store, utc_now).revoke(key):
            return False
        await on_command_line(store).note("key.revoked", key_prefix(key), f"{account.email}: {key.name}")
        return True

    if not with_store(revoke, reads=True):
        raise NotFound(f"{email} has no live key in slot {slot}; see: ioc key list {email}")
    say(f"key in slot {slot} revoked")


async def _account(store: Store, email: str) -> Account:
    account = await store.accounts.get(account_id(email))
    if account is None:
        raise NotFound(f"{email} has no account; make one with: ioc account create {email}")
    return account


def _ask_password(email: str) -> str:
    if sys.stdin.isatty():
        password = getpass.getpass("Password (12 characters or more): ")
        if getpass.getpass("Again: ") != password:
            raise IocError("the two passwords differ; nothing was changed")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    try:
        check_password(password, email)
    except InvalidQuery as error:
        raise InvalidQuery(error.field, f"The password {error.message}.") from None
    return password
