"""What the student's side remembers of memory that the judge knows too.

Two kinds of regions. *Given* ones came with a call (number > 0): the student's code works on a
copy, the original stays to tell what it changed. *Own* ones were sent in a callback or an answer
(number < 0): they stay until the judge's side has dropped its last array in them, so that "shares
memory with an earlier result" means what it means in one process.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from tito.grading import wire

# A small view of a huge array is sent with a span of its own, not its owner's.
MOST_SPARSE, SMALL_OWNER = 16, 64 << 20


class Region:
    """Memory known to both sides. `original` is None for the student's own."""

    def __init__(
        self,
        number: int,
        lo: int,
        memory: np.ndarray,
        original: np.ndarray | None = None,
        owners: Any = (),
    ) -> None:
        self.number = number
        self.lo = lo
        self.hi = lo + memory.size
        self.memory = memory
        self.original = original
        self.owners = owners
        self.arrays: list[np.ndarray] = []  # given: what lies in it, the rest are gaps
        self.known: list[int] = []  # ids of the array objects in it
        self.mentions = 0

    def changed(self) -> bool:
        return self.original is not None and not wire.same_bytes(self.memory, self.original)

    def differs(self, array: np.ndarray) -> bool:
        """Whether the student's code changed these elements; ask `changed` first, of all."""
        return not wire.same_bytes(
            wire.element_bytes(array), wire.element_bytes(self.as_given(array))
        )

    def as_given(self, array: np.ndarray) -> np.ndarray:
        """The array as it was when the call came."""
        offset = wire.address(array) - self.lo
        return wire.view_of(self.original, array.dtype, array.shape, array.strides, offset)


class Given:
    """The arrays of one call, while it runs."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.regions: list[Region] = []


class Sent:
    """How the arrays of one outgoing message are described, and what to undo if it is not sent."""

    def __init__(self) -> None:
        self.nodes: list[list] = []
        self.regions: list[list] = []
        self.fresh: list[Region] = []
        self.mentioned: set[int] = set()


class Memory:
    """All regions, and the arrays whose identity matters. Not thread-safe: see Server."""

    def __init__(self) -> None:
        self._regions: dict[int, Region] = {}
        # id -> (array, its number, its region or None); the array keeps the id taken
        self._known: dict[int, tuple[np.ndarray, int, Region | None]] = {}
        self._numbers = 0

    # Arrays of the judge

    def receive(self, frame: wire.Frame, remember: bool) -> Given:
        """The arrays of a message; `remember` for those of a call, forgotten with `forget`."""
        given = Given()
        local: dict[int, Region] = {}
        for node in frame.regions:
            skew = node.pop()
            number, original = wire.region_memory(node, frame.buffers)
            local[number] = self._take_in(number, original, skew)
        given.regions = list(local.values())
        nodes = [wire.ArrayNode(node) for node in frame.arrays]
        given.arrays = [self._receive_array(node, local, frame.buffers) for node in nodes]
        if remember:
            self._regions.update(local)
            for node, array in zip(nodes, given.arrays):
                region = local.get(node.region)
                if region is not None:
                    region.known.append(id(array))
                    region.arrays.append(array)
                self._known[id(array)] = (array, node.number, region)
        return given

    def forget(self, given: Given) -> None:
        """The call is over."""
        for region in given.regions:
            self._drop(region)
        for array in given.arrays:
            self._known.pop(id(array), None)

    def drop(self, number: int, mentions: int) -> None:
        """The judge has no array in one of our regions any more, unless we named it since."""
        region = self._regions.get(number)
        if region is not None and region.mentions == mentions:
            self._drop(region)

    # Arrays of the student

    def describe(self, encoder: wire.Encoder, with_changes: bool) -> Sent:
        """How to send the arrays of an encoder.

        with_changes : also send what was changed in arrays of the judge (in a callback)
        """
        sent = Sent()
        nodes: list[Any] = []
        new: list[int] = []
        for place, array in enumerate(encoder.arrays):
            node = self._known_node(array, encoder, sent, with_changes)
            if node is None and array.size:
                new.append(place)
            elif node is None:
                node = wire.array_node(array, 0, 0, 0, -1)
            nodes.append(node)
        if new:
            self._export(new, encoder, sent, nodes)
        sent.nodes = nodes
        return sent

    def commit(self, sent: Sent) -> None:
        """The message was sent: the judge knows its regions now."""
        for number in sent.mentioned:
            if number in self._regions:
                self._regions[number].mentions += 1

    def undo(self, sent: Sent) -> None:
        """The message could not be sent."""
        for region in sent.fresh:
            self._drop(region)

    def changes(self, given: Given, encoder: wire.Encoder) -> list[list[int]]:
        """[argument, buffer with its elements] of the judge's arrays that were changed."""
        is_changed = cache(Region.changed)  # of each region once: it may be large
        if not any([is_changed(region) for region in given.regions]):
            return []
        changed = []
        for place, array in enumerate(given.arrays):
            known = self._known.get(id(array))
            region = known[2] if known is not None else None
            if region is not None and is_changed(region) and region.differs(array):
                changed.append([place, encoder.attach(wire.element_bytes(array).copy())])
        return changed

    def write(self, array: np.ndarray, buffer: np.ndarray) -> None:
        """Take over what a callback of the judge changed in an array."""
        new = wire.elements(buffer, array.dtype, array.shape)
        if array.flags.writeable:
            array[...] = new
        region = self._region_of(array)
        if region is not None and region.original is not None:
            region.as_given(array)[...] = new  # not the student's change

    def _take_in(self, number: int, original: np.ndarray, skew: int) -> Region:
        """The student's copy of a region, as aligned as it was over there."""
        block = np.empty(original.size + 64, np.uint8)
        start = (skew - wire.address(block)) % 64
        memory = block[start : start + original.size]
        memory[...] = original
        return Region(number, wire.address(memory), memory, original)

    def _receive_array(
        self, node: wire.ArrayNode, local: dict[int, Region], buffers: list
    ) -> np.ndarray:
        if node.number and node.region not in local:  # one of ours, or of the running call
            for array, number, _ in self._known.values():
                if number == node.number:
                    return array
        region = local.get(node.region) or self._regions.get(node.region)
        if region is None:
            return node.over(np.empty(0, np.uint8))
        new = node.elements(buffers)
        if new is not None and node.nbytes:
            for memory in (region.memory, region.original):
                wire.view_of(memory, node.dtype, node.shape, node.strides, node.offset)[...] = new
        return node.over(region.memory)

    def _known_node(
        self, array: np.ndarray, encoder: wire.Encoder, sent: Sent, with_changes: bool
    ) -> list | None:
        """The node of an array that lies in a region the judge knows; None otherwise."""
        known = self._known.get(id(array))
        if known is not None:
            _, number, region = known
        else:
            region = self._region_of(array)
            if region is None:
                return None
            number = self._remember(array, region)
        if region is None:
            return wire.array_node(array, number, 0, 0, -1)
        offset = wire.address(array) - region.lo if array.size else 0
        content = -1
        if region.original is None:
            self._mention(region, sent)
            content = encoder.attach(wire.element_bytes(array).copy())
        elif with_changes and array.size and region.changed() and region.differs(array):
            content = encoder.attach(wire.element_bytes(array).copy())
        return wire.array_node(array, number, region.number, offset, content)

    def _mention(self, region: Region, sent: Sent) -> None:
        if region.number not in sent.mentioned:
            sent.mentioned.add(region.number)
            sent.regions.append([region.number, region.hi - region.lo, -1, []])

    def _region_of(self, array: np.ndarray) -> Region | None:
        """The region that an array lies in entirely."""
        if not array.size:
            return None
        lo, hi = wire.bounds(array)
        for region in self._regions.values():
            if region.lo <= lo and hi <= region.hi and self._has_no_gaps(region, array):
                return region
        return None

    def _has_no_gaps(self, region: Region, array: np.ndarray) -> bool:
        if region.original is None:
            return True
        offset = wire.address(array) - region.lo
        node = wire.ArrayNode(wire.array_node(array, 0, region.number, offset, -1))
        return wire.covers(region.arrays, region.lo, region.hi - region.lo, node)

    def _export(
        self, places: list[int], encoder: wire.Encoder, sent: Sent, nodes: list[Any]
    ) -> None:
        """New regions for arrays of the student that lie in none."""
        arrays = [encoder.arrays[p] for p in places]
        for span in wire.spans([_owner_bounds(a) for a in arrays]):
            self._numbers -= 1
            number = self._numbers
            overlaps = self._overlapping(span.lo, span.hi)
            node, contents = wire.place_span(span, arrays, number, encoder)
            members = [arrays[i] for i in span.members]
            memory = wire.raw_memory(span.lo, span.hi - span.lo, members)
            region = Region(number, span.lo, memory, owners=members)
            self._regions[number] = region
            sent.fresh.append(region)
            sent.mentioned.add(number)
            sent.regions.append([*node, overlaps])
            for i, (offset, content) in zip(span.members, contents):
                mark = self._remember(arrays[i], region)
                nodes[places[i]] = wire.array_node(arrays[i], mark, number, offset, content)

    def _overlapping(self, lo: int, hi: int) -> list[int]:
        return [r.number for r in self._regions.values() if r.lo < hi and lo < r.hi][:100]

    def _remember(self, array: np.ndarray, region: Region) -> int:
        self._numbers -= 1
        self._known[id(array)] = (array, self._numbers, region)
        region.known.append(id(array))
        return self._numbers

    def _drop(self, region: Region) -> None:
        self._regions.pop(region.number, None)
        for known in region.known:
            self._known.pop(known, None)


def _owner_bounds(array: np.ndarray) -> tuple[int, int]:
    """The memory of the array that owns the elements, so that two views of it share a region."""
    owner = array
    while type(owner.base) is np.ndarray:
        owner = owner.base
    lo, hi = wire.bounds(owner)
    if not wire.is_dense(owner) or hi - lo > max(MOST_SPARSE * array.nbytes, SMALL_OWNER):
        return wire.bounds(array)
    return lo, hi
