"""Errors in the course's notebooks as one message, not as a traceback.

The output keeps its type `error` with the exception's own name, because nbgrader decides by it. A
failed check shows its message, a stub "exercise 2 (relu_loops) is not written yet", an exception
in the student's function the line it came from and the case. Everything else is shown as IPython
shows it, and `%tb` still prints the whole traceback of any of them.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from tito.checks.case import case_line, is_handed_over, is_own_step, subject_of_traceback
from tito.checks.failure import CheckFailed, Failure
from tito.checks.module import Module
from tito.checks.runtime import current
from tito.checks.shell import running_shell


def install_in_notebook() -> None:
    """Show errors so in the shell that runs this code, if one does; once, however often asked."""
    shell = running_shell()
    if shell is not None and not isinstance(getattr(shell, "course_display", None), Display):
        shell.course_display = Display(shell)
        shell.course_display.install()


class Display:
    """How one IPython shell shows errors while the course's notebook runs in it."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._stderr: Any = None

    def install(self) -> None:
        self.shell.set_custom_exc((Exception,), self._handler)
        self.shell.events.register("pre_run_cell", self._cell_begins)
        self.shell.events.register("post_run_cell", self._cell_ends)

    def _handler(
        self, shell: Any, etype: type, value: Exception, tb: TracebackType, tb_offset=None
    ):
        """What IPython calls for an exception in a cell."""
        try:
            message = self.message(value, tb)
        except Exception:  # a slip of ours must not hide the student's error
            message = None
        if message is None:
            shell.showtraceback((etype, value, _without_compiler(tb)), tb_offset=tb_offset)
            sys.last_traceback = tb
            return None
        # For %tb and %debug.
        sys.last_type, sys.last_value, sys.last_traceback = etype, value, tb
        lines = message.split("\n")
        shell._showtraceback(etype, value, lines)
        return lines

    def _cell_begins(self, info: Any) -> None:
        current().forget()
        # nbgrader gives 0 to a test cell that writes to stderr, be it only a warning.
        if getattr(self.shell, "kernel", None) and self._is_test(info.raw_cell or ""):
            self._stderr, sys.stderr = sys.stderr, sys.stdout

    def _cell_ends(self, result: Any) -> None:
        if self._stderr is not None:
            sys.stderr, self._stderr = self._stderr, None

    def message(self, value: Exception, tb: TracebackType) -> str | None:
        """The message to show instead of a traceback; None for IPython's own."""
        if isinstance(value, CheckFailed):
            return str(value)
        frames = list(self._cell_frames(tb))
        if isinstance(value, NotImplementedError):
            return str(value) or self._not_written(frames)
        if isinstance(value, NameError) and frames:
            known = self._not_run(value, frames)
            if known:
                return known
        source = _source(frames[0]) if frames else ""
        is_test = self._is_test(source)
        if len(frames) > 1 and (is_test or _is_measure(source)):
            return self._raised_in_function(value, frames)
        if not frames or not is_test:
            return None
        innermost = _innermost(tb)
        # A compiled function leaves no step of its own, and its compiler's are no code of a cell.
        if is_handed_over(frames[0]) and not is_own_step(innermost):
            return self._raised_in_function(value, frames)
        if isinstance(value, AssertionError) and innermost is frames[0]:
            return str(value) or f"the test failed: {_line(frames[0])}"
        return None

    def _cell_frames(self, tb: TracebackType | None) -> Iterator[TracebackType]:
        """The steps of a traceback that are code of a cell, outermost first."""
        while tb is not None:
            if self._cell_number(tb) is not None:
                yield tb
            tb = tb.tb_next

    def _cell_number(self, tb: TracebackType) -> str | None:
        """The number that Jupyter shows beside the cell; None for a file that is no cell."""
        name = tb.tb_frame.f_code.co_filename
        number = getattr(self.shell.compile, "_filename_map", {}).get(name)
        if number is not None:
            return str(number)
        is_cell = f"ipykernel_{os.getpid()}" in name or name.startswith("<ipython-input-")
        return "?" if is_cell else None

    def _is_test(self, source: str) -> bool:
        """Whether a cell calls a check: `expect_...(` or `points(` of tito.checks."""
        names = self.shell.user_ns.items()
        checks = [n for n, v in names if getattr(v, "__module__", None) in _CHECK_MODULES]
        imported = "tito.checks" in source
        return any(f"{name}(" in source for name in checks) or imported

    def _not_written(self, frames: list[TracebackType]) -> str | None:
        """A stub was called."""
        if not frames:
            return None
        name = frames[-1].tb_frame.f_code.co_qualname.split(".")[0]
        if name == "<module>":
            return "this cell is not written yet"
        return f"{self._exercise(name)} is not written yet"

    def _not_run(self, value: NameError, frames: list[TracebackType]) -> str | None:
        """A name that another cell of the module defines was not there."""
        module = Module.find(self.shell.user_ns)
        if module is None or value.name is None or not module.defines(value.name):
            return None
        if module.defined_in_source(value.name, _source(frames[-1])):
            return None
        return f"{self._exercise(value.name)} is not defined: run the cell that defines it first"

    def _exercise(self, name: str) -> str:
        module = Module.find(self.shell.user_ns)
        number = module.exercise_of(name) if module else None
        return f"exercise {number} ({name})" if number else name

    def _raised_in_function(self, value: Exception, frames: list[TracebackType]) -> str:
        """An exception that came out of the function that a test cell called."""
        where, subject = self._students_last(frames), subject_of_traceback(frames[0])
        name = subject.function if subject else "the function"
        if len(frames) > 1:
            name = frames[1].tb_frame.f_code.co_name
        text = str(value)
        failure = Failure(
            function=name,
            problem=f"raised {type(value).__name__}" + (f": {text}" if text else ""),
            kind="an exception",
            case=case_line(subject) if subject else name,
            rows=[("where", f"cell [{self._cell_number(where)}], line {where.tb_lineno}")],
        )
        line = _line(where)
        if line:
            failure.rows.append(("", f"  {line}"))
        written = self._in_a_text(where)
        if written is not None:
            step = f"line {written.tb_lineno} of {written.tb_frame.f_code.co_filename}"
            failure.rows.append(("", f"{step}\n  {_line(written)}"))
        return failure.text()

    def _students_last(self, frames: list[TracebackType]) -> TracebackType:
        """The last step that is no code of the course's: there the student can look."""
        module = Module.find(self.shell.user_ns)
        test = frames[0].tb_frame.f_code.co_filename

        def given(tb: TracebackType) -> bool:
            code = tb.tb_frame.f_code
            if code.co_filename == test:  # a function that the test handed over
                return True
            return module is not None and module.gives(code.co_qualname.split(".")[0])

        return next((tb for tb in reversed(frames[1:]) if not given(tb)), frames[-1])

    def _in_a_text(self, tb: TracebackType) -> TracebackType | None:
        """The last step, from here on, in a text that the student's code has compiled."""
        found = None
        while tb.tb_next is not None:
            tb = tb.tb_next
            name = tb.tb_frame.f_code.co_filename
            # In a terminal IPython's cells have such names, too.
            is_text = name.startswith("<") and name.endswith(">") and self._cell_number(tb) is None
            if is_text and linecache.getline(name, tb.tb_lineno):
                found = tb
        return found


_CHECK_MODULES = ("tito.checks.expect", "tito.checks.tools")


def _is_measure(source: str) -> bool:
    return any(line.startswith("#| measure") for line in source.splitlines())


def _source(tb: TracebackType) -> str:
    return "".join(linecache.getlines(tb.tb_frame.f_code.co_filename))


def _line(tb: TracebackType) -> str:
    return linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno).strip()


def _without_compiler(tb: TracebackType | None) -> TracebackType | None:
    """A traceback without the steps of Numba's compiler, of which there are a hundred."""
    compiler = getattr(sys.modules.get("numba"), "__file__", None)
    if compiler is None:
        return tb
    folder, kept, rest = os.path.dirname(compiler) + os.sep, [], None
    while tb is not None:
        if not tb.tb_frame.f_code.co_filename.startswith(folder):
            kept.append(tb)
        tb = tb.tb_next
    for step in reversed(kept):
        rest = TracebackType(rest, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return rest


def _innermost(tb: TracebackType) -> TracebackType:
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb
