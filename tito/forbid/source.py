"""A cell's text as Python: what is read, and what the judge's process runs, are the same text.

A line that only a notebook understands hides nothing then: whoever reads and whoever runs a cell
would otherwise each have an idea of their own of what such a line makes of the others.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

# Magics that run the code behind them, here exactly once: it may define what the tests need.
_LINE_MAGICS = ("time", "prun")
_CELL_MAGICS = (*_LINE_MAGICS, "capture")
_OPTIONS = {"prun": r"\s*-(?:[DlsT]\s*\S+|[a-zA-Z]+)\s+", "time": r"\s*--?no-\S+\s+"}
# What a cell that Python alone cannot read has in it if a notebook can.
_OF_NOTEBOOKS = re.compile(r"[%!?]|^[ \t]*(?:>>>|In \[|[,;/])|\A\s*^[ \t]", re.MULTILINE)
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.*]+\?{1,2}[ \t]*)$", re.MULTILINE)
# IPython reads all of a cell once for each of these lines; so many it reads at most, in all.
_MAGIC = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$|=[ \t]*[%!](?!=)", re.MULTILINE)
MOST_LINES = 20_000
MOST_NOTICES = 20
# What becomes of a call that IPython's syntax stands for.
_INERT = {"run_line_magic": "None", "run_cell_magic": "None", "magic": "None", "system": "None"}
_INERT |= {"getoutput": "[]"}


class Reading(NamedTuple):
    """A cell as plain Python, and the magics and shell lines in it that do nothing."""

    python: str
    not_run: tuple[str, ...] = ()


def python_source(source: str) -> str:
    """A cell as plain Python, where lines keep their numbers.

    Magics and `!` lines do nothing, but for those that run code (`%%time`, `%time`, `%%capture`,
    `%prun`): they become that code. What does not parse in the end is a syntax error.
    """
    return reading(source).python


@lru_cache(maxsize=1024)
def reading(source: str) -> Reading:
    """What python_source gives, and what was left out."""
    if tree_of(source) is None:
        return _inlined(_as_a_notebook_has_it(source))
    # A script that was made of a notebook.
    return _inlined(source) if "get_ipython" in source else Reading(source)


@lru_cache(maxsize=256)
def parsed(source: str) -> ast.Module:
    """A cell's syntax tree, which nobody may change; an empty one if it does not parse."""
    return tree_of(python_source(source)) or ast.Module([], [])


def tree_of(text: str) -> ast.Module | None:
    """The syntax tree, or None for what is no Python (whatever the parser thinks of it)."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _as_a_notebook_has_it(source: str) -> str:
    """The cell with IPython's syntax made Python."""
    lines = source.split("\n")
    readings = len(_MAGIC.findall(source))
    if not _OF_NOTEBOOKS.search(source) or readings * len(lines) > MOST_LINES:
        return source
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return _MAGIC_LINE.sub(r"\1pass", source)
    try:
        text = TransformerManager().transform_cell(source)
    except Exception:  # whatever IPython makes of such a text
        return source
    blank = sum(1 for _ in takewhile(lambda line: not line.strip(), lines))
    return "\n" * blank + text  # IPython drops them, and all lines would have other numbers


def _inlined(text: str) -> Reading:
    """The text with the code that magics run in their place, and without the others."""
    tree = tree_of(text)
    if tree is None or "\r" in text.replace("\r\n", "\n"):  # lines that no editor counts
        return Reading(text)
    only = tree.body[0] if len(tree.body) == 1 else None
    if isinstance(only, ast.Expr) and (called := _shell_call(only.value)):
        method, told = called
        if method == "run_cell_magic" and len(told) == 3 and told[0] in _CELL_MAGICS:
            return _body(*told, only.lineno)
    nodes = list(ast.walk(tree))
    statements = {node.value for node in nodes if isinstance(node, ast.Expr)}
    calls = [(node, told) for node in nodes if (told := _shell_call(node))]
    lines, skipped = text.encode("utf-8", "surrogatepass").split(b"\n"), []
    # From the last to the first: what is put in moves what stands behind it.
    for call, (method, told) in sorted(calls, key=lambda c: _place(c[0]), reverse=True):
        line, is_statement = lines[call.lineno - 1], call in statements
        before, after = line[: call.col_offset], line[call.end_col_offset :]
        put = _code(method, told, is_statement, alone=not before.strip() and not after.strip())
        if put is None:
            put = "pass" if is_statement else _INERT[method]
            skipped.append(_said(method, told))
        lines[call.lineno - 1] = before + put.encode("utf-8", "surrogatepass") + after
    python = b"\n".join(lines).decode("utf-8", "surrogatepass")
    return Reading(python, tuple(skipped[::-1][:MOST_NOTICES]))


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _shell_call(node: ast.AST) -> tuple[str, list[str]] | None:
    """(method, its constant arguments) of `get_ipython().method(...)` in one line; or None."""
    if not isinstance(node, ast.Call) or node.keywords or not node.args:
        return None
    if node.lineno != node.end_lineno:
        return None
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in _INERT:
        return None
    shell = func.value
    if not isinstance(shell, ast.Call) or getattr(shell.func, "id", None) != "get_ipython":
        return None
    told = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
    return (func.attr, told) if all(type(value) is str for value in told) else None


def _code(method: str, told: list[str], is_statement: bool, alone: bool) -> str | None:
    """The code that a line magic runs, on one line; None if it runs none.

    alone : nothing else stands on its line, so that a comment in it hides nothing
    """
    if method != "run_line_magic" or len(told) != 2 or told[0] not in _LINE_MAGICS:
        return None
    code = python_source(_without_options(*told)).strip()
    tree = tree_of(code if is_statement else code.rstrip(" ;"))
    if tree is None or not tree.body or "\n" in code:
        return None
    if is_statement:
        return code if alone else None
    value = tree.body[0]
    if len(tree.body) != 1 or not isinstance(value, ast.Expr):
        return None
    put = f"({ast.unparse(value)})"  # without its comment
    return None if "\n" in put else put


def _said(method: str, told: list[str]) -> str:
    """What was not run, as it was written."""
    first, *others = told
    signs = {"run_line_magic": "%", "run_cell_magic": "%%", "magic": "%"}
    first = first.lstrip("%") if method == "magic" else first
    words = " ".join([first, *others[:1]]) if method.startswith("run_") else first
    return f"{signs.get(method, '!')}{words}".strip()[:80] + " was not run"


def _body(name: str, options: str, body: str, lineno: int) -> Reading:
    """What a cell magic runs, which begins below its own line."""
    above, inner = "\n" * lineno, reading(body)
    if name != "capture":
        return Reading(above + inner.python, inner.not_run)
    # Nothing may stand above an import from __future__; what such a cell prints is not captured.
    begin = "" if "__future__" in body else "get_ipython().begin_capture()"
    lines = [above[1:] + begin, inner.python.rstrip("\n")]
    names = [word for word in options.split() if not word.startswith("-")]
    if names and names[0].isidentifier():
        lines.append(f"{names[0]} = get_ipython().end_capture()")
    return Reading("\n".join(lines), inner.not_run)


def _without_options(name: str, code: str) -> str:
    """The code of a line magic, after options such as `-s cumulative` of %prun."""
    while (options := _OPTIONS.get(name)) and (match := re.match(options, code)):
        code = code[match.end() :]
    return code
