"""A bar on a terminal that says how far a long command is, and how long it will still take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

WIDTH = 24
EVERY = 0.1  # seconds between two looks


class Progress:
    """Counts what is done; silent where nobody looks at a terminal.

    total : how many there will be
    """

    def __init__(
        self,
        what: str,
        total: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what = what
        self._total = total
        self._stream = stream or sys.stderr
        self._clock = clock
        self._shown = self._stream.isatty()
        self._begin = self._last = clock()
        self._done = 0
        self._width = 0

    def __call__(self, row: object = None) -> None:
        """One more is done."""
        self._done += 1
        now = self._clock()
        last = self._done == self._total
        if self._shown and (last or now - self._last >= EVERY):
            self._last = now
            line = self.line(now - self._begin)
            # Blanks over what a longer line before has left.
            print(f"\r{line:<{self._width}}", end="", file=self._stream, flush=True)
            self._width = len(line)

    def line(self, seconds: float) -> str:
        """The bar after so many seconds."""
        full = WIDTH * self._done // max(self._total, 1)
        bar = "#" * full + "." * (WIDTH - full)
        left = seconds / max(self._done, 1) * (self._total - self._done)
        rest = f"{duration(left)} left" if self._done < self._total else f"in {duration(seconds)}"
        return f"{self._what} [{bar}] {self._done} of {self._total}, {rest}"

    def close(self) -> None:
        """Leave the line; may be repeated."""
        if self._shown and self._width:
            print(file=self._stream, flush=True)
            self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def duration(seconds: float) -> str:
    """For people.

    >>> duration(4.2), duration(75), duration(7300)
    ('4 s', '1 min 15 s', '2 h 01 min')
    """
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"
