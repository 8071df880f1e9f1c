"""Hand-ins made of a student version and the course's own solutions, to try the grading with."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping

from tito import strip
from tito.notebook import Cell, Notebook, Role
from tito.notebook.model import exercises

ANSWER = "An answer in a sentence or two, for a person to read."


def handins(master: Notebook, student: bytes) -> dict[str, bytes]:
    """Name -> notebook: everything right, half of it, all wrong, nothing, one endless loop.

    student : the kit's notebook
    """
    cells = [e.solution for e in exercises(master)]
    right = {c.grade_id: solution(c) for c in cells if c.grade_id}
    answers = {
        c.grade_id: c.source.replace(_region(c), ANSWER)
        for c in master.of_role(Role.REFLECTION)
        if c.grade_id
    }
    half = dict(list(right.items())[: (len(right) + 1) // 2])
    wrong = {name: with_bodies(source, "return {first}") for name, source in right.items()}
    second = list(right)[min(1, len(right) - 1)]
    endless = {**right, second: with_bodies(right[second], "while True: pass")}
    return {
        "complete": filled_in(student, {**right, **answers}),
        "half-done": filled_in(student, half),
        "wrong": filled_in(student, wrong),
        "empty": student,
        "endless": filled_in(student, endless),
    }


def solution(cell: Cell) -> str:
    """A solution cell as a student would have written it: without the markers."""
    marks = {n for r in strip.regions(cell) for n in (r.begin, r.end)}
    lines = enumerate(cell.source.split("\n"), 1)
    return "\n".join(line for number, line in lines if number not in marks)


def _region(cell: Cell) -> str:
    """The marked part of a cell, markers included; the whole cell where nothing is marked."""
    lines = cell.source.split("\n")
    found = strip.regions(cell)
    return "\n".join(lines[found[0].begin - 1 : found[-1].end]) if found else cell.source


def with_bodies(source: str, statement: str) -> str:
    """The cell with `statement` as the body of each of its functions; {first} is an argument."""
    lines = source.split("\n")
    functions = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
    for node in reversed(functions):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        if body:
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)] or ["None"]
            indent = " " * body[0].col_offset
            lines[body[0].lineno - 1 : node.end_lineno] = [
                indent + statement.format(first=names[0])
            ]
    return "\n".join(lines)


def filled_in(notebook: bytes, sources: Mapping[str, str]) -> bytes:
    """The notebook with other sources in some cells, by grade_id, as if saved in Jupyter."""
    document = json.loads(notebook)
    for cell in document["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in sources:
            cell["source"] = sources[name].splitlines(keepends=True)
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()
