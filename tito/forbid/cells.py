"""Cells of a notebook, each read once."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

from .bindings import Patch, announced, bindings, bound_from_inside, certain, changes, patches
from .source import parsed, python_source
from .texts import called, constant_text, run_texts
from .trees import mangle, walk

# Calls that can leave a file behind, which may be a module, with how many arguments at least.
_WRITING = {"open": 2, "fdopen": 2, "write_text": 1, "write_bytes": 1, "copy": 2, "copyfile": 2}
_WRITING |= {"copy2": 2, "copytree": 2, "move": 2, "rename": 1, "savetxt": 2, "tofile": 1}


@dataclass
class Cell:
    """What one cell binds at its top level.

    certain : names that it binds whatever happens
    changed : what is put into an object that has a name
    handed  : what a method of such an object is called with, and may keep
    patched : what may replace a part of any object
    announced : functions that a decorator makes known to a library, under no name
    stars   : modules of which all names are imported, with the line
    texts   : calls that run a text which cannot be read here
    exchanged : where the code of a function is put into another one
    writes  : it may leave a file behind
    body    : its statements, and those of the texts that it runs
    """

    label: str
    defined: dict[str, list[ast.AST]] = field(default_factory=dict)
    certain: frozenset[str] = frozenset()
    changed: dict[str, list[ast.AST]] = field(default_factory=dict)
    handed: dict[str, list[ast.AST]] = field(default_factory=dict)
    patched: list[Patch] = field(default_factory=list)
    announced: list[Patch] = field(default_factory=list)
    stars: list[tuple[str, int]] = field(default_factory=list)
    texts: list[ast.Call] = field(default_factory=list)
    exchanged: list[ast.AST] = field(default_factory=list)
    writes: bool = False
    body: list[ast.stmt] = field(default_factory=list)
    too_deep: bool = False

    @classmethod
    def read(cls, label: str, source: str, package: str | None = None) -> Cell:
        """The cell of a text; package : where its relative imports begin."""
        cell = cls(label)
        try:
            # A module of the package is imported as it is.
            tree = ast.parse(python_source(source) if package is None else source)
        except (SyntaxError, ValueError):
            return cell  # a cell that does not parse has defined nothing
        except (RecursionError, MemoryError):
            cell.too_deep = True
            return cell
        if package is not None:
            _make_absolute(tree, package)
        mangle(tree)
        cell.certain = certain(tree.body)
        run, cell.texts = run_texts(tree)
        body = cell.body = [*tree.body, *run]
        for name, node in [*bindings(body), *bound_from_inside(tree, ast.Global)]:
            cell.defined.setdefault(name, []).append(node)
        nodes = list(walk(tree))
        cell.writes = any(map(_writes, nodes))
        of_texts = [n for part in run for n in walk(part)]
        cell.exchanged = [n for n in (*nodes, *of_texts) if _exchanges_code(n)]
        for change in changes(body):
            table = cell.handed if change.by_call else cell.changed
            table.setdefault(change.name, []).append(change.value)
        cell.patched = list(patches(body))
        cell.announced = list(announced(body))
        cell.stars = [
            (node.module or "", node.lineno)
            for node in nodes
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
        ]
        return cell


@lru_cache(maxsize=256)
def read_cell(label: str, source: str) -> Cell:
    """A cell read once; a search changes nothing in it."""
    return Cell.read(label, source)


def replaces(source: str) -> frozenset[str]:
    """Names that a cell binds whatever happens: the search takes what they were before for dead."""
    return certain(parsed(source).body)


@lru_cache(maxsize=64)
def read_module(name: str, source: str, package: str) -> Cell:
    """A file of a package, as one cell."""
    return Cell.read(name, source, package)


def _make_absolute(tree: ast.Module, package: str) -> None:
    """Write `from .loops import f` out as `from tinykernels.loops import f`."""
    words = package.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = words[: max(len(words) + 1 - node.level, 1)]
            node.module = ".".join([*base, *([node.module] if node.module else [])])
            node.level = 0


def _writes(node: ast.AST) -> bool:
    least = _WRITING.get(called(node) or "")
    return least is not None and len(node.args) + len(node.keywords) >= least


def _exchanges_code(node: ast.AST) -> bool:
    """f.__code__ = ... and setattr(f, "__code__", ...)."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__code__" and isinstance(node.ctx, ast.Store)
    if called(node) in ("setattr", "__setattr__"):
        return any(constant_text(argument) == "__code__" for argument in node.args)
    return False


def start_index(cells: list[Cell], roots: set[str], start: str | None) -> int:
    """The index of the exercise's cell."""
    if start is not None:
        return [cell.label for cell in cells].index(start)
    defining = [i for i, cell in enumerate(cells) if roots & cell.defined.keys()]
    return max(defining, default=0)
