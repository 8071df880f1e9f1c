"""The one door between the checks and the code they check.

A check never calls a student's function itself: it asks the current *runtime*. In a notebook the
runtime calls the function in the same process (`tito.checks.notebook`); the judge installs one
that sends the call to another process. The checks themselves are the same code in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from tito.checks.rig import Rig
    from tito.checks.speed import Speed


class Counts(NamedTuple):
    """How often the elements of a counted array were read and written: exact numbers."""

    reads: int
    writes: int


@dataclass(frozen=True)
class Called:
    """What a call gave back, and with what the result shares memory.

    `shared` names the other side of each overlap: "argument x", "an earlier result".
    """

    result: Any
    shared: tuple[str, ...] = ()


class Runtime(Protocol):
    """What the checks need from the place they run in."""

    def call(self, func: Callable, args: tuple, kwargs: dict) -> Called:
        """Call the student's function; its exceptions pass through with their type."""

    def call_in_time(
        self, func: Callable, args: tuple, kwargs: dict, seconds: float
    ) -> Called | None:
        """The same for a call that may wait for ever: None when it did not come back in time."""

    def forget(self) -> None:
        """A test cell begins: results of earlier cells do not count as earlier results."""

    def remote_array(self, array: Any, name: str | None, budget: int | None = None) -> Any:
        """A counted array that holds a copy of `array`, see `tito.counted`."""

    def counts(self, array: Any) -> Counts:
        """The reads and writes of a counted array so far."""

    def secret(self) -> bytes:
        """The course's secret for seeds; empty in a notebook."""

    def worker(self) -> int:
        """The thread of the student's process that made the call being served now."""

    def cpu_seconds(self) -> float:
        """CPU time so far of the process that runs the functions."""

    def is_held_up(self) -> bool:
        """Whether a thread of that process, if it is another one, waits for a CPU or a disk."""

    def before_check(self, names: Iterable[str]) -> None:
        """Called before each check with the names its test cell uses.

        In plain Jupyter this is where forbidden routes are found (raises CheckFailed). The judge
        decides on the whole exercise before any test runs, so its method does nothing.
        """

    def describe(self, func: Callable) -> str:
        """The function's name as the student wrote it."""

    def claim(self, kind: str, func: Callable, args: tuple, kwargs: dict) -> Any:
        """A reading that only the process running the function can take, see `tito.inside`."""

    def report_points(self, earned: Any, message: str | None) -> None:
        """`points(earned, message)` was called; `earned` is an int, a float or a Fraction."""

    def rig(self, func: Callable, baseline: Callable) -> AbstractContextManager[Rig]:
        """Where the CPU time of the student's function and of a trusted one is measured."""

    def report_speed(self, found: Speed) -> None:
        """`speed(...)` has come to its verdict."""


_stack: list[Runtime] = []


def current() -> Runtime:
    """The runtime in use; the notebook's own unless another was installed with `use`."""
    if not _stack:
        from tito.checks.notebook import NotebookRuntime

        _stack.append(NotebookRuntime())
    return _stack[-1]


@contextmanager
def use(runtime: Runtime) -> Iterator[Runtime]:
    """Install another runtime for the length of a `with` block."""
    _stack.append(runtime)
    try:
        yield runtime
    finally:
        _stack.remove(runtime)
