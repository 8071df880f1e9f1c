"""Which arrays an argument or a result holds, and whether two of them share memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tito.checks.show import Index

DEEPEST = 5


def arrays_in(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, np.ndarray]]:
    """Every array in a value, with the index that leads to it: "", "[0]", "['y']"."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif depth < DEEPEST and type(value) in (list, tuple):
        for i, item in enumerate(value):
            yield from arrays_in(item, f"{path}[{i}]", depth + 1)
    elif depth < DEEPEST and type(value) is dict:
        for key, item in value.items():
            yield from arrays_in(item, f"{path}[{key!r}]", depth + 1)


def named_arguments(func: Callable, args: tuple, kwargs: dict) -> list[tuple[str, Any]]:
    """Arguments with the names the function gives them, or "1", "2" where it does not tell."""
    try:
        bound = inspect.signature(func).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return [(str(i + 1), a) for i, a in enumerate(args)] + list(kwargs.items())
    named = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            named += [(f"{name}[{i}]", item) for i, item in enumerate(value)]
        elif kind is inspect.Parameter.VAR_KEYWORD:
            named += value.items()
        else:
            named.append((name, value))
    return named


@dataclass
class Snapshot:
    """An array as it was before a call."""

    array: np.ndarray
    before: np.ndarray
    shape: tuple[int, ...]

    @classmethod
    def of(cls, array: np.ndarray) -> Snapshot:
        return cls(array, np.array(array, order="K", copy=True, subok=False), array.shape)

    def first_change(self) -> Index | None:
        """The first element that is not what it was, bit by bit; () if the shape changed."""
        if self.array.shape != self.shape:
            return ()
        changed = _bits(self.before) != _bits(np.asarray(self.array))
        if not changed.any():
            return None
        element = changed.any(axis=-1)
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(element)), element.shape))


def _bits(array: np.ndarray) -> np.ndarray:
    """The bytes of each element along a further axis: NaN payloads and -0.0 count as well."""
    if array.dtype.hasobject:
        return np.vectorize(id, otypes=[np.intp])(array)[..., np.newaxis]
    # ascontiguousarray would make a 0-d array one-dimensional.
    packed = np.array(array, order="C", copy=True)
    return np.frombuffer(packed.tobytes(), np.uint8).reshape(*array.shape, array.dtype.itemsize)


def shares(result: np.ndarray, other: np.ndarray) -> bool:
    """Whether a result lies in the memory that another array is a part of.

    Both are traced back to the array that owns their memory: a result that is the other half of
    the buffer an argument was sliced from is the caller's memory too.
    """
    return bool(np.may_share_memory(owner(result), owner(other)))


def overlaps(result: np.ndarray, earlier: np.ndarray) -> bool:
    """Whether two arrays have an element in common."""
    try:
        return bool(np.shares_memory(result, earlier, max_work=10_000))
    except np.exceptions.TooHardError:
        return bool(np.may_share_memory(result, earlier))


def owner(array: np.ndarray) -> np.ndarray:
    """The array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
