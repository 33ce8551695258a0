"""Draw a QR code as SVG: the one file that knows segno."""

from __future__ import annotations

from markupsafe import Markup


def qr_svg(text: str) -> Markup:
    """Return a QR code of a text, dark on light in every theme, as an inline SVG of 4 units a module."""
    import segno  # seldom needed

    made: str = segno.make(text, error="m", micro=False).svg_inline(scale=4, dark="#000", light="#fff", border=4)
    return Markup(made)  # noqa: S704 - segno draws paths alone; the text is not in it
