"""Short ways to say what a feed announces."""

from __future__ import annotations

from collections.abc import Sequence


def rss(links: Sequence[str], head: str = "", declaration: str = "") -> bytes:
    """An RSS feed that announces these addresses in this order, without dates."""
    items = "".join(f"<item><title>T</title><link>{link}</link></item>" for link in links)
    return f'{declaration}<rss version="2.0"><channel><title>News</title>{head}{items}</channel></rss>'.encode()


def atom(*entries: tuple[str, str]) -> bytes:
    """An Atom feed of addresses and the moments at which each was published."""
    found = "".join(
        f'<entry><title>T</title><link href="{link}"/><id>{link}</id><published>{moment}</published></entry>'
        for link, moment in entries
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{found}</feed>'.encode()
