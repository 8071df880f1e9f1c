"""What stays on the student's side and is named over there: handles, exceptions, callbacks."""

from __future__ import annotations

import builtins
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_MESSAGE = 4000
PLAIN = (str, int, float, bool, bytes, type(None))


class Handles:
    """Objects that the judge knows by a number, until it says that it has dropped them."""

    def __init__(self) -> None:
        self._objects: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}  # id -> number
        self._mentions: dict[int, int] = {}
        self._last = 0

    def number(self, obj: Any) -> int:
        """The object's number; it stays alive until as many mentions were let go."""
        number = self._numbers.get(id(obj))
        if number is None:
            self._last += 1
            number = self._numbers[id(obj)] = self._last
            self._objects[number] = obj
        self._mentions[number] = self._mentions.get(number, 0) + 1
        return number

    def node(self, obj: Any) -> list:
        """["h", number, "c" class, "f" callable or "o" other, name of its class]."""
        if isinstance(obj, type):
            return ["h", self.number(obj), "c", obj.__name__[:80]]
        kind = "f" if callable(obj) else "o"
        return ["h", self.number(obj), kind, type(obj).__name__[:80]]

    def __getitem__(self, number: int) -> Any:
        return self._objects[number]

    def let_go(self, number: int, mentions: int) -> None:
        left = self._mentions.get(number, 0) - mentions
        if left > 0:
            self._mentions[number] = left
        elif number in self._objects:
            obj = self._objects.pop(number)
            self._numbers.pop(id(obj), None)
            self._mentions.pop(number, None)


def builtin_base(kind: type) -> str:
    """The name of the nearest built-in class an exception or warning class derives from."""
    for base in kind.__mro__:
        if getattr(builtins, base.__name__, None) is base:
            return base.__name__
    return "Exception"


def class_node(kind: type, handles: Handles, depth: int = 0) -> list:
    """An exception class: built-in ones by name, others as ["x", number, name, bases]."""
    if getattr(builtins, kind.__name__, None) is kind or depth > 10:
        return ["type", builtin_base(kind)]
    bases = [
        class_node(base, handles, depth + 1)
        for base in kind.__bases__
        if issubclass(base, BaseException)
    ]
    return ["x", handles.number(kind), kind.__name__[:80], bases]


def error_node(error: BaseException, handles: Handles, where: list[list]) -> list:
    """[class, arguments or None, message, frames in cells, the judge's own number, handle]."""
    try:
        message = str(error)
    except BaseException:  # whatever a student's __str__ raises
        message = "(an error without a message)"
    if len(message) > MOST_MESSAGE:
        message = message[: MOST_MESSAGE // 2] + " ... " + message[-MOST_MESSAGE // 2 :]
    plain = all(type(a) in PLAIN for a in error.args) and len(repr(error.args)) < MOST_MESSAGE
    kind = type(error)
    own = getattr(builtins, kind.__name__, None) is not kind
    return [
        class_node(kind, handles),
        list(error.args) if plain else None,
        message,
        [[*frame, _line_of(error, frame)] for frame in where],
        getattr(error, "__judge__", None),
        handles.number(error) if own else None,
    ]


def _line_of(error: BaseException, frame: list) -> str:
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if [trace.tb_lineno, code.co_name] == frame[1:]:
            line = linecache.getline(code.co_filename, trace.tb_lineno)
            return line.strip()[:200]
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        return str(error.text or "").strip()[:200]
    return ""


class JudgeError(Exception):
    """Stands for an exception of a test that has no built-in class."""


def judge_error(name: str, arguments: list, token: int) -> BaseException:
    """What a callback raised over there, as an exception here."""
    kind = getattr(builtins, name, None)
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = JudgeError
    try:
        error = kind(*arguments)
    except Exception:
        error = JudgeError(*arguments)
    error.__judge__ = token
    return error


class Callback:
    """A callable of the test: calling it runs the test's own code in the judge."""

    def __init__(self, number: int, name: str, call: Callable[[int, tuple, dict], Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.number = number
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self.number, args, kwargs)

    def __repr__(self) -> str:
        return f"<function {self.__name__} of the test>"


class RemoteBackend:
    """The elements of a counted array: they lie with the judge, each access is a message."""

    def __init__(self, number: int, dtype: np.dtype, ask: Callable[[list], bytes]) -> None:
        self.number = number
        self._dtype = dtype
        self._ask = ask

    def read(self, position: int) -> Any:
        return np.frombuffer(self._ask(["rd", self.number, int(position)]), self._dtype, 1)[0]

    def write(self, position: int, value: Any) -> None:
        data = np.asarray(value, self._dtype).tobytes()
        self._ask(["wr", self.number, int(position), data])
