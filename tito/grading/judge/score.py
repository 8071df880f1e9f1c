"""Partial credit: the last value of a test cell as points, and where that value may come from.

nbgrader's rule: no last value means full points, a number means that many. Here a number is a
number and nothing else, 0 is 0, and a value that came from the student's code is never a score.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from tito.notebook.points import display, exact

# Calls whose answer is the judge's own verdict, whatever it was given.
_VERDICTS = {
    "all",
    "allclose",
    "any",
    "array_equal",
    "array_equiv",
    "callable",
    "hasattr",
    "isclose",
    "isinstance",
    "issubclass",
}
_TOO_LONG = 10**20
# These hand on what the student's function returned.
HAND_ON = {"contents", "expect_fresh", "expect_returns", "expect_unchanged", "expect_written"}


class BadScore(Exception):
    """The last value is no number of points: a mistake of the test, for the instructor."""


def score(value: Any, points: Fraction) -> Fraction:
    """The points that the last value of a test cell stands for.

    >>> score(None, Fraction(4)), score(0, Fraction(4)), score(2.5, Fraction(4))
    (Fraction(4, 1), Fraction(0, 1), Fraction(5, 2))
    """
    if value is None:
        return points
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (np.integer, np.floating)):
        value = value.item()
    if isinstance(value, bool) or type(value) not in (int, float, Fraction):
        kind = type(value).__name__
        raise BadScore(f"the last value of this test is a {kind}, not a number of points")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadScore("the last value of this test is not a finite number of points")
    if value < 0 or exact(value) > points:
        raise BadScore(
            f"the last value of this test is {_shown(value)}, "
            f"not between 0 and {display(points)} points"
        )
    return exact(value)


def _shown(value: int | float | Fraction) -> str:
    """The value as a few characters; no int is too large for it, as it would be for `:g`."""
    if isinstance(value, float):
        return f"{value:g}"
    if abs(value) >= _TOO_LONG:
        return "a very large number" if value > 0 else "a very large negative number"
    return str(value)


def last_expression(tree: ast.Module, source: str) -> ast.Expr | None:
    """The statement whose value a notebook would show; a final `;` hides it, as in Jupyter."""
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or _ends_with_semicolon(last, source):
        return None
    return last


def _ends_with_semicolon(node: ast.Expr, source: str) -> bool:
    rest = source.split("\n")[node.end_lineno - 1 :]
    first = rest[0].encode("utf-8", "surrogatepass")[node.end_col_offset :]
    return first.decode("utf-8", "surrogatepass").lstrip().startswith(";")


class Origin(Enum):
    """Whose word the last value of a test is."""

    TEST = "the test's own"
    MIXED = "a function of the test's or a library's, given what the student's code returned"
    STUDENT = "the student's code itself"


def last_value_of(tree: ast.Module, students: set[str], checks: Iterable[str] = ()) -> Origin:
    """Whether the last expression may be a value that the student's code chose.

    students : names that stand for the student's functions and data
    checks : names that stand for functions of tito.checks

    Followed through assignments and the cell's own functions, without regard to order. What
    compares, or is a verdict of the judge (`np.allclose`, a check of tito.checks), is clean:
    `2 * (f(3) == 9)` is a score, `f(3)` is none. `print(f(3))` is mixed: it is fine as long as
    it has no value.
    """
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        return Origin.TEST
    names = _trusted(tree) | set(checks)
    trust = _Trust(names, _called(last.value) == "points", _own_functions(tree))
    dirty = set(students)
    flows = _all_flows(tree)
    while grown := _grow(flows, dirty, trust):
        dirty |= grown
    if not _dirty(last.value, dirty, trust):
        return Origin.TEST
    foreign = isinstance(last.value, ast.Call) and not _dirty(last.value.func, dirty, trust)
    return Origin.MIXED if foreign else Origin.STUDENT


@dataclass(frozen=True)
class _Trust:
    """Whose calls give the judge's own word, whatever they are given.

    helpers : the cell ends with `points(...)`, as in our own modules: there a helper of the test
        or of a given cell counts as the author's word. Python's own functions never do: they hand
        on what they get (`min(got, 4)`).
    local : functions of the cell itself, which can be followed
    """

    names: frozenset[str] | set[str]
    helpers: bool
    local: frozenset[str] = frozenset()

    def covers(self, func: ast.expr) -> bool:
        name = _name(func)
        if name in self.names:
            return True
        own = isinstance(func, ast.Name) and name not in HAND_ON and not hasattr(builtins, name)
        return self.helpers and own


def _name(func: ast.expr) -> str | None:
    return getattr(func, "id", getattr(func, "attr", None))


def _called(node: ast.expr) -> str | None:
    """The name of the function that an expression calls, if it is a call."""
    return _name(node.func) if isinstance(node, ast.Call) else None


def _trusted(tree: ast.Module) -> set[str]:
    """The judge's verdicts, and what the cell imports from tito.checks."""
    names = set(_VERDICTS)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tito.checks"):
            names |= {a.asname or a.name for a in node.names if a.name not in HAND_ON}
    return names


def _all_flows(tree: ast.Module) -> list[tuple[set[str], ast.expr]]:
    """(names, a value that they may take) for all that binds names, and what functions return."""
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, _FUNCTIONS)}
    found = []
    for node in ast.walk(tree):
        for target, value in _flows(node):
            found.append((_names_in(target), value))
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            found += _defaults(node.args)
        if isinstance(node, _FUNCTIONS):
            values = [n.value for n in ast.walk(node) if isinstance(n, _GIVING_BACK)]
            found += [({node.name}, value) for value in values if value is not None]
        elif isinstance(node, ast.Call):
            found += [*_into_parameters(node, functions), *_into_arguments(node)]
        elif isinstance(node, (ast.Try, ast.TryStar)):
            found += _into_exceptions(node)
        elif isinstance(node, ast.Match):
            found += [({name}, node.subject) for case in node.cases for name in _captured(case)]
    return found


def _own_functions(tree: ast.Module) -> frozenset[str]:
    """Functions of the cell that are what their one definition says."""
    counts = Counter(n.name for n in ast.walk(tree) if isinstance(n, _FUNCTIONS))
    plain = {n.name for n in ast.walk(tree) if isinstance(n, _FUNCTIONS) and not n.decorator_list}
    bound = {name for n in ast.walk(tree) for target, _ in _flows(n) for name in _names_in(target)}
    return frozenset(name for name in plain - bound if counts[name] == 1)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_GIVING_BACK = (ast.Return, ast.Yield, ast.YieldFrom)
_Flow = tuple[set[str], ast.expr]


def _names_in(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _parameters(arguments: ast.arguments) -> list[str]:
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args)]


def _every_parameter(arguments: ast.arguments) -> set[str]:
    others = [*arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return {*_parameters(arguments), *(a.arg for a in others if a is not None)}


def _defaults(arguments: ast.arguments) -> list[_Flow]:
    names = _parameters(arguments)
    last = names[len(names) - len(arguments.defaults) :]
    pairs = [*zip(last, arguments.defaults)]
    pairs += [(a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d]
    return [({name}, default) for name, default in pairs]


def _into_parameters(call: ast.Call, functions: dict[str, Any]) -> list[_Flow]:
    """What a function of the cell is given; and what is given to one that a student's calls."""
    found: list[_Flow] = []
    own = functions.get(_name(call.func)) if isinstance(call.func, ast.Name) else None
    if own is not None:
        every = _every_parameter(own.args)
        for name, value in zip(_parameters(own.args), call.args):
            found.append(({name}, value))
        loose = call.args[len(_parameters(own.args)) :]
        loose += [a for a in call.args if isinstance(a, ast.Starred)]
        found += [(every, value) for value in loose]
        found += [({k.arg} & every or every, k.value) for k in call.keywords]
    for value in (*call.args, *(k.value for k in call.keywords)):
        taken = functions.get(value.id) if isinstance(value, ast.Name) else value
        if isinstance(taken, (*_FUNCTIONS, ast.Lambda)):
            found.append((_every_parameter(taken.args), call.func))
    return found


# Methods and functions that put what they are given into something else.
_PUTTING = {
    "append", "appendleft", "extend", "extendleft", "insert", "update", "add", "setdefault", "put",
    "push", "send", "__setitem__", "heappush", "insort", "insort_left", "insort_right", "setattr",
    "copyto", "put_along_axis", "place", "putmask",
}  # fmt: skip


def _into_arguments(call: ast.Call) -> list[_Flow]:
    """`scores.append(value)`, `setattr(record, "points", value)`: the value is in there now."""
    if _name(call.func) not in _PUTTING:
        return []
    holders = call.func.value if isinstance(call.func, ast.Attribute) else call.args[:1]
    holders = holders if isinstance(holders, list) else [holders, *call.args[:1]]
    names = {name for holder in holders for name in _names_in(holder)}
    return [(names, value) for value in (*call.args, *(k.value for k in call.keywords))]


def _into_exceptions(node: ast.Try | ast.TryStar) -> list[_Flow]:
    """An exception that is caught carries what the code that raised it put into it."""
    names = {handler.name for handler in node.handlers if handler.name}
    raising = [n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Call)]
    return [(names, call.func) for call in raising] if names else []


def _captured(case: ast.match_case) -> set[str]:
    kinds = (ast.MatchAs, ast.MatchStar)
    found = {n.name for n in ast.walk(case.pattern) if isinstance(n, kinds) and n.name}
    return found | {
        n.rest for n in ast.walk(case.pattern) if isinstance(n, ast.MatchMapping) and n.rest
    }


def _grow(flows: list[tuple[set[str], ast.expr]], dirty: set[str], trust: _Trust) -> set[str]:
    """Names that take a dirty value somewhere in the cell and are not known as dirty yet."""
    found: set[str] = set()
    for names, value in flows:
        if not names <= dirty and _dirty(value, dirty, trust):
            found |= names - dirty
    return found


def _flows(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(target, value) pairs of a statement that binds names."""
    if isinstance(node, ast.Assign):
        return [(target, node.value) for target in node.targets]
    if isinstance(node, (ast.AugAssign, ast.NamedExpr)):
        return [(node.target, node.value)]
    if isinstance(node, ast.AnnAssign):
        return [(node.target, node.value)] if node.value else []
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [(node.target, node.iter)]
    if isinstance(node, ast.withitem):
        return [(node.optional_vars, node.context_expr)] if node.optional_vars else []
    return []


def _dirty(node: ast.AST, dirty: set[str], trust: _Trust) -> bool:
    if isinstance(node, ast.Name):
        return node.id in dirty
    if isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return False
    if isinstance(node, ast.IfExp):
        return _dirty(node.body, dirty, trust) or _dirty(node.orelse, dirty, trust)
    if isinstance(node, _COMPREHENSIONS) and _is_verdict(node):
        return False
    if isinstance(node, ast.Call):
        if _called(node) == "points":  # hands its argument on as it is
            return any(_dirty(a, dirty, trust) for a in _earned(node))
        if isinstance(node.func, ast.Name) and node.func.id in trust.local:
            return node.func.id in dirty  # by what it returns, with what it is given
        if not _dirty(node.func, dirty, trust) and trust.covers(node.func):
            return False
    return any(_dirty(child, dirty, trust) for child in ast.iter_child_nodes(node))


def _is_verdict(node: ast.AST) -> bool:
    """`[g == w for g, w in zip(got, want)]`: what is in it was decided here, item by item."""
    return isinstance(node.elt, ast.Compare)


def _earned(call: ast.Call) -> list[ast.expr]:
    """What `points(earned, message)` counts; its message may say what the student's code did."""
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    first = call.args if starred else call.args[:1]
    return [*first, *(k.value for k in call.keywords if k.arg != "message")]
