"""How the judge's CPU time divides: into the module's own code, and all that is ours.

The module's code is what given and test cells run here, with the checks they call, but without
the way to the student's process and back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Meter:
    """Adds up the CPU seconds of the module's own code, over all threads."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._here = threading.local()
        self._lock = threading.Lock()

    @contextmanager
    def own_code(self) -> Iterator[None]:
        """The module's code runs in the block."""
        outer = self._switch(True)
        try:
            yield
        finally:
            self._switch(outer)

    @contextmanager
    def border(self) -> Iterator[None]:
        """The judge works in the block, on behalf of the module's code."""
        outer = self._switch(False)
        try:
            yield
        finally:
            self._switch(outer)

    def add(self, seconds: float) -> None:
        """Own code that ran in another process."""
        with self._lock:
            self.seconds += seconds

    def _switch(self, counts: bool) -> bool:
        """Count this thread's time from now on, or do not; whether it counted until now."""
        here, now = self._here, time.thread_time()
        before = getattr(here, "counts", False)
        if before:
            self.add(now - here.since)
        here.counts, here.since = counts, now
        return before
