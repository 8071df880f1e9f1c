"""Texts that a cell runs: `exec`, `eval` and their kin."""

from __future__ import annotations

import ast

from .trees import walk

# Calls that run a text, with the place of the text; what it defines belongs to the cell.
_RUNNING = {
    "exec": 0, "eval": 0, "run_cell": 0, "run_cell_async": 0, "ex": 0, "ev": 0, "runsource": 0,
    "runcode": 0, "push": 0, "run_code": 0, "timeit": 0, "repeat": 0, "Timer": 0,
    "run_cell_magic": 2, "run_line_magic": 1, "magic": 0,
}  # fmt: skip
# Methods of these names may be anybody's: only a shell's are certainly ours.
_ANYBODYS = ("exec", "eval", "push", "ev", "ex", "magic")
_TIMING = ("timeit", "repeat", "Timer")


def run_texts(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.Call]]:
    """(statements of the texts that a cell runs, calls whose text cannot be read).

    `exec` can bind any name, wherever it stands and whoever calls it; so what it runs has to be
    read, or counts as hiding something.
    """
    found: list[ast.stmt] = []
    unread: list[ast.Call] = []
    for call in walk(tree):
        if called(call) in _TIMING:
            texts = [constant_text(part) for part in _timed(call)]
            texts = [text for text in texts if text is not None]  # else functions, nearly always
        else:
            place = _RUNNING.get(called(call) or "")
            if place is None or not _runs_text(call):
                continue
            texts = [constant_text(call.args[place]) if len(call.args) > place else None]
        bodies = [_body(text, called(call) == "eval") for text in texts]
        if None in bodies:
            unread.append(call)
        for body in filter(None, bodies):
            inside, unread_inside = run_texts(ast.Module(body, []))  # exec("exec(text)")
            found += body + inside
            unread += unread_inside
    return found, unread


def _timed(call: ast.Call) -> list[ast.expr]:
    """What timeit is given to run: timeit.repeat(stmt, setup); other calls are named so, too."""
    return [*call.args[:2], *(k.value for k in call.keywords if k.arg in ("stmt", "setup"))]


def _body(text: str | None, is_expression: bool) -> list[ast.stmt] | None:
    """The statements of a text; none for a syntax error, which runs nothing; None if not known."""
    if text is None:
        return None
    try:
        return ast.parse(text.lstrip(" \t") if is_expression else text).body
    except (SyntaxError, ValueError):
        return []
    except (RecursionError, MemoryError):
        return None


def _runs_text(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in ("exec", "eval")
    return called(call) not in _ANYBODYS or _is_shell(call.func.value)


def _is_shell(node: ast.expr) -> bool:
    name = called(node) or getattr(node, "id", "")
    return name in ("get_ipython", "ip", "shell", "ipython") or name.endswith("Interpreter")


def called(node: ast.AST) -> str | None:
    """The last part of the name that a call goes by."""
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "id", getattr(func, "attr", None))


def constant_text(node: ast.expr) -> str | None:
    """The text of a constant, of constants that are added up, or what `compile` is given."""
    if called(node) == "compile" and node.args:
        node = node.args[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [constant_text(node.left), constant_text(node.right)]
        return "".join(parts) if None not in parts else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is str else None
