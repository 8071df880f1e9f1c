"""Runs the cells of a notebook one after the other in one namespace, each from a file of its own.

The files make tracebacks, inspect.getsource and Numba see code where they look for it.
"""

from __future__ import annotations

import _ast
import builtins
import linecache
import re
import sys
import types
from _sitebuiltins import _Helper
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tito.grading.child.magics import Shell, display

ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST; ast itself takes a while to import
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
IS_COROUTINE = 0x80  # inspect.CO_COROUTINE
# Compiler flags of `from __future__ import ...`, but for barry_as_FLUFL: with it a cell would parse
# that the judge cannot read.
FUTURES = 0x1FE0000 & ~0x400000
MOST_SHOWN = 2000


class Compiled(NamedTuple):
    """A cell's statements, and its last expression where it ends with one."""

    body: types.CodeType
    last: types.CodeType | None


# By their source: given cells, which a warm parent has compiled for all students.
_ahead: dict[str, Compiled] = {}


def read_ahead(source: str) -> None:
    """Compile a cell now; forks of this process that run it need not."""
    try:
        _ahead[source] = _compiled(_parsed(source, "<cell>", 0), "<cell>", 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # whoever runs it hears of it


class Cells:
    """The notebook's namespace, which is also the module `__main__`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._futures = 0
        self._running = ""
        self._loop: Any = None
        self.labels: dict[str, str] = {}  # file -> label
        main = types.ModuleType("__main__")
        self.namespace = main.__dict__
        self.shell = Shell()
        self._furnish(main)

    def run(self, label: str, source: str) -> None:
        """Run a cell and print the value of its last expression, as a notebook does."""
        self._running = str(self._folder / (re.sub(r"[^\w.-]+", "_", label)[:80] + ".py"))
        self.labels[self._running] = label
        try:
            value = self._run(source)
            if value is not None:
                _show(value)
        finally:
            self.shell.end_cell()

    def run_all(self, cells: list[list[str]]) -> None:
        """Run (label, source) cells of the master; one that raises does not stop the next."""
        for label, source in cells:
            with suppress(BaseException):
                self.run(label, source)

    def where(self, error: BaseException) -> list[list]:
        """[cell, line, function] of a traceback's frames in cells, outermost first."""
        found = []
        trace = error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename in self.labels:
                found.append([self.labels[code.co_filename], trace.tb_lineno, code.co_name])
            trace = trace.tb_next
        if isinstance(error, SyntaxError) and error.filename in self.labels:
            found.append([self.labels[error.filename], error.lineno or 1, "<module>"])
        return found[-20:]

    def _furnish(self, main: types.ModuleType) -> None:
        sys.modules["__main__"] = main
        for name, value in {
            "get_ipython": lambda: self.shell,
            "display": display,
            "input": _no_input,
            "exit": _leave,
            "quit": _leave,
            "help": _Helper(),
        }.items():
            setattr(builtins, name, value)

    def _run(self, source: str) -> Any:
        """Run the code of the current cell; the value of its last expression."""
        self._keep(source)
        code = self._compiled_ahead(source)
        if code is None:
            tree = _parsed(source, self._running, self._futures)
            code = _compiled(tree, self._running, self._futures)
        self._futures |= code.body.co_flags & FUTURES  # as in a notebook, they hold on
        self._execute(code.body)
        if code.last is None:
            return None
        value = self._execute(code.last)
        return None if source.rstrip().endswith(";") else value

    def _keep(self, source: str) -> None:
        try:
            with open(self._running, "wb", buffering=0) as file:
                file.write(source.encode("utf-8", "surrogatepass"))
            linecache.checkcache(self._running)
        except OSError:  # the disk limit: the cell can run all the same
            lines = source.splitlines(keepends=True)
            linecache.cache[self._running] = (len(source), None, lines, self._running)

    def _compiled_ahead(self, source: str) -> Compiled | None:
        code = None if self._futures else _ahead.get(source)
        return code and Compiled(*(_renamed(part, self._running) for part in code))

    def _execute(self, code: types.CodeType) -> Any:
        result = eval(code, self.namespace)
        if not code.co_flags & IS_COROUTINE:
            return result
        import asyncio

        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(result)


def _parsed(source: str, name: str, futures: int) -> Any:
    """futures : compiler flags of earlier cells' `from __future__ import ...`"""
    return compile(source, name, "exec", ONLY_TREE | TOP_LEVEL_AWAIT | futures, dont_inherit=True)


def _compiled(tree: Any, name: str, futures: int) -> Compiled:
    flags = TOP_LEVEL_AWAIT | futures
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    body = compile(tree, name, "exec", flags, dont_inherit=True)
    if last is None:
        return Compiled(body, None)
    flags |= body.co_flags & FUTURES
    value = compile(_ast.Expression(last.value), name, "eval", flags, dont_inherit=True)
    return Compiled(body, value)


def _show(value: Any) -> None:
    try:
        print(repr(value)[:MOST_SHOWN])
    except Exception as error:
        print(f"(a value whose repr raises {type(error).__name__})")


def _renamed(code: types.CodeType | None, name: str) -> types.CodeType | None:
    """The same code, of a cell in another file."""
    if code is None:
        return None
    inner = (_renamed(c, name) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(inner))


def _no_input(*_: Any) -> str:
    raise EOFError("input() cannot be answered while the work is graded")


def _leave(*_: Any) -> None:
    raise SystemExit("exit() in a cell ends the cell")
