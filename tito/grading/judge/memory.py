"""What the judge remembers of memory that the student's side knows too.

The judge's own arrays are never laid open: a result that shares memory with an argument is rebuilt
as a view of the judge's argument, after a check that the view lies in elements which were sent.
Arrays of the student get a *mirror* here, so that two views of one array of theirs are two views of
one array of ours. What a test holds as a result never changes afterwards.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tito.grading import wire

MOST_WORK = 10_000  # of np.shares_memory, which can take for ever


class Region:
    """A stretch of the judge's memory that went along with a call."""

    def __init__(self, number: int, lo: int, length: int, arrays: list[np.ndarray]) -> None:
        self.number, self.lo, self.length, self.arrays = number, lo, length, arrays

    def view(self, node: wire.ArrayNode) -> np.ndarray:
        """The judge's own elements, as the student's side described them."""
        if not wire.covers(self.arrays, self.lo, self.length, node):
            raise wire.WireError("a view of memory that was not sent")
        writeable = all(a.flags.writeable for a in self.arrays)
        node.writeable = node.writeable and writeable
        return node.over(wire.raw_memory(self.lo, self.length, self.arrays, writeable))


class Call:
    """The arrays of one request while it runs.

    writable : ids of the arrays that the call may change
    labels   : id -> how the function's contract calls the array
    """

    def __init__(
        self, name: str, arrays: list[np.ndarray], labels: dict[int, str], writable: set[int]
    ) -> None:
        self.name = name
        self.arrays = arrays
        self.labels = labels
        self.writable = writable
        self.numbers: dict[int, tuple[int, int, int]] = {}  # id -> number, region, offset
        self.regions: list[Region] = []
        self.violation: str | None = None

    def label(self, array: np.ndarray) -> str:
        return self.labels.get(id(array), "an argument")

    def sharing(self, array: np.ndarray) -> set[str]:
        """The arguments that an array shares memory with."""
        return {f"argument {self.label(a)}" for a in self.arrays if shares(array, a)}

    def may_change(self, view: np.ndarray) -> bool:
        """Whether a view lies in arrays that the call may change."""
        return any(
            id(a) in self.writable and a.flags.writeable and shares(a, view) for a in self.arrays
        )

    def note_change(self, array: np.ndarray, new: np.ndarray) -> None:
        """Remember the first change of an input, if there is one."""
        if self.violation is None:
            where = first_difference(array, new)
            if where is not None:
                self.violation = (
                    f"{self.name} changed its input {self.label(array)}{_index(where)}: "
                    f"{array[where]} became {new[where]}; work on a copy"
                )

    def apply(self, changed: Iterable[tuple[int, np.ndarray]]) -> None:
        """Take over what the call changed: in arrays it may change; others are violations."""
        forbidden = []
        for place, buffer in changed:
            array = self.arrays[place]
            new = wire.elements(buffer, array.dtype, array.shape)
            if id(array) not in self.writable:
                forbidden.append((array, new))
            elif array.flags.writeable:
                np.copyto(array, new)
        for array, new in forbidden:  # after the others: an input may overlap an output
            self.note_change(array, new)


class Mirror:
    """The judge's copy of memory that belongs to the student's side."""

    def __init__(self, number: int, memory: np.ndarray) -> None:
        self.number = number
        self.mentions = 0
        self.delivered = False  # a test holds it as a result: it must not change any more
        self.objects: dict[int, weakref.ref] = {}
        self.memory = weakref.ref(memory)


class Received:
    """The arrays of an incoming message, and with what they share memory."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.nodes: list[wire.ArrayNode] = []
        self.shared: set[str] = set()


class Memory:
    """All regions of one session. Its user locks."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._regions: dict[int, tuple[Call, Region]] = {}
        self._mirrors: dict[int, Mirror] = {}
        self._numbers = 0
        self.dropped: deque[list[int]] = deque()  # [region, mentions] that nobody here has any more

    # Out

    def begin(self, call: Call) -> None:
        """A request is about to be sent with these arrays."""
        self._calls.append(call)

    def end(self, call: Call) -> None:
        """It was answered."""
        self._calls.remove(call)
        for region in call.regions:
            self._regions.pop(region.number, None)

    def describe(self, encoder: wire.Encoder, call: Call | None) -> tuple[list, list]:
        """Nodes of arrays and regions; without a call (a callback's result) by name if known."""
        arrays = encoder.arrays
        nodes: list[Any] = [None if call else self._known_node(a) for a in arrays]
        new = [i for i, node in enumerate(nodes) if node is None]
        regions = []
        for i in new:
            if not arrays[i].size:
                nodes[i] = self._node(arrays[i], call, 0, 0, -1)
        full = [i for i in new if arrays[i].size]
        for span in wire.spans([wire.bounds(arrays[i]) for i in full]):
            self._numbers += 1
            number = self._numbers
            members = wire.Span(span.lo, span.hi, [full[i] for i in span.members])
            node, contents = wire.place_span(members, arrays, number, encoder)
            regions.append([*node, span.lo & 63])
            for i, (offset, content) in zip(members.members, contents):
                nodes[i] = self._node(arrays[i], call, number, offset, content)
            if call is not None:
                parts = [arrays[i] for i in members.members]
                region = Region(number, span.lo, span.hi - span.lo, parts)
                call.regions.append(region)
                self._regions[region.number] = (call, region)
        return nodes, regions

    def _node(
        self, array: np.ndarray, call: Call | None, region: int, offset: int, content: int
    ) -> list:
        number = 0
        if call is not None:
            self._numbers += 1
            number = self._numbers
            call.numbers[id(array)] = (number, region, offset)
        return wire.array_node(array, number, region, offset, content)

    def _known_node(self, array: np.ndarray) -> list | None:
        """An array that lies in memory of a running call or of the student: its place there."""
        for call in reversed(self._calls):
            if id(array) in call.numbers:
                return wire.array_node(array, *call.numbers[id(array)], -1)
        if not array.size:
            return None
        lo, hi = wire.bounds(array)
        for _, region in self._regions.values():
            if region.lo <= lo and hi <= region.lo + region.length:
                offset = wire.address(array) - region.lo
                node = wire.array_node(array, 0, region.number, offset, -1)
                if wire.covers(region.arrays, region.lo, region.length, wire.ArrayNode(node)):
                    return node
        for mirror in self._mirrors.values():
            memory = mirror.memory()
            if memory is not None and memory.size:
                start = wire.address(memory)
                if start <= lo and hi <= start + memory.size:
                    number = next((n for n, o in mirror.objects.items() if o() is array), 0)
                    offset = wire.address(array) - start
                    return wire.array_node(array, number, mirror.number, offset, -1)
        return None

    # In

    def receive(self, frame: wire.Frame, call: Call | None) -> Received:
        """The arrays of an answer to `call`, or of a callback if there is none."""
        received = Received()
        fresh: dict[int, np.ndarray] = {}
        for *node, overlaps in frame.regions:
            number, memory = wire.region_memory(node, frame.buffers)
            if number >= 0:
                raise wire.WireError("a region that is not theirs")
            self._mention(number, memory, overlaps, fresh, received, call)
        for node in map(wire.ArrayNode, frame.arrays):
            received.nodes.append(node)
            received.arrays.append(self._receive_array(node, frame.buffers, fresh, received, call))
        if call is not None:
            for node in received.nodes:
                if node.region in self._mirrors:
                    self._mirrors[node.region].delivered = True
        return received

    def _mention(
        self,
        number: int,
        memory: np.ndarray,
        overlaps: list,
        fresh: dict[int, np.ndarray],
        received: Received,
        call: Call | None,
    ) -> None:
        mirror = self._mirrors.get(number)
        known = mirror.memory() if mirror is not None else None
        if known is None:
            self._new_mirror(number, memory)
        elif known.size != memory.size:
            raise wire.WireError("a region that changed its size")
        # Held here, so that it lives until its arrays are made.
        fresh[number] = memory if known is None else known
        self._mirrors[number].mentions += 1
        for other in overlaps:
            if other in self._mirrors and self._mirrors[other].delivered:
                received.shared.add("an earlier result")
            if other in self._regions and call is not None:
                received.shared.add("an argument")

    def _new_mirror(self, number: int, memory: np.ndarray) -> Mirror:
        mirror = self._mirrors[number] = Mirror(number, memory)
        weakref.finalize(memory, self._gone, mirror).atexit = False
        return mirror

    def _gone(self, mirror: Mirror) -> None:
        if self._mirrors.get(mirror.number) is mirror:
            del self._mirrors[mirror.number]
            self.dropped.append([mirror.number, mirror.mentions])

    def _receive_array(
        self,
        node: wire.ArrayNode,
        buffers: list,
        fresh: dict[int, np.ndarray],
        received: Received,
        call: Call | None,
    ) -> np.ndarray:
        if node.region > 0 or node.number > 0:
            return self._own_array(node, buffers, received, call)
        if node.region == 0:
            if node.nbytes:
                raise wire.WireError("an array without memory")
            return node.over(np.zeros(0, np.uint8))
        return self._mirrored(node, buffers, fresh, received)

    def _own_array(
        self, node: wire.ArrayNode, buffers: list, received: Received, call: Call | None
    ) -> np.ndarray:
        """The judge's own argument, or a view of it."""
        if node.number > 0:
            owner, array = self._numbered(node.number)
        else:
            owner, region = self._regions[node.region]
            array = region.view(node)
        if call is not None:
            received.shared |= call.sharing(array)
        new = node.elements(buffers)
        if new is not None and node.nbytes:
            if new.dtype != array.dtype or new.shape != array.shape:
                raise wire.WireError("elements of another array")
            if owner.may_change(array) and array.flags.writeable:
                np.copyto(array, new)
            else:
                owner.note_change(array, new)
        return array

    def _numbered(self, number: int) -> tuple[Call, np.ndarray]:
        for call in self._calls:
            for array in call.arrays:
                if call.numbers.get(id(array), (0,))[0] == number:
                    return call, array
        raise wire.WireError("an array that is not known")

    def _mirrored(
        self,
        node: wire.ArrayNode,
        buffers: list,
        fresh: dict[int, np.ndarray],
        received: Received,
    ) -> np.ndarray:
        """An array of the student, in the mirror of its memory."""
        memory, mirror = fresh[node.region], self._mirrors[node.region]
        if node.nbytes == 0:
            return node.over(memory)
        view = wire.view_of(memory, node.dtype, node.shape, node.strides, node.offset)
        new = node.elements(buffers)
        if mirror.delivered:
            received.shared.add("an earlier result")
            if new is not None and first_difference(view, new) is not None:
                # Their memory changed since; the test's earlier result must not.
                memory = fresh[node.region] = np.zeros(memory.size, np.uint8)
                mentions, mirror = mirror.mentions, self._new_mirror(node.region, memory)
                mirror.mentions = mentions
                view = wire.view_of(memory, node.dtype, node.shape, node.strides, node.offset)
        if new is not None:
            view[...] = new
        known = mirror.objects.get(node.number, lambda: None)()
        if known is not None and _same_layout(known, node, memory):
            return known
        array = node.over(memory)
        if node.number:
            mirror.objects[node.number] = weakref.ref(array)
        return array


def _same_layout(array: np.ndarray, node: wire.ArrayNode, memory: np.ndarray) -> bool:
    return (
        (array.dtype, array.shape, array.strides) == (node.dtype, node.shape, node.strides)
        and wire.address(array) == wire.address(memory) + node.offset
        and array.flags.writeable == node.writeable
    )


def shares(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have an element in common; True if that is too hard to say."""
    try:
        return np.shares_memory(a, b, max_work=MOST_WORK)
    except (np.exceptions.TooHardError, OverflowError):
        return np.may_share_memory(a, b)


def first_difference(a: np.ndarray, b: np.ndarray) -> tuple[int, ...] | None:
    """Index of the first element, in C order, whose bytes differ; None if all are the same."""
    if a.size == 0:
        return None
    mine, theirs = wire.element_bytes(a), wire.element_bytes(b)
    if wire.same_bytes(mine, theirs):
        return None
    differs = (mine != theirs).reshape(math.prod(a.shape), -1).any(axis=1)
    return tuple(int(i) for i in np.unravel_index(int(differs.argmax()), a.shape))


def _index(where: tuple[int, ...]) -> str:
    return f" at [{', '.join(map(str, where))}]" if where else ""


class Changes:
    """What a callback changes in the arrays it was given, to be told to the student's side."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays = arrays
        self._before = [a.copy() if a.flags.writeable else None for a in arrays]

    def find(self, attach: Callable[[Any], int]) -> list[list[int]]:
        changed = []
        for place, (array, before) in enumerate(zip(self._arrays, self._before)):
            if before is not None and first_difference(array, before) is not None:
                changed.append([place, attach(wire.element_bytes(array).copy())])
        return changed
