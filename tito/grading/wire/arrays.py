"""Arrays in regions: where their elements lie in memory, and how that is described and checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tito.grading.wire.values import (
    MOST_ARRAYS,
    Encoder,
    decode_dtype,
    empty,
    encode_dtype,
    is_count,
    require,
    zeros,
)

MOST_BUFFERS = 512 << 20


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def bounds(array: np.ndarray) -> tuple[int, int]:
    """First and last-but-one address of an array's elements; lo == hi if it has none."""
    lo = hi = address(array)
    if array.size == 0:
        return lo, lo
    for n, stride in zip(array.shape, array.strides):
        if stride < 0:
            lo += stride * (n - 1)
        else:
            hi += stride * (n - 1)
    return lo, hi + array.itemsize


def view_of(
    memory: np.ndarray, dtype: np.dtype, shape: Any, strides: Any, offset: int
) -> np.ndarray:
    """An array over part of flat memory; NumPy itself checks that it stays inside."""
    return np.ndarray(tuple(shape), dtype, buffer=memory, offset=offset, strides=tuple(strides))


class _Stretch:
    """A stretch of addresses as NumPy's array interface describes it."""

    def __init__(self, lo: int, length: int, writeable: bool, owners: Any) -> None:
        self.owners = owners  # keeps the memory alive
        self.__array_interface__ = {
            "version": 3, "typestr": "|u1", "shape": (length,), "data": (lo, not writeable),
        }  # fmt: skip


def raw_memory(
    lo: int, length: int, arrays: Sequence[np.ndarray], writeable: bool = True
) -> np.ndarray:
    """The memory that some arrays of this process lie in, as flat bytes. Not a copy."""
    if length == 0:
        return zeros(0, np.uint8)
    return np.asarray(_Stretch(lo, length, writeable, list(arrays)))


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two flat uint8 arrays of one length are equal (NaN payloads and -0.0 matter)."""
    whole = a.size & ~7
    return bool(
        np.array_equal(a[:whole].view(np.uint64), b[:whole].view(np.uint64))
        and np.array_equal(a[whole:], b[whole:])
    )


def element_bytes(array: np.ndarray) -> np.ndarray:
    """The elements in C order as flat bytes: a copy unless they already lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def array_node(array: np.ndarray, number: int, region: int, offset: int, content: int) -> list:
    """Describe an array: identity, type, layout, where it lies, and the buffer with its elements.

    number  : the same for one object in all messages; 0 if nobody will ask
    content : number of the buffer with its elements in C order; -1 if they need not be sent
    """
    return [
        number, encode_dtype(array.dtype), list(array.shape), list(array.strides),
        array.flags.writeable, region, offset, content,
    ]  # fmt: skip


class ArrayNode:
    """A checked `array_node`."""

    __slots__ = (
        "content", "dtype", "nbytes", "number", "offset", "region", "shape", "strides", "writeable",
    )  # fmt: skip

    def __init__(self, node: Any) -> None:
        number, dtype, shape, strides, writeable, region, offset, content = node
        for n in (number, region, offset, content):
            require(type(n) is int and abs(n) < 1 << 62, "array")
        require(type(shape) is list and type(strides) is list, "array")
        require(len(shape) == len(strides) <= 32 and offset >= 0, "array")
        size = 1
        for n, stride in zip(shape, strides):
            require(is_count(n, 1 << 40) and type(stride) is int, "shape or strides")
            size *= n
        self.number, self.region, self.offset, self.content = number, region, offset, content
        self.dtype, self.shape, self.strides = decode_dtype(dtype), tuple(shape), tuple(strides)
        self.writeable = writeable is True
        self.nbytes = size * self.dtype.itemsize
        require(size <= MOST_BUFFERS, "array too large")

    def over(self, memory: np.ndarray) -> np.ndarray:
        """The array, lying in a region's memory."""
        if self.dtype.itemsize == 0:
            array = empty(self.shape, self.dtype)
        elif self.nbytes == 0:
            memory = zeros(self.dtype.itemsize, np.uint8)
            array = view_of(memory, self.dtype, self.shape, self.strides, 0)
        else:
            array = view_of(memory, self.dtype, self.shape, self.strides, self.offset)
        array.flags.writeable = self.writeable
        return array

    def elements(self, buffers: Sequence[Any]) -> np.ndarray | None:
        """The elements that came along, as an array of its own; None if none came."""
        if self.content < 0:
            return None
        return elements(buffers[self.content], self.dtype, self.shape)


def elements(buffer: np.ndarray, dtype: np.dtype, shape: Sequence[int]) -> np.ndarray:
    """A C-ordered array over a buffer that must have exactly its size."""
    if 0 in shape or dtype.itemsize == 0:
        require(buffer.size == 0, "elements")
        return zeros(shape, dtype)
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    require(buffer.size == size, "elements of another size")
    return np.ndarray(tuple(shape), dtype, buffer=buffer)


class Span:
    """Arrays that overlap in memory, and the stretch of addresses they lie in."""

    __slots__ = ("hi", "lo", "members")

    def __init__(self, lo: int, hi: int, members: list[int]) -> None:
        self.lo, self.hi, self.members = lo, hi, members


def spans(stretches: Sequence[tuple[int, int]]) -> list[Span]:
    """Merge overlapping stretches of addresses; `members` are positions in `stretches`."""
    merged: list[Span] = []
    order = sorted(range(len(stretches)), key=lambda i: stretches[i])
    for i in order:
        lo, hi = stretches[i]
        if merged and lo < merged[-1].hi and hi > merged[-1].lo:
            merged[-1].hi = max(merged[-1].hi, hi)
            merged[-1].members.append(i)
        else:
            merged.append(Span(lo, hi, [i]))
    return merged


def is_dense(array: np.ndarray) -> bool:
    """No gaps and no repeats: its memory is exactly its elements."""
    return array.flags.c_contiguous or array.flags.f_contiguous


def place_span(span: Span, arrays: Sequence[np.ndarray], region: int, encoder: Encoder) -> tuple:
    """Lay a span out as a new region: its description, and each member's (offset, content).

    A region without (many) gaps travels as it lies in memory; of a sparse one only the elements.
    """
    length = span.hi - span.lo
    if length > MOST_BUFFERS:
        raise TypeError(f"the array spans more than {MOST_BUFFERS >> 20} MB of memory")
    members = [arrays[i] for i in span.members]
    offsets = [address(a) - span.lo for a in members]
    first = members[0]
    if len(members) == 1 and first.nbytes == length and is_dense(first):
        flat = first.reshape(-1, order="A").view(np.uint8) if length else b""
        return [region, length, encoder.attach(flat)], [(offsets[0], -1)]
    if length <= 4 * sum(a.nbytes for a in members) + 4096:
        memory = zeros(length, np.uint8)  # gaps may hold what the other side must not see
        for array, offset in zip(members, offsets):
            if array.size:
                np.copyto(view_of(memory, array.dtype, array.shape, array.strides, offset), array)
        return [region, length, encoder.attach(memory)], [(o, -1) for o in offsets]
    contents = [encoder.attach(element_bytes(a)) for a in members]
    return [region, length, -1], list(zip(offsets, contents))


def region_memory(node: Any, buffers: Sequence[Any]) -> tuple[int, np.ndarray]:
    """A region's number and its memory, from its description in a frame."""
    region, length, buffer = node
    require(type(region) is int and is_count(length, MOST_BUFFERS), "region")
    if type(buffer) is int and buffer == -1:
        return region, zeros(length, np.uint8)
    require(is_count(buffer, MOST_ARRAYS), "region")
    require(buffers[buffer].size == length, "region of another size")
    return region, buffers[buffer]


def covers(arrays: Sequence[np.ndarray], lo: int, length: int, view: ArrayNode) -> bool:
    """Whether every byte of a view lies in an element of one of the arrays, none in a gap."""
    if view.nbytes == 0:
        return True
    if any(is_dense(a) and address(a) == lo and a.nbytes == length for a in arrays):
        return True
    mask = zeros(length, bool)
    for array in arrays:
        if array.size:
            start = address(array) - lo
            _bytes_of(mask, array.shape, array.strides, start, array.itemsize)[...] = True
    return bool(_bytes_of(mask, view.shape, view.strides, view.offset, view.dtype.itemsize).all())


def _bytes_of(mask: np.ndarray, shape: Any, strides: Any, offset: int, size: int) -> np.ndarray:
    """The bytes of a strided view's elements in a byte mask: one more axis of length `size`."""
    return np.ndarray((*shape, size), bool, buffer=mask, offset=offset, strides=(*strides, 1))
