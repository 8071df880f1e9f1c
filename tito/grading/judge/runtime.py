"""The checks' runtime in the judge: calls go to the student's process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tito.checks.runtime import Called, Counts
from tito.counted import CountedArray, LocalBackend
from tito.grading.judge.memory import shares
from tito.grading.judge.proxy import Proxy, target_of
from tito.grading.judge.world import World


class JudgeRuntime:
    """`tito.checks.runtime.Runtime` over a World.

    reported : (earned, message) of each `points(...)` of the test cell that runs
    """

    def __init__(self, world: World, secret: bytes = b"") -> None:
        self._world = world
        self._secret = secret
        self._results: list[np.ndarray] = []
        self.reported: list[tuple[Any, str | None]] = []

    def call(self, func: Callable, args: tuple, kwargs: dict) -> Called:
        """Call a function; of the student's, their side says what the result shares memory with."""
        if isinstance(func, Proxy):
            result, shared = self._world.call(target_of(func), args, kwargs)
        else:
            result = func(*args, **kwargs)
            shared = tuple(self._sharing(result, args, kwargs))
        # Kept, so that "an earlier result" stays one until the test cell is over.
        self._results += [a for _, a in _arrays(result, "")]
        return Called(result, shared)

    def forget(self) -> None:
        self._results.clear()
        self.reported.clear()

    def remote_array(self, array: Any, name: str | None) -> CountedArray:
        array = np.array(array, order="K")
        writeable = name == "out"
        return CountedArray(
            LocalBackend(array), array.dtype, array.shape, array.strides, writeable=writeable
        )

    def counts(self, array: Any) -> Counts:
        if not isinstance(array, CountedArray):
            raise TypeError(f"counts() takes a remote_array, not {type(array).__name__}")
        backend = array._backend
        return Counts(backend.reads, backend.writes)

    def secret(self) -> bytes:
        return self._secret

    def worker(self) -> int:
        return self._world.worker()

    def before_check(self, names: Iterable[str]) -> None:
        """Forbidden routes are decided before any test runs."""

    def describe(self, func: Callable) -> str:
        if isinstance(func, Proxy):
            target = target_of(func)
            return target.path or target.class_name
        return getattr(func, "__name__", type(func).__name__)

    def report_points(self, earned: Any, message: str | None) -> None:
        self.reported.append((earned, message))

    def _sharing(self, result: Any, args: tuple, kwargs: dict) -> set[str]:
        named = [*((f"argument {i + 1}", v) for i, v in enumerate(args))]
        named += [(f"argument {k}", v) for k, v in kwargs.items()]
        others = [pair for label, value in named for pair in _arrays(value, label)]
        others += [("an earlier result", r) for r in self._results]
        return {
            label for _, array in _arrays(result, "") for label, other in others
            if shares(array, other)
        }  # fmt: skip


def _arrays(value: Any, label: str, depth: int = 0) -> list[tuple[str, np.ndarray]]:
    """The arrays in a value, in lists and tuples too."""
    if isinstance(value, np.ndarray):
        return [(label, value)]
    if depth > 3 or not isinstance(value, list | tuple | dict):
        return []
    items = value.values() if isinstance(value, dict) else value
    return [pair for item in items for pair in _arrays(item, label, depth + 1)]
