"""How a cell ran in the student's process, and what happened there while a test ran."""

from __future__ import annotations

from dataclasses import dataclass

from tito.grading.judge.errors import StudentDied


@dataclass(frozen=True)
class CellOutcome:
    """How a cell ran in the student's process.

    status  : "ok", "error" (raised; what it did before stays), "died" or "timeout" (it is undone)
    message : None, or "ValueError: ...", or why it died
    output  : what it printed, warnings too; cut at the limit
    line    : the line of the cell that raised, from 1
    seconds : CPU time
    notices : magics and shell lines that were not run
    """

    status: str
    message: str | None = None
    output: str = ""
    line: int | None = None
    seconds: float = 0.0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestEnd:
    """What happened at the border while a test cell ran.

    lost    : why the cell earns nothing whatever it said ("took longer than 10 s of CPU time"),
              with `status` "died" or "timeout"; None if the process lived
    calls   : requests that reached student code; a test that passed with none asked nothing
    output  : what the student's code printed meanwhile
    seconds : CPU time of the student's process
    """

    __test__ = False  # not a class of tests, whatever pytest thinks

    lost: str | None = None
    status: str | None = None
    calls: int = 0
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Ran:
    """A cell that the process has run: a fresh one runs it again."""

    label: str
    source: str
    role: str
    defines: frozenset[str]


class RunningTest:
    """What belongs to the test cell that runs: it is gone with it."""

    def __init__(self, label: str, seconds: float) -> None:
        self.label = label
        self.started = seconds  # CPU seconds used before it
        self.death: StudentDied | None = None
        self.calls = 0
        self.output: list[str] = []
