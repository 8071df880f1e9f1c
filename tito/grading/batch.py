"""Many hand-ins against one master: each graded by itself, none can stop the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tito.errors import UserError
from tito.grading import executors
from tito.grading.executors import Lost, Task, Workers
from tito.grading.handins import HandIn
from tito.grading.judge import Cancelled, CellResult, Result, Unconfined, check_master
from tito.grading.judge.result import BROKEN, GRADED, MANUAL
from tito.grading.limits import Limits
from tito.grading.task import CANCELLED, UNCONFINED, Assignment, grade_one, read_package
from tito.notebook import Notebook, Role


@dataclass(frozen=True)
class Cost:
    """What one grading took, as its worker saw it: CPU seconds, and bytes of its warm judge.

    worker : the process, "host:pid"; empty where none was needed
    """

    worker: str = ""
    student: float = 0.0
    module: float = 0.0
    judge_memory: int = 0


@dataclass
class Row:
    """One student and what came out.

    handin : sha256 of the file that was graded, empty without one
    """

    student: str
    result: Result
    handin: str = ""
    cost: Cost = field(default_factory=Cost)


@dataclass
class Batch:
    """What every hand-in of a run is graded with.

    package, package_modules : the reference package and the parts of it that lie before
    files : data files of the master
    """

    master: Notebook
    package: Path | None = None
    package_modules: list[str] | None = None
    secret: bytes = b""
    engine: str | None = None
    limits: Limits = field(default_factory=Limits)
    unconfined: bool = False
    timing: bool = False
    files: list[Path] = field(default_factory=list)

    def assignment(self) -> Assignment:
        """All of it, read from the disk."""
        return Assignment(
            self.master,
            read_package(self.package, self.package_modules),
            {path.name: path.read_bytes() for path in self.files if not path.is_symlink()},
            self.secret,
            self.engine,
            self.limits,
            self.unconfined,
            self.timing,
        )

    def run(
        self,
        handins: Iterable[HandIn],
        workers: Workers,
        progress: Callable[[Row], None] = lambda row: None,
    ) -> list[Row]:
        """A row for each hand-in, in the order given. `progress` hears of each finished one."""
        handins = list(handins)
        rows = {}
        with workers:
            for handin, row in self.stream(handins, workers):
                progress(row)
                rows[id(handin)] = row
        return [rows[id(handin)] for handin in handins]

    def stream(
        self, handins: Iterable[HandIn], workers: Workers, assignment: Assignment | None = None
    ) -> Iterator[tuple[HandIn, Row]]:
        """Each hand-in with its row, in the order in which they end; none is kept here."""
        check_master(self.master)
        packed = (assignment or self.assignment()).packed
        settled: list[tuple[HandIn, Row]] = []

        def tasks() -> Iterator[Task]:
            for handin in handins:
                try:
                    data = _read(handin)
                except _NothingToGrade as why:
                    result = not_graded(self.master, why.status, why.reason)
                    settled.append((handin, _row(handin, result)))
                else:
                    digest = hashlib.sha256(data).hexdigest()
                    yield Task((handin, digest), (packed, data))

        for task, outcome in executors.run(grade_one, tasks(), workers):
            while settled:
                yield settled.pop()
            handin, digest = task.about
            yield handin, self._graded(handin, digest, outcome)
        yield from settled

    def _graded(self, handin: HandIn, digest: str, outcome: str | Lost) -> Row:
        """The row that a worker's answer stands for."""
        if isinstance(outcome, Lost):
            why = f"could not be graded: each of {outcome.times} workers ended while at it"
            return _row(handin, not_graded(self.master, BROKEN, why), digest)
        answer = json.loads(outcome)
        if "stop" in answer:
            raise _stopped(answer)
        if "broken" in answer:
            return _row(handin, not_graded(self.master, BROKEN, answer["broken"]), digest)
        return _row(handin, Result.from_json(answer["result"]), digest, Cost(**answer["cost"]))


class _NothingToGrade(Exception):
    def __init__(self, status: str, reason: str) -> None:
        self.status = status
        self.reason = reason


def _read(handin: HandIn) -> bytes:
    if handin.status != GRADED or handin.read is None:
        raise _NothingToGrade(handin.status, handin.reason or "nothing to grade")
    try:
        return handin.read()
    except UserError as error:
        raise _NothingToGrade(BROKEN, error.message) from None
    except Exception as error:  # a mistake of ours costs one row and is named in it
        raise _NothingToGrade(BROKEN, f"could not be read: {error!r}") from None


def _row(handin: HandIn, result: Result, digest: str = "", cost: Cost | None = None) -> Row:
    result.deviations[:0] = handin.remarks
    return Row(handin.student, result, digest, cost or Cost())


def _stopped(answer: dict[str, str]) -> Exception:
    if answer["stop"] == UNCONFINED:
        return Unconfined()
    if answer["stop"] == CANCELLED:
        return Cancelled()
    return UserError(
        f"the worker {answer['where']} has another tito than this one",
        hint="install the same version everywhere, and start the workers again",
    )


def not_graded(master: Notebook, status: str, reason: str) -> Result:
    """Zero for every cell, with the reason; what people grade stays theirs."""
    name = master.path.stem if master.path else ""
    result = Result(status=status, module=name, reason=reason)
    for cell in master.cells:
        most = cell.points or Fraction(0)
        if cell.manual:
            result.cells.append(CellResult(cell.grade_id, MANUAL, most))
        elif cell.role is Role.TEST:
            result.cells.append(CellResult(cell.grade_id, "missing", most, Fraction(0), reason))
    return result
