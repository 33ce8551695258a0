"""Which new passwords are too easy to guess: the one file that knows zxcvbn.

It estimates how many guesses a password takes that somebody makes who knows common passwords, words, names, dates,
keyboard rows, repeats and sequences, and the words that the account and this service go by.
"""

from __future__ import annotations

import re

from intel.errors import InvalidQuery

SHORTEST, LONGEST = 12, 256
# 10^8 guesses: far more than the limits on signing in leave anybody. Without the account's own words, 10^6.
_LEAST_SCORE, _LEAST_SCORE_OF_THE_REST = 3, 2
_SHORTEST_OWN_WORD = 3
# The estimate takes time that grows faster than the length; what begins well is not spoilt by more of it.
_LOOKED_AT = 72
# Read as the letters that they stand for in words: with these signs the estimate tries every reading, for seconds.
_SIGNS_FOR_LETTERS = str.maketrans("@({[<!|$+%", "acccciistx")
_OF_THIS_SERVICE = ("ioc", "iocs", "intelligence", "indicators", "compromise", "threat", "threatintel", "admin")


def check_password(password: str, email: str) -> None:
    """Raise InvalidQuery that says what is wrong with a new password for the account of that e-mail address."""
    if len(password) < SHORTEST:
        raise InvalidQuery("password", f"must have at least {SHORTEST} characters")
    if len(password) > LONGEST:
        raise InvalidQuery("password", f"must have at most {LONGEST} characters")
    words = own_words(email)
    looked_at = password[:_LOOKED_AT].translate(_SIGNS_FOR_LETTERS)
    rest = _without(looked_at, words)
    if _score(looked_at, words) < _LEAST_SCORE or _score(rest, words) < _LEAST_SCORE_OF_THE_REST:
        raise InvalidQuery(
            "password",
            "must not be easy to guess: a common password, a pattern, or your own address or this service's name with "
            "little added. Take four words that have nothing to do with each other",
        )


def own_words(email: str) -> list[str]:
    """Return the words that a guesser of this account would try first."""
    email = email.strip().casefold()
    local, _, domain = email.rpartition("@")
    parts = re.split(r"[\W_]+", email)
    joined = re.sub(r"[\W_]+", "", local)
    words = (email, local, joined, domain, domain.partition(".")[0], *parts, *_OF_THIS_SERVICE)
    return [word for word in words if len(word) > 1]


def _score(password: str, words: list[str]) -> int:
    """Return 0 for what takes up to 10^3 guesses, then one more for each of 10^6, 10^8 and 10^10 that it exceeds."""
    # Its dictionaries take 12 MB, and passwords are seldom new.
    from zxcvbn import zxcvbn

    return int(zxcvbn(password, words)["score"]) if password else 0


def _without(password: str, words: list[str]) -> str:
    """Return what is left of a password when each own word is taken out, the longest first."""
    long = sorted((word for word in words if len(word) >= _SHORTEST_OWN_WORD), key=len, reverse=True)
    return re.sub("|".join(map(re.escape, long)), "", password, flags=re.IGNORECASE)
