"""What goes through the judge: the reference, blanks, and hand-made mutants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tito import strip
from tito.grading.audit import variants
from tito.grading.audit.handmade import HandMade
from tito.grading.judge import CellResult, Result, grade
from tito.grading.judge.result import DIED
from tito.grading.limits import default_jobs
from tito.notebook import Notebook, Role
from tito.notebook.model import exercises
from tito.notebook.points import display

LEAST_HAND_MADE = 2


@dataclass(frozen=True)
class Setting:
    """What the cells of a module may import, and the secret behind hidden inputs: that of
    `grade run`, so that what is proved here holds there.

    jobs  : hand-ins at once
    timed : ids of the test cells in which speed is measured. What is wrong there is looked at once
            more: processes that are slow all their life may have decided
    """

    package: Path | None = None
    package_modules: list[str] | None = None
    files: tuple[Path, ...] = ()
    secret: bytes = b""
    jobs: int = field(default_factory=default_jobs)
    timed: frozenset[str] = frozenset()

    def grade(self, master: Notebook, submission: Notebook) -> Result:
        return grade(
            master,
            submission,
            package=self.package,
            package_modules=self.package_modules,
            files=self.files,
            secret=self.secret,
        )

    def grade_all(self, pairs: Iterable[tuple[Notebook, Notebook]]) -> Iterator[Result]:
        """The results of several (master, submission), in their order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(lambda pair: self.grade(*pair), list(pairs))


def reference(master: Notebook, setting: Setting) -> Iterator[str]:
    """The reference gets every point."""
    result = setting.grade(master, master)
    low = _below_full(result)
    if low and setting.timed.issuperset(low):
        again = _below_full(setting.grade(master, master))
        low = {name: cell for name, cell in again.items() if name in low}
    for cell in low.values():
        yield f"the reference gets {_of(cell)} in {cell.id}: {_said(cell)}"
    if not result.automatic:
        yield "no cell of this module is graded by tests"


def _below_full(result: Result) -> dict[str, CellResult]:
    return {cell.id: cell for cell in result.automatic if cell.points != cell.max_points}


def blanks(master: Notebook, setting: Setting) -> Iterator[str]:
    """What does nothing gets nothing, in every graded cell."""
    cells = {c.grade_id or c.label: c for c in master.of_role(Role.SOLUTION)}
    whats, pairs = ["as released"], [(master, strip.student_version(master))]
    for what, blank in variants.BLANKS.items():
        for part in variants.rounds(master):
            focused = variants.only_tests_of(master, part)
            whats.append(what)
            pairs.append((focused, variants.hand_in(focused, {c: blank(cells[c]) for c in part})))
    for what, result in zip(whats, setting.grade_all(pairs)):
        yield from _nothing(result, what)


def _nothing(result: Result, what: str) -> Iterator[str]:
    for cell in result.automatic:
        if cell.points:
            yield f"{what}: {cell.id} gives {_of(cell)}"
        elif cell.status == DIED:
            yield f"{what}: {cell.id} could not be graded: {_said(cell)}"


def hand_made(master: Notebook, mutants: list[HandMade], setting: Setting) -> Iterator[str]:
    """Each mutant loses points in its cell, and the message says why."""
    known = {variants.exercise_id(e): {t.grade_id for t in e.tests} for e in exercises(master)}
    order = {t.grade_id: place for e in exercises(master) for place, t in enumerate(e.tests)}
    usable = []
    for mutant in mutants:
        if mutant.exercise not in known:
            yield f"{mutant.name}: no solution cell is called {mutant.exercise!r}"
        elif mutant.fails_in not in known[mutant.exercise]:
            yield f"{mutant.name}: {mutant.exercise} has no test cell {mutant.fails_in!r}"
        else:
            usable.append(mutant)
    yield from _too_few(master, mutants)
    # Those that fail in the same kind of test lie side by side, and share what it starts: twins of
    # a baseline, a clean process for claims.
    usable.sort(key=lambda mutant: order[mutant.fails_in])
    batches = _batches(variants.rounds(master), usable)
    for batch, result in zip(batches, setting.grade_all(_pair(master, b) for b in batches)):
        for mutant in batch:
            problems = list(_escaped(mutant, result, known[mutant.exercise]))
            if problems and mutant.fails_in in setting.timed:
                again = setting.grade(*_pair(master, [mutant]))
                problems = list(_escaped(mutant, again, known[mutant.exercise]))
            yield from problems


def _pair(master: Notebook, batch: list[HandMade]) -> tuple[Notebook, Notebook]:
    """A hand-in with these mutants, and the master with the tests that are to catch them."""
    whole = {m.exercise for m in batch if m.forbidden}
    focused = variants.only_tests_of(master, whole, {m.fails_in for m in batch})
    return focused, variants.hand_in(focused, {m.exercise: m.source for m in batch})


def _too_few(master: Notebook, mutants: list[HandMade]) -> Iterator[str]:
    for exercise in exercises(master):
        one = variants.exercise_id(exercise)
        mine = [m for m in mutants if m.exercise == one]
        wrong = sum(m.forbidden is None for m in mine)
        if exercise.tests and wrong < LEAST_HAND_MADE:
            wanted = f"{LEAST_HAND_MADE} are wanted (tests/mutants/README.md)"
            yield f"{one} has {wrong} hand-made mutants, {wanted}"
        directive = exercise.solution.directive("forbid")
        for name in directive.words if directive else []:
            if name not in {m.forbidden for m in mine}:
                yield f"{one} forbids {name}, and no hand-made mutant takes that route"


def _batches(parts: list[list[str]], mutants: list[HandMade]) -> list[list[HandMade]]:
    """The mutants in as few hand-ins as possible, at most one an exercise in each."""
    found = []
    for part in parts:
        waiting = {one: [m for m in mutants if m.exercise == one] for one in part}
        while any(waiting.values()):
            found.append([queue.pop(0) for queue in waiting.values() if queue])
    return found


def _escaped(mutant: HandMade, result: Result, tests: set[str | None]) -> Iterator[str]:
    """Why the mutant was not caught as its file says."""
    cells = {c.id: c for c in result.automatic if c.id in tests}
    cell = cells[mutant.fails_in]
    if mutant.forbidden:
        for other in cells.values():
            if other.points:
                yield f"{mutant.name}: a forbidden route gets {_of(other)} in {other.id}"
    if cell.points == cell.max_points:
        yield f"{mutant.name}: passes {cell.id}"
    elif cell.status == DIED:
        yield f"{mutant.name}: {cell.id} could not be graded: {_said(cell)}"
    elif mutant.phrase not in (cell.message or ""):
        yield f"{mutant.name}: {cell.id} does not say {mutant.phrase!r}: {_said(cell)}"


def _of(cell: CellResult) -> str:
    return f"{display(cell.points or Fraction(0))} of {display(cell.max_points)} points"


def _said(cell: CellResult) -> str:
    return (cell.message or f"it says nothing ({cell.status})").strip()
