"""Numbers in sentences."""

from __future__ import annotations


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
