"""Markdown with mathematics as HTML that is safe to open, whoever wrote it.

Raw HTML is shown as text, a link leads to the web or nowhere, a picture is its description, and a
formula is MathML, which browsers draw without a script or a font from elsewhere.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from html.parser import HTMLParser
from typing import Any

# Longer text is shown as it is: time to render it is no longer worth it.
LONGEST_TEXT, LONGEST_FORMULA = 20_000, 1_000
_WEB = ("https://", "http://", "mailto:")
# What latex2mathml needs for what people write. It escapes nothing and knows \href and \style, so
# whatever it makes is read again, and anything else makes the formula be shown as its source.
_TAGS_TEXT = """
    math mrow mi mn mo mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover
    munderover mtable mtr mtd mmultiscripts mprescripts none mpadded mphantom mstyle menclose
"""
_TAGS = frozenset(_TAGS_TEXT.split())
_ATTRIBUTES_TEXT = """
    xmlns display mathvariant stretchy fence form separator accent accentunder lspace rspace
    width height depth columnalign rowspacing columnspacing columnlines rowlines linethickness
    movablelimits largeop symmetric maxsize minsize displaystyle scriptlevel notation
"""
_ATTRIBUTES = frozenset(_ATTRIBUTES_TEXT.split())
_VALUE = re.compile(r"[\w #%./:-]*")
_TEXT_SIGNS = {"<": r"\lt ", ">": r"\gt "}


def html(text: str) -> str:
    """`text` as HTML."""
    if len(text) > LONGEST_TEXT:
        return f"<pre>{escape(text)}</pre>"
    return str(_renderer()(text))


def formula(latex: str, display: str = "inline") -> str:
    """A formula as MathML; as its source where that cannot be had safely."""
    source = f"<code>{escape(latex)}</code>"
    if len(latex) > LONGEST_FORMULA:
        return source
    from latex2mathml.converter import convert

    clean = re.sub("[<>]", lambda sign: _TEXT_SIGNS[sign[0]], latex)
    try:
        made = convert(clean, display=display)
    except Exception:  # it raises what it likes, RecursionError included
        return source
    return made if _is_only_mathml(made) else source


def _is_only_mathml(text: str) -> bool:
    reader = _MathReader()
    reader.feed(text)
    reader.close()
    return reader.clean and not reader.open


class _MathReader(HTMLParser):
    """Whether a text holds the tags and attributes of MathML that only draw, closed in order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)  # data below is what stands there raw
        self.clean = True
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = all(
            (name in _ATTRIBUTES and _VALUE.fullmatch(value or ""))
            or (name == "xmlns" and value == "http://www.w3.org/1998/Math/MathML")
            for name, value in attrs
        )
        self.clean = self.clean and tag in _TAGS and known
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.clean = self.clean and bool(self.open) and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.clean = self.clean and "<" not in data

    def handle_comment(self, data: str) -> None:
        self.clean = False

    handle_decl = handle_pi = unknown_decl = handle_comment


@cache
def _renderer() -> Any:
    import mistune

    class Renderer(mistune.HTMLRenderer):
        def __init__(self) -> None:
            super().__init__(escape=True)

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return f"<em>[picture: {escape(text or 'without description')}]</em>"

        def link(self, text: str, url: str, title: str | None = None) -> str:
            if not url.strip().lower().startswith(_WEB):
                return text
            return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'

        def inline_math(self, text: str) -> str:
            return formula(text)

        def block_math(self, text: str) -> str:
            return f"<p>{formula(text, 'block')}</p>\n"

    return mistune.create_markdown(renderer=Renderer(), plugins=["math", "table", "strikethrough"])
