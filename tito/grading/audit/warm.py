"""The warm child: runs generated mutants against the test cells of their exercise.

    python -m tito.grading.audit.warm < job.json

The given cells and the reference run once. Each mutant then runs in a fork of this process (where
the system has none: in this process), against the cheapest test first, until one is red. One JSON
line says what became of it. The code is the course's own, so nothing is confined but time.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import json
import linecache
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import use
from tito.grading.judge.score import BadScore, last_expression, score

SURVIVED, TIMED_OUT = "survived", "time"


class Overrun(BaseException):
    """A mutant used up its CPU time; no `except Exception` of a test may swallow it."""


@dataclass
class Test:
    """A test cell, compiled once."""

    id: str
    points: Fraction
    body: Any
    last: Any
    measures: bool

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Test:
        name = _listed(raw["id"], raw["source"])
        tree = ast.parse(raw["source"])
        last = last_expression(tree, raw["source"])
        if last is not None:
            tree.body.pop()
            last = compile(ast.Expression(last.value), name, "eval")
        measures = re.search(r"\bspeed\(", raw["source"]) is not None
        return cls(raw["id"], Fraction(raw["points"]), compile(tree, name, "exec"), last, measures)

    def is_green(self, names: dict[str, Any], runtime: NotebookRuntime) -> bool:
        """Whether the cell gives full points on a copy of these names."""
        own = dict(names)
        runtime.forget()
        try:
            exec(self.body, own)
            value = eval(self.last, own) if self.last is not None else None
            return score(value, self.points) >= self.points
        except (Exception, SystemExit, BadScore):
            return False


class _Runtime(NotebookRuntime):
    """The notebook's, without its look at the notebook's own source."""

    def before_check(self, names: Any) -> None:
        pass

    def report_points(self, earned: Any, message: str | None) -> None:
        pass


def _listed(name: str, source: str) -> str:
    """A file name under which tracebacks and checks find the cell's text."""
    filename = f"<{name}>"
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)
    return filename


def main() -> None:
    job = json.loads(sys.stdin.buffer.read())
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.environ["MPLBACKEND"] = "agg"
    sys.path.insert(0, job["root"])
    runtime = _Runtime()
    with use(runtime):
        for event in _run(job, runtime):
            out.write(json.dumps(event) + "\n")
            out.flush()


def _run(job: dict[str, Any], runtime: NotebookRuntime) -> Iterator[dict[str, Any]]:
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in job["cells"]:
        exec(compile(cell["source"], _listed(cell["label"], cell["source"]), "exec"), names)
    tests: dict[str, list[Test]] = {}
    limits: dict[str, float] = {}
    for exercise, raw in job["tests"].items():
        timed: list[tuple[float, Test]] = []
        for test in map(Test.of, raw):
            begin = time.process_time()
            if not test.is_green(names, runtime):
                yield {"red reference": test.id}
            timed.append((time.process_time() - begin, test))
        # One that measures runs all of a kernel's code; a wrong value shows sooner elsewhere.
        timed.sort(key=lambda pair: (pair[1].measures, pair[0]))
        tests[exercise] = [test for _, test in timed]
        # A test that takes long by itself must not make every mutant look killed.
        limits[exercise] = max(job["seconds"], 2 * sum(seconds for seconds, _ in timed))
    for number, mutant in enumerate(job["mutants"]):
        exercise = mutant["exercise"]
        fate = (_in_a_fork if hasattr(os, "fork") else _in_this_process)(
            mutant["source"], tests[exercise], names, limits[exercise], runtime
        )
        yield {"mutant": number, "killed by": fate}


def _fate(source: str, tests: list[Test], names: dict[str, Any], runtime: NotebookRuntime) -> str:
    """The id of the first test that is red, "cell" for a cell that raises, or SURVIVED."""
    own = dict(names)
    try:
        exec(compile(source, _listed("mutant", source), "exec"), own)
    except Exception:
        return "cell"
    return next((t.id for t in tests if not t.is_green(own, runtime)), SURVIVED)


def _in_a_fork(
    source: str, tests: list[Test], names: dict[str, Any], seconds: float, runtime: NotebookRuntime
) -> str:
    """What became of the mutant in a process of its own, which its CPU time ends."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            _limit(seconds)
            os.write(writing, _fate(source, tests, names, runtime).encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        fate = pipe.read().decode()
    os.waitpid(pid, 0)
    return fate or TIMED_OUT


def _limit(seconds: float) -> None:
    """Have the kernel end this process after so much CPU time, or ten times that of the clock."""
    import resource

    whole = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(10 * whole)


def _in_this_process(
    source: str, tests: list[Test], names: dict[str, Any], seconds: float, runtime: NotebookRuntime
) -> str:
    with _interrupted_after(seconds):
        try:
            return _fate(source, tests, names, runtime)
        except Overrun:
            return TIMED_OUT


@contextlib.contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Raise Overrun in this thread after so many seconds."""
    thread = ctypes.c_ulong(threading.get_ident())
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(seconds, raise_in, [thread, ctypes.py_object(Overrun)])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


if __name__ == "__main__":
    main()
