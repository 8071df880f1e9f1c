"""An array that is read and written one element at a time, so that accesses can be counted.

`CountedArray` is only the *face*: it knows dtype, shape and strides, and asks a backend for each
element. The backend holds the data and does the counting. In a notebook it is a `LocalBackend` in
the same process; in the judge the data stay with the test, and the backend in the student's
process sends a message for each access. The file needs NumPy alone, because it is copied into the
student's side as it stands.

What copies a whole array at once would read every element unseen, so it raises a TypeError that
names the copy instead: arithmetic, `np.asarray`, `.tolist()`, `.copy()`, masks, index lists.

Positions: a backend knows an element by its *position*, the index into the array flattened in C
order (whatever the layout in memory), so `x[i, j]` of an (m, n) array is position `i*n + j`.
Views keep the positions of the array they were taken from.
"""

from __future__ import annotations

import math
import operator
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np


class Backend(Protocol):
    """Where the elements are."""

    def read(self, position: int) -> Any:
        """The element as a NumPy scalar of the array's dtype."""

    def write(self, position: int, value: Any) -> None:
        """Store a NumPy scalar of the array's dtype."""


class LocalBackend:
    """Elements in this process: reads and writes the array itself and counts exactly.

    An instrument that wants more than the two numbers (an address trace, a cache model) wraps or
    subclasses it: every access goes through `read` or `write`, and `array` has the strides.
    """

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.reads = 0
        self.writes = 0
        self._flat = array.flat
        # Two threads of a parallel kernel may count at once; += alone would lose some.
        self._lock = threading.Lock()

    def read(self, position: int) -> Any:
        with self._lock:
            self.reads += 1
        return self._flat[position]

    def write(self, position: int, value: Any) -> None:
        with self._lock:
            self.writes += 1
        self._flat[position] = value


COPIES = "this copies the array; the count is about reading elements where they are used"


class WholeArrayError(TypeError):
    """Something asked for all elements at once."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: {COPIES}")


class Flags:
    """The flags people ask an array for; by attribute or by NumPy's upper-case name."""

    def __init__(self, c: bool, f: bool, writeable: bool) -> None:
        self.c_contiguous = self.contiguous = c
        self.f_contiguous = f
        self.fortran = self.fnc = f and not c
        self.forc = c or f
        self.writeable = writeable
        self.aligned = True
        self.owndata = False

    def __getitem__(self, name: str) -> bool:
        try:
            return getattr(self, name.lower())
        except AttributeError:
            raise KeyError(f"unknown flag {name}") from None


class CountedArray:
    """An array whose every element access goes through a backend.

    backend   : see `Backend`
    dtype     : of the elements
    shape     : a tuple of ints
    strides   : in bytes, as the array has them in memory; C order if not given
    writeable : whether elements may be assigned; inputs are read-only

    Reading: `x[i]`, `x[i][j]`, `x[i, j]`, negative indices, iteration, `x.flat`. What is left of
    an index (`x[i]` of a matrix, `x[2:5]`, `x[:, j]`, `x.T`) is a view that has read nothing yet.

    >>> backend = LocalBackend(np.arange(6.0).reshape(2, 3))
    >>> x = CountedArray(backend, np.float64, (2, 3))
    >>> float(x[1][2]), float(x[-1, 0]), backend.reads
    (5.0, 3.0, 2)
    """

    __hash__ = None  # as np.ndarray

    def __init__(
        self,
        backend: Backend,
        dtype: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        *,
        writeable: bool = False,
    ) -> None:
        self._backend = backend
        self._dtype = np.dtype(dtype)
        self._shape = tuple(operator.index(n) for n in shape)
        self._steps = _c_steps(self._shape)
        self._start = 0
        if strides is None:
            strides = tuple(step * self._dtype.itemsize for step in self._steps)
        self._strides = tuple(operator.index(s) for s in strides)
        self._writeable = bool(writeable)

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self._strides

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> Flags:
        c = _is_packed(self._shape, self._strides, self.itemsize)
        f = _is_packed(self._shape[::-1], self._strides[::-1], self.itemsize)
        return Flags(c, f, self._writeable)

    @property
    def T(self) -> CountedArray:
        return self._view(self._shape[::-1], self._steps[::-1], self._strides[::-1], self._start)

    def transpose(self, *axes: Any) -> CountedArray:
        """The view with its axes in another order; reversed without arguments."""
        if not axes or axes == (None,):
            return self.T
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        order = [_wrapped(axis, self.ndim, 0) for axis in order]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        pick = operator.itemgetter(*order) if self.ndim > 1 else tuple
        return self._view(pick(self._shape), pick(self._steps), pick(self._strides), self._start)

    @property
    def flat(self) -> FlatView:
        return FlatView(self)

    def reshape(self, *shape: Any) -> CountedArray:
        """A view of another shape, where NumPy would not have to copy for it."""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        if not self.flags.c_contiguous or not _is_packed(self._shape, self._steps, 1):
            raise WholeArrayError("reshape of an array that is not in C order")
        shape = _filled_in(shape, self.size)
        steps = _c_steps(shape)
        strides = tuple(step * self.itemsize for step in steps)
        return self._view(shape, steps, strides, self._start)

    def ravel(self) -> CountedArray:
        """The view with one axis, where NumPy would not have to copy for it."""
        return self.reshape(self.size)

    def item(self, *index: Any) -> Any:
        """One element as a Python number."""
        if len(index) == 1 and isinstance(index[0], tuple):
            index = index[0]
        if not index:
            return self._only_element("item").item()
        if len(index) == 1:
            return self.flat[index[0]].item()
        if len(index) != self.ndim:
            raise ValueError("incorrect number of indices for array")
        return self[index].item()

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self._shape[0]))

    def __contains__(self, value: Any) -> bool:
        return any(element == value for element in self.flat)

    def __getitem__(self, index: Any) -> Any:
        position = self._position(index)
        if position is not None:
            return self._backend.read(position)
        picked = self._picked(index)
        return picked if picked._shape or _has_ellipsis(index) else picked._read()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._writeable:
            raise ValueError(
                "assignment destination is read-only: this array is an input,"
                " write into a new one (np.empty_like makes it)"
            )
        picked = self._picked(index)
        if not picked._shape:
            picked._write(value)
            return
        source = value if isinstance(value, CountedArray) else np.asarray(value)
        if source.shape != picked.shape:
            if isinstance(source, CountedArray):
                raise WholeArrayError("assigning an array of another shape")
            source = np.broadcast_to(source, picked.shape)
        for position in np.ndindex(*picked.shape):
            picked[position] = source[position]

    def fill(self, value: Any) -> None:
        self[...] = value

    def __float__(self) -> float:
        return float(self._only_element("float"))

    def __int__(self) -> int:
        return int(self._only_element("int"))

    def __bool__(self) -> bool:
        return bool(self._only_element("bool"))

    def __repr__(self) -> str:
        return f"<counted array {self._shape} {self._dtype}>"

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise WholeArrayError("np.asarray")

    def __array_ufunc__(self, ufunc: Callable, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        raise WholeArrayError(name)

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        """np.empty_like and its kin give plain arrays, np.shape and its kin plain answers."""
        answer = _ARRAY_FUNCTIONS.get(func.__name__)
        if answer is None:
            raise WholeArrayError(f"np.{func.__name__}")
        return answer(*args, **kwargs)

    def _position(self, index: Any) -> int | None:
        """The position that plain ints name, one for each axis and all in range; else None.

        A shortcut for what a kernel does most: `_picked` knows all the other cases.
        """
        if type(index) is not tuple:
            index = (index,)
        if len(index) != len(self._shape):
            return None
        position = self._start
        for i, n, step in zip(index, self._shape, self._steps):
            if type(i) is not int or not -n <= i < n:
                return None
            position += (i if i >= 0 else i + n) * step
        return position

    def _picked(self, index: Any) -> CountedArray:
        """The view that an index leaves: shorter by one axis for each integer in it."""
        index = _full_index(index, self.ndim)
        shape, steps, strides, start = [], [], [], self._start
        for axis, part in enumerate(index):
            n, step, stride = self._shape[axis], self._steps[axis], self._strides[axis]
            if isinstance(part, slice):
                first, stop, by = part.indices(n)
                shape.append(len(range(first, stop, by)))
                steps.append(step * by)
                strides.append(stride * by)
                start += first * step
            else:
                start += _wrapped(part, n, axis) * step
        return self._view(tuple(shape), tuple(steps), tuple(strides), start)

    def _view(
        self, shape: tuple[int, ...], steps: tuple[int, ...], strides: tuple[int, ...], start: int
    ) -> CountedArray:
        view = object.__new__(CountedArray)
        view._backend, view._dtype, view._writeable = self._backend, self._dtype, self._writeable
        view._shape, view._steps, view._strides, view._start = shape, steps, strides, start
        return view

    def _read(self) -> Any:
        return self._backend.read(self._start)

    def _write(self, value: Any) -> None:
        if isinstance(value, CountedArray):
            value = value._only_element("assignment")
        scalar = np.asarray(value, dtype=self._dtype)
        if scalar.size != 1:
            raise ValueError("setting an array element with a sequence.")
        self._backend.write(self._start, scalar.reshape(())[()])

    def _only_element(self, what: str) -> Any:
        if self.size != 1:
            raise WholeArrayError(f"{what} of an array with {self.size} elements")
        return self.flat[0]


class FlatView:
    """`x.flat`: the elements in C order, by iteration or by one number."""

    def __init__(self, array: CountedArray) -> None:
        self._array = array

    def __len__(self) -> int:
        return self._array.size

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: Any) -> Any:
        return self._element(k)._read()

    def __setitem__(self, k: Any, value: Any) -> None:
        self._array[self._index(k)] = value

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise WholeArrayError("np.asarray")

    def _element(self, k: Any) -> CountedArray:
        return self._array._picked(self._index(k))

    def _index(self, k: Any) -> tuple[int, ...]:
        if isinstance(k, slice):
            raise WholeArrayError("a slice of .flat")
        rest = _wrapped(k, self._array.size, 0)
        index = []
        for n in reversed(self._array.shape):
            rest, i = divmod(rest, n)
            index.append(i)
        return tuple(reversed(index))


def take_them_in_numba() -> None:
    """From now on a function that Numba compiled, called with a counted array, runs as Python.

    So a kernel that is run as `kernel.py_func` may call others.
    """
    module = sys.modules.get("numba.core.dispatcher")
    compiles = module and module.Dispatcher._compile_for_args
    if not module or getattr(compiles, "takes_counted", False):
        return

    def _compile_for_args(self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, CountedArray) for value in (*args, *kwargs.values())):
            return self.py_func  # what a dispatcher then calls
        return compiles(self, *args, **kwargs)

    _compile_for_args.takes_counted = True
    module.Dispatcher._compile_for_args = _compile_for_args


def counted(array: np.ndarray, *, writeable: bool = False) -> CountedArray:
    """The counted face of an array in this process; its `LocalBackend` is `backend_of(...)`."""
    take_them_in_numba()
    return CountedArray(
        LocalBackend(array), array.dtype, array.shape, array.strides, writeable=writeable
    )


def backend_of(array: CountedArray) -> Any:
    """The backend that an array, or a view of it, asks for its elements."""
    return array._backend


def _c_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """How far apart neighbours along each axis are, in elements, in C order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _is_packed(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether the last axis is the closest and nothing lies between (axes of one do not matter)."""
    if 0 in shape:
        return True
    expected = itemsize
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != expected:
            return False
        expected *= n
    return True


def _filled_in(shape: tuple[Any, ...], size: int) -> tuple[int, ...]:
    """A shape for `size` elements, with its one -1 worked out."""
    sizes = [operator.index(n) for n in shape]
    if sizes.count(-1) == 1:
        rest = math.prod(n for n in sizes if n != -1)
        if rest and size % rest == 0:
            sizes[sizes.index(-1)] = size // rest
    if min(sizes, default=0) < 0 or math.prod(sizes) != size:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple(sizes)


def _has_ellipsis(index: Any) -> bool:
    return index is Ellipsis or (isinstance(index, tuple) and any(i is Ellipsis for i in index))


def _full_index(index: Any, ndim: int) -> tuple[Any, ...]:
    """One integer or slice for each axis, or an error that says what is not possible."""
    parts = index if isinstance(index, tuple) else (index,)
    for part in parts:
        if part is None:
            raise TypeError("np.newaxis is not there for a counted array")
        if isinstance(part, (list, np.ndarray, CountedArray, bool, np.bool_)) and np.ndim(part):
            raise WholeArrayError("an index list or mask")
        if isinstance(part, (bool, np.bool_)):
            raise WholeArrayError("a mask")
    dots = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    missing = ndim - (len(parts) - len(dots))
    if missing < 0:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional,"
            f" but {len(parts) - len(dots)} were indexed"
        )
    at = dots[0] if dots else len(parts)
    return parts[:at] + (slice(None),) * missing + parts[at + len(dots) :]


def _wrapped(i: Any, n: int, axis: int) -> int:
    """A position from 0 to n-1 for an index that may count from the end."""
    try:
        i = operator.index(i)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`) and ellipsis (`...`) are valid indices of a counted array"
        ) from None
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    return i + n if i < 0 else i


def _like(make: Callable) -> Callable:
    """np.empty_like and kin for a counted prototype: a plain array of its shape, dtype, order."""

    def made(prototype, *args, dtype=None, order="K", subok=True, shape=None, device=None):
        # The value of np.full_like comes first among the further positional arguments.
        fill, rest = (args[:1], args[1:]) if make is np.full else ((), args)
        dtype = rest[0] if rest else dtype
        order = rest[1] if len(rest) > 1 else order
        if order in ("K", "A"):
            flags = prototype.flags
            order = "F" if flags.f_contiguous and not flags.c_contiguous else "C"
        shape = prototype.shape if shape is None else shape
        return make(shape, *fill, dtype=dtype or prototype.dtype, order=order)

    return made


def _full_like(prototype, fill_value, *args, **kwargs):
    return _like(np.full)(prototype, fill_value, *args, **kwargs)


def _size(a: CountedArray, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


def _result_type(*operands: Any) -> np.dtype:
    kinds = [x.dtype if isinstance(x, CountedArray) else x for x in operands]
    return np.result_type(*kinds)


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """out[...] = src, in other words."""
    if not isinstance(dst, CountedArray) or where is not True:
        raise WholeArrayError("np.copyto")
    dst[...] = src


_ARRAY_FUNCTIONS: dict[str, Callable] = {
    "empty_like": _like(np.empty),
    "zeros_like": _like(np.zeros),
    "ones_like": _like(np.ones),
    "full_like": _full_like,
    "copyto": _copyto,
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": _size,
    "result_type": _result_type,
    "iscomplexobj": lambda x: np.issubdtype(x.dtype, np.complexfloating),
    "isrealobj": lambda x: not np.issubdtype(x.dtype, np.complexfloating),
    "transpose": lambda a, axes=None: a.transpose(axes),
}


def _refusing(name: str) -> Callable:
    """A method or operator that tells what it would have done."""

    def method(self: CountedArray, *args: Any, **kwargs: Any) -> Any:
        raise WholeArrayError(name)

    method.__name__ = name
    return method


def _refuse_whole_array_methods() -> None:
    """Every array method that the face lacks, and every operator, names itself a copy."""
    methods = [n for n in dir(np.ndarray) if not n.startswith("_")]
    for name in methods:
        if callable(getattr(np.ndarray, name)) and not hasattr(CountedArray, name):
            setattr(CountedArray, name, _refusing(name))
    symbols = {
        "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
        "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<",
        "rshift": ">>",
    }  # fmt: skip
    for name, symbol in symbols.items():
        for prefix in ("", "r", "i"):
            setattr(CountedArray, f"__{prefix}{name}__", _refusing(f"arithmetic ({symbol})"))
    for name, symbol in {
        "lt": "<",
        "le": "<=",
        "gt": ">",
        "ge": ">=",
        "eq": "==",
        "ne": "!=",
    }.items():
        setattr(CountedArray, f"__{name}__", _refusing(f"comparing ({symbol})"))
    for name in ("neg", "pos", "abs", "invert", "divmod", "rdivmod"):
        setattr(CountedArray, f"__{name}__", _refusing(f"arithmetic ({name})"))


_refuse_whole_array_methods()
