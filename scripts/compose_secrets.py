"""Makes the secrets that docker-compose.yml needs, each once, as files that only their reader may open.

A value given in the environment (from `.env`) replaces what stands there. Runs as root in the service `secrets`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ELASTICSEARCH_USER, REDIS_USER, SERVICE_USER = 1000, 999, 10001
# Redis and curl read these values from files with quoting of their own: what would need quoting is refused.
ALLOWED = re.compile(r"[!#-\[\]-~]{16,200}")


@dataclass(frozen=True, slots=True)
class SecretFile:
    """One reader's copy of one secret: `form` is what stands in the file, with the value for {}."""

    path: str
    user: int
    variable: str
    form: str = "{}"


# The superuser's password stays with Elasticsearch itself; the service signs in as a user with a role of its own.
FILES = (
    SecretFile("elasticsearch/password", ELASTICSEARCH_USER, "ELASTIC_PASSWORD"),
    SecretFile("elasticsearch/service_password", ELASTICSEARCH_USER, "ELASTICSEARCH_PASSWORD"),
    SecretFile("redis/password", REDIS_USER, "REDIS_PASSWORD"),
    SecretFile("redis/redis.conf", REDIS_USER, "REDIS_PASSWORD", "requirepass {}\n"),
    SecretFile("service/elasticsearch_service_password", SERVICE_USER, "ELASTICSEARCH_PASSWORD"),
    SecretFile("service/redis_password", SERVICE_USER, "REDIS_PASSWORD"),
    SecretFile("service/secret_key", SERVICE_USER, "IOC_SECRET_KEY"),
)
# Where each secret is kept in its bare form.
KEPT = {
    "ELASTIC_PASSWORD": "elasticsearch/password",
    "ELASTICSEARCH_PASSWORD": "service/elasticsearch_service_password",
    "REDIS_PASSWORD": "service/redis_password",
    "IOC_SECRET_KEY": "service/secret_key",
}
# Elasticsearch's file realm: https://www.elastic.co/docs/deploy-manage/users-roles/cluster-or-deployment-auth/file-based
SERVICE_NAME, ROLE_NAME = "ioc_service", "ioc_service"
ROLE = Path(__file__).parents[1] / "search_mappings" / "elasticsearch_role.yml"
ROUNDS = 10_000


def kept(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return ""


def value_of(variable: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Return the given value, else the kept one, else a new one of 256 random bits. Raises ValueError for an unfit
    one.
    """
    given = environ.get(variable, "")
    if given and not ALLOWED.fullmatch(given):
        raise ValueError(f"{variable} must have 16 to 200 printable ASCII characters, no blanks, quotes or backslashes")
    return given or kept(folder / KEPT[variable]) or secrets.token_urlsafe(32)


def write(path: Path, text: str, user: int) -> None:
    """Replace the file in one step: a reader sees the old text or the new, never a part, and no one else either."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "w", encoding="utf-8") as file:
        file.write(text)
    if os.geteuid() == 0:
        os.chown(part, user, user)
        os.chown(path.parent, user, user)
    part.replace(path)


def make_secrets(folder: Path, environ: Mapping[str, str]) -> None:
    """Write every file that differs from what it should hold; an unfit value is refused before anything is written."""
    values = {variable: value_of(variable, folder, environ) for variable in KEPT}
    for file in FILES:
        write_if_changed(folder / file.path, file.form.format(values[file.variable]), file.user)
    password = values["ELASTICSEARCH_PASSWORD"]
    for path, text in file_realm(password, folder / "elasticsearch" / "realm").items():
        write_if_changed(path, text, ELASTICSEARCH_USER)


def write_if_changed(path: Path, text: str, user: int) -> None:
    if kept(path) != text:
        write(path, text, user)


def file_realm(password: str, folder: Path) -> dict[Path, str]:
    """Return the files that give Elasticsearch the service's user and role; a hash that fits the password is kept."""
    users = folder / "users"
    name, _, known = kept(users).strip().partition(":")
    hashed = known if name == SERVICE_NAME and fits(password, known) else hash_of(password, secrets.token_bytes(32))
    return {
        folder / "roles.yml": ROLE.read_text("utf-8"),
        users: f"{SERVICE_NAME}:{hashed}\n",
        folder / "users_roles": f"{ROLE_NAME}:{SERVICE_NAME}\n",
    }


def hash_of(password: str, salt: bytes) -> str:
    """Return the password as Elasticsearch's PBKDF2 hasher writes it."""
    key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, ROUNDS, 32)
    return f"{{PBKDF2}}{ROUNDS}${base64.b64encode(salt).decode()}${base64.b64encode(key).decode()}"


def fits(password: str, hashed: str) -> bool:
    """Tell whether a hash that this script wrote is of that password."""
    salt = hashed.split("$")[1] if hashed.count("$") == 2 else ""
    return hash_of(password, base64.b64decode(salt)) == hashed


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: compose_secrets.py FOLDER", file=sys.stderr)
        return 2
    try:
        make_secrets(Path(arguments[0]), os.environ)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
