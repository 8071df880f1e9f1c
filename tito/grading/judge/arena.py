"""Memory shared with one student process, for calls that are measured: nothing is sent, so what a
window costs beside the kernel is small.

It is a memfd of fixed size, sealed: the other side can write to it, but neither shrink it (reading
here would then end the judge) nor let it grow. Linux only; elsewhere `create` gives None.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tito.checks.rig import Call, Form
from tito.grading import wire

SIZE = 512 << 20  # of addresses; memory is taken where something is written
ALIGNMENT = 64
# Between two arrays, so that arrays of whole pages do not all begin at one place in their page.
GAP = 3 * ALIGNMENT
# fcntl's constants; Python knows them by name only where the C library does.
F_ADD_SEALS = 1033
F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW = 1, 2, 4
# What a result that was never written reads as.
UNWRITTEN = 0x5A


class Arena:
    """The judge's end of the shared memory.

    descriptor : of the memfd; the student's process gets a copy
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory: np.ndarray | None = None

    @classmethod
    def create(cls) -> Arena | None:
        """A new one; None where the system cannot make it safe."""
        if sys.platform != "linux" or not hasattr(os, "memfd_create"):
            return None
        import fcntl

        try:
            descriptor = os.memfd_create("arena", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except OSError:
            return None
        try:
            os.ftruncate(descriptor, SIZE)
            fcntl.fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
        except OSError:
            os.close(descriptor)
            return None
        return cls(descriptor)

    @property
    def memory(self) -> np.ndarray:
        """All of it as bytes; mapped when first asked for."""
        if self._memory is None:
            self._memory = np.frombuffer(mmap.mmap(self.descriptor, SIZE), np.uint8)
        return self._memory

    def close(self) -> None:
        """Give the descriptor back; may be repeated. The mapping goes with its last array."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        self._memory = None


class Placed:
    """Stands for an array in the arena where arguments are encoded."""

    def __init__(self, array: np.ndarray, offset: int) -> None:
        dtype = wire.encode_dtype(array.dtype)
        self.node = ["arena", offset, dtype, list(array.shape), list(array.strides)]


class Batch:
    """Calls laid out in the arena, with room for what they return.

    parts  : (args, kwargs, result or None) of each call, with `Placed` for arrays
    inside : the calls, their arrays lying in the arena
    """

    def __init__(self, memory: np.ndarray, calls: Sequence[Call], form: Form) -> None:
        self._memory = memory
        self._used = 0
        self.parts: list[tuple] = []
        self.inside: list[Call] = []
        self._slots: list[np.ndarray | None] = []
        for call in calls:
            self._add(call, form)

    def results(self) -> list[np.ndarray]:
        """What the calls computed, copied out of the other side's reach."""
        found = []
        for call, slot in zip(self.inside, self._slots):
            found.append(np.array(call.result(slot), order="K"))
        return found

    def _add(self, call: Call, form: Form) -> None:
        args, kwargs = self._put(call.args), self._put(call.kwargs)
        slot = placed = None
        if call.writes is None:
            slot, placed = self._take(form.dtype, form.shape)
            slot.reshape(-1).view(np.uint8)[...] = UNWRITTEN
        self.parts.append((_pick(args, 1), _pick(kwargs, 1), placed))
        self.inside.append(Call(_pick(args, 0), _pick(kwargs, 0), call.writes))
        self._slots.append(slot)

    def _put(self, value: Any) -> Any:
        """The value with each array replaced by a `_Pair`."""
        if isinstance(value, np.ndarray):
            strides = value.strides if wire.is_dense(value) else None
            view, placed = self._take(value.dtype, value.shape, strides)
            view[...] = value
            return _Pair((view, placed))
        if type(value) in (list, tuple):
            return type(value)(self._put(item) for item in value)
        if type(value) is dict:
            return {key: self._put(item) for key, item in value.items()}
        return value

    def _take(
        self, dtype: np.dtype, shape: tuple[int, ...], strides: tuple[int, ...] | None = None
    ) -> tuple[np.ndarray, Placed]:
        """The next free place as an array."""
        offset = self._used
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if offset + size > self._memory.size:
            raise ValueError(
                f"the arrays of one measurement take more than {self._memory.size >> 20} MB"
            )
        self._used += -(-(size + GAP) // ALIGNMENT) * ALIGNMENT
        array = np.ndarray(shape, dtype, buffer=self._memory, offset=offset, strides=strides)
        return array, Placed(array, offset)


class _Pair(tuple):
    """(array in the arena, what stands for it on the wire)."""

    __slots__ = ()


def _pick(value: Any, which: int) -> Any:
    """The value with one of each pair."""
    if type(value) is _Pair:
        return value[which]
    if type(value) in (list, tuple):
        return type(value)(_pick(item, which) for item in value)
    if type(value) is dict:
        return {key: _pick(item, which) for key, item in value.items()}
    return value
