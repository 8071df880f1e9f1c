"""Inputs as they were: what a rung changed is found, and put back for the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tito.machine.rung import arrays_in


class Inputs:
    """Copies of the arguments that a call must not change."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._live = list(values)
        self._kept = [copied(value) for value in self._live]

    def changed(self) -> bool:
        """Whether any of them differs from its copy now."""
        return not all(map(_same, self._live, self._kept))

    def restore(self) -> None:
        """Arrays get back what they held."""
        for live, kept in zip(arrays_in(self._live), arrays_in(self._kept), strict=False):
            if live.flags.writeable and live.shape == kept.shape:
                np.copyto(live, kept)


def touch(arrays: Iterable[np.ndarray]) -> None:
    """Write every page once, with what it holds.

    Fresh memory (np.empty, np.zeros) has no pages of its own before that: reading it would time
    page faults, or one page of zeros that never leaves the cache.
    """
    for array in arrays:
        owner = array
        while not owner.flags.writeable and isinstance(owner.base, np.ndarray):
            owner = owner.base
        if owner.flags.writeable and owner.dtype != object:
            np.copyto(owner, owner.copy())


def copied(value: Any) -> Any:
    """The same numbers elsewhere: arrays keep their layout; what is no container stays itself."""
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return {key: copied(item) for key, item in value.items()} if type(value) is dict else value


def _same(live: Any, kept: Any) -> bool:
    if isinstance(live, np.ndarray):
        return live.shape == kept.shape and np.array_equal(_bits(live), _bits(kept))
    if type(live) in (list, tuple):
        return len(live) == len(kept) and all(map(_same, live, kept))
    if type(live) is dict:
        return live.keys() == kept.keys() and all(_same(live[key], kept[key]) for key in live)
    # Anything else was not copied: a number in a list may have been put in another's place.
    return live is kept or (type(live) is type(kept) and bool(live == kept))


def _bits(array: np.ndarray) -> np.ndarray:
    """Numbers as whole numbers of the same bits: a NaN is equal to itself, and it is fast."""
    size = array.dtype.itemsize
    if array.dtype.kind in "biuf" and size in (1, 2, 4, 8):
        return array.view(f"u{size}")
    if array.dtype.kind in "cf":
        return np.nan_to_num(array)
    return array
