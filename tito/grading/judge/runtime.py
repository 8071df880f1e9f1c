"""The checks' runtime in the judge: calls go to the student's process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from tito.checks.counting import Said
from tito.checks.memory import arrays_in
from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import Called
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.rig import judge_rig
from tito.grading.judge.world import World

if TYPE_CHECKING:
    from tito.checks.speed import Speed
    from tito.grading.judge.twin import Baseline


class JudgeRuntime(NotebookRuntime):
    """`tito.checks.runtime.Runtime` over a World.

    What a test does with functions of its own is as in a notebook; counted arrays lie here too,
    and the student's process asks for each element.

    baseline : finds the function of the twin's processes that a function of the test is
    own      : the work is graded for its author alone
    claims   : takes a reading in the clean child
    reported : (earned, message) of each `points(...)` of the test cell that runs
    claimed  : whether a claim was asked for in it
    doubt    : whether a measurement in it could not tell which step it is
    ratio    : how many times as fast as its baseline the last kernel measured was
    measured : what may be said of its last measurement if the cell is hidden
    """

    def __init__(
        self,
        world: World,
        secret: bytes = b"",
        baseline: Callable[[Callable], Baseline] | None = None,
        *,
        own: bool = False,
        claims: Callable[[str, Target, tuple, dict], Any] | None = None,
    ) -> None:
        super().__init__()
        self._baseline = baseline
        self._own = own
        self._claims = claims
        self.doubt = False
        self.ratio: float | None = None
        self.claimed = False
        self.measured: str | None = None
        self._world = world
        self._secret = secret
        self._results: list[np.ndarray] = []
        self.reported: list[tuple[Any, str | None]] = []

    def call(self, func: Callable, args: tuple, kwargs: dict) -> Called:
        """Call a function; of the student's, their side says what the result shares memory with."""
        if not isinstance(func, Proxy):
            return super().call(func, args, kwargs)
        result, shared = self._world.call(target_of(func), args, kwargs)
        # Kept, so that "an earlier result" stays one until the test cell is over.
        self._results += [array for _, array in arrays_in(result)]
        return Called(result, tuple(name for name in shared if name != "argument out"))

    def call_in_time(
        self, func: Callable, args: tuple, kwargs: dict, seconds: float
    ) -> Called | None:
        """The limits of the student's process end what waits for ever, and say so."""
        return self.call(func, args, kwargs)

    def forget(self) -> None:
        super().forget()
        self._results.clear()
        self.reported.clear()

    def secret(self) -> bytes:
        return self._secret

    def worker(self) -> int:
        return self._world.worker()

    def cpu_seconds(self) -> float:
        return self._world.seconds

    def is_held_up(self) -> bool:
        return self._world.is_held_up

    def before_check(self, names: Iterable[str]) -> None:
        """Forbidden routes are decided before any test runs."""

    def describe(self, func: Callable) -> str:
        if isinstance(func, Proxy):
            target = target_of(func)
            return target.path or target.class_name
        return super().describe(func)

    def claim(self, kind: str, func: Callable, args: tuple, kwargs: dict) -> Any:
        """Read in the clean child, not where the rest of the hand-in has run."""
        self.claimed = True
        if not isinstance(func, Proxy) or self._claims is None:
            raise TypeError(f"claim() reads a function of the student's, not {self.describe(func)}")
        return self._claims(kind, target_of(func), args, kwargs)

    def report_points(self, earned: Any, message: str | None) -> None:
        self.reported.append((earned, message))
        if isinstance(message, Said):
            self.measured = message.public

    def rig(self, func: Callable, baseline: Callable) -> AbstractContextManager[Any]:
        """The student's process against its twin."""
        if not isinstance(func, Proxy) or self._baseline is None:
            raise TypeError(
                f"speed() measures a function of the student's; {self.describe(func)} is none: put"
                " a wrapper into the solution cell, outside its markers"
            )
        return judge_rig(target_of(func), self._baseline(baseline), own=self._own)

    def report_speed(self, found: Speed) -> None:
        self.doubt = self.doubt or found.doubt
        self.measured = found.public
        self.ratio = found.measured.median if found.measured else None
