"""Inputs as they were: what a rung changed is found, and put back for the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tito.machine.rung import Rung, arrays_in


class Inputs:
    """Copies of the arguments that a rung must not change."""

    def __init__(self, rung: Rung) -> None:
        _touch(rung.arrays)
        self._live = rung.inputs
        self._kept = [_copied(value) for value in self._live]

    def changed(self) -> bool:
        """Whether any of them differs from its copy now."""
        return not all(map(_same, self._live, self._kept))

    def restore(self) -> None:
        """Arrays get back what they held."""
        for live, kept in zip(arrays_in(self._live), arrays_in(self._kept), strict=False):
            if live.flags.writeable and live.shape == kept.shape:
                np.copyto(live, kept)


def _touch(arrays: list[np.ndarray]) -> None:
    """Write every page once.

    Fresh memory (np.empty, np.zeros) has no pages of its own before that: reading it would time
    page faults, or one page of zeros that never leaves the cache.
    """
    for array in arrays:
        if array.flags.writeable and array.dtype != object:
            np.copyto(array, array.copy())


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_copied, value)) if type(value) in (list, tuple) else value
    return {key: _copied(item) for key, item in value.items()} if type(value) is dict else value


def _same(live: Any, kept: Any) -> bool:
    if isinstance(live, np.ndarray):
        return live.shape == kept.shape and _equal(live, kept)
    if type(live) in (list, tuple):
        return len(live) == len(kept) and all(map(_same, live, kept))
    if type(live) is dict:
        return live.keys() == kept.keys() and all(_same(live[key], kept[key]) for key in live)
    return live is kept or (type(live) is type(kept) and bool(live == kept))


def _equal(live: np.ndarray, kept: np.ndarray) -> bool:
    if live.dtype == object:
        return True
    return np.array_equal(live, kept, equal_nan=live.dtype.kind in "fc")
