"""A cell's text as Python: what is read, and what the judge's process runs, are the same text.

A line that only a notebook understands hides nothing then: whoever reads and whoever runs a cell
would otherwise each have an idea of their own of what such a line makes of the others.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from itertools import takewhile

# Magics that run the code behind them, here exactly once: it may define what the tests need.
_LINE_MAGICS = ("time", "prun")
_CELL_MAGICS = (*_LINE_MAGICS, "capture")
_OPTIONS = {"prun": r"\s*-(?:[DlsT]\s*\S+|[a-zA-Z]+)\s+", "time": r"\s*--?no-\S+\s+"}
# What a cell that Python alone cannot read has in it if a notebook can.
_OF_NOTEBOOKS = re.compile(r"[%!?]|^\s*(?:>>>|In \[|[,;/])|\A\s*^[ \t]", re.MULTILINE)
_MAGIC_LINE = re.compile(r"^([ \t]*)(?:[%!?].*|.*\?[ \t]*)$", re.MULTILINE)


@lru_cache(maxsize=1024)
def python_source(source: str) -> str:
    """A cell as plain Python, line numbers kept; one that Python can read is left as it is.

    Magics and `!` lines become calls of get_ipython(), but what runs code (`%%time`, `%time`,
    `%%capture`, `%prun`) becomes that code. What does not parse in the end is a syntax error.
    """
    if _tree(source) is None:
        return _inlined(_as_a_notebook_has_it(source))
    # A script that was made of a notebook.
    return _inlined(source) if "get_ipython" in source else source


@lru_cache(maxsize=256)
def parsed(source: str) -> ast.Module:
    """A cell's syntax tree, which nobody may change; an empty one if it does not parse."""
    return _tree(python_source(source)) or ast.Module([], [])


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _as_a_notebook_has_it(source: str) -> str:
    """The cell with IPython's syntax made Python."""
    if not _OF_NOTEBOOKS.search(source):
        return source
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return _MAGIC_LINE.sub(r"\1pass", source)
    try:
        text = TransformerManager().transform_cell(source)
    except SyntaxError:
        return source
    blank = sum(1 for _ in takewhile(lambda line: not line.strip(), source.split("\n")))
    return "\n" * blank + text  # IPython drops them, and all lines would have other numbers


def _inlined(text: str) -> str:
    """The text with the code that magics run in their place."""
    tree = _tree(text)
    if tree is None:
        return text
    only = tree.body[0] if len(tree.body) == 1 else None
    if isinstance(only, ast.Expr) and (told := _magic(only.value, "run_cell_magic", 3)):
        name, options, body = told
        return _body(name, options, body, only.lineno) if name in _CELL_MAGICS else text
    statements = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    lines = text.encode().split(b"\n")
    for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset), reverse=True):
        name, code = _magic(call, "run_line_magic", 2) or ("", "")
        code = python_source(_without_options(name, code)).strip()
        if name in _LINE_MAGICS and code and call.lineno == call.end_lineno and "\n" not in code:
            line, put = lines[call.lineno - 1], code if call in statements else f"({code})"
            lines[call.lineno - 1] = (
                line[: call.col_offset] + put.encode() + line[call.end_col_offset :]
            )
    inlined = b"\n".join(lines).decode()
    return text if _tree(inlined) is None else inlined


def _magic(node: ast.expr, method: str, count: int) -> list[str] | None:
    """The constant arguments of `get_ipython().method(...)`; None for any other node."""
    if not isinstance(node, ast.Call) or node.keywords or len(node.args) != count:
        return None
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != method:
        return None
    shell = func.value
    if not isinstance(shell, ast.Call) or getattr(shell.func, "id", None) != "get_ipython":
        return None
    told = [arg.value if isinstance(arg, ast.Constant) else None for arg in node.args]
    return told if all(type(value) is str for value in told) else None


def _body(name: str, options: str, body: str, lineno: int) -> str:
    """What a cell magic runs, which begins below its own line."""
    above = "\n" * lineno
    if name != "capture":
        return above + python_source(body)
    lines = [f"{above[1:]}get_ipython().begin_capture()", python_source(body).rstrip("\n")]
    names = [word for word in options.split() if not word.startswith("-")]
    if names and names[0].isidentifier():
        lines.append(f"{names[0]} = get_ipython().end_capture()")
    return "\n".join(lines)


def _without_options(name: str, code: str) -> str:
    """The code of a line magic, after options such as `-s cumulative` of %prun."""
    while (options := _OPTIONS.get(name)) and (match := re.match(options, code)):
        code = code[match.end() :]
    return code
