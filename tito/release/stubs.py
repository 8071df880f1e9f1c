"""The package of a fresh kit: every public name is there and says which exercise makes it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tito.notebook import Cell, Notebook
from tito.notebook.model import exercises

PACKAGE = "tinykernels"


@dataclass(frozen=True)
class Name:
    """A public name of a module: the file of the package, what it is, and where it is made."""

    name: str
    file: str  # "tinykernels/simd/gemm.py"
    kind: str  # "function", "class" or "value"
    module: str  # "03_vectorize"
    origin: str  # "exercise 3 of 03_vectorize: tito start 03"


def public_names(master: Notebook, module: str) -> list[Name]:
    """The names that exporting the module makes, in the order of its cells."""
    number = {id(e.solution): e.number for e in exercises(master)}
    found: dict[tuple[str, str], Name] = {}
    for cell in master.cells:
        if cell.kind != "code" or (directive := cell.directive("export")) is None:
            continue
        target = directive.value or master.default_exp
        if target is None:
            continue
        where = _origin(module, number.get(id(cell)))
        for name, kind in _bound(cell):
            file = str(PurePosixPath(PACKAGE, *target.split("."))) + ".py"
            found[file, name] = Name(name, file, kind, module, where)
    return list(found.values())


def _origin(module: str, exercise: int | None) -> str:
    word = module[:2]
    if exercise is None:
        return f"comes with {module}: tito start {word}, then tito export {word}"
    return f"is exercise {exercise} of {module}: tito start {word}"


def _bound(cell: Cell) -> list[tuple[str, str]]:
    """(name, kind) of the public names that the cell defines; none where it does not parse."""
    try:
        body = ast.parse(cell.source).body
    except (SyntaxError, ValueError):
        return []
    kinds: dict[str, str] = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            kinds[node.name] = "function"
        elif isinstance(node, ast.ClassDef):
            kinds[node.name] = "class"
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            # Another name for a function is called like one.
            alias = isinstance(node.value, ast.Name) and kinds.get(node.value.id)
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        kinds[part.id] = alias or "value"
    return [(n, k) for n, k in kinds.items() if not n.startswith("_")]


def stub_files(names: Iterable[Name]) -> dict[str, str]:
    """File of the package -> source that raises NotImplementedError wherever a name is used."""
    by_file: dict[str, list[Name]] = {}
    for name in names:
        by_file.setdefault(name.file, []).append(name)
    files = {file: _stub(made) for file, made in sorted(by_file.items())}
    for file in list(files):
        for folder in list(PurePosixPath(file).parents)[:-2]:
            files.setdefault(f"{folder}/__init__.py", "")
    return files


def is_stub(path: Path) -> bool:
    """Whether a file of the package is still as the kit brought it."""
    try:
        return MARK in path.read_text(encoding="utf-8").split("\n")[:4]
    except (OSError, ValueError):
        return False


def _stub(names: list[Name]) -> str:
    parts = [f'"""Not written yet: `tito export` puts your kernels here."""\n\n{MARK}\n']
    values = {n.name: f"{n.name} {n.origin}" for n in names if n.kind == "value"}
    parts.append(f"__all__ = {_listed([n.name for n in names])}\n")
    for name in names:
        if name.kind == "function":
            parts.append(f"\ndef {name.name}(*args, **kwargs):\n{_raise(name, 4)}")
        elif name.kind == "class":
            parts.append(
                f"\nclass {name.name}:\n    def __init__(self, *args, **kwargs):\n{_raise(name, 8)}"
            )
    if values:
        parts.append(_VALUES.format(values=values))
    return "\n".join(parts)


# By this line `tito status` sees that nothing was exported yet.
MARK = "# A stub of the kit."

_VALUES = """
def __getattr__(name):
    missing = {values!r}
    if name in missing:
        raise NotImplementedError(missing[name])
    raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
"""


def _listed(names: list[str]) -> str:
    return "[\n" + "".join(f'    "{n}",\n' for n in sorted(names)) + "]"


def _raise(name: Name, indent: int) -> str:
    return " " * indent + f'raise NotImplementedError("{name.name} {name.origin}")\n'
