"""The secret that signs cursors and sessions: given, or made once and kept in the data folder."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from intel.errors import ConfigurationError
from intel.settings import SHORTEST_SECRET, Settings


def secret_of(settings: Settings) -> bytes:
    """Return the secret of this installation. ConfigurationError where it cannot be kept."""
    if settings.ioc_secret_key is not None:
        return settings.ioc_secret_key.get_secret_value().encode()
    try:
        return _kept(settings.data_dir)
    except OSError as error:
        raise ConfigurationError(
            f"IOC_DATA_DIR: {settings.data_dir} cannot be written ({error.strerror}); "
            "name a folder that this user may write"
        ) from None


def _kept(folder: Path) -> bytes:
    """Return the secret that is kept; whoever links its file into place first decides for all that start together."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / "secret_key"
    if not file.exists():
        draft = folder / f"secret_key.{secrets.token_hex(8)}"
        draft.touch(mode=0o600)
        try:
            draft.write_text(secrets.token_urlsafe(32), "ascii")
            with contextlib.suppress(FileExistsError):
                os.link(draft, file)
        finally:
            draft.unlink()
    secret = file.read_bytes().strip()
    if len(secret) < SHORTEST_SECRET:
        raise ConfigurationError(f"{file} is damaged: remove it and start again; everybody then signs in anew")
    return secret
