"""The judge's only door to the student's process.

    world = World(SpawnEngine(), stage, limits, writable=contracts_of(sources))
    outcome = world.run_cell("relu_loops", source, role="solution", defines=["relu_loops"])
    world.test_begins("relu_loops-test")
    names = world.bind(["relu_loops"])            # proxies and plain values
    ... exec the test cell with `names`, under `use(JudgeRuntime(world, secret))` ...
    ended = world.test_ends()                     # ended.lost: why its points are gone
    world.close()

The process may die at any time. That costs the cell or the test that was running; the next use
starts a fresh process and runs the earlier cells again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tito.grading.engine.base import Engine
from tito.grading.limits import Limits
from tito.grading.stage import Stage


class StudentDied(BaseException):
    """The student's process ended while the judge waited for it; its text says how.

    Not an Exception, so that no `except Exception` of a test or a check takes it for an answer.
    """


class StudentTimeout(StudentDied):
    """It was ended because a limit was passed."""


class StudentExit(Exception):
    """Student code raised SystemExit, KeyboardInterrupt, StopIteration or the like."""


class InputChanged(AssertionError):
    """A call changed an argument that it may not change."""


@dataclass(frozen=True)
class Contract:
    """What the master says about a function: its parameters in order, and which it may write.

    `out` may always be written and need not be listed.
    """

    parameters: tuple[str, ...] = ()
    writes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class CellOutcome:
    """How a cell ran in the student's process.

    status  : "ok", "error" (raised; what it did before stays), "died" or "timeout" (it is undone)
    message : None, or "ValueError: ...", or why it died
    output  : what it printed, warnings too; cut at the limit
    line    : the line of the cell that raised, from 1
    seconds : CPU time
    """

    status: str
    message: str | None = None
    output: str = ""
    line: int | None = None
    seconds: float = 0.0
    notices: tuple[str, ...] = ()  # magics and shell lines that were not run


@dataclass(frozen=True)
class TestEnd:
    """What happened at the border while a test cell ran.

    lost    : why the cell earns nothing whatever it said ("took longer than 10 s of CPU time"),
              with `status` "died" or "timeout"; None if the process lived
    calls   : requests that reached student code; a test that passed with none asked nothing
    output  : what the student's code printed meanwhile
    seconds : CPU time of the student's process
    """

    lost: str | None = None
    status: str | None = None
    calls: int = 0
    output: str = ""
    seconds: float = 0.0


class World:
    """All that the judge knows of the student's side.

    writable  : the master's `Contract` by function name ("matmul", "Packed.fill")
    layers    : what confines the process, as it said at its start; [] without any
    notes     : deviations to report, e.g. a cell that could not be repeated in a fresh process
    """

    def __init__(
        self,
        engine: Engine,
        stage: Stage,
        limits: Limits | None = None,
        writable: Mapping[str, Contract] | None = None,
    ) -> None:
        raise NotImplementedError

    layers: list[str]
    notes: list[str]

    def run_cell(
        self, label: str, source: str, *, role: str = "solution", defines: Iterable[str] = ()
    ) -> CellOutcome:
        """Run a cell in the student's process; never raises for anything the cell does.

        label   : unique and as people find it; the cell's file and tracebacks carry it
        role    : "solution", "given" or "extra": which limit holds
        defines : names the master's cell defines; `missing` tells why one of them is not there
        """
        raise NotImplementedError

    def bind(self, names: Iterable[str]) -> dict[str, Any]:
        """What a test cell finds under these names; those the student's side lacks are absent.

        Functions, classes and other things that cannot cross are proxies, bound by name: they
        follow a redefinition and survive a fresh process. Plain data is fetched anew each time.
        """
        raise NotImplementedError

    def missing(self, name: str) -> str | None:
        """Why a name is not there: "cell relu_loops took longer than 20 s"; None if not known."""
        raise NotImplementedError

    def test_begins(self, label: str) -> None:
        """A test cell begins: its limits start, earlier results and callbacks are forgotten."""
        raise NotImplementedError

    def test_ends(self) -> TestEnd:
        """The test cell is over; callables it made can be called no more."""
        raise NotImplementedError

    def close(self) -> None:
        """End the student's process; may be repeated."""
        raise NotImplementedError


def contracts_of(source: str, writes: Iterable[str] = ()) -> dict[str, Contract]:
    """The contracts of the functions and methods that a master's solution cell defines.

    writes : the names of its `#| writes:` directive
    """
    raise NotImplementedError
