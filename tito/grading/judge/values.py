"""What crosses the border besides plain data, and what stands for it on this side.

Functions, classes and objects of the student's are proxies here; functions of a test and arrays
that count their accesses are numbers there. An exception of theirs that comes back is ours again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from tito.counted import CountedArray
from tito.grading import wire
from tito.grading.judge.arena import Placed
from tito.grading.judge.proxy import Proxy, Target, make_proxy, target_of
from tito.grading.judge.raised import Raised
from tito.grading.judge.session import Session


class Values:
    """The values of one world.

    world  : whom proxies ask
    raised : its exceptions
    """

    def __init__(self, world: Any) -> None:
        self.raised = Raised()
        self._world = world
        self._bound: dict[str, Proxy] = {}  # what tests know by name
        self._callbacks: dict[int, Any] = {}
        self._counted: dict[int, CountedArray] = {}
        self._numbers: dict[int, int] = {}  # id of a callback or counted array -> number
        self._last_number = 0
        self._lock = threading.RLock()

    def forget(self) -> None:
        """What a test made is gone with it."""
        with self._lock:
            self._callbacks.clear()
            self._counted.clear()
            self._numbers.clear()
            self.raised.forget()

    # -- ours, on their way to the student's side

    def opaque(self, obj: Any, encoder: wire.Encoder, session: Session | None) -> list:
        """The node of what is no plain data; TypeError for what cannot cross."""
        if isinstance(obj, Proxy):
            target = target_of(obj)
            if target.session is not None and target.session is not session:
                raise TypeError("this object was lost when the student's process ended")
            return target.node
        if isinstance(obj, CountedArray):
            return self._counted_node(obj)
        if isinstance(obj, Placed):
            return obj.node
        number = self.raised.number_of(obj, session) if isinstance(obj, type) else None
        if number is not None:
            return ["h", number]
        random = _random_node(obj, encoder)
        if random is not None:
            return random
        library = wire.library_name(obj)
        if library is not None:
            return ["lib", library]
        if callable(obj):
            name = getattr(obj, "__name__", type(obj).__name__)
            return ["cb", self._numbered(obj, self._callbacks), str(name)[:80]]
        raise TypeError(
            f"a {type(obj).__name__} cannot be passed to student code: plain data, arrays, "
            "functions and the student's own objects can"
        )

    def _counted_node(self, array: CountedArray) -> list:
        number = self._numbered(array, self._counted)
        layout = [list(array.shape), list(array.strides), list(array._steps), array._start]
        dtype = wire.encode_dtype(array.dtype)
        return ["counted", number, dtype, *layout, array.flags.writeable]

    def _numbered(self, obj: Any, table: dict[int, Any]) -> int:
        with self._lock:
            number = self._numbers.get(id(obj))
            if number is None:
                self._last_number += 1
                number = self._numbers[id(obj)] = self._last_number
                table[number] = obj
            return number

    # -- theirs

    def decoder(self, session: Session, frame: wire.Frame, arrays: list) -> wire.Decoder:
        """Reads what a frame of the student's side holds."""
        return wire.Decoder(arrays, frame.buffers, lambda node, _: self._special(node, session))

    def _special(self, node: list, session: Session) -> Any:
        """What a node of the student's side stands for that is no plain data."""
        kind, number = node[0], node[1]
        if kind == "n":
            return self._bound[number]
        wire.require(type(number) is int, "number")
        if kind == "h":
            return self._handle(number, node[2], node[3], session)
        if kind == "x":
            return self.raised.exception_class(node, session)
        if kind == "cb":
            return self._callbacks[number]
        if kind == "counted":
            return self._counted[number]
        raise wire.WireError("node")

    def bound(self, name: str, how: Any, rest: list, decoder: wire.Decoder) -> Any:
        """What a test finds under a name: plain data, or a proxy that follows the name."""
        if how == "v":
            (node,) = rest
            return decoder.value(node)
        kind, class_name = rest
        wire.require(how == "p" and kind in ("c", "f", "o"), "proxy")
        wire.require(type(class_name) is str, "proxy")
        known = self._bound.get(name)
        if known is None or target_of(known).kind != kind:  # redefined as something else
            self._bound[name] = make_proxy(Target(self._world, kind, class_name[:80], name=name))
        return self._bound[name]

    def exception(self, node: Any, session: Session) -> BaseException:
        """The exception to raise in the test for one of the student's code."""
        return self.raised.exception(node, session, self)

    def handle(self, number: int, session: Session) -> Proxy:
        """A proxy for an object that is only known by its number: an exception."""
        return self._handle(number, "o", "exception", session)

    def _handle(self, number: int, kind: Any, class_name: Any, session: Session) -> Proxy:
        wire.require(kind in ("c", "f", "o") and type(class_name) is str, "handle")
        proxy = session.proxies.get(number)
        if proxy is None:
            target = Target(self._world, kind, class_name[:80], session=session, number=number)
            proxy = session.proxies[number] = make_proxy(target)
        else:
            target_of(proxy).mentions += 1
        return proxy

    # -- what the student's side asks of ours

    def callback(self, number: Any) -> Callable[..., Any] | None:
        """A function of the test that runs; None if it belongs to one that is over."""
        return self._callbacks.get(number) if type(number) is int else None

    def serve_element(self, kind: str, number: Any, rest: list) -> list:
        """Read or write an element of a counted array: [worked, bytes or error]."""
        wire.require(type(number) is int and type(rest[0]) is int, "element")
        array = self._counted.get(number)
        if array is None:
            return [False, ["RuntimeError", ["this array belongs to a test cell that is over"], 0]]
        position = rest[0]
        backend = array._backend
        size = getattr(backend, "array", array).size
        wire.require(0 <= position < size, "position")
        try:
            if kind == "rd":
                return [True, np.asarray(backend.read(position), array.dtype).tobytes()]
            wire.require(array.flags.writeable and type(rest[1]) is bytes, "a write to an input")
            wire.require(len(rest[1]) == array.dtype.itemsize, "element")
            backend.write(position, np.frombuffer(rest[1], array.dtype, 1)[0])
            return [True, b""]
        except wire.WireError:
            raise
        except Exception as error:
            return [False, self.raised.keep(error)]


def _random_node(obj: Any, encoder: wire.Encoder) -> list | None:
    """A NumPy generator by its state, as plain data; None for anything else."""
    random = sys.modules.get("numpy.random")
    if random is None or not isinstance(obj, random.Generator | random.RandomState):
        return None
    legacy = isinstance(obj, random.RandomState)
    bits = obj._bit_generator if legacy else obj.bit_generator
    kind = type(bits).__name__
    if getattr(random, kind, None) is not type(bits):
        raise TypeError(f"a generator of kind {kind} cannot be passed to student code")
    return ["random", kind, encoder.value(bits.state), legacy]
