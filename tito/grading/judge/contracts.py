"""What the master's solution cells say about the functions they define."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Contract:
    """What the master says about a function: its parameters in order, and which it may write.

    `out` may always be written and need not be listed.
    """

    parameters: tuple[str, ...] = ()
    writes: frozenset[str] = frozenset()

    def may_write(self, parameter: str) -> bool:
        return parameter == "out" or parameter in self.writes


@dataclass(frozen=True)
class Trusted(Contract):
    """Of a function that gets copies: it may change all it is given."""

    def may_write(self, parameter: str) -> bool:
        return True


def contracts_of(source: str, writes: Iterable[str] = ()) -> dict[str, Contract]:
    """The contracts of the functions and methods that a master's solution cell defines.

    writes : the names of its `#| writes:` directive

    >>> contracts_of("def fill(x, y): ...", ["y"])["fill"].may_write("y")
    True
    """
    allowed = frozenset(writes)
    return {name: Contract(parameters, allowed) for name, parameters in _parameters_in(source)}


@lru_cache(maxsize=256)  # each hand-in asks about the same cells of the master
def _parameters_in(source: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(found for node in tree.body for found in _functions(node))


def _functions(node: ast.stmt) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A function by its name; a class: its constructor "C", methods "C.m", its call "C()"."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, _parameters(node)
    elif isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                own = _parameters(part)
                bound = own if _is_static(part) else own[1:]
                special = {"__init__": node.name, "__call__": f"{node.name}()"}
                yield special.get(part.name, f"{node.name}.{part.name}"), bound


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    arguments = function.args
    return tuple(a.arg for a in (*arguments.posonlyargs, *arguments.args))


def _is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
