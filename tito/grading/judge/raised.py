"""Exceptions across the border, in both directions."""

from __future__ import annotations

import builtins
import threading
from dataclasses import dataclass
from typing import Any

from tito.grading import wire
from tito.grading.judge.errors import StudentExit

MOST_TEXT = 4200
# They end loops or the whole test instead of telling of a failure: never raised as themselves.
CONTROL = (StopIteration, StopAsyncIteration, GeneratorExit)


@dataclass(frozen=True)
class CodeFrame:
    """A line of a cell that a traceback of the student's code went through."""

    cell: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Report:
    """An exception of the student's side, as plain facts."""

    kind: str
    message: str
    arguments: tuple | None
    frames: tuple[CodeFrame, ...]
    token: int | None
    handle: int | None

    @property
    def text(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


class Raised:
    """Turns exceptions of the student's code into ours, and keeps those our callbacks raised."""

    def __init__(self) -> None:
        self._kept: dict[int, BaseException] = {}
        self._last = 0
        self._classes: dict[tuple[int, int], type] = {}
        self._numbers: dict[type, tuple[Any, int]] = {}
        self._lock = threading.Lock()

    # Ours, on their way through the student's code

    def keep(self, error: BaseException) -> list:
        """[nearest built-in class, arguments, number]: what the student's side raises instead.

        If it comes back, it is the same exception again.
        """
        with self._lock:
            self._last += 1
            self._kept[self._last] = error
            number = self._last
        plain = all(type(a) in (str, int, float, bool, type(None)) for a in error.args)
        arguments = [_short(a) for a in error.args] if plain else [str(error)[:MOST_TEXT]]
        return [_builtin_base(type(error)).__name__, arguments, number]

    def forget(self) -> None:
        with self._lock:
            self._kept.clear()

    # Theirs

    def exception(self, node: Any, session: Any, values: Any) -> BaseException:
        """The exception to raise in the test for one of the student's code."""
        report = self.report(node)
        ours = self._kept.get(report.token) if report.token is not None else None
        if ours is not None:
            return ours
        kind = self._local_class(node[0], session)
        if not issubclass(kind, Exception) or issubclass(kind, CONTROL):
            error: Exception = StudentExit(report.text)
        else:
            error = _build(kind, report)
        error.student_frames = report.frames
        if report.frames:
            theirs = [f for f in report.frames if not f.cell.startswith("given ")]
            last = (theirs or report.frames)[-1]
            error.add_note(f"in {last.cell}, line {last.line}: {last.text}")
        if report.handle is not None and type(error) is kind:
            error.student_error = values.handle(report.handle, session)
        return error

    def report(self, node: Any) -> Report:
        """The checked facts of an exception's node."""
        kind, arguments, message, frames, token, handle = node
        wire.require(type(message) is str, "an error's message")
        wire.require(type(frames) is list and len(frames) <= 20, "an error's frames")
        for number in (token, handle):
            wire.require(number is None or type(number) is int, "an error's number")
        if arguments is not None:
            for argument in arguments:
                wire.require(type(argument) is not list, "an error's arguments")
            arguments = tuple(arguments)
        name = kind[1] if kind[0] == "type" else kind[2]
        wire.require(type(name) is str, "an error's class")
        found = tuple(_code_frame(frame) for frame in frames)
        return Report(name[:80], message[:MOST_TEXT], arguments, found, token, handle)

    def exception_class(self, node: list, session: Any, depth: int = 0) -> type:
        """A class of ours for an exception class of the student: same name, same kinship."""
        tag, number, name, bases = node
        wire.require(tag == "x" and type(number) is int and type(name) is str, "a class")
        wire.require(type(bases) is list and 0 < len(bases) < 10 and depth < 12, "its bases")
        key = (id(session), number)
        found = self._classes.get(key)
        if found is None:
            parents = tuple(self._parent(b, session, depth) for b in bases)
            try:
                found = type(name[:80], parents, {"__getattr__": _ask_original})
            except TypeError:  # bases that do not go together here
                found = type(name[:80], (parents[0],), {"__getattr__": _ask_original})
            self._classes[key] = found
            self._numbers[found] = (session, number)
        return found

    def number_of(self, kind: type, session: Any) -> int | None:
        """Of which class of the student's a class of ours is the image."""
        found = self._numbers.get(kind)
        return found[1] if found is not None and found[0] is session else None

    def _parent(self, node: list, session: Any, depth: int) -> type:
        """A base class; what is no ordinary exception becomes a StudentExit."""
        if node[0] == "x":
            return self.exception_class(node, session, depth + 1)
        kind = _builtin(node[1])
        ordinary = issubclass(kind, Exception) and not issubclass(kind, CONTROL)
        return kind if ordinary else StudentExit

    def _local_class(self, node: list, session: Any) -> type:
        if node[0] == "x":
            return self.exception_class(node, session)
        return _builtin(node[1])


def warning_class(name: str) -> type[Warning]:
    """The built-in warning of that name; UserWarning if there is none."""
    kind = getattr(builtins, name, None)
    return kind if isinstance(kind, type) and issubclass(kind, Warning) else UserWarning


def _builtin(name: Any) -> type[BaseException]:
    kind = getattr(builtins, name, None) if type(name) is str else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else Exception


def _builtin_base(kind: type) -> type:
    for base in kind.__mro__:
        if getattr(builtins, base.__name__, None) is base:
            return base
    return Exception


def _build(kind: type, report: Report) -> Exception:
    """An exception with the original's arguments, or at least its message."""
    for arguments in (report.arguments, (report.message,)):
        try:
            if arguments is not None:
                error = kind(*arguments)
                if str(error) == report.message:
                    return error
        except Exception:
            continue
    try:
        return kind(report.message)
    except Exception:
        return Exception(report.text)


def _code_frame(frame: Any) -> CodeFrame:
    cell, line, function, text = frame
    for part in (cell, function, text):
        wire.require(type(part) is str, "a frame")
    wire.require(type(line) is int, "a frame")
    return CodeFrame(cell[:200], line, function[:80], text[:200])


def _short(value: Any) -> Any:
    return value[:MOST_TEXT] if type(value) is str else value


def _ask_original(self: Exception, name: str) -> Any:
    """Attributes that the student's exception has and ours does not know."""
    original = self.__dict__.get("student_error")
    if original is None or name.startswith("__"):
        raise AttributeError(name)
    return getattr(original, name)
