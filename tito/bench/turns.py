"""Weights from main memory: copies of all arguments, of which each call takes the next.

A layer of a large model is read once a token, after all others: nothing of it is in a cache then.
One array that is multiplied again and again would stay there, where it fits, and be timed as such.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

from tito.bench.trial import Contender
from tito.machine import facts

# All copies together are so many times the last cache: of what was read before, nothing is left.
TIMES_LAST_CACHE = 3
LAST_CACHE, MOST_CACHE = 32 << 20, 128 << 20  # where it is not known; what is believed
MOST_COPIES = 64


class Turns:
    """A call's arguments, several times; the timer sees one object, not all their arrays.

    nbytes : bytes of the arrays in one of them
    """

    def __init__(self, arguments: tuple[Any, ...], total: int) -> None:
        self.nbytes = size_of(arguments)
        count = min(max(2, math.ceil(total / max(1, self.nbytes))), MOST_COPIES)
        self._all = [arguments, *(copy.deepcopy(arguments) for _ in range(count - 1))]
        self._next = 0

    def take(self) -> tuple[Any, ...]:
        self._next = (self._next + 1) % len(self._all)
        return self._all[self._next]


def in_turn(contender: Contender) -> Contender:
    """The same contender, with its arguments from main memory."""
    last = max((level.size for level in facts().caches), default=LAST_CACHE)
    total = TIMES_LAST_CACHE * min(last, MOST_CACHE)

    def call(turns: Turns, **kwargs: Any) -> Any:
        return contender.function(*turns.take(), **kwargs)

    return replace(
        contender,
        function=call,
        prepare=lambda inputs: (Turns(contender.prepare(inputs), total),),
    )


def size_of(value: Any, depth: int = 4) -> int:
    """Bytes of the arrays that a value holds, also those in its parts and in theirs."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int) or not depth:
        return size or 0
    parts = value if isinstance(value, (list, tuple)) else getattr(value, "__dict__", {}).values()
    return sum(size_of(part, depth - 1) for part in parts)
