"""What the reference reaches in the judge's rig, and whether published speed steps leave room.

The full step of a speed check is at most 1 + half of (the reference's lowest ratio of five runs
- 1): a student's kernel may be half as much faster as ours.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tito.checks.steps import Steps, steps_for
from tito.forbid import python_source
from tito.grading.audit import variants
from tito.grading.audit.judged import Setting
from tito.machine import instruction_set
from tito.notebook import Cell, Notebook
from tito.notebook.model import exercises

RUNS = 5
HIDDEN_TAG = "hidden-tests"


@dataclass
class SpeedCell:
    """A test cell that ends in a speed, and what the reference reached in it.

    steps   : those for this CPU; None where it publishes none
    ratios  : one a run, baseline/kernel
    failed  : what a run said instead of a ratio
    """

    id: str
    kernel: str
    baseline: str
    steps: Steps | None
    ratios: list[float] = field(default_factory=list)
    failed: str | None = None

    @property
    def lowest(self) -> float:
        return min(self.ratios)

    @property
    def most(self) -> float:
        """The highest full step that the reference allows."""
        return 1 + (self.lowest - 1) / 2

    @property
    def problem(self) -> str | None:
        """Why the published steps cannot stay; None if they can."""
        if self.failed is not None:
            return f"{self.id}: {self.failed}"
        if self.steps is not None and self.steps.full > self.most:
            return (
                f"{self.id}: a full step of {self.steps.full:g} is above {self.most:.3g}, which is"
                f" 1 + half of ({self.lowest:.3g} - 1)"
            )
        return None

    def lines(self) -> Iterator[str]:
        """What an author wants to read."""
        yield f"{self.id}: {self.kernel} against {self.baseline}"
        if self.steps is None:
            yield f"    no step for {instruction_set()} CPUs"
        else:
            half = "" if self.steps.half is None else f", half {self.steps.half:g}"
            yield f"    steps    full {self.steps.full:g}{half} ({instruction_set()})"
        if self.ratios:
            yield f"    ratios   {'  '.join(f'{ratio:.3g}' for ratio in self.ratios)}"
            yield f"    lowest   {self.lowest:.3g}, so a full step is at most {self.most:.3g}"


def speed_cells(master: Notebook) -> list[SpeedCell]:
    """The test cells that call speed(...), with what stands in the call."""
    found = []
    for exercise in exercises(master):
        for test in exercise.tests:
            for call in _speed_calls(test):
                names = [ast.unparse(node) for node in call.args[:2]]
                found.append(SpeedCell(test.grade_id or test.label, *names, _steps(call)))
    return found


def measure(
    master: Notebook,
    setting: Setting,
    runs: int = RUNS,
    say: Callable[[str], None] = lambda text: None,
) -> list[SpeedCell]:
    """Grade the reference so many times, one run after the other, and note each ratio.

    say : told which run it is, for a progress line
    """
    cells = {cell.id: cell for cell in speed_cells(master)}
    if not cells:
        return []
    wanted = [
        variants.exercise_id(exercise)
        for exercise in exercises(master)
        if any((test.grade_id or test.label) in cells for test in exercise.tests)
    ]
    opened = _opened(variants.only_tests_of(master, wanted))
    for run in range(1, runs + 1):
        say(f"run {run} of {runs}")
        for result in setting.grade(opened, opened).automatic:
            cell = cells.get(result.id)
            if cell is None:
                continue
            if result.ratio is not None:
                cell.ratios.append(result.ratio)
            elif cell.steps is not None or result.status != "passed":  # not by its values alone
                cell.failed = (result.message or f"no speed was measured ({result.status})").strip()
    return list(cells.values())


def _speed_calls(test: Cell) -> list[ast.Call]:
    tree = ast.parse(python_source(test.source))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "speed"]


def _steps(call: ast.Call) -> Steps | None:
    """The steps for this CPU; they are written as numbers."""
    given = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg in ("full", "half")}
    return steps_for(given["full"], given.get("half"), instruction_set())


def _opened(master: Notebook) -> Notebook:
    """The master with its hidden tests open: of a hidden one no ratio is told."""
    cells = copy.deepcopy(master.cells)
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if HIDDEN_TAG in tags:
            cell.metadata["tags"] = [tag for tag in tags if tag != HIDDEN_TAG]
    return Notebook(cells, dict(master.metadata), master.path)
