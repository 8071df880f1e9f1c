"""The case of a failed check, read from the statement that called it.

    expect_close(chunked_cumsum(x, k), want, inner=n)   ->   chunked_cumsum  n=7, k=3

The statement's syntax tree names the function and the inputs; their values are looked up in the
calling frame. Plain scalars are printed as they are, arrays by shape, dtype and layout. Nothing is
called: at most a name, a `.T` or a slice of an array is evaluated. Test cells have their source in
linecache, in Jupyter and in the judge; without a source the message names the function alone.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from types import FrameType, ModuleType, TracebackType
from typing import Any

import numpy as np

from tito.checks.memory import named_arguments
from tito.checks.runtime import current
from tito.checks.show import PLAIN, body, dtype_name, kind_of

# Of which keyword arguments of a check the names belong to the case.
CASE_KEYWORDS = ("inner",)
# Checks that call the function given as their first (or second) argument.
CALLING_CHECKS = {
    "expect_unchanged": 0,
    "expect_fresh": 0,
    "expect_returns": 0,
    "expect_written": 0,
    "expect_raises": 1,
}
OWN_KEYWORDS = {
    "expect_raises": ("match", "hint"),
    "expect_returns": ("seconds", "hint"),
    "expect_written": ("place",),
}
LONGEST_CALL = 60

_UNKNOWN = object()


@dataclass
class Statement:
    """The call of a check in a test cell, and the names that are in sight there."""

    tree: ast.Module
    call: ast.Call
    frame: FrameType

    def lookup(self, name: str) -> Any:
        """What a name is bound to where the check was called."""
        for names in (self.frame.f_locals, self.frame.f_globals, self.frame.f_builtins):
            if name in names:
                return names[name]
        return _UNKNOWN


@dataclass
class Subject:
    """The call of the student's function that a check is about."""

    function: str
    arguments: list[ast.expr] = field(default_factory=list)
    statement: Statement | None = None
    source: str = ""


def calling_frame() -> FrameType | None:
    """The nearest frame that is not one of the checks' own."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def calling_names() -> frozenset[str]:
    """Every name that the calling cell uses (the test cell that the check stands in)."""
    frame = calling_frame()
    return _names_in(_source(frame)) if frame else frozenset()


def read_ahead(source: str) -> None:
    """Work out now what checks will ask about a test cell; forks of this process know it then."""
    _names_in("".join(line + "\n" for line in source.split("\n")))


def calling_statement() -> Statement | None:
    """The call that is running now in the nearest frame outside; None without a source."""
    frame = calling_frame()
    return _statement(frame, frame.f_lasti, frame.f_lineno) if frame else None


def _statement(frame: FrameType, instruction: int, line: int) -> Statement | None:
    tree = _parsed(_source(frame))
    call = _running_call(tree, frame, instruction, line) if tree else None
    return Statement(tree, call, frame) if call else None


def subject_of_traceback(tb: TracebackType) -> Subject | None:
    """The call, in the cell that a traceback starts in, that ended in an exception."""
    statement = _statement(tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    if statement is None:
        return None
    if is_handed_over(tb) or _is_check(statement.call):
        return _subject_in(statement)
    return _subject_of_expression(statement, statement.call)


def is_handed_over(tb: TracebackType) -> bool:
    """Whether a cell's own step of a traceback is a check that calls the student's function."""
    statement = _statement(tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return statement is not None and _check_behind(statement) in CALLING_CHECKS


def is_own_step(tb: TracebackType) -> bool:
    """Whether a step of a traceback is code of the checks."""
    return _is_ours(tb.tb_frame)


def subject_of(func: Callable | None = None) -> Subject:
    """The function and the arguments that the running check is about.

    func : the function itself, where the check was given it and not only its result
    """
    statement = calling_statement()
    subject = _subject_in(statement) if statement else None
    if subject is None:
        subject = Subject(function="the result")
    if func is not None and subject.function == "the result":
        subject.function = current().describe(func)
    return subject


def case_line(subject: Subject, want: Any = None, words: str | None = None) -> str:
    """ "chunked_cumsum  n=7, k=3": the function's name and the inputs that matter.

    want  : the expected value; an array of its dtype, in plain layout, whose sizes are all named
            by scalars adds nothing and is left out
    words : the author's own description of the case, instead of the inputs
    """
    if words is not None and words.startswith(f"{subject.function} "):
        return words
    if words is not None:
        return f"{subject.function}  {words}"
    inputs = _inputs(subject)
    scalars = [(name, value) for name, value in inputs if not isinstance(value, np.ndarray)]
    arrays = [(name, value) for name, value in inputs if isinstance(value, np.ndarray)]
    known = {value for _, value in scalars if type(value) is int}
    parts = [f"{name}={_scalar_text(value)}" for name, value in scalars]
    parts += [f"{name} {array_text(a)}" for name, a in arrays if not _adds_nothing(a, known, want)]
    if parts:
        return f"{subject.function}  {', '.join(parts)}"
    return subject.source if not arrays and subject.source else subject.function


def arguments_line(func: Callable, args: tuple, kwargs: dict) -> str:
    """The case of a call that is known by its values: "relu_loops  x (2, 4) float32 Fortran"."""
    parts = []
    for name, value in named_arguments(func, args, kwargs):
        if isinstance(value, np.ndarray):
            parts.append(f"{name} {array_text(value)}")
        elif _is_scalar(value):
            parts.append(f"{name}={_scalar_text(value)}")
    function = current().describe(func)
    return f"{function}  {', '.join(parts)}" if parts else function


def array_text(a: np.ndarray) -> str:
    """Shape, dtype and what is special about the layout: "(33, 20) float32 Fortran"."""
    return f"{a.shape} {dtype_name(a.dtype)} {layout(a)}".rstrip()


def layout(a: np.ndarray) -> str:
    """Fortran, strided, transposed, reversed, broadcast, read-only, unaligned; "" for C order."""
    words = []
    long_axes = [(n, s) for n, s in zip(a.shape, a.strides) if n > 1]
    if any(s < 0 for _, s in long_axes):
        words.append("reversed")
    if any(s == 0 for _, s in long_axes):
        words.append("broadcast")
    if not a.flags.c_contiguous and not words:
        words.append("Fortran" if a.flags.f_contiguous else _strided_words(long_axes))
    if not a.flags.writeable:
        words.append("read-only")
    if not a.flags.aligned:
        words.append("unaligned")
    return ", ".join(words)


def _strided_words(long_axes: list[tuple[int, int]]) -> str:
    """A view that skips elements, or one whose axes are in another order."""
    strides = [s for _, s in long_axes]
    if strides == sorted(strides, reverse=True):
        return "strided"
    return "Fortran, strided" if strides == sorted(strides) else "transposed"


def _adds_nothing(a: np.ndarray, known: set[int], want: Any) -> bool:
    plain = layout(a) == "" and a.ndim > 0 and all(n in known for n in a.shape)
    return plain and a.dtype == getattr(want, "dtype", np.dtype(np.float64))


def _is_ours(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and (name == "tito.checks" or name.startswith("tito.checks."))


def _source(frame: FrameType) -> str:
    return "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))


@lru_cache(maxsize=64)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source) if source else None
    except (SyntaxError, ValueError):
        return None


@lru_cache(maxsize=64)
def _names_in(source: str) -> frozenset[str]:
    tree = _parsed(source)
    nodes = ast.walk(tree) if tree else ()
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def _running_call(
    tree: ast.Module, frame: FrameType, instruction: int, current_line: int
) -> ast.Call | None:
    """The call expression at an instruction of the frame."""
    positions = list(frame.f_code.co_positions())
    at = instruction // 2
    line, end, column, end_column = positions[at] if at < len(positions) else (None,) * 4
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in calls:
        place = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
        if place == (line, end, column, end_column):
            return node
    # Columns may be missing (python -X no_debug_ranges): take a check's call on that line.
    around = [n for n in calls if n.lineno <= current_line <= n.end_lineno and _is_check(n)]
    return min(around, key=lambda n: n.end_lineno - n.lineno, default=None)


def _is_check(call: ast.Call) -> bool:
    return _called_name(call).startswith(("expect_", "points"))


def _called_name(call: ast.Call) -> str:
    """The last part of what is called: `checks.expect_close(...)` -> "expect_close"."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _subject_in(statement: Statement) -> Subject | None:
    check = _check_behind(statement)
    if check in CALLING_CHECKS:
        return _handed_subject(statement, statement.call, check)
    expression = _got_expression(statement.call)
    return _subject_of_expression(statement, expression) if expression is not None else None


def _check_behind(statement: Statement) -> str:
    """The check's own name, also where the cell imported it under another one."""
    func = statement.call.func
    value = statement.lookup(func.id) if isinstance(func, ast.Name) else _UNKNOWN
    return (
        getattr(value, "__name__", "") if _is_own_function(value) else _called_name(statement.call)
    )


def _is_own_function(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("tito.checks")


def _got_expression(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "got":
            return keyword.value
    return call.args[0] if call.args else None


def _handed_subject(statement: Statement, call: ast.Call, check: str) -> Subject | None:
    """The subject of expect_raises(ValueError, f, x, 0): f with x and 0."""
    at = CALLING_CHECKS[check]
    if len(call.args) <= at or any(isinstance(a, ast.Starred) for a in call.args[: at + 1]):
        return None
    own = OWN_KEYWORDS.get(check, ())
    keywords = [k for k in call.keywords if k.arg not in own]
    made = ast.Call(func=call.args[at], args=call.args[at + 1 :], keywords=keywords)
    return _subject_of_call(statement, made)


def _subject_of_expression(
    statement: Statement, expression: ast.expr, depth: int = 0
) -> Subject | None:
    """The outermost call in an expression that is neither NumPy's, Python's nor ours."""
    for node in _breadth_first(expression):
        if not isinstance(node, ast.Call):
            continue
        value = _value(statement, node.func)
        if _is_own_function(value) and _called_name(node) in CALLING_CHECKS:
            return _handed_subject(statement, node, _called_name(node))
        if not _is_library(value) and not _is_method_of_value(statement, node.func):
            return _subject_of_call(statement, node)
    for node in _breadth_first(expression):
        if isinstance(node, ast.Name) and depth < 3:
            assigned = _assigned_before(statement, node.id)
            if assigned is not None:
                return _subject_of_expression(statement, assigned, depth + 1)
    return None


def _breadth_first(root: ast.AST) -> Iterator[ast.AST]:
    queue = [root]
    while queue:
        node = queue.pop(0)
        yield node
        queue += ast.iter_child_nodes(node)


def _is_library(value: Any) -> bool:
    """A function of NumPy or Python, or one of the checks: not what the check is about."""
    if value is _UNKNOWN:
        return False
    module = type(value).__module__ if not callable(value) else getattr(value, "__module__", "")
    module = str(module or getattr(type(value), "__module__", ""))
    return module.split(".")[0] in ("numpy", "builtins", "math", "tito")


def _is_method_of_value(statement: Statement, func: ast.expr) -> bool:
    """x.copy, f(x).astype: a method of an array or of a result, not what the check is about."""
    if not isinstance(func, ast.Attribute):
        return False
    of_result = any(isinstance(node, ast.Call) for node in ast.walk(func.value))
    value = _value(statement, func.value)
    return of_result or isinstance(value, (np.ndarray, np.generic, list, dict, *PLAIN[1:]))


def _assigned_before(statement: Statement, name: str) -> ast.expr | None:
    """The expression with a call that was last assigned to a name above the statement."""
    found = None
    for node in ast.walk(statement.tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) or not node.value:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        has_call = any(isinstance(n, ast.Call) for n in ast.walk(node.value))
        above = node.lineno < statement.call.lineno
        if name in bound and has_call and above and (not found or node.lineno >= found.lineno):
            found = node
    return found.value if found else None


def _subject_of_call(statement: Statement, call: ast.Call) -> Subject:
    function = _function_name(statement, call.func)
    arguments = list(call.args) + [k.value for k in call.keywords]
    arguments += [k.value for k in statement.call.keywords if k.arg in CASE_KEYWORDS]
    shown = [ast.unparse(a) for a in call.args]
    shown += [f"{k.arg}={ast.unparse(k.value)}" if k.arg else "**..." for k in call.keywords]
    source = f"{function}({', '.join(shown)})"
    if len(source) > LONGEST_CALL:
        source = function
    return Subject(function, arguments, statement, source)


def _function_name(statement: Statement, func: ast.expr) -> str:
    """The name in the source, unless it is only a loop variable of the test cell."""
    text = ast.unparse(func)
    if isinstance(func, ast.Name) and func.id in _first_bound(statement.tree):
        value = statement.lookup(func.id)
        return current().describe(value) if callable(value) else text
    return text if len(text) <= LONGEST_CALL else "the result"


def _first_bound(tree: ast.Module) -> dict[str, tuple[int, int]]:
    """Where each name is first assigned in the cell: outer loops come before inner ones."""
    places: dict[str, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            place = (node.lineno, node.col_offset)
            places[node.id] = min(places.get(node.id, place), place)
    return places


def _inputs(subject: Subject) -> list[tuple[str, Any]]:
    """The scalars and arrays that the call names, in the order in which the cell binds them."""
    statement = subject.statement
    if statement is None:
        return []
    found: dict[str, Any] = {}
    for argument in subject.arguments:
        for name, value in _named_values(statement, argument):
            if isinstance(value, np.ndarray) or _is_scalar(value):
                found.setdefault(name, value)
    places = _first_bound(statement.tree)
    last = (sys.maxsize, 0)
    return sorted(found.items(), key=lambda item: places.get(item[0], last))


def _named_values(statement: Statement, node: ast.expr) -> Iterator[tuple[str, Any]]:
    """Names in an expression with their values; `x[::-1]` and `x.T` count as names of arrays."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        value = _value(statement, node)
        if isinstance(value, np.ndarray):
            yield ast.unparse(node), value
            return
    if isinstance(node, ast.Name):
        yield node.id, statement.lookup(node.id)
        return
    if isinstance(node, ast.Call):
        children = [*node.args, *(k.value for k in node.keywords)]
        # x.astype(dtype) is about x; np.ones is about nothing.
        if isinstance(node.func, ast.Attribute):
            children.insert(0, node.func.value)
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        if isinstance(child, (ast.expr, ast.keyword)):
            yield from _named_values(statement, child)


def _value(statement: Statement, node: ast.expr) -> Any:
    """The value of a name, a module's attribute, a `.T` or a slice of an array; else unknown."""
    if isinstance(node, ast.Name):
        return statement.lookup(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(statement, node.value)
        if type(owner) is np.ndarray and node.attr == "T":
            return owner.T
        if isinstance(owner, ModuleType):
            return owner.__dict__.get(node.attr, _UNKNOWN)
        return _UNKNOWN
    if isinstance(node, ast.Subscript):
        owner = _value(statement, node.value)
        index = _index(statement, node.slice)
        if type(owner) is np.ndarray and index is not _UNKNOWN:
            try:
                return owner[index]
            except IndexError:
                return _UNKNOWN
    return _UNKNOWN


def _index(statement: Statement, node: ast.expr | None) -> Any:
    """An index made of numbers, names of numbers and slices of them."""
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Tuple):
        parts = [_index(statement, part) for part in node.elts]
        return _UNKNOWN if _UNKNOWN in parts else tuple(parts)
    if isinstance(node, ast.Slice):
        ends = [_index(statement, part) for part in (node.lower, node.upper, node.step)]
        return _UNKNOWN if _UNKNOWN in ends else slice(*ends)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _index(statement, node.operand)
        return -number if type(number) is int else _UNKNOWN
    if isinstance(node, ast.Name):
        value = statement.lookup(node.id)
        return value if type(value) is int else _UNKNOWN
    return _UNKNOWN


def _is_scalar(value: Any) -> bool:
    if type(value) in PLAIN or isinstance(value, (np.generic, np.dtype)):
        return True
    if isinstance(value, type):
        return issubclass(value, (*PLAIN[1:], np.generic))
    return type(value) is tuple and 0 < len(value) <= 4 and all(map(_is_scalar, value))


def _scalar_text(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, np.dtype):
        return dtype_name(value)
    if isinstance(value, np.generic):
        return f"{kind_of(value)}({body(value)})"
    return repr(value) if type(value) is float else body(value)
