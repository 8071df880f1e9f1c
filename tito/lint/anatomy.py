"""Rules about the parts that every module has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tito.lint.finding import WARNING, Hit, rule
from tito.lint.module import Module
from tito.lint.text import solution_lines
from tito.notebook import Cell, Role

FACTS = {
    "hours": r"hours?|time",
    "difficulty": r"difficulty|level",
    "needs": r"needs?|before|prerequisites?",
    "package": r"package|code goes|builds?|exports?|goes to",
}


def _first_solution(module: Module) -> int:
    return module.solutions[0].index if module.solutions else len(module.cells) + 1


def _headings(cell: Cell) -> list[str]:
    if cell.kind != "markdown":
        return []
    return re.findall(r"^#{1,6}\s+(.*)$", cell.source, re.MULTILINE)


def _section(module: Module, pattern: str) -> list[Cell]:
    """The cells from the heading that matches to the next heading of the same rank or higher."""
    found: list[Cell] = []
    rank = 0
    for cell in module.cells:
        marks = re.findall(r"^(#{1,6})\s+(.*)$", cell.source, re.M) if cell.kind != "code" else []
        if found and any(len(hashes) <= rank for hashes, _ in marks):
            return found
        match = next((m for m in marks if re.search(pattern, m[1], re.IGNORECASE)), None)
        if found or match:
            found.append(cell)
            rank = rank or len(match[0])
    return found


def _says(module: Module, pattern: str) -> bool:
    return any(
        re.search(pattern, c.source, re.IGNORECASE) for c in module.cells if c.kind == "markdown"
    )


@rule("anatomy-default-exp")
def default_exp(module: Module) -> Iterator[Hit]:
    if module.notebook.default_exp is None:
        yield Hit("no cell says where the code goes", hint="#| default_exp NAME, in a given cell")


@rule("anatomy-facts")
def facts(module: Module) -> Iterator[Hit]:
    """The opening text: a title, what one will be able to do, and the table of facts."""
    opening = module.cells[: max(3, min(_first_solution(module) - 1, 4))]
    text = "\n".join(c.source for c in opening if c.kind == "markdown")
    if not re.search(r"^#\s+\S", text, re.MULTILINE):
        yield Hit("no title at the top", hint="# 07 Numba: ...")
    if not re.search(r"able to|you (will|can)", text, re.IGNORECASE):
        yield Hit("the opening does not say what one will be able to do")
    rows = [r.split("|")[1].strip(" *`") for r in text.split("\n") if r.lstrip().startswith("|")]
    header = "|".join(rows + re.findall(r"^\s*\|(.*)\|", text, re.MULTILINE)[:1])
    for name, pattern in FACTS.items():
        if not re.search(pattern, header, re.IGNORECASE):
            yield Hit(f"the table at the top has no row {name!r}", hint=f"| {name} | ... |")


@rule("anatomy-first-cell")
def first_cell(module: Module) -> Iterator[Hit]:
    """The first code cell says in one sentence what to do when the kernel is the wrong Python."""
    code = module.code
    if not code or not any(_guards_import(n) for n in module.tree(code[0]).body):
        yield Hit(
            "the first code cell must import tito.here inside a try that says what to do when it "
            "is not found",
            code[0] if code else None,
            hint="as in the template: tito new",
        )


def _guards_import(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Try):
        return False
    imported = {a.name for n in node.body if isinstance(n, ast.Import) for a in n.names}
    raises = [r for h in node.handlers for r in ast.walk(h) if isinstance(r, ast.Raise)]
    return "tito.here" in imported and bool(raises)


@rule("anatomy-gap")
def gap(module: Module) -> Iterator[Hit]:
    """One number from the reader's own machine, before the first exercise."""
    early = [c for c in module.of(Role.MEASURE) if c.index < _first_solution(module)]
    if not early:
        yield Hit("no measure cell before the first exercise: the gap is missing")
    elif not any(re.search(r"\bgap\b", h, re.I) for c in module.cells for h in _headings(c)):
        yield Hit("no heading names the gap", hint="## The gap: ...")


@rule("anatomy-exercises")
def exercise_count(module: Module) -> Iterator[Hit]:
    if not module.exercises:
        yield Hit("no exercise: no solution cell")


@rule("anatomy-exercise-count", level=WARNING)
def usual_count(module: Module) -> Iterator[Hit]:
    if module.exercises and not 4 <= len(module.exercises) <= 7:
        yield Hit(f"{len(module.exercises)} exercises; a module has four to seven")


@rule("anatomy-tests")
def tests(module: Module) -> Iterator[Hit]:
    """Every exercise has a visible and a hidden test, both with points."""
    for exercise in module.exercises:
        for hidden, name in ((False, "visible"), (True, "hidden")):
            found = [t for t in exercise.tests if t.hidden is hidden]
            if not found:
                yield Hit(
                    f"exercise {exercise.number} has no {name} test cell",
                    exercise.solution,
                    hint='its own grade_id and points, tags=["hidden-tests", "raises-exception"]'
                    if hidden
                    else "its own grade_id and points",
                )
            elif not any(t.points for t in found):
                yield Hit(
                    f"the {name} tests of exercise {exercise.number} carry no points", found[0]
                )
    early = [t for t in module.tests if t.index < _first_solution(module)]
    for cell in early:
        yield Hit("a test cell before the first solution cell tests nothing", cell)


@rule("anatomy-measure")
def measure(module: Module) -> Iterator[Hit]:
    """Every exercise ends in a measurement."""
    starts = [e.solution.index for e in module.exercises]
    for exercise, end in zip(module.exercises, [*starts[1:], len(module.cells) + 1]):
        start = exercise.solution.index
        if not any(start < c.index < end for c in module.of(Role.MEASURE)):
            yield Hit(
                f"exercise {exercise.number} has no measure cell",
                exercise.solution,
                hint="#| measure",
            )


@rule("anatomy-predict")
def predict(module: Module) -> Iterator[Hit]:
    """A prediction stands before each solution cell."""
    previous = 0
    for exercise in module.exercises:
        between = [c for c in module.cells if previous < c.index < exercise.solution.index]
        text = "\n".join(c.source for c in between if c.kind == "markdown")
        if not re.search(r"predict", text, re.IGNORECASE):
            yield Hit(
                f"exercise {exercise.number} asks for no prediction",
                exercise.solution,
                hint="**Predict.** ... in the text above it",
            )
        previous = exercise.solution.index


@rule("anatomy-docstring")
def docstring(module: Module) -> Iterator[Hit]:
    """The contract of an exported function is its docstring, outside the solution region."""
    for cell in module.solutions:
        lines = set(solution_lines(cell))
        for node in module.tree(cell).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                written_by_student = re.sub(r"\s+", "", f"def {node.name}(") in "".join(lines)
                if ast.get_docstring(node) is None and not written_by_student:
                    yield Hit(f"{node.name} has no docstring: its contract", cell, node.lineno)


@rule("anatomy-use-it")
def use_it(module: Module) -> Iterator[Hit]:
    yield from _section_with_measure(module, r"\buse it\b", "use it", "## Use it")


@rule("anatomy-scoreboard")
def scoreboard(module: Module) -> Iterator[Hit]:
    yield from _section_with_measure(module, r"\bscoreboard\b", "scoreboard", "## Scoreboard")


def _section_with_measure(module: Module, pattern: str, name: str, hint: str) -> Iterator[Hit]:
    section = _section(module, pattern)
    if not section:
        yield Hit(f"the part {name!r} is missing", hint=hint)
    elif not any(c.role is Role.MEASURE for c in section):
        yield Hit(f"the part {name!r} has no measure cell", section[0], hint="#| measure")


@rule("anatomy-reflection")
def reflection(module: Module) -> Iterator[Hit]:
    """Questions graded by hand, each with a rubric that students never see."""
    questions = [c for c in module.of(Role.REFLECTION) if c.manual]
    if not questions:
        yield Hit("no reflection question", hint="a markdown cell with grade and solution true")
    for cell in questions:
        if not cell.points:
            yield Hit("a reflection question without points", cell)
        if not solution_lines_of_text(cell):
            yield Hit(
                "a reflection question without a rubric",
                cell,
                hint="write it between ### BEGIN SOLUTION and ### END SOLUTION",
            )


def solution_lines_of_text(cell: Cell) -> list[str]:
    """The lines of a rubric."""
    match = re.search(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.DOTALL)
    return [s for s in match[1].split("\n") if s.strip()] if match else []


_CLOSING = {
    "what usually goes wrong": r"goes? wrong",
    "you are done when": r"done when",
    "in production": r"production",
    "references": r"^#+.*(references|further reading)|\*\*(references|further reading)|^references",
}


@rule("anatomy-closing")
def closing(module: Module) -> Iterator[Hit]:
    """The end of a module: mistakes, done, production, references, what to type next."""
    for name, pattern in _CLOSING.items():
        if not _says(module, "(?m)" + pattern):
            yield Hit(f"the part {name!r} is missing")
    for command in ("tito test", "tito export"):
        if not _says(module, command):
            yield Hit(f"the end does not say: {command} NN")


@rule("anatomy-figure", level=WARNING)
def figure(module: Module) -> Iterator[Hit]:
    """A module keeps one picture per idea."""
    pictures = r"!\[|<svg|<img|```|plt\.|\.plot\("
    if module.exercises and not any(re.search(pictures, c.source) for c in module.cells):
        yield Hit("no picture at all")
