"""A rung of the ladder: one way to do a piece of work, and how much work it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Rung:
    """One call to be measured: `func(*args, **kwargs)`.

    check      : called with the result before anything is timed; raises AssertionError if wrong
    flops      : floating-point operations of one call (a multiply-add is two)
    nbytes     : bytes that one call must read and write, each once
    operations : operations of another kind (int8 multiply-adds); a rate, but no share of a peak
    writes     : positions or names of the arguments that the call may change, besides `out`
    """

    name: str
    func: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    check: Callable[[Any], None] | None = None
    flops: float = 0
    nbytes: float = 0
    operations: float | None = None
    writes: tuple[int | str, ...] = ()

    @property
    def inputs(self) -> list[Any]:
        """The arguments that a call has to leave as they are."""
        named = {**dict(enumerate(self.args)), **self.kwargs}
        return [value for key, value in named.items() if key not in (*self.writes, "out")]

    @property
    def arrays(self) -> list[np.ndarray]:
        """The arrays among all arguments, each once."""
        return list({id(a): a for a in arrays_in([*self.args, *self.kwargs.values()])}.values())

    @property
    def dtype(self) -> np.dtype | None:
        """The widest float type of its array arguments: whose peak its rate is a share of."""
        floats = [a.dtype for a in self.arrays if a.dtype.kind == "f"]
        return max(floats, key=lambda dtype: dtype.itemsize, default=None)

    def footprint(self, result: Any) -> int:
        """Bytes of the arrays that one call touches: its arguments and its result."""
        whole = {id(a): a for a in arrays_in([*self.arrays, result])}
        return sum(array.nbytes for array in whole.values())


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a value, also those in its lists, tuples and dicts."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)
