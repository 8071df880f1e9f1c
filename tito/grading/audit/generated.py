"""Generated mutants of a module: which survive its tests, and which may."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from tito.errors import UserError
from tito.files import read_text
from tito.forbid import python_source
from tito.grading.audit.mutate import Mutant, mutants
from tito.grading.audit.report import cpu_seconds
from tito.grading.audit.warm import SURVIVED
from tito.grading.limits import default_jobs
from tito.notebook import Cell, Notebook, Role
from tito.notebook.model import exercises

SECONDS = 2.0
EQUIVALENT_FILE = "equivalent.toml"


@dataclass(frozen=True)
class Equivalent:
    """A change after which the kernel still does the same, and why."""

    exercise: str
    was: str
    becomes: str
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        here = (self.exercise, self.was, self.becomes)
        return here == (mutant.exercise, mutant.was, mutant.becomes)


@dataclass
class Outcome:
    """survivors: mutants that no test found and nobody excused
    excused  : those with an entry
    unused   : entries that excuse no survivor
    red      : tests that are red for the reference itself
    seconds  : CPU time
    """

    tried: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    excused: list[Mutant] = field(default_factory=list)
    unused: list[Equivalent] = field(default_factory=list)
    red: list[str] = field(default_factory=list)
    seconds: float = 0.0


def read_equivalent(folder: Path) -> list[Equivalent]:
    """The entries of a module's equivalent.toml; UserError where one is not complete."""
    path = folder / EQUIVALENT_FILE
    if not path.is_file():
        return []
    try:
        entries = tomllib.loads(read_text(path)[0]).get("equivalent", [])
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"no valid TOML: {error}", path=path) from None
    return [_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def _entry(path: Path, number: int, entry: dict[str, Any]) -> Equivalent:
    values = {key: entry.get(key) for key in ("exercise", "was", "becomes", "reason")}
    missing = [k for k, v in values.items() if not isinstance(v, str) or not v.strip()]
    if missing:
        raise UserError(f"entry {number} has no {missing[0]}", path=path)
    return Equivalent(**values)


def run(
    master: Notebook, root: Path, equivalent: list[Equivalent], jobs: int | None = None
) -> Outcome:
    """Try every generated mutant of the module.

    root : the course folder, whose `tinykernels` the cells may import
    jobs : mutants at a time; as many as there are CPUs if it is not given
    """
    with begun(master, root, equivalent, jobs) as trial:
        return trial.outcome()


@contextmanager
def begun(
    master: Notebook, root: Path, equivalent: list[Equivalent], jobs: int | None = None
) -> Iterator[Trial]:
    """`run`, at work while the caller does something else; it ends with the block."""
    tests = {e.solution.grade_id or e.solution.label: e.tests for e in exercises(master)}
    todo = [m for cell in master.of_role(Role.SOLUTION) for m in mutants(cell) if tests[m.exercise]]
    job = {**_job(master, root, tests, todo), "jobs": jobs or default_jobs()}
    with tempfile.TemporaryFile() as told, tempfile.TemporaryFile() as said:
        told.write(json.dumps(job).encode("ascii"))
        told.seek(0)
        with tempfile.TemporaryFile() as errors, _child(job["root"], told, said, errors) as child:
            try:
                yield Trial(child, todo, equivalent, said, errors)
            finally:
                child.kill()


class Trial:
    """All mutants of a module, tried in a child process."""

    def __init__(
        self,
        child: subprocess.Popen,
        todo: list[Mutant],
        equivalent: list[Equivalent],
        said: IO[bytes],
        errors: IO[bytes],
    ) -> None:
        self._child = child
        self._todo = todo
        self._equivalent = equivalent
        self._said = said
        self._errors = errors
        self._events: list[dict[str, Any]] = []

    def cpu_seconds(self) -> float:
        """What it has used so far."""
        if self._child.poll() is None:
            return cpu_seconds(self._child.pid)
        return sum(e.get("cpu", 0.0) for e in self._heard())

    def outcome(self) -> Outcome:
        """Wait for its end; UserError where that came too early."""
        self._child.wait()
        events = self._heard()
        if self._child.returncode or not any("cpu" in e for e in events):
            self._errors.seek(0)
            last = self._errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise UserError(f"the mutants could not be run: {last or 'the child ended early'}")
        fates = {e["mutant"]: e["killed by"] for e in events if "mutant" in e}
        left = [m for number, m in enumerate(self._todo) if fates[number] == SURVIVED]
        excused = [m for m in left if any(e.covers(m) for e in self._equivalent)]
        return Outcome(
            tried=len(self._todo),
            survivors=[m for m in left if m not in excused],
            excused=excused,
            unused=[e for e in self._equivalent if not any(e.covers(m) for m in left)],
            red=[e["red reference"] for e in events if "red reference" in e],
            seconds=self.cpu_seconds(),
        )

    def _heard(self) -> list[dict[str, Any]]:
        if not self._events:
            self._said.seek(0)
            self._events = [json.loads(line) for line in self._said.read().splitlines()]
        return self._events


def _job(
    master: Notebook, root: Path, tests: dict[str, list[Cell]], todo: list[Mutant]
) -> dict[str, Any]:
    cells = master.of_role(Role.GIVEN, Role.SOLUTION)
    return {
        "root": str(root.resolve()),
        "seconds": SECONDS,
        "cells": [{"label": c.label, "source": python_source(c.source)} for c in cells],
        "tests": {e: [_test(c) for c in found] for e, found in tests.items()},
        "mutants": [{"exercise": m.exercise, "source": m.source} for m in todo],
    }


def _test(cell: Cell) -> dict[str, str]:
    points = str(cell.points or Fraction(0))
    return {"id": cell.grade_id or cell.label, "points": points, "source": cell.source}


def _child(
    root: str, told: IO[bytes], said: IO[bytes], errors: IO[bytes]
) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # GNU's OpenMP ends a fork of a process that has used it; a mutant would look killed.
    environment["NUMBA_THREADING_LAYER"] = "workqueue"
    home = str(Path(__file__).resolve().parents[3])
    environment["PYTHONPATH"] = os.pathsep.join([home, environment.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "tito.grading.audit.warm"],
        stdin=told,
        stdout=said,
        stderr=errors,
        env=environment,
        cwd=root or None,
    )
