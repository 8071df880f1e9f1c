"""Answers the judge: runs cells, calls what they defined, asks back when a callback is called.

Messages: the judge sends ["do", lane, nonce, dropped, operation, ...] and gets
["re", lane, nonce, worked, value or error, changed, printed, warnings]. While it works, the
student's side may send ["cb", lane, number, args, kwargs] and gets ["ret", lane, worked, value or
error, changed, dropped]; and ["rd" or "wr", lane, ...] for an element of a counted array. A lane
is a thread of this process; lane 0 is the main thread, lanes below 0 serve threads of the judge.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tito.grading import wire
from tito.grading.child.capture import Capture
from tito.grading.child.cells import Cells
from tito.grading.child.memory import Given, Memory
from tito.grading.child.objects import (
    Callback,
    Handles,
    RemoteBackend,
    builtin_base,
    class_node,
    error_node,
    judge_error,
)
from tito.grading.child.spent import Spent
from tito.grading.child.timed import Arena, run_by_own_clock, run_in_arena
from tito.grading.lanes import Lanes

MOST_TEXT = 4000


class _CannotCross(Exception):
    """A name's value is no plain data: it stays here and is bound by name over there."""


class Server:
    """Serves one judge until the pipe closes."""

    def __init__(
        self, link: wire.Link, cells: Cells, capture: Capture, arena: int | None = None
    ) -> None:
        self._link = link
        self._arena = Arena(arena)
        self._spent = Spent()
        self._cells = cells
        self._capture = capture
        self._memory = Memory()
        self._handles = Handles()
        self._callbacks: dict[int, Callback] = {}
        self._bound: dict[int, str] = {}  # id of what the judge knows by name -> name
        self._counted: dict[int, Any] = {}  # number -> the counted array as it came
        self._lanes = Lanes(self._read, self._stray)
        self._here = threading.local()
        self._last_lane = 0
        # What goes out must reach the judge in the order in which memory and handles were noted.
        self._lock = threading.RLock()

    def serve(self, lane: int = 0) -> None:
        """Answer the requests of one lane for ever."""
        self._here.lane = lane
        with self._lanes.open(lane):
            while True:
                self._answer(self._lanes.take(lane))

    def _read(self) -> tuple[int, wire.Frame]:
        try:
            frame = self._link.read()
        except (EOFError, OSError):
            os._exit(0)  # the judge is gone
        return frame.body[1], frame

    def _stray(self, lane: int, frame: wire.Frame) -> None:
        """A first request from another thread of the judge gets a thread here."""
        if lane < 0 and frame.body[0] == "do":
            self._lanes.open_for_good(lane)  # before the next message is read

            def work() -> None:
                self._here.lane = lane
                self._answer(frame)
                self.serve(lane)

            threading.Thread(target=work, daemon=True).start()

    def _answer(self, frame: wire.Frame) -> None:
        _, lane, nonce, dropped, name, *rest = frame.body
        given = Given()
        self._let_go(dropped)
        self._capture.install()
        try:
            if name == "cell":
                answer: Any = self._cells.run(*rest)
            elif name == "cells":
                answer = self._cells.run_all(*rest)
            elif name == "spent":
                answer = self._spent.seconds
            elif name == "names":
                self._reply(lane, nonce, given, self._names(rest[0]))
                return
            else:
                with self._lock:
                    given = self._memory.receive(frame, remember=True)
                    target, args, kwargs = self._decode(frame, given, rest)
                with self._spent:
                    answer = OPERATIONS[name](target, *args, **kwargs)
            self._reply(lane, nonce, given, lambda encoder: encoder.value(answer))
        except BaseException as error:
            self._reply_error(lane, nonce, given, error)
        finally:
            with self._lock:
                self._memory.forget(given)

    def _decode(self, frame: wire.Frame, given: Given, nodes: list) -> list:
        decoder = wire.Decoder(given.arrays, frame.buffers, self._special)
        return [decoder.value(node) for node in nodes]

    def _let_go(self, dropped: list) -> None:
        """Handles and regions that the judge has no use for any more."""
        with self._lock:
            for number, mentions in dropped[0]:
                self._handles.let_go(number, mentions)
            for number, mentions in dropped[1]:
                self._memory.drop(number, mentions)

    # Answers

    def _reply(
        self, lane: int, nonce: bytes, given: Given, value: Callable[[wire.Encoder], Any]
    ) -> None:
        with self._lock:
            encoder = wire.Encoder(self._opaque)
            body = ["re", lane, nonce, True, value(encoder), self._changes(given, encoder)]
            self._send([*body, *self._said()], encoder)

    def _reply_error(self, lane: int, nonce: bytes, given: Given, error: BaseException) -> None:
        try:
            with self._lock:
                encoder = wire.Encoder(self._opaque)
                node = error_node(error, self._handles, self._cells.where(error))
                body = ["re", lane, nonce, False, node, self._changes(given, encoder)]
                self._send([*body, *self._said()], encoder)
        except BaseException as worse:
            plain = [["type", "RuntimeError"], None, f"{type(worse).__name__}: {worse}", [], None]
            self._link.write(["re", lane, nonce, False, [*plain, None], [], "", [], []])

    def _changes(self, given: Given, encoder: wire.Encoder) -> list:
        return self._memory.changes(given, encoder)

    def _said(self) -> list:
        warned = [[builtin_base(kind), text[:500]] for kind, text in self._capture.take_warnings()]
        return [self._capture.take(), warned, self._cells.shell.take_notices()]

    def _send(self, body: list, encoder: wire.Encoder, *, with_changes: bool = False) -> None:
        sent = self._memory.describe(encoder, with_changes)
        try:
            self._link.write(body, sent.nodes, sent.regions, encoder.buffers)
        except TypeError:
            self._memory.undo(sent)
            raise
        self._memory.commit(sent)

    def _names(self, wanted: list[str]) -> Callable[[wire.Encoder], list]:
        """[name, "v" and its value, or "p" and its handle's kind and class] of those there are."""

        def encode(encoder: wire.Encoder) -> list:
            found = []
            for name in wanted:
                if name in self._cells.namespace:
                    found.append([name, *self._named(name, encoder)])
            return found

        return encode

    def _named(self, name: str, encoder: wire.Encoder) -> list:
        obj = self._cells.namespace[name]

        def no_value(part: Any, trial: wire.Encoder) -> list:
            if part is obj and not _is_exception_class(obj):
                raise _CannotCross
            return self._opaque(part, trial)

        try:
            trial = wire.Encoder(no_value)
            trial.value(obj)
            return ["v", encoder.value(obj)]
        except (TypeError, _CannotCross):
            self._bound[id(obj)] = name
            kind = "c" if isinstance(obj, type) else "f" if callable(obj) else "o"
            return ["p", kind, (obj if kind == "c" else type(obj)).__name__[:80]]

    # What is no plain data

    def _opaque(self, obj: Any, encoder: wire.Encoder) -> list:
        """The node of what stays here."""
        if isinstance(obj, Callback):
            return ["cb", obj.number]
        if _is_exception_class(obj):
            return class_node(obj, self._handles)
        for number, array in self._counted.items():
            if array is obj:
                return ["counted", number]
        name = self._bound.get(id(obj))
        if name is not None and self._cells.namespace.get(name) is obj:
            return ["n", name]
        return self._handles.node(obj)

    def _special(self, node: list, decoder: wire.Decoder) -> Any:
        """What a node of the judge stands for that is no plain data."""
        kind = node[0]
        if kind == "n":
            return self._cells.namespace[node[1]]
        if kind == "h":
            return self._handles[node[1]]
        if kind == "lib":
            return wire.library_function(node[1])
        if kind == "cb":
            return self._callback(*node[1:])
        if kind == "counted":
            return self._counted_array(*node[1:])
        if kind == "random":
            return _generator(decoder, *node[1:])
        if kind == "arena":
            return self._arena.array(*node[1:])
        raise wire.WireError(f"node {kind!r}")

    def _callback(self, number: int, name: str) -> Callback:
        if number not in self._callbacks:
            self._callbacks[number] = Callback(number, name, self._call_back)
        return self._callbacks[number]

    def _counted_array(self, number: int, dtype: Any, *layout: Any) -> Any:
        if number not in self._counted:
            from tito.counted import CountedArray, take_them_in_numba

            take_them_in_numba()
            shape, strides, steps, start, writeable = layout
            dtype = wire.decode_dtype(dtype)
            backend = RemoteBackend(number, dtype, self._ask_element)
            array = CountedArray(backend, dtype, (), writeable=writeable)
            view = array._view(tuple(shape), tuple(steps), tuple(strides), start)
            self._counted[number] = view
        return self._counted[number]

    # Asking the judge

    def _lane(self) -> int:
        lane = getattr(self._here, "lane", None)
        if lane is None:
            with self._lock:
                self._last_lane += 1
                lane = self._here.lane = self._last_lane
        return lane

    def _call_back(self, number: int, args: tuple, kwargs: dict) -> Any:
        lane = self._lane()
        with self._lanes.open(lane):
            with self._lock:
                encoder = wire.Encoder(self._opaque)
                body = ["cb", lane, number, encoder.value(args), encoder.value(kwargs)]
                self._send(body, encoder, with_changes=True)
            frame = self._lanes.take(lane)
            while frame.body[0] == "do":  # the callback itself uses something of ours
                self._answer(frame)
                frame = self._lanes.take(lane)
        _, _, worked, node, changed, dropped = frame.body
        self._let_go(dropped)
        with self._lock:
            for place, buffer in changed:
                self._memory.write(encoder.arrays[place], frame.buffers[buffer])
            if not worked:
                raise judge_error(*node)
            given = self._memory.receive(frame, remember=False)
            return self._decode(frame, given, [node])[0]

    def _ask_element(self, question: list) -> bytes:
        lane = self._lane()
        # Lanes that are served are open for good; these questions are too many for needless steps.
        with nullcontext() if lane <= 0 else self._lanes.open(lane):
            with self._lock:
                self._link.write([question[0], lane, *question[1:]])
            frame = self._lanes.take(lane)
        _, _, worked, answer = frame.body
        if not worked:
            raise judge_error(*answer)
        return answer


def _is_exception_class(obj: Any) -> bool:
    return isinstance(obj, type) and issubclass(obj, BaseException)


def _generator(decoder: wire.Decoder, kind: str, state: Any, legacy: bool) -> Any:
    """A NumPy generator in the given state."""
    import numpy.random

    bits = getattr(numpy.random, kind)()
    bits.state = decoder.value(state)
    return numpy.random.RandomState(bits) if legacy else numpy.random.Generator(bits)


def _next(iterator: Any) -> list:
    """[item], or [] at the end."""
    try:
        return [next(iterator)]
    except StopIteration:
        return []


def _leave(manager: Any, failed: bool) -> None:
    """`__exit__`, told that the block failed but not how: a test's message is not its business."""
    error = RuntimeError("the block failed") if failed else None
    type(manager).__exit__(manager, type(error) if failed else None, error, None)


def _signature(func: Any) -> list[tuple]:
    """(name, kind, has a default, the default if it is plain) of each parameter."""
    import inspect

    found = []
    for p in inspect.signature(func).parameters.values():
        plain = type(p.default) in (int, float, str, bool, bytes, type(None))
        default = p.default if plain else None
        found.append((p.name, int(p.kind), p.default is not p.empty, default))
    return found


def _call(func: Any, /, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


def _claim(func: Any, kind: str, args: tuple, kwargs: dict) -> tuple:
    """(True, the reading, the call's result), or (False, why there is none)."""
    from tito import inside

    try:
        return (True, *inside.read(kind, func, args, kwargs))
    except inside.Unreadable as error:
        return False, str(error)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": _call,
    "claim": _claim,
    "timed": run_in_arena,
    "timed by itself": run_by_own_clock,
    "getattr": getattr,
    "setattr": setattr,
    "delattr": delattr,
    "getitem": operator.getitem,
    "setitem": operator.setitem,
    "delitem": operator.delitem,
    "len": len,
    "iter": iter,
    "next": _next,
    "bool": bool,
    "int": int,
    "float": float,
    "index": operator.index,
    "str": str,
    "repr": lambda obj: repr(obj)[:MOST_TEXT],
    "dir": dir,
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": _leave,
    "isinstance": isinstance,
    "issubclass": issubclass,
    "signature": _signature,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "matmul": operator.matmul,
}
