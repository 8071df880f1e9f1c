"""Numbers in sentences, and sentences in tables."""

from __future__ import annotations

import textwrap


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


LEAST_ROOM = 20


def hanging(start: str, text: str, width: int) -> list[str]:
    """The lines of a table's row whose last column may be of any length: it goes on below.

    >>> hanging("ann  ", "one two three four five", 25)
    ['ann  one two three four', '     five']
    """
    indent = " " * min(len(start), max(width - LEAST_ROOM, 0))
    lines = textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=start,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return [line.rstrip() for line in lines] or [start.rstrip()]
