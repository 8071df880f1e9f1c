"""Starts the process that measures, and goes on where a kernel takes that process down.

Its environment pins the threads of NumPy's BLAS and of Numba before either is imported; nothing
else of the environment is changed, so that a BLAS core type that was asked for stays.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tito
from tito.bench.results import Report, Table
from tito.bench.workload import Dims, Workload
from tito.errors import UserError
from tito.machine import thread_environment

# Seconds without a word after which a call is taken for endless, and a timing for stuck.
LONGEST_SILENCE = 120.0
LONGEST_TIMING = 600.0

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from tito.bench.child import main; main()"

# Called with (tasks done, tasks in all, what is going on).
Progress = Callable[[int, int, str], None]
Task = tuple[Workload, Dims]


@dataclass
class _State:
    """What is known so far, across restarts of the child."""

    machine: dict[str, Any] | None = None
    results: dict[int, dict[str, Any]] = field(default_factory=dict)
    skip: dict[str, dict[str, str]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)  # files that cannot be imported
    at: dict[str, Any] = field(default_factory=dict)  # the last event: what is going on


def measure_all(
    root: Path,
    tasks: Sequence[Task],
    libraries: Sequence[str],
    threads: int,
    progress: Progress = lambda done, total, what: None,
    machine: dict[str, Any] | None = None,
) -> Report:
    """Measure every task in a process of its own.

    root      : the course folder whose package is measured
    libraries : the peers' names
    machine   : what an earlier report's machine said, which is then not asked again
    raises UserError where not even the machine could be asked
    """
    state = _State(machine)
    while len(state.results) < len(tasks):  # each process gets further than the one before
        _one_process(root, tasks, libraries, threads, state, progress)
    tables = [Table.of(*tasks[i], state.results[i]) for i in sorted(state.results)]
    return Report.of(state.machine or {}, threads, list(libraries), tables)


def _one_process(
    root: Path,
    tasks: Sequence[Task],
    libraries: Sequence[str],
    threads: int,
    state: _State,
    progress: Progress,
) -> None:
    """Run a child until it ends, by itself or not, and note what it said."""
    job = {
        "root": str(root),
        "threads": threads,
        "peers": list(libraries),
        "tasks": [[workload.name, list(dims)] for workload, dims in tasks],
        "done": sorted(state.results),
        "skip": state.skip,
        "broken": state.broken,
        "machine": state.machine is None,
    }
    state.at = {}
    with _Child(job, threads) as child:
        for event in child.events():
            state.at = event
            if event["event"] == "bug":
                raise RuntimeError(f"in the measuring process:\n{event['traceback']}")
            if event["event"] == "machine":
                state.machine = event
            elif event["event"] == "result":
                state.results[event["task"]] = event
            progress(len(state.results), len(tasks), _words(tasks, event))
        if state.at.get("event") != "end":
            _note_the_end(state, child.last_words())


def _words(tasks: Sequence[Task], event: dict[str, Any]) -> str:
    """What is going on, for the progress bar."""
    if "task" not in event:
        return event.get("what", "")
    workload, dims = tasks[event["task"]]
    what = event.get("contender") or event.get("module") or event.get("what", "")
    return f"{workload.name} {'x'.join(map(str, dims))}: {what}"


def _note_the_end(state: _State, why: str) -> None:
    """The process died or hung: what it was doing is left out, and the rest goes on.

    raises UserError where it was not even about to measure anything
    """
    at = state.at
    if "module" in at:
        state.broken[at["module"]] = why
    elif at.get("event") == "trying" and at.get("contender"):
        state.skip.setdefault(str(at["task"]), {})[at["contender"]] = why
    elif at.get("event") in ("trying", "timing") and "task" in at:
        names = at.get("names", ["(all)"])
        rows = [{"name": n, "library": None, "left_out": why, "first_call": None} for n in names]
        state.results[at["task"]] = {"rows": rows}
    elif at.get("event") not in ("machine", "result"):
        raise UserError(
            f"the measuring process could not begin: {why}",
            hint="tito doctor looks at this Python and its packages",
        )


class _Child:
    """The measuring process."""

    def __init__(self, job: dict[str, Any], threads: int) -> None:
        self._job = json.dumps(job).encode() + b"\n"
        self._environment = {**os.environ, **thread_environment(threads)}
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._silent = False
        self._patience = LONGEST_SILENCE

    def __enter__(self) -> _Child:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT, str(Path(tito.__file__).parents[1])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=self._environment,
        )
        threading.Thread(target=self._read, daemon=True).start()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(self._job)
            self._process.stdin.flush()  # and left open: its end would end the process
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def events(self) -> Iterator[dict[str, Any]]:
        """What the process says, until its end or a silence that is too long."""
        while (line := self._next_line()) is not None:
            event = json.loads(line)
            yield event
            timing = event["event"] == "timing"
            self._patience = LONGEST_TIMING if timing else LONGEST_SILENCE

    def _next_line(self) -> bytes | None:
        """None at the end, which comes by force when nothing is heard for too long."""
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            # In short waits: under Windows Ctrl-C does not end one.
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=0.2)
        self._silent = True
        self._process.kill()
        return None

    def last_words(self) -> str:
        """Why the process ended, in one line."""
        code = self._process.wait()
        if self._silent:
            return f"no end after {self._patience:.0f} s"
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        said = f": {lines[-1][:120]}" if lines else ""
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"ended its process ({how}){said}"
