"""Which cell runs where, in which order.

The student's process (S) runs every cell but tests and measures, the judge (G) every cell but
solutions and measures. Of tests and measures S runs the plain import lines, since a student's
code may lean on them. A test cell stands alone: it sees the given names and the student's
functions above it. Masters of other courses are less strict; what they lean on (imports in a
solution cell or in an earlier test, names of an earlier test) is offered to their tests too.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from tito import forbid
from tito.errors import Problems, UserError
from tito.forbid import python_source
from tito.grading.judge.rebuild import Piece, Rebuilt
from tito.grading.judge.text import hidden_lines, import_lines, no_code, visible
from tito.notebook import Cell, Notebook, Role
from tito.notebook.names import bound, used
from tito.notebook.points import problem


@dataclass
class Step:
    """Code to run. Its label is unique: the student's cells are counted in the hand-in, given ones
    in the master. `kind` is "given", "solution", "extra" or "imports" (a test is a GradedTest).

    in_s, in_g : which side runs it
    position : the master cell it belongs to
    defines : names that the master's solution cell gives to the tests below
    replaces : names of earlier cells that it binds in any case, unless it fails: what they were is
               gone before it begins, since a search for forbidden routes takes it for dead
    """

    kind: str
    label: str
    source: str
    position: int
    in_s: bool = True
    in_g: bool = False
    defines: frozenset[str] = frozenset()
    replaces: frozenset[str] = frozenset()


@dataclass
class GradedTest:
    """A graded test cell of the master.

    source : the whole cell; shown : the cell as students have it
    secret_lines : lines nobody may be shown; all of them where the cell is tagged hidden
    """

    id: str
    label: str
    source: str
    shown: str
    points: Fraction
    position: int
    hidden: bool
    secret_lines: frozenset[int]
    exercise: int | None

    @property
    def empty(self) -> bool:
        """No code: the students' copy of a hidden cell."""
        return no_code(self.source)

    @property
    def has_secret(self) -> bool:
        return self.hidden or bool(self.secret_lines)


@dataclass
class Exercise:
    """A solution cell of the master: its position, names and directives."""

    position: int
    id: str
    number: int
    names: frozenset[str]
    forbid: tuple[str, ...] = ()


@dataclass
class Plan:
    """Everything the judge needs, in order.

    contracts : source and `#| writes:` names of each solution cell of the master
    left_out : why extra cells are not run, for people
    """

    steps: list[Step | GradedTest] = field(default_factory=list)
    exercises: list[Exercise] = field(default_factory=list)
    contracts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def tests(self) -> list[GradedTest]:
        return [s for s in self.steps if isinstance(s, GradedTest)]


def later_cells_change_names(plan: Plan) -> bool:
    """Whether a test may find other things once all cells have run than at its own place.

    True where a name that a solution defines or uses is bound by more than one cell: an earlier
    test must then run before the later cell does.
    """
    cells = [s for s in plan.steps if isinstance(s, Step) and s.kind != "imports"]
    watched = {name for exercise in plan.exercises for name in exercise.names}
    for step in cells:
        if step.kind == "solution":
            watched |= used(python_source(step.source))
    earlier: set[str] = set()
    made: set[str] = set()  # those of the earlier names that were not just imported
    for step in cells:
        assigned, imported = bound(python_source(step.source))
        if watched & ((assigned & earlier) | (imported & made)):
            return True
        earlier |= assigned | imported
        made |= assigned
    return False


def _note_what_is_replaced(plan: Plan) -> None:
    """Only where something is forbidden; an answer above stays what it was for its own tests."""
    earlier: set[str] = set()
    answered: set[str] = set()
    for step in plan.steps:
        if isinstance(step, Step) and step.in_s and step.kind in ("solution", "extra"):
            step.replaces = (forbid.replaces(step.source) & earlier) - answered
            earlier |= set().union(*bound(python_source(step.source)))
            if step.kind == "solution":
                answered |= step.defines


def check_master(master: Notebook) -> None:
    """What would make points wrong for a whole class is refused, by cell."""
    problems: list[UserError] = []
    seen: dict[str, Cell] = {}
    for cell in master.cells:
        wrong = _problem(cell)
        if cell.grade_id in seen:
            wrong = f"its grade_id stands in {seen[cell.grade_id].label} already"
        if cell.grade_id:
            seen.setdefault(cell.grade_id, cell)
        if wrong:
            problems.append(UserError(wrong, path=master.path, cell=cell.label))
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems)
    if not any(cell.role is Role.TEST or cell.manual for cell in master.cells):
        raise UserError("this master holds no graded cell", path=master.path)


def _problem(cell: Cell) -> str | None:
    if not (cell.graded or cell.task or cell.role is Role.SOLUTION):
        return None
    if not cell.grade_id or not cell.grade_id.strip():
        return "this cell is graded or a solution and has no grade_id"
    if cell.graded or cell.task:
        if "points" not in cell.nbgrader:
            return 'this cell is graded and has no points; write "points": 0 if that is meant'
        if wrong := problem(cell.nbgrader["points"]):
            return wrong
    if unknown := [w for w in _forbidden_sets(cell) if w not in forbid.SETS]:
        return f"no forbid set is called {unknown[0]!r}; there are {', '.join(forbid.SETS)}"
    if cell.role is Role.TEST and (error := _syntax_error(cell.source)):
        return f"this test is no Python: {error}"
    return None


@lru_cache(maxsize=1024)
def _syntax_error(source: str) -> str | None:
    """What Python says against a cell; a master is checked again for each of its hand-ins."""
    try:
        ast.parse(python_source(source))
    except (SyntaxError, ValueError) as error:
        return str(error) or type(error).__name__
    return None


def make_plan(master: Notebook, rebuilt: Rebuilt) -> Plan:
    """The cells of the master in their order, the student's code in its place."""
    plan = Plan(exercises=_exercises(master), contracts=_contracts(master))
    by_position = {e.position: e for e in plan.exercises}
    offered = _names_of_tests_only(master)
    exercise: Exercise | None = None
    plan.steps += _extras(rebuilt, -1)
    for position, cell in enumerate(master.cells):
        if position in by_position:
            exercise = by_position[position]
            plan.steps += _solution(cell, position, rebuilt, exercise)
        elif cell.role is Role.GIVEN:
            plan.steps += _given(cell, position, offered)
        elif cell.role in (Role.TEST, Role.MEASURE):
            plan.steps += _test(cell, position, exercise)
        plan.steps += _extras(rebuilt, position)
    if any(e.forbid for e in plan.exercises):
        _leave_out_what_hides(plan)
        _note_what_is_replaced(plan)
    return plan


def _leave_out_what_hides(plan: Plan) -> None:
    """An extra cell that runs a text nobody can read might change any answer: it is not run.

    Whoever tries `exec` out in a cell of their own loses nothing by that.
    """
    for step in plan.steps:
        found = forbid.unreadable(step.source) if _is_extra(step) else None
        if found is not None:
            step.source = ""
            where = f"{step.label}, line {found.line}"
            plan.left_out.append(f"{where}: the cell was not run: nobody can read {found.route}")


def _is_extra(step: Step | GradedTest) -> bool:
    return isinstance(step, Step) and step.kind == "extra"


def _exercises(master: Notebook) -> list[Exercise]:
    found = []
    for position, cell in enumerate(master.cells):
        if cell.role is Role.SOLUTION:
            names = frozenset(bound(python_source(cell.source))[0])
            number, sets = len(found) + 1, _forbidden_sets(cell)
            found.append(Exercise(position, cell.grade_id or cell.label, number, names, sets))
    return found


def _forbidden_sets(cell: Cell) -> tuple[str, ...]:
    directive = cell.directive("forbid")
    return tuple(directive.words) if directive else ()


def _contracts(master: Notebook) -> list[tuple[str, tuple[str, ...]]]:
    found = []
    for cell in master.of_role(Role.SOLUTION):
        directive = cell.directive("writes")
        words = tuple(directive.words if directive else ())
        found.append((python_source(cell.source), words))
    return found


def _names_of_tests_only(master: Notebook) -> set[str]:
    """Names that only test and measure cells define: a given cell that uses one is not run."""
    names: set[str] = set()
    for cell in master.of_role(Role.TEST, Role.MEASURE):
        names |= bound(python_source(cell.source))[0]
    for cell in master.of_role(Role.GIVEN, Role.SOLUTION):
        assigned, imported = bound(python_source(cell.source))
        names -= assigned | imported
    return names


def _given(cell: Cell, position: int, of_tests: set[str]) -> list[Step]:
    source = python_source(cell.source)
    if not source.strip() or used(source) & of_tests:
        return []
    return [Step("given", f"given {cell.label}", source, position, in_g=True)]


def _solution(cell: Cell, position: int, rebuilt: Rebuilt, exercise: Exercise) -> list[Step]:
    """The student's parts; the master's imports for G, where a test may lean on them."""
    steps = [_student("solution", p, position) for p in rebuilt.solutions.get(position, [])]
    if steps:
        steps[-1].defines = exercise.names
    else:
        # Nothing to run, but a student may have defined the names elsewhere.
        steps.append(Step("solution", cell.label, "", position, defines=exercise.names))
        steps[-1].in_s = False
    if lines := import_lines(cell.source):
        source = "\n".join(lines)
        steps.append(
            Step("imports", f"imports of {cell.label}", source, position, in_s=False, in_g=True)
        )
    return steps


def _test(cell: Cell, position: int, exercise: Exercise | None) -> list[Step | GradedTest]:
    steps: list[Step | GradedTest] = []
    if cell.role is Role.TEST:
        steps.append(_graded(cell, position, exercise))
    shown = [] if cell.hidden else import_lines(visible(cell))
    if shown:
        steps.append(Step("imports", f"imports of {cell.label}", "\n".join(shown), position))
    if cell.role is Role.TEST and (lines := import_lines(cell.source)):
        source = "\n".join(lines)
        steps.append(
            Step("imports", f"imports of {cell.label}", source, position, in_s=False, in_g=True)
        )
    return steps


def _graded(cell: Cell, position: int, exercise: Exercise | None) -> GradedTest:
    source = python_source(cell.source)
    secret = hidden_lines(cell)
    lines = source.split("\n")
    shown = "\n".join("" if n in secret else text for n, text in enumerate(lines, 1))
    if cell.hidden:
        secret = set(range(1, len(lines) + 1))
    return GradedTest(
        id=cell.grade_id or cell.label,
        label=cell.label,
        source=source,
        shown=shown,
        points=cell.points or Fraction(0),
        position=position,
        hidden=cell.hidden,
        secret_lines=frozenset(secret),
        exercise=exercise.position if exercise else None,
    )


def _extras(rebuilt: Rebuilt, position: int) -> list[Step]:
    return [_student("extra", piece, position) for piece in rebuilt.extras.get(position, [])]


def _student(kind: str, piece: Piece, position: int) -> Step:
    return Step(kind, piece.label, piece.source, position)
