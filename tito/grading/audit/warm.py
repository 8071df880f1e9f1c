"""The warm child: runs generated mutants against the test cells of their exercise.

    python -m tito.grading.audit.warm < job.json

The given cells and the reference run once. Each mutant then runs in a fork of this process, so many
at a time as the job says (where the system has none: in this process), against the cheapest test
first, until one is red. One JSON line says what became of it. The code is the course's own, so
nothing is confined but time.
"""

from __future__ import annotations

import ast
import ctypes
import json
import linecache
import os
import re
import selectors
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import use
from tito.grading.engine.base import wants_cpu
from tito.grading.judge.score import BadScore, last_expression, score
from tito.grading.limits import HELD_UP

SURVIVED, TIMED_OUT = "survived", "time"
# A mutant may sleep for so many times the CPU time that it may use.
ASLEEP = 10
LOOK = 0.5  # seconds between two looks at who sleeps
# What is timed at the same time comes first: by so much this gives way.
BESIDE = 5


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
    if hasattr(os, "nice"):
        os.nice(BESIDE)
    runtime = _Runtime()
    with use(runtime):
        for event in _run(job, runtime):
            out.write(json.dumps(event) + "\n")
            out.flush()


def _run(job: dict[str, Any], runtime: NotebookRuntime) -> Iterator[dict[str, Any]]:
    """What is red for the reference, then what became of each mutant; at last the CPU time."""
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
    todo = []
    for number, mutant in enumerate(job["mutants"]):
        exercise = mutant["exercise"]
        args = mutant["source"], tests[exercise], names, limits[exercise], runtime
        todo.append(_Trial(number, *args))
    for number, fate in _in_forks(todo, job["jobs"]) if hasattr(os, "fork") else _one_by_one(todo):
        yield {"mutant": number, "killed by": fate}
    yield {"cpu": sum(os.times()[:4])}


@dataclass
class _Trial:
    """A mutant, the tests that are to find it, and the CPU time that they may take."""

    number: int
    source: str
    tests: list[Test]
    names: dict[str, Any]
    seconds: float
    runtime: NotebookRuntime

    def fate(self) -> str:
        return _fate(self.source, self.tests, self.names, self.runtime)


def _fate(source: str, tests: list[Test], names: dict[str, Any], runtime: NotebookRuntime) -> str:
    """The id of the first test that is red, "cell" for a cell that raises, or SURVIVED."""
    own = dict(names)
    try:
        exec(compile(source, _listed("mutant", source), "exec"), own)
    except Exception:
        return "cell"
    return next((t.id for t in tests if not t.is_green(own, runtime)), SURVIVED)


class _Fork:
    """A mutant in a process of its own, which the kernel ends by its CPU time."""

    def __init__(self, trial: _Trial) -> None:
        self.trial = trial
        self.asleep = 0.0
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _limit(trial.seconds)
                os.write(writing, trial.fate().encode())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(writing)
        self.pipe = os.fdopen(reading, "rb")

    def look(self, seconds: float) -> None:
        """End it if it sleeps too long; what waits for a CPU, so long now, does not."""
        if not wants_cpu(self.pid):
            self.asleep += seconds
        if self.asleep > ASLEEP * self.trial.seconds:
            os.kill(self.pid, signal.SIGKILL)

    def fate(self) -> str:
        """What became of it, when it has ended or is about to."""
        with self.pipe as pipe:
            fate = pipe.read().decode()
        os.waitpid(self.pid, 0)
        return fate or TIMED_OUT


def _in_forks(trials: Iterable[_Trial], jobs: int) -> Iterator[tuple[int, str]]:
    """(number, fate) of each, as they end; so many at a time."""
    waiting = iter(trials)
    with selectors.DefaultSelector() as running:
        while True:
            while len(running.get_map()) < jobs and (trial := next(waiting, None)):
                fork = _Fork(trial)
                running.register(fork.pipe, selectors.EVENT_READ, fork)
            if not running.get_map():
                return
            begin = time.monotonic()
            ended = [key.data for key, _ in running.select(LOOK)]
            for fork in ended:
                running.unregister(fork.pipe)
                yield fork.trial.number, fork.fate()
            # A machine that stood still counts as one that did so for one look.
            passed = min(time.monotonic() - begin, 2 * LOOK)
            for key in list(running.get_map().values()):
                key.data.look(passed)


def _limit(seconds: float) -> None:
    """Have the kernel end this process after so much CPU time; and if nobody looks after it."""
    import resource

    whole = max(1, round(seconds))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(HELD_UP * ASLEEP * whole)


def _one_by_one(trials: Iterable[_Trial]) -> Iterator[tuple[int, str]]:
    """Where no process can be forked."""
    for trial in trials:
        with _interrupted_after(trial.seconds):
            try:
                fate = trial.fate()
            except Overrun:
                fate = TIMED_OUT
        yield trial.number, fate


@contextmanager
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
