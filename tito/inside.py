"""Readings of a function that only the process that runs it can take: assembly, allocations, ...

They are *claims*: whoever wrote the function could also have written what is read. So the judge
takes them in a process that runs nothing but the cells concerned, and only after a look at their
syntax (`tito.checks.gate`). The file is copied into the student's side as it stands: it needs the
standard library and NumPy, and Numba for what Numba compiled.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Unreadable(Exception):
    """The function has no such reading; the message says why."""


def read(kind: str, func: Callable, args: tuple, kwargs: dict) -> tuple[Any, Any]:
    """(the reading, what the function returned), from calls with these arguments.

    kind : a key of KINDS. The function is called once to warm up, which compiles it, and once or
           not at all for the reading; each call but the first gets copies of the arguments
    """
    spare = copied((args, kwargs))
    result = func(*args, **kwargs)
    return KINDS[kind](func, *spare), result


def _assembly(func: Callable, args: tuple, kwargs: dict) -> str:
    return "\n".join(_dispatcher(func).inspect_asm().values())


def _llvm(func: Callable, args: tuple, kwargs: dict) -> str:
    return "\n".join(_dispatcher(func).inspect_llvm().values())


def _signatures(func: Callable, args: tuple, kwargs: dict) -> list[str]:
    return [str(signature) for signature in _dispatcher(func).signatures]


def _parfors(func: Callable, args: tuple, kwargs: dict) -> int:
    """Loops over prange that stand in no other loop, over all signatures.

    Numba makes more than these parallel, such as c[i, :] = 0 in the body of a plain loop.
    """
    compiled = _dispatcher(func)
    found = [compiled.get_metadata(s).get("parfor_diagnostics") for s in compiled.signatures]
    # Without parallel=True there are diagnostics that know of no code.
    return sum(_outer_pranges(each.func_ir.blocks) for each in found if hasattr(each, "func_ir"))


def _outer_pranges(blocks: dict[int, Any]) -> int:
    """Loops over prange in the blocks of a function that belong to no other loop."""
    from numba.core.analysis import compute_cfg_from_blocks
    from numba.parfors.parfor import Parfor

    loops = compute_cfg_from_blocks(blocks).loops().values()
    in_loops = {label for loop in loops for label in loop.body}
    outside = (block.body for label, block in blocks.items() if label not in in_loops)
    return sum(
        isinstance(step, Parfor) and any(p[:2] == ("prange", "user") for p in step.patterns)
        for body in outside
        for step in body
    )


def _turns(func: Callable, args: tuple, kwargs: dict) -> tuple[int, int, int]:
    """(turns of prange, elements changed last outside of all turns, elements that turns share).

    Of one call of the function as plain Python: what its array arguments hold is looked at before
    and behind each turn of an outermost loop over prange.
    """
    from numba.misc.special import prange

    record, plain = _Turns((args, kwargs)), vars(prange)["__new__"]
    prange.__new__ = staticmethod(lambda kind, *limits: record.over(range(*limits)))
    try:
        _dispatcher(func).py_func(*args, **kwargs)
    finally:
        prange.__new__ = plain
    return record.result()


class _Turns:
    """Who changed each element of some arrays last: a turn of a loop, or what lies outside."""

    _NOBODY, _OUTSIDE = -2, -1

    def __init__(self, arguments: Any) -> None:
        self._arrays: list[np.ndarray] = []
        _map_arrays(arguments, self._arrays.append)
        self._before = [array.copy() for array in self._arrays]
        self._by = [np.full(array.shape, self._NOBODY) for array in self._arrays]
        self._shared = [np.zeros(array.shape, bool) for array in self._arrays]
        self._count, self._inside = 0, False

    def over(self, limits: range) -> Iterator[int]:
        """The turns of a loop; those of a loop inside of a turn belong to that."""
        if self._inside:
            yield from limits
            return
        for turn in limits:
            self._note(self._OUTSIDE)
            self._inside = True
            yield turn
            self._inside = False
            self._note(self._count)
            self._count += 1

    def result(self) -> tuple[int, int, int]:
        self._note(self._OUTSIDE)
        outside = sum(int((by == self._OUTSIDE).sum()) for by in self._by)
        return self._count, outside, sum(int(shared.sum()) for shared in self._shared)

    def _note(self, who: int) -> None:
        for array, before, by, shared in zip(self._arrays, self._before, self._by, self._shared):
            changed = (array != before) & ((array == array) | (before == before))
            if who != self._OUTSIDE:
                shared |= changed & (by > self._OUTSIDE) & (by != who)
            by[changed] = who
            before[...] = array


def _allocations(func: Callable, args: tuple, kwargs: dict) -> int:
    """Arrays that compiled code allocated in one call, results too."""
    _dispatcher(func)
    from numba.core.runtime import _nrt_python, rtsys

    arguments: list[np.ndarray] = []
    _map_arrays((args, kwargs), arguments.append)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats().alloc
    func(*args, **kwargs)
    # Numba also allocates a small record for each array that comes in from Python.
    return rtsys.get_allocation_stats().alloc - before - len(arguments)


def _peak_bytes(func: Callable, args: tuple, kwargs: dict) -> int:
    """The most memory that one call held beyond what was there before, results too."""
    was_tracing = tracemalloc.is_tracing()
    gc.collect()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        func(*args, **kwargs)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()


def _products(func: Callable, args: tuple, kwargs: dict) -> list[tuple]:
    """(name, shapes of the operands) of each product of arrays in one call, in order."""
    seen: list[tuple] = []

    class Recorded(_Recorded):
        log = seen

    func(*_map_arrays(args, Recorded.of), **_map_arrays(kwargs, Recorded.of))
    return seen


KINDS: dict[str, Callable[[Callable, tuple, dict], Any]] = {
    "assembly": _assembly,
    "llvm": _llvm,
    "signatures": _signatures,
    "parfors": _parfors,
    "turns": _turns,
    "allocations": _allocations,
    "peak_bytes": _peak_bytes,
    "products": _products,
}


def _dispatcher(func: Callable) -> Any:
    """The function as Numba compiled it; anything that only looks like it is refused."""
    try:
        from numba.core.registry import CPUDispatcher
    except ImportError:
        raise Unreadable("Numba is not installed") from None
    if type(func) is not CPUDispatcher:
        name = getattr(func, "__name__", type(func).__name__)
        raise Unreadable(f"{name} is no function that Numba compiled")
    if own := [name for name in vars(func) if callable(getattr(CPUDispatcher, name, None))]:
        raise Unreadable(f"its {own[0]} is not Numba's")
    return func


_PRODUCTS = (
    *("matmul", "dot", "einsum", "tensordot", "inner", "outer", "vdot", "vecdot", "matvec"),
    *("vecmat", "kron", "multi_dot"),
)


class _Recorded(np.ndarray):
    """An array that notes the shapes of each product it takes part in; so do its views."""

    log: list[tuple]

    @classmethod
    def of(cls, array: np.ndarray) -> _Recorded:
        return array.view(cls)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        self._note(ufunc.__name__, inputs)
        if out is not None:
            kwargs["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        return out[0] if out is not None and len(out) == 1 else _map_arrays(result, self.of)

    def __array_function__(self, func, types, args, kwargs):
        self._note(func.__name__, args)
        out = kwargs.get("out")
        result = func(*_map_arrays(args, _plain), **_map_arrays(kwargs, _plain))
        return out if isinstance(out, np.ndarray) else _map_arrays(result, self.of)

    def dot(self, other, out=None):
        self._note("dot", (self, other))
        result = np.ndarray.dot(_plain(self), _plain(other), *([] if out is None else [out]))
        return result if out is not None else _map_arrays(result, self.of)

    def _note(self, name: str, operands: tuple) -> None:
        if name in _PRODUCTS:
            shapes = [o.shape for o in operands if isinstance(o, np.ndarray)]
            self.log.append((name, shapes))


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, _Recorded) else value


def copied(value: Any) -> Any:
    """The value with arrays of its own, in the same order of memory."""
    return _map_arrays(value, lambda array: np.array(array, order="K"))


def _map_arrays(value: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """The value with its arrays changed, inside lists, tuples and dicts too."""
    if isinstance(value, np.ndarray):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_map_arrays(item, change) for item in value)
    if type(value) is dict:
        return {key: _map_arrays(item, change) for key, item in value.items()}
    return value
