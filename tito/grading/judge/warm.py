"""The warm judge: loads what judges need once and forks one for each job.

    python -P -m tito.grading.judge.warm FOLDER DESCRIPTOR

It starts the warm student processes too, one without Numba and, where a module needs it, one
with. What it knows of a job is the master; hand-ins are read in the forks alone.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from tito.grading import forkserver
from tito.grading.engine.fork import ForkEngine, start_warm_student
from tito.grading.engine.warm import WarmControl, WarmProcess
from tito.grading.judge import harden, run
from tito.grading.judge.ahead import for_students, read_ahead
from tito.grading.judge.job import Job, of_module
from tito.grading.judge.process import in_memory
from tito.grading.stage import make_library, make_package, readable, remove_folder

LOADED = ("asyncio", "numpy.random", "numpy.linalg", "tito.checks", "tito.grading.engine.fork")


class WarmStudents:
    """The warm student processes of one judge."""

    def __init__(self) -> None:
        self.library = make_library()
        self.packages: Path | None = None
        self._started: dict[bool, WarmProcess] = {}

    def start(self, with_numba: bool) -> WarmProcess:
        """The one that is asked for; new, it loads while the caller goes on."""
        if with_numba not in self._started:
            started = start_warm_student(self.library, with_numba=with_numba)
            self._started[with_numba] = started
        return self._started[with_numba]

    def prepare(self, with_numba: bool, job: Job, ahead: dict[str, Any]) -> None:
        """Lay out the package of a job's module, and have the cells read that all of its run."""
        before, self.packages = self.packages, make_package(job.package, job.package_modules)
        if before is not None:
            remove_folder(before)
        warm = self.start(with_numba)
        warm.wait_until_ready()
        with in_memory(json.dumps(ahead)) as told:
            warm.prepare({}, [told])

    def engine(self, with_numba: bool) -> ForkEngine:
        control = WarmControl(self.start(with_numba).control)
        return ForkEngine(control, self.library, self.packages)

    def close(self) -> None:
        for warm in self._started.values():
            warm.close()


def main(folder: str, control: int) -> None:
    """Serve until the caller closes the other end of the socket.

    folder : all that is written lies below it; removed in the end
    """
    harden.close_memory()
    students = WarmStudents()
    students.start(False)
    for name in LOADED:
        __import__(name)
    readable()
    known: list[Job] = []

    def prepare(request: dict[str, Any], files: list[int]) -> None:
        students.start(request["numba"])
        if request["numba"]:
            # Given cells import it, which takes a third of a second: here once, or in every fork.
            with suppress(ImportError):
                __import__("numba")
        with open(files[0], encoding="ascii", closefd=False) as module:
            known[:] = [of_module(module.read())]
        known[0].package = request["package"] and Path(request["package"])
        known[0].package_modules = request["modules"]
        plan = read_ahead(known[0])
        students.prepare(request["numba"], known[0], for_students(plan))

    def judge(request: dict[str, Any], files: list[int]) -> None:
        _judge(students.engine(request["numba"]), known[0], request, files)

    try:
        forkserver.serve(socket.socket(fileno=control), judge, prepare)
    finally:
        students.close()
        remove_folder(Path(folder))  # if the caller was killed, nobody else does


def _judge(engine: ForkEngine, known: Job, request: dict[str, Any], files: list[int]) -> None:
    """Be the judge of one job; `files` are the job, where to say what came out, and errors."""
    students = engine.warm.control
    forkserver.keep_only([*files, students.fileno()])
    students.detach()
    engine.warm.control = socket.socket(fileno=len(files))
    os.chdir(request["folder"])
    tempfile.tempdir = request["folder"]
    run.main(engine, known)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
