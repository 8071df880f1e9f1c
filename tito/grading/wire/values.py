"""Plain values as trees, and back: what may cross, checked before memory is taken for it."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

MOST_PARTS = 500_000
MOST_DEPTH = 50
MOST_INT_BYTES = 1 << 15
MOST_FRACTION_BITS = 1 << 12
MOST_KEYS = 50_000
MOST_SAME_HASH = 64
MOST_ARRAYS = 10_000
LONG_TEXT = 4096  # bytes; longer text travels as a buffer, so that the head stays small

# Bound now: a judge replaces np.empty by one that hands out poisoned memory.
empty, zeros = np.empty, np.zeros


class WireError(Exception):
    """The other side sent what no honest peer sends."""


# What decoding hostile data may raise besides WireError; callers catch both.
BAD_DATA = (
    WireError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError,
)  # fmt: skip


_PLAIN_DTYPE = re.compile(
    r"[<>|=]?(b1|i[1248]|u[1248]|f2|f4|f8|f12|f16|c8|c16|c24|c32|[SUV]\d{1,5}"
    r"|[Mm]8(\[\d{0,6}[A-Za-zμ]{1,7}\])?)"
)


def encode_dtype(dtype: np.dtype) -> Any:
    """A dtype as plain data; TypeError if it holds Python objects."""
    if dtype.hasobject:
        raise TypeError("an array of Python objects cannot be handed over: return a list")
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return ["sub", encode_dtype(base), list(shape)]
    if dtype.names is None:
        return dtype.str
    fields = [[n, encode_dtype(dtype.fields[n][0]), dtype.fields[n][1]] for n in dtype.names]
    return ["rec", fields, dtype.itemsize, dtype.isalignedstruct]


def decode_dtype(node: Any, depth: int = 0) -> np.dtype:
    """The dtype of `encode_dtype`'s data, built from checked parts only."""
    if type(node) is str:
        if not _PLAIN_DTYPE.fullmatch(node):
            raise WireError(f"dtype {node[:40]!r}")
        return np.dtype(node)
    require(type(node) is list and depth < 8, "dtype")
    if node[0] == "sub":
        _, base, shape = node
        require(len(shape) <= 8 and all(is_count(n, 1 << 16) and n for n in shape), "dtype")
        return np.dtype((decode_dtype(base, depth + 1), tuple(shape)))
    tag, fields, itemsize, aligned = node
    require(tag == "rec" and len(fields) <= 256 and is_count(itemsize, 1 << 20), "dtype")
    formats = [decode_dtype(f, depth + 1) for _, f, _ in fields]
    for (name, _, offset), field in zip(fields, formats):
        require(type(name) is str and is_count(offset, itemsize), "field name or offset")
        require(offset + field.itemsize <= itemsize, "field outside its record")
    return np.dtype(
        {
            "names": [name for name, _, _ in fields],
            "formats": formats,
            "offsets": [offset for _, _, offset in fields],
            "itemsize": itemsize,
        },
        align=bool(aligned),
    )


def require(condition: Any, what: str) -> None:
    """Raise a WireError unless the other side kept to the form."""
    if not condition:
        raise WireError(what)


def is_count(n: Any, most: int) -> bool:
    """Whether it is a whole number from 0 to `most` (True is none)."""
    return type(n) is int and 0 <= n <= most


# Types and functions that both sides have are named, not sent.
_TYPES = {
    t.__name__: t
    for t in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range,
        slice, object,
    )
}  # fmt: skip
_TYPES.update(
    (name, t)
    for name, t in vars(builtins).items()
    if isinstance(t, type) and issubclass(t, BaseException)
)
_TYPE_NAMES = {t: name for name, t in _TYPES.items()}
_FUNCTION_MODULES = (
    "builtins", "math", "time", "tracemalloc", "numpy", "numpy.linalg", "numpy.fft",
    "numpy.random",
)  # fmt: skip


def library_name(func: Any) -> str | None:
    """ "numpy.linalg norm" for a module-level function of a library both sides have."""
    name = getattr(func, "__name__", None)
    if type(name) is not str:
        return None
    for module in _FUNCTION_MODULES:
        if getattr(sys.modules.get(module), name, None) is func:
            return f"{module} {name}"
    return None


def library_function(name: str) -> Any:
    """The function of `library_name`."""
    module, _, attribute = name.partition(" ")
    require(module in _FUNCTION_MODULES and attribute.isidentifier(), "library function")
    __import__(module)
    return getattr(sys.modules[module], attribute)


class Encoder:
    """Turns values into trees; the arrays in them are collected in `arrays`.

    opaque : called with what is not plain data, and the encoder; its node, or TypeError
    """

    def __init__(self, opaque: Callable[[Any, Encoder], list]) -> None:
        self.arrays: list[np.ndarray] = []
        self.buffers: list[Any] = []
        self._opaque = opaque
        self._places: dict[int, int] = {}
        self._parts = 0

    def value(self, obj: Any, depth: int = 0) -> Any:
        """The tree of a value; TypeError says what cannot cross."""
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise TypeError(f"the value is too large: more than {MOST_PARTS} parts")
        if depth > MOST_DEPTH:
            raise TypeError(f"the value nests deeper than {MOST_DEPTH} (or contains itself)")
        kind = type(obj)
        if obj is None or kind is bool or kind is float:
            return obj
        encode = _EXACT.get(kind)
        return encode(self, obj, depth + 1) if encode else self._other(obj, depth + 1)

    def values(self, items: Iterable[Any], depth: int) -> list:
        return [self.value(item, depth) for item in items]

    def attach(self, data: Any) -> int:
        """Send bytes along as a buffer; its number."""
        self.buffers.append(data)
        return len(self.buffers) - 1

    def text(self, text: str) -> Any:
        if len(text) <= LONG_TEXT // 4:
            return text
        data = text.encode("utf-8", "surrogatepass")
        return text if len(data) <= LONG_TEXT else ["long", self.attach(data)]

    def blob(self, data: bytes) -> Any:
        return data if len(data) <= LONG_TEXT else ["blob", self.attach(data)]

    def integer(self, n: int) -> Any:
        if -(2**63) <= n < 2**63:
            return n
        size = n.bit_length() // 8 + 1
        if size > MOST_INT_BYTES:
            raise TypeError(f"an integer of {size} bytes is too large")
        return ["int", self.blob(n.to_bytes(size, "little", signed=True))]

    def array(self, array: np.ndarray) -> list:
        place = self._places.get(id(array))
        if place is None:
            encode_dtype(array.dtype)  # refuses what cannot cross
            if len(self.arrays) >= MOST_ARRAYS:
                raise TypeError(f"the value is too large: more than {MOST_ARRAYS} arrays")
            place = self._places[id(array)] = len(self.arrays)
            self.arrays.append(array)
        return ["a", place]

    def _other(self, obj: Any, depth: int) -> Any:
        """Less common kinds. Subclasses become their plain base, by the base's own methods."""
        kind = type(obj)
        if isinstance(obj, np.generic) and kind.__module__ == "numpy":
            cell = np.asarray(obj)
            return ["np", encode_dtype(cell.dtype), self.blob(cell.tobytes())]
        if isinstance(obj, type):
            return self._type(obj)
        if _is_fraction(obj):
            return ["frac", self.integer(obj.numerator), self.integer(obj.denominator)]
        if isinstance(obj, np.dtype):
            return ["dtype", encode_dtype(obj)]
        if isinstance(obj, np.ndarray) and not _is_masked(obj):
            if kind is not np.ndarray:
                obj = np.ndarray.view(obj, np.ndarray)
            return self.array(obj)
        if isinstance(obj, tuple) and type(getattr(kind, "_fields", None)) is tuple:
            fields = [self.text(f) for f in kind._fields]
            return ["named", kind.__name__, fields, self.values(tuple.__iter__(obj), depth)]
        for base, plain in _PLAIN_BASES:
            if isinstance(obj, base):
                return self.value(plain(obj), depth)
        return self._opaque(obj, self)

    def _type(self, kind: type) -> list:
        name = _TYPE_NAMES.get(kind)
        if name is not None:
            return ["type", name]
        if issubclass(kind, np.generic) and getattr(np, kind.__name__, None) is kind:
            return ["nptype", kind.__name__]
        return self._opaque(kind, self)


def _is_fraction(obj: Any) -> bool:
    """An exact fraction that is quickly reduced; the library is not imported for this question."""
    fractions = sys.modules.get("fractions")
    if fractions is None or type(obj) is not fractions.Fraction:
        return False
    return max(obj.numerator.bit_length(), obj.denominator.bit_length()) <= MOST_FRACTION_BITS


def _is_masked(array: np.ndarray) -> bool:
    masked = sys.modules.get("numpy.ma")  # not imported for this question
    return masked is not None and isinstance(array, masked.MaskedArray)


_PLAIN_BASES: tuple[tuple[type, Callable], ...] = (
    (str, lambda s: "".join(str.__iter__(s))),
    (bytes, lambda b: bytes(bytes.__iter__(b))),
    (bytearray, lambda b: bytearray(bytearray.__iter__(b))),
    (int, int.__pos__),
    (float, float.__pos__),
    (complex, complex.__pos__),
    (tuple, lambda t: tuple(tuple.__iter__(t))),
    (list, lambda t: list(list.__iter__(t))),
    (dict, lambda d: dict(dict.items(d))),
    (set, lambda s: set(set.__iter__(s))),
    (frozenset, lambda s: frozenset(frozenset.__iter__(s))),
)
_EXACT: dict[type, Callable[[Encoder, Any, int], Any]] = {
    int: lambda e, o, d: e.integer(o),
    str: lambda e, o, d: e.text(o),
    bytes: lambda e, o, d: e.blob(o),
    np.ndarray: lambda e, o, d: e.array(o),
    tuple: lambda e, o, d: ["t", e.values(o, d)],
    list: lambda e, o, d: ["l", e.values(o, d)],
    dict: lambda e, o, d: ["d", e.values(o, d), e.values(o.values(), d)],
    set: lambda e, o, d: ["set", e.values(o, d)],
    frozenset: lambda e, o, d: ["frozen", e.values(o, d)],
    complex: lambda e, o, d: ["c", o.real, o.imag],
    bytearray: lambda e, o, d: ["ba", e.blob(bytes(o))],
    slice: lambda e, o, d: ["slice", e.values((o.start, o.stop, o.step), d)],
    range: lambda e, o, d: ["range", e.values((o.start, o.stop, o.step), d)],
    type(...): lambda e, o, d: ["..."],
}


class Decoder:
    """Turns trees back into values.

    arrays  : what ["a", i] stands for
    buffers : of the same frame
    special : called with the nodes that `opaque` made on the other side, and the decoder
    """

    def __init__(
        self, arrays: Sequence[Any], buffers: Sequence[Any], special: Callable[[list, Decoder], Any]
    ) -> None:
        self._arrays = arrays
        self._buffers = buffers
        self._special = special
        self._parts = 0

    def value(self, node: Any, depth: int = 0) -> Any:
        self._parts += 1
        require(self._parts <= MOST_PARTS and depth <= MOST_DEPTH, "value too large")
        kind = type(node)
        if node is None or kind in (bool, int, float, str, bytes):
            return node
        require(kind is list and node and type(node[0]) is str, "node")
        decode = _DECODE.get(node[0])
        return decode(self, node, depth + 1) if decode else self._special(node, self)

    def values(self, nodes: Any, depth: int) -> list:
        require(type(nodes) is list, "items")
        return [self.value(node, depth) for node in nodes]

    def array(self, node: list, depth: int) -> Any:
        _, place = node
        require(is_count(place, MOST_ARRAYS), "array number")
        return self._arrays[place]

    def blob(self, node: list, depth: int) -> bytes:
        return bytes(self._buffer(node))

    def text(self, node: list, depth: int) -> str:
        return bytes(self._buffer(node)).decode("utf-8", "surrogatepass")

    def scalar(self, node: list, depth: int) -> Any:
        dtype, data = decode_dtype(node[1]), self._bytes(node[2], depth)
        require(len(data) == dtype.itemsize, "scalar")
        if not data:
            return zeros((), dtype)[()]
        return np.frombuffer(data, dtype, 1)[0]

    def integer(self, node: list, depth: int) -> int:
        data = self._bytes(node[1], depth)
        require(len(data) <= MOST_INT_BYTES, "integer")
        return int.from_bytes(data, "little", signed=True)

    def bytearray(self, node: list, depth: int) -> bytearray:
        return bytearray(self._bytes(node[1], depth))

    def dict(self, node: list, depth: int) -> dict:
        _, keys, values = node
        keys, values = self._keys(keys, depth), self.values(values, depth)
        require(len(keys) == len(values), "dict")
        return dict(zip(keys, values))

    def set(self, node: list, depth: int) -> set:
        return set(self._keys(node[1], depth))

    def _keys(self, nodes: list, depth: int) -> list:
        """Keys of a dict or set. Numbers hash predictably: how many may collide is limited."""
        keys = self.values(nodes, depth)
        require(len(keys) <= MOST_KEYS, "too many keys")
        hashes: dict[int, int] = {}
        for key in keys:
            h = hash(key)
            hashes[h] = hashes.get(h, 0) + 1
            require(hashes[h] <= MOST_SAME_HASH, "keys that collide")
        return keys

    def _buffer(self, node: list) -> Any:
        _, number = node
        require(is_count(number, MOST_ARRAYS), "buffer number")
        return self._buffers[number]

    def _bytes(self, node: Any, depth: int) -> bytes:
        data = self.value(node, depth)
        require(type(data) is bytes, "bytes")
        return data


def _named_tuple(name: Any, fields: list, items: list) -> tuple:
    """A tuple with named fields, like the namedtuple it was."""
    require(type(name) is str and len(fields) == len(items) <= 256, "named tuple")
    for field in fields:
        ok = type(field) is str and field.isidentifier() and not keyword.iskeyword(field)
        require(ok and not field.startswith("_"), "field name")
    members: dict[str, Any] = {
        field: property(lambda self, i=i: tuple.__getitem__(self, i))
        for i, field in enumerate(fields)
    }
    members["_fields"] = tuple(fields)
    members["_asdict"] = lambda self: dict(zip(fields, self))
    members["__repr__"] = lambda self: "{}({})".format(
        name, ", ".join(f"{f}={v!r}" for f, v in zip(fields, self))
    )
    return type(name[:80], (tuple,), members)(items)


def _numpy_type(name: Any) -> type:
    kind = getattr(np, name, None) if type(name) is str else None
    require(isinstance(kind, type) and issubclass(kind, np.generic), "numpy type")
    return kind


def _fraction(decoder: Decoder, node: list, depth: int) -> Any:
    from fractions import Fraction

    parts = decoder.values(node[1:], depth)
    require(len(parts) == 2 and all(type(n) is int for n in parts), "fraction")
    require(all(n.bit_length() <= MOST_FRACTION_BITS for n in parts), "fraction")
    return Fraction(*parts)


def _range(decoder: Decoder, node: list, depth: int) -> range:
    return range(*decoder.values(node[1], depth))


_DECODE: dict[str, Callable[[Decoder, list, int], Any]] = {
    "a": Decoder.array,
    "l": lambda d, n, k: d.values(n[1], k),
    "t": lambda d, n, k: tuple(d.values(n[1], k)),
    "d": Decoder.dict,
    "set": Decoder.set,
    "frozen": lambda d, n, k: frozenset(d.set(n, k)),
    "int": Decoder.integer,
    "c": lambda d, n, k: complex(n[1], n[2]),
    "np": Decoder.scalar,
    "long": Decoder.text,
    "blob": Decoder.blob,
    "ba": Decoder.bytearray,
    "slice": lambda d, n, k: slice(*d.values(n[1], k)),
    "range": _range,
    "frac": _fraction,
    "...": lambda d, n, k: ...,
    "dtype": lambda d, n, k: decode_dtype(n[1]),
    "type": lambda d, n, k: _TYPES[n[1]],
    "nptype": lambda d, n, k: _numpy_type(n[1]),
    "named": lambda d, n, k: _named_tuple(n[1], d.values(n[2], k), d.values(n[3], k)),
}
