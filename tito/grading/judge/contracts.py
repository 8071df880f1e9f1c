"""What the master's solution cells say about the functions they define."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np


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


def arrays_of_call(
    contract: Contract, args: tuple, kwargs: dict[str, Any]
) -> tuple[dict[int, str], set[int]]:
    """(id -> how the contract calls it, ids of those that may be written) of a call's arrays."""
    labels: dict[int, str] = {}
    writable: set[int] = set()
    unnamed = map(str, range(len(contract.parameters) + 1, len(args) + 1))
    names = [*contract.parameters, *unnamed]
    for name, value in [*zip(names, args), *kwargs.items()]:
        found = dict(_arrays_in(value, name))
        labels = {**found, **labels}
        if contract.may_write(name):
            writable |= set(found)
    return labels, writable


def _arrays_in(value: Any, label: str, depth: int = 0) -> list[tuple[int, str]]:
    """(id, label) of the arrays in an argument: "x", "batch[2]"."""
    if isinstance(value, np.ndarray):
        return [(id(value), label)]
    if depth > 3 or type(value) not in (list, tuple, dict):
        return []
    items = value.items() if type(value) is dict else enumerate(value)
    return [pair for k, v in items for pair in _arrays_in(v, f"{label}[{k!r}]", depth + 1)]


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
