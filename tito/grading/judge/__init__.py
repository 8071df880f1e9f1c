"""grade(master, submission) -> Result: pure, with no database and no course tree.

    result = grade(load("02_loops.py"), Path("02_loops.ipynb").read_bytes())
    result.points, result.max_points, [(c.id, c.status, c.message) for c in result.cells]

The tests run in a process of their own (`run`), the student's code in another one below it.
What reaches the caller is one line of JSON for each settled cell, so a judge that dies, whatever
a hand-in did to it, costs the cell it was running and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.grading.judge.job import Job, as_bytes
from tito.grading.judge.plan import check_master
from tito.grading.judge.result import (
    BROKEN,
    DIED,
    MANUAL,
    TIMEOUT,
    CellResult,
    Result,
)
from tito.grading.limits import Limits
from tito.grading.sandbox import is_isolating
from tito.notebook import Notebook, Role

__all__ = ["CellResult", "Result", "Unconfined", "check_master", "grade"]

# Beyond what a single cell may take: start-up, and the way there and back.
GRACE = 60.0
LOOK_EVERY = 0.5
NOT_REACHED = "the grading ended before this cell"


class Cancelled(Exception):
    """Whoever asked for the grading has gone."""


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
        engine=engine or "spawn",
        limits=limits or Limits(),
        visible_only=visible_only,
        before=before,
        unconfined=unconfined,
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
        deadline = time.monotonic() + self.job.limits.wall(self.job.limits.notebook) + GRACE
        while time.monotonic() < deadline:
            before = (len(self.settled), len(self.job.undone))
            why = self._one_process(deadline)
            if why is None or self.result.status == BROKEN:
                return self._whole(NOT_REACHED)
            self._blame(why)
            if (len(self.settled), len(self.job.undone)) == before:
                return self._whole(why)
        return self._whole("the notebook took too long")

    def _one_process(self, deadline: float) -> str | None:
        """Run one judge; None when it is done, else why it is not."""
        self.job.finished = list(self.settled)
        self.current = {}
        with tempfile.TemporaryDirectory(prefix="tito-judge-") as folder, _Process(folder) as judge:
            judge.tell(self.job.to_json())
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
        return limits.wall(max(limits.test, limits.solution, limits.given)) + GRACE

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
        )

    def _blame(self, why: str) -> None:
        """The judge died: the test or the student's cell that was running is what it cost."""
        grade_id = self.current.get("id")
        if grade_id in self.settled:
            return
        if grade_id:
            status = TIMEOUT if "too long" in why else DIED
            message = f"the grading of this cell ended: {why}"
            self.settled[grade_id] = CellResult(grade_id, status, Fraction(0), Fraction(0), message)
        elif label := self.current.get("label"):
            self.job.undone.append(label)
            self.result.deviations.append(f"{label}: left out, {why}")

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


class _Process:
    """The judge's process: told once, heard line by line, gone with the `with` block."""

    def __init__(self, folder: str) -> None:
        environment = dict(os.environ)
        home = str(Path(__file__).resolve().parents[3])
        others = [p for p in environment.get("PYTHONPATH", "").split(os.pathsep) if p]
        environment["PYTHONPATH"] = os.pathsep.join([home, *others])
        environment.setdefault("OPENBLAS_NUM_THREADS", "1")
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed in __exit__)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tito.grading.judge.run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            cwd=folder,
            env=environment,
            start_new_session=os.name == "posix",
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._late = False
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()
        self._errors.close()

    def tell(self, text: str) -> None:
        """Hand the job over; a judge that dies at once is noticed when it is heard."""
        with contextlib.suppress(OSError):
            self._process.stdin.write(text.encode("ascii"))
            self._process.stdin.close()

    def hear(self, seconds: float, cancelled: Callable[[], bool]) -> dict[str, Any] | None:
        """The next event; None when there will be none, or not in time."""
        until = time.monotonic() + seconds
        while not cancelled():
            try:
                line = self._lines.get(timeout=LOOK_EVERY)
            except queue.Empty:
                if time.monotonic() < until:
                    continue
                self._late = True
                return None
            return None if line is None else json.loads(line)
        raise Cancelled

    def how_it_ended(self) -> str:
        """One line for the report."""
        if self._late:
            return "it took too long"
        code = self._process.wait()
        if code < 0:
            return f"the judge was ended by {signal.Signals(-code).name}"
        self._errors.seek(0)
        text = self._errors.read()[-400:].decode("utf-8", "replace").strip()
        last = text.rpartition("\n")[2]
        return f"the judge ended with exit code {code}" + (f" ({last})" if last else "")

    def _read(self) -> None:
        with self._process.stdout as stream:
            for line in stream:
                self._lines.put(line)
        self._lines.put(None)

    def _end(self) -> None:
        """The judge and, on POSIX, all it started."""
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
