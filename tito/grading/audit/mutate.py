"""Small changes of a solution: each comparison, operator, constant and index offset in turn.

Only what the student writes is changed (the lines between ### BEGIN and ### END SOLUTION), never
a docstring or what a `raise` says.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

from tito import strip
from tito.notebook import Cell

_COMPARE = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATOR = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """A solution cell with one thing changed.

    was, becomes : the changed line before and after, without its indentation
    """

    exercise: str
    line: int
    was: str
    becomes: str
    source: str

    @property
    def title(self) -> str:
        return f"{self.exercise}:{self.line}: {self.was}   ->   {self.becomes}"


def mutants(cell: Cell) -> list[Mutant]:
    """All mutants of a solution cell, in the order of its lines; no two with the same text."""
    found: dict[str, Mutant] = {}
    tree = ast.parse(cell.source)
    regions = strip.regions(cell)
    for node, changed in _changes(tree):
        if not regions or any(node.lineno in r and node.end_lineno in r for r in regions):
            mutant = _mutant(cell, node, changed)
            if mutant is not None:
                found.setdefault(mutant.source, mutant)
    return sorted(found.values(), key=lambda m: m.line)


def _mutant(cell: Cell, node: ast.expr | ast.stmt, changed: ast.AST) -> Mutant | None:
    """The cell with `changed` in the place of `node`; None where that is no other program."""
    source = _spliced(cell.source, node, changed)
    try:
        if ast.dump(ast.parse(source)) == ast.dump(ast.parse(cell.source)):
            return None
    except SyntaxError:
        return None
    first, last = node.lineno - 1, node.end_lineno
    was = cell.source.split("\n")[first:last]
    grown = source.count("\n") - cell.source.count("\n")
    becomes = source.split("\n")[first : last + grown]
    exercise = cell.grade_id or cell.label
    return Mutant(exercise, node.lineno, _one_line(was), _one_line(becomes), source)


def _one_line(lines: list[str]) -> str:
    return " ".join(s.strip() for s in lines)


def _spliced(source: str, node: ast.expr | ast.stmt, changed: ast.AST) -> str:
    """`source` with the text of one node replaced; all other text stays as it is."""
    lines = source.split("\n")
    start = _offset(lines, node.lineno, node.col_offset)
    end = _offset(lines, node.end_lineno, node.end_col_offset)
    text = ast.unparse(changed)
    if isinstance(changed, ast.expr) and not isinstance(changed, ast.Name | ast.Constant):
        text = f"({text})"
    return source[:start] + text + source[end:]


def _offset(lines: list[str], line: int, column: int) -> int:
    """Where a place given in lines and bytes of UTF-8 lies in the text."""
    before = sum(len(s) + 1 for s in lines[: line - 1])
    return before + len(lines[line - 1].encode("utf-8")[:column].decode("utf-8"))


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST]]:
    """(node, what to put there) for every change of every node that is code."""
    for node in _code_nodes(tree):
        for kind, change in _CHANGES:
            if isinstance(node, kind):
                yield from ((node, new) for new in change(node))


def _code_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but docstrings, the text of exceptions, and annotations."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if name == "exc" and isinstance(value, ast.Call):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_text(child):
                continue
            yield child
            yield from _code_nodes(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARE[type(operator)]:
            ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield _with(node, ops=ops)


def _operators(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    if not (isinstance(node, ast.BinOp) and _holds_text(node)):
        yield _with(node, op=_OPERATOR[type(node.op)]())


def _holds_text(node: ast.AST) -> bool:
    """Joining strings is no arithmetic."""
    kinds = (ast.JoinedStr,)
    return any(
        isinstance(n, kinds) or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )


def _signs(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand


def _joints(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())


def _constants(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)


def _offsets(node: ast.Subscript) -> Iterator[ast.AST]:
    """x[i, j] with each index one further; numbers are constants already."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for place, part in enumerate(parts):
        if isinstance(part, ast.Constant | ast.Slice | ast.Starred):
            continue
        further = [*parts[:place], _plus(part, 1), *parts[place + 1 :]]
        index = ast.Tuple(further, ast.Load()) if len(parts) > 1 else further[0]
        yield _with(node, slice=index)
    for place, part in enumerate(parts):
        if isinstance(part, ast.Slice):
            for edge in ("lower", "upper"):
                if getattr(part, edge) is not None:
                    moved = _with(part, **{edge: _plus(getattr(part, edge), 1)})
                    further = [*parts[:place], moved, *parts[place + 1 :]]
                    index = ast.Tuple(further, ast.Load()) if len(parts) > 1 else moved
                    yield _with(node, slice=index)


def _ranges(node: ast.Call) -> Iterator[ast.AST]:
    """range(n) that ends one too early."""
    if isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
        place = min(1, len(node.args) - 1)
        if not isinstance(node.args[place], ast.Constant):
            args = list(node.args)
            args[place] = _plus(args[place], -1)
            yield _with(node, args=args)


def _plus(node: ast.expr, by: int) -> ast.BinOp:
    operator = ast.Add() if by > 0 else ast.Sub()
    return ast.BinOp(left=copy.deepcopy(node), op=operator, right=ast.Constant(abs(by)))


_CHANGES = (
    (ast.Compare, _comparisons),
    ((ast.BinOp, ast.AugAssign), _operators),
    (ast.UnaryOp, _signs),
    (ast.BoolOp, _joints),
    (ast.Constant, _constants),
    (ast.Subscript, _offsets),
    (ast.Call, _ranges),
)
