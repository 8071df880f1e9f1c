"""Hand-made mutants: mistakes that people make, each with the cell and the words that catch it.

Their files are described in tests/mutants/README.md.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from tito.errors import UserError
from tito.files import read_text

WANTED = ("EXERCISE", "FAILS_IN", "PHRASE", "SOURCE")
KNOWN = (*WANTED, "FORBIDDEN")


@dataclass(frozen=True)
class HandMade:
    """One file: a wrong solution cell, the test that must lose points, a part of its message.

    forbidden : the set whose route it takes; then it is right, and all its tests must give 0
    """

    name: str
    exercise: str
    fails_in: str
    phrase: str
    source: str
    forbidden: str | None = None


def read_all(folder: Path) -> list[HandMade]:
    """The mutants of a module's folder, by name; an empty list where there is none."""
    return [read(path) for path in sorted(folder.glob("*.py"))] if folder.is_dir() else []


def read(path: Path) -> HandMade:
    """One mutant. The file is data: nothing in it is run."""
    try:
        tree = ast.parse(read_text(path)[0])
    except SyntaxError as error:
        raise UserError(f"no valid Python: {error.msg}", path=path, line=error.lineno) from None
    values = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in KNOWN:
                values[name] = _text(node.value, path)
    missing = [name for name in WANTED if name not in values]
    if missing:
        raise UserError(f"this mutant has no {missing[0]}", path=path)
    return HandMade(
        path.stem,
        values["EXERCISE"],
        values["FAILS_IN"],
        values["PHRASE"],
        values["SOURCE"],
        values.get("FORBIDDEN"),
    )


def _text(node: ast.expr, path: Path) -> str:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, str):
        raise UserError("a constant of a mutant is a plain text", path=path, line=node.lineno)
    return value
