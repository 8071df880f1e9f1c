"""Generated mutants of a module: which survive its tests, and which may."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.errors import UserError
from tito.files import read_text
from tito.grading.audit.mutate import Mutant, mutants
from tito.grading.judge.text import without_magics
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
    """

    tried: int = 0
    survivors: list[Mutant] = field(default_factory=list)
    excused: list[Mutant] = field(default_factory=list)
    unused: list[Equivalent] = field(default_factory=list)
    red: list[str] = field(default_factory=list)


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


def run(master: Notebook, root: Path, equivalent: list[Equivalent]) -> Outcome:
    """Try every generated mutant of the module.

    root : the course folder, whose `tinykernels` the cells may import
    """
    outcome = Outcome()
    tests = {e.solution.grade_id or e.solution.label: e.tests for e in exercises(master)}
    todo = [m for cell in master.of_role(Role.SOLUTION) for m in mutants(cell) if tests[m.exercise]]
    outcome.tried = len(todo)
    survivors = []
    for event in _in_child(_job(master, root, tests, todo)):
        if "red reference" in event:
            outcome.red.append(event["red reference"])
        elif event["killed by"] == "survived":
            survivors.append(todo[event["mutant"]])
    for mutant in survivors:
        known = any(e.covers(mutant) for e in equivalent)
        (outcome.excused if known else outcome.survivors).append(mutant)
    outcome.unused = [e for e in equivalent if not any(e.covers(m) for m in survivors)]
    return outcome


def _job(
    master: Notebook, root: Path, tests: dict[str, list[Cell]], todo: list[Mutant]
) -> dict[str, Any]:
    cells = master.of_role(Role.GIVEN, Role.SOLUTION)
    return {
        "root": str(root.resolve()),
        "seconds": SECONDS,
        "cells": [{"label": c.label, "source": without_magics(c.source)} for c in cells],
        "tests": {e: [_test(c) for c in found] for e, found in tests.items()},
        "mutants": [{"exercise": m.exercise, "source": m.source} for m in todo],
    }


def _test(cell: Cell) -> dict[str, str]:
    points = str(cell.points or Fraction(0))
    return {"id": cell.grade_id or cell.label, "points": points, "source": cell.source}


def _in_child(job: dict[str, Any]) -> list[dict[str, Any]]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # GNU's OpenMP ends a fork of a process that has used it; a mutant would look killed.
    environment["NUMBA_THREADING_LAYER"] = "workqueue"
    home = str(Path(__file__).resolve().parents[3])
    environment["PYTHONPATH"] = os.pathsep.join([home, environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tito.grading.audit.warm"],
        input=json.dumps(job).encode("ascii"),
        capture_output=True,
        env=environment,
        cwd=job["root"] or None,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or sum("mutant" in e for e in events) < len(job["mutants"]):
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise UserError(f"the mutants could not be run: {last or 'the child ended early'}")
    return events
