"""Proof of concurrency without a clock: calls that only go on once they have met.

    meet = Meeting(2)
    def operation(x):
        meet()
        return x + 1
    expect_equal(run_threads(operation, [1, 2], num_workers=2), [2, 3])

Two calls that run one after the other never meet, on however fast a machine; two that run at the
same time do, on however slow a one: time in which the machine has no CPU for them does not count.
"""

from __future__ import annotations

import threading

from tito.checks.failure import CheckFailed, Failure
from tito.checks.patience import wait_for
from tito.checks.runtime import current

# A wrong kernel waits that long, once; a right one on a loaded machine needs less by far.
SECONDS = 5.0
# Later meetings of a process in which one was in vain: whoever never meets hears of it soon.
SECONDS_AGAIN = 2.0


class Meeting:
    """Called by each of `parties` threads; every call returns once all of them are in it.

    parties : threads that have to be in the meeting at the same time
    seconds : after which nobody else is expected any more; 5, and 2 once a meeting was in vain
    function : the name that a failure begins with: whose threads they are

    It may be used again by the next `parties` callers. The caller that waits in vain, and whoever
    comes later, gets CheckFailed, which ends the student's call.
    """

    _one_was_in_vain = False

    def __init__(
        self,
        parties: int = 2,
        seconds: float | None = None,
        function: str = "the worker threads",
    ) -> None:
        if type(parties) is not int or parties < 2:
            raise ValueError(f"a meeting needs two parties or more, not {parties!r}")
        self._parties = parties
        self._function = function
        self._patient = seconds is None
        if seconds is None:
            seconds = SECONDS_AGAIN if Meeting._one_was_in_vain else SECONDS
        self._seconds = seconds
        self._door = threading.Condition()
        self._here = 0  # callers that wait
        self._met = 0  # meetings that there were
        self._in_vain = False
        self._workers: set[int] = set()

    def __call__(self) -> int:
        """Wait for the others; which of the callers this one was, 0 to parties - 1."""
        with self._door:
            self._workers.add(current().worker())
            met, place = self._met, self._here
            self._here += 1
            if self._here == self._parties and not self._in_vain:
                self._met, self._here = met + 1, 0
                self._door.notify_all()
                return place
            wait_for(self._door, lambda: self._in_vain or self._met > met, self._seconds)
            if self._met > met:
                return place
            self._in_vain = True
            self._door.notify_all()
        if self._patient:
            Meeting._one_was_in_vain = True
        raise CheckFailed.of(self._failure())

    @property
    def workers(self) -> int:
        """How many threads have come so far."""
        return len(self._workers)

    def _failure(self) -> Failure:
        kind = f"{self._parties} items never ran at the same time"
        if self.workers == 1:
            said = f"{kind}: only one thread came"
        else:
            said = f"{kind}: {self.workers} threads came, one after the other"
        return Failure(
            self._function,
            said,
            kind,
            tries=["start all workers before you wait for the first result"],
        )
