"""IPython's ways in a process without IPython: magics, shell lines, display, get_ipython().

What measures or shows does nothing here, with a notice. What runs code (`%%time`, `%time`,
`%%capture`, `%prun`) is that code by now (tito.forbid.source): no text is run here that the judge
has not read.
"""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import Any

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
    """What get_ipython() returns."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self._capturing = ExitStack()
        self._captured: list[io.StringIO] = []

    @property
    def user_ns(self) -> dict[str, Any]:
        """The namespace of the cells, by this name alone: a search of texts looks for it."""
        return sys.modules["__main__"].__dict__

    def run_line_magic(self, name: str, line: str = "", *_: Any, **__: Any) -> None:
        self._skip(f"%{name} {line}")

    def run_cell_magic(self, name: str, line: str = "", *_: Any) -> None:
        self._skip(f"%%{name} {line}")

    def magic(self, text: str) -> None:
        self._skip(f"%{text.lstrip('%')}")

    def system(self, command: str = "", *_: Any, **__: Any) -> None:
        self._skip(f"!{command}")

    def getoutput(self, command: str = "", *_: Any, **__: Any) -> list[str]:
        self._skip(f"!{command}")
        return []

    def begin_capture(self) -> None:
        """What `%%capture` does before its cell; its end is the cell's at the latest."""
        self._captured = [io.StringIO(), io.StringIO()]
        self._capturing.enter_context(redirect_stdout(self._captured[0]))
        self._capturing.enter_context(redirect_stderr(self._captured[1]))

    def end_capture(self) -> Captured:
        """What `%%capture name` binds to its name."""
        self._capturing.close()
        return Captured(*(text.getvalue() for text in self._captured))

    def end_cell(self) -> None:
        self._capturing.close()

    def take_notices(self) -> list[str]:
        taken, self.notices = self.notices, []
        return taken

    def _skip(self, what: str) -> None:
        if len(self.notices) < MOST_NOTICES:
            self.notices.append(f"{what.strip()[:80]} was not run")


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


def display(*objects: Any, **_: Any) -> None:
    """Prints what a notebook would show."""
    for obj in objects:
        print(repr(obj)[:2000])
