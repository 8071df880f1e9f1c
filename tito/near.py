"""What somebody may have meant by a word that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that looks most like this one; None where none does.

    >>> nearest("deu", ["due"]), nearest("02", ["01_measure", "02_loops"]), nearest("x", ["due"])
    ('due', '02_loops', None)
    """
    known = list(known)
    found = difflib.get_close_matches(word.casefold(), known, n=1, cutoff=0.6)
    begun = [name for name in known if len(word) > 1 and name.startswith(word.casefold())]
    return next(iter(found or begun), None)


def meant(word: str, known: Iterable[str]) -> str:
    """ "; did you mean due?", or nothing, to end a message with."""
    name = nearest(word, known)
    return f"; did you mean {name}?" if name else ""
