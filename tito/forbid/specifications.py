"""Which given functions are the specification of an exercise."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from .bindings import COMPREHENSIONS, FUNCTIONS, bindings
from .source import parsed

_COMPARING = ("expect_close", "expect_equal")
# Calls that only put a specification's result into another form.
_CONVERTING = {
    *("array", "asarray", "ascontiguousarray", "asfortranarray", "stack"),
    *("float", "int", "list", "tuple"),
}


def specifications(
    tests: Iterable[str], given: Iterable[str], reference: str = ""
) -> frozenset[str]:
    """Given functions that tests take their expected values from, or that a race is run against.

    tests     : sources of the exercise's test cells
    given     : sources of the given cells
    reference : the master's solution: what it uses, a student may use too

    >>> given = "def slow(x): return x"
    >>> specifications(["want = slow(x); expect_close(f(x), want)"], [given])
    frozenset({'slow'})
    """
    return _specifications(tuple(tests), tuple(given), reference)


# All of it is the master's: a judge that has read a module knows the answer for every hand-in.
@lru_cache(maxsize=64)
def _specifications(
    tests: tuple[str, ...], given: tuple[str, ...], reference: str
) -> frozenset[str]:
    bodies = {
        node.name: node
        for source in given
        for node in parsed(source).body
        if isinstance(node, FUNCTIONS)
    }
    found: set[str] = set()
    for test in tests:
        tree = parsed(test)
        assigned = dict(bindings(tree.body))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and _last_name(call.func) in _COMPARING:
                found |= _makers_of(_want(call), assigned, bodies.keys())
            elif isinstance(call, ast.Call) and _last_name(call.func) == "speed":
                found |= _baseline(call) & bodies.keys()
    return frozenset(found - _reached(parsed(reference), bodies))


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _want(check: ast.Call) -> ast.expr | None:
    """The expected value in expect_close(got, want)."""
    named = [k.value for k in check.keywords if k.arg == "want"]
    return named[0] if named else check.args[1] if len(check.args) > 1 else None


def _baseline(race: ast.Call) -> set[str]:
    """The name of what a kernel's speed is compared with."""
    named = [k.value for k in race.keywords if k.arg == "baseline"]
    return {node.id for node in [*named, *race.args[1:2]] if isinstance(node, ast.Name)}


def _makers_of(value: Any, assigned: Mapping[str, Any], functions: Iterable[str]) -> set[str]:
    """The given functions that make an expected value, not those that make their arguments."""
    if isinstance(value, ast.Name):
        value = assigned.get(value.id)
    found: set[str] = set()
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in functions:
                found.add(node.func.id)
            elif _last_name(node.func) in _CONVERTING:
                waiting += node.args[:1]
            elif isinstance(node.func, ast.Attribute):
                waiting.append(node.func.value)  # spec(x).astype("f4")
        elif isinstance(node, (*COMPREHENSIONS, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Subscript)):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node, (ast.Tuple, ast.List)):
            waiting += node.elts
    return found


def _reached(tree: ast.Module, bodies: Mapping[str, ast.AST]) -> set[str]:
    """Given functions that some code names, or that those name in their turn."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        names = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)}
        new = (names & bodies.keys()) - found
        found |= new
        waiting += [bodies[name] for name in new]
    return found
