"""Numbers in sentences, and sentences in tables."""

from __future__ import annotations

import textwrap
import unicodedata


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "hand-in"), counted(2, "hand-in"), counted(0, "page")
    ('1 hand-in', '2 hand-ins', '0 pages')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def times(number: int) -> str:
    """
    >>> times(1), times(2)
    ('once', '2 times')
    """
    return "once" if number == 1 else f"{number} times"


def width(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese sign two, an accent of its own none.

    >>> width("Ann"), width("李小龍"), width("e\u0301")
    (3, 6, 1)
    """
    shown = (c for c in text if not unicodedata.combining(c))
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in shown)


def padded(text: str, columns: int) -> str:
    """A text with spaces behind it, so that the next column begins where it should."""
    return text + " " * max(columns - width(text), 0)


LEAST_ROOM = 20


def hanging(start: str, text: str, columns: int) -> list[str]:
    """The lines of a table's row whose last column may be of any length: it goes on below.

    >>> hanging("ann  ", "one two three four five", 25)
    ['ann  one two three four', '     five']
    """
    indent = " " * min(width(start), max(columns - LEAST_ROOM, 0))
    lines = textwrap.wrap(
        " ".join(text.split()),
        columns,
        initial_indent=start,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return [line.rstrip() for line in lines] or [start.rstrip()]
