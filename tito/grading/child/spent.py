"""CPU time inside the student's functions, for `grade run --timing`; no verdict rests on it."""

from __future__ import annotations

import threading
import time


class Spent:
    """Adds up the process's CPU seconds in `with` blocks; what overlaps counts once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = 0
        self._since = 0.0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._since = time.process_time()
            self._inside += 1

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self.seconds += time.process_time() - self._since
