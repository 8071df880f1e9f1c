"""grade(master, submission) -> Result: pure, with no database and no course tree.

    result = grade(load("02_loops.py"), Path("02_loops.ipynb").read_bytes())
    result.points, result.max_points, [(c.id, c.status, c.message) for c in result.cells]

The tests run in a process of their own (`run`), the student's code in another one below it.
What reaches the caller is one line of JSON for each settled cell, so a judge that dies, whatever
a hand-in did to it, costs the cell it was running and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.grading.engine import chosen
from tito.grading.engine.warm import WarmFailed
from tito.grading.judge.job import Job, as_bytes
from tito.grading.judge.plan import check_master
from tito.grading.judge.pool import start_judge
from tito.grading.judge.process import Cancelled
from tito.grading.judge.result import (
    BROKEN,
    DIED,
    MANUAL,
    TIMEOUT,
    CellResult,
    Result,
)
from tito.grading.judge.text import hidden_lines
from tito.grading.limits import Limits
from tito.grading.sandbox import is_isolating
from tito.notebook import Notebook, Role

__all__ = ["Cancelled", "CellResult", "Result", "Unconfined", "check_master", "grade"]

# Beyond what a single cell may take: start-up, and the way there and back.
GRACE = 60.0
MOST_AGAIN = 3  # tries with a warm judge that ends
NOT_REACHED = "the grading ended before this cell"


class Unconfined(UserError):
    """Nothing here keeps foreign code from the user's files, and it was not allowed to run so."""

    def __init__(self) -> None:
        super().__init__(
            "nothing on this machine keeps foreign code from your files (no Landlock)",
            hint="grade on Linux 5.13 or later, or say --unconfined in a container you can lose",
        )


def grade(
    master: Notebook,
    submission: Notebook | bytes,
    *,
    release: Notebook | None = None,
    package: Path | None = None,
    package_modules: list[str] | None = None,
    files: Iterable[Path] = (),
    secret: bytes = b"",
    engine: str | None = None,
    limits: Limits | None = None,
    visible_only: bool = False,
    before: str = "reference",
    unconfined: bool = True,
    timing: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Result:
    """Grade one hand-in.

    master : the module with its tests; points, order and given cells come from here
    submission : the file's bytes, or a notebook that is loaded already
    release : the notebook as handed out, for the cell ids a student had; made from the master
        where it is not given
    package : the tinykernels folder for the modules before this one; package_modules: which of
        its files ("loops"), all where it is not given
    files : data files of the master
    secret : the course's, for the seeds of random inputs; empty as in a notebook
    visible_only : hidden tests are "later"
    before : "own" where the package is the student's own
    unconfined : whether code may run where the sandbox does not close the file system
    timing : whether the result's student_seconds and module_seconds are wanted
    cancelled : asked twice a second; True ends the grading with Cancelled

    Raises UserError for a master that cannot be graded with, Unconfined where code may not run.
    """
    check_master(master)
    job = Job(
        master=master,
        submission=submission if isinstance(submission, bytes) else as_bytes(submission),
        module=master.path.stem if master.path else "",
        release=release,
        package=package.resolve() if package else None,
        package_modules=package_modules,
        files=[f.resolve() for f in files],
        secret=secret,
        engine=chosen(engine),
        limits=limits or Limits(),
        visible_only=visible_only,
        before=before,
        unconfined=unconfined,
        timing=timing,
    )
    return _Grading(job, cancelled).run()


class _Grading:
    """One hand-in seen from outside the judge's process."""

    def __init__(self, job: Job, cancelled: Callable[[], bool]) -> None:
        self.job = job
        self.cancelled = cancelled
        self.settled: dict[str, CellResult] = {}
        self.result = Result(module=job.module, before=job.before)
        self.current: dict[str, Any] = {}

    def run(self) -> Result:
        """Start judges until one says that it is done; each that dies costs one cell."""
        deadline = time.monotonic() + self.job.limits.longest(self.job.limits.notebook) + GRACE
        again = MOST_AGAIN
        while time.monotonic() < deadline:
            before = (len(self.settled), len(self.job.undone))
            try:
                why = self._one_process(deadline)
            except WarmFailed as error:  # short of memory, say: no cell is to blame for that
                again -= 1
                if again:
                    continue
                why = str(error)
            if why is None or self.result.status == BROKEN:
                return self._whole(NOT_REACHED)
            self._blame(why)
            if (len(self.settled), len(self.job.undone)) == before:
                self._broke_off(why)
                return self._whole(why)
        return self._whole("the notebook took too long")

    def _broke_off(self, why: str) -> None:
        """Nothing that a student is to blame for: no points are decided by it."""
        self.result.status = BROKEN
        self.result.reason = f"the grading broke off: {why}"

    def _one_process(self, deadline: float) -> str | None:
        """Run one judge; None when it is done, else why it is not."""
        self.job.finished = list(self.settled)
        self.current = {}
        with start_judge(self.job) as judge:
            while True:
                limit = min(self._patience(), deadline - time.monotonic())
                event = judge.hear(limit, self.cancelled)
                if event is None:
                    return judge.how_it_ended()
                if event.get("event") == "done":
                    return None
                self._take(event)

    def _patience(self) -> float:
        limits = self.job.limits
        return limits.longest(max(limits.test, limits.solution, limits.given)) + GRACE

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.get("event")
        if kind == "begin":
            self.current = event
        elif kind == "cell":
            self._settle(event)
        elif kind == "deviations":
            new = [d for d in event["remarks"] if d not in self.result.deviations]
            self.result.deviations += new
        elif kind == "raised":
            self.result.raised += [r for r in event["cells"] if r not in self.result.raised]
        elif kind == "isolation":
            self.result.isolation = event["layers"]
            if not is_isolating(event["layers"]) and not self.job.unconfined:
                raise Unconfined
        elif kind == "crash":
            self._broke_off(event["error"])
        elif kind == "spent":
            self.result.student_seconds += event["student"]
            self.result.module_seconds += event["module"]
        elif kind == "broken":
            self.result.status = BROKEN
            self.result.reason = event["reason"]

    def _settle(self, event: dict[str, Any]) -> None:
        points = event["points"]
        self.settled[event["id"]] = CellResult(
            id=event["id"],
            status=event["status"],
            max_points=Fraction(0),
            points=None if points is None else Fraction(points),
            message=event["message"],
            seconds=event["seconds"],
            doubt=event["doubt"],
            ratio=event["ratio"],
        )

    def _blame(self, why: str) -> None:
        """The judge died: the test or the student's cell that was running is what it cost."""
        grade_id = self.current.get("id")
        if grade_id in self.settled:
            return
        if grade_id:
            status = TIMEOUT if "too long" in why else DIED
            why = why.partition(" (")[0] if self._is_secret(grade_id) else why
            message = f"the grading of this cell ended: {why}"
            self.settled[grade_id] = CellResult(grade_id, status, Fraction(0), Fraction(0), message)
        elif label := self.current.get("label"):
            self.job.undone.append(label)
            self.result.deviations.append(f"{label}: left out, {why}")

    def _is_secret(self, grade_id: str) -> bool:
        """Whether students may not see all of a cell: then they see no last words either."""
        cells = [c for c in self.job.master.cells if c.grade_id == grade_id]
        return any(c.hidden or hidden_lines(c) for c in cells)

    def _whole(self, otherwise: str) -> Result:
        """Every graded cell in the master's order; what nobody settled says why."""
        for cell in self.job.master.cells:
            if cell.manual:
                most = cell.points or Fraction(0)
                self.result.cells.append(CellResult(cell.grade_id, MANUAL, most))
            elif cell.role is Role.TEST:
                found = self.settled.get(cell.grade_id) or self._unsettled(otherwise, cell.grade_id)
                found.max_points = cell.points or Fraction(0)
                self.result.cells.append(found)
        return self.result

    def _unsettled(self, why: str, grade_id: str) -> CellResult:
        if self.result.status == BROKEN:
            return CellResult(grade_id, "missing", Fraction(0), Fraction(0), self.result.reason)
        return CellResult(grade_id, DIED, Fraction(0), Fraction(0), why)
