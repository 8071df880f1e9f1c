"""IPython's ways in a process without IPython: magics, shell lines, display, get_ipython().

What measures or shows does nothing here, with a notice. What runs code (`%%time`, `%time`,
`%%capture`, `%prun`) runs it exactly once, since it may define what the tests need.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

RUN_ONCE = {"time", "prun", "capture"}
MOST_NOTICES = 20


class Nothing:
    """Takes the place of what only a real shell has: any use of it does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        return None

    def __iter__(self) -> Any:
        return iter(())


class Shell(Nothing):
    """What get_ipython() returns.

    namespace : of the cells
    run : runs a piece of code in it, as part of the cell that is running; returns the value of
          its last expression
    """

    def __init__(self, namespace: dict[str, Any], run: Callable[[str], Any]) -> None:
        self.user_ns = namespace
        self.notices: list[str] = []
        self._run = run

    def run_line_magic(self, name: str, line: str = "", *_: Any, **__: Any) -> Any:
        if name in RUN_ONCE and line.strip():
            return self._run(_without_options(name, line))
        return self._skip(f"%{name} {line}")

    def run_cell_magic(self, name: str, line: str = "", body: str | None = None, *_: Any) -> Any:
        body = "\n" + (body or "")  # keeps the line numbers of the cell
        if name == "capture":
            return self._capture(line, body)
        if name in RUN_ONCE:
            return self._run(body)
        return self._skip(f"%%{name} {line}")

    def magic(self, text: str) -> Any:
        name, _, line = text.lstrip("%").partition(" ")
        return self.run_line_magic(name, line)

    def system(self, command: str = "", *_: Any, **__: Any) -> None:
        self._skip(f"!{command}")

    def getoutput(self, command: str = "", *_: Any, **__: Any) -> list[str]:
        self._skip(f"!{command}")
        return []

    def take_notices(self) -> list[str]:
        taken, self.notices = self.notices, []
        return taken

    def _skip(self, what: str) -> None:
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(f"{what.strip()[:80]} was not run")

    def _capture(self, line: str, body: str) -> None:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            self._run(body)
        names = [word for word in line.split() if not word.startswith("-")]
        if names:
            self.user_ns[names[0]] = Captured(out.getvalue(), err.getvalue())


class Captured:
    """What `%%capture name` binds: the text that was printed."""

    def __init__(self, stdout: str, stderr: str) -> None:
        self.stdout = stdout
        self.stderr = stderr
        self.outputs: list[Any] = []

    def __call__(self) -> None:
        self.show()

    def show(self) -> None:
        print(self.stdout, end="")

    def __str__(self) -> str:
        return self.stdout


def _without_options(name: str, line: str) -> str:
    """The code of a line magic, after options such as `-s cumulative` of %prun."""
    options = r"\s*-(?:[DlsT]\s*\S+|[a-zA-Z]+)\s+" if name == "prun" else r"\s*--?no-\S+\s+"
    while match := re.match(options, line):
        line = line[match.end() :]
    return line


def display(*objects: Any, **_: Any) -> None:
    """Prints what a notebook would show."""
    for obj in objects:
        print(repr(obj)[:2000])


def to_python(source: str) -> str:
    """Plain Python for a cell that uses IPython's syntax.

    Only called for a cell that Python cannot parse, so that the others do not wait for IPython.
    """
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in source.split("\n"))
    return TransformerManager().transform_cell(source)
