"""What a test holds in place of a thing that lives in the student's process.

A proxy passes on what a test may ask of a student's object: call it, get and set attributes, index,
len, iteration, `with`. It never passes on what would let the student's side take part in a verdict:
NumPy's and Python's protocols (an `__array_interface__` would be an address in *our* memory),
comparisons, arithmetic with data. Those raise TypeError and name the way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

# Dunder attributes that are plain facts about a function or class.
FACTS = frozenset(
    (
        "__name__", "__qualname__", "__doc__", "__module__", "__defaults__", "__kwdefaults__",
        "__annotations__", "__dict__", "__wrapped__",
    )
)  # fmt: skip


class Target:
    """What a proxy stands for.

    name    : a name in the notebook: bound late, so it survives a fresh process
    session : of a handle, which is lost with its process; None for a name
    number  : of a handle
    kind    : "f" callable, "c" class, "o" anything else
    path    : how the test came to it ("matmul", "Packed.fill"), for the contract of a call
    """

    __slots__ = (
        "class_name", "kind", "mentions", "name", "number", "path", "session", "world",
    )  # fmt: skip

    def __init__(
        self,
        world: Any,
        kind: str,
        class_name: str,
        *,
        name: str | None = None,
        session: Any = None,
        number: int = 0,
    ) -> None:
        self.world = world
        self.kind = kind
        self.class_name = class_name
        self.name = name
        self.session = session
        self.number = number
        self.path = name or ""
        self.mentions = 1

    @property
    def node(self) -> list:
        return ["n", self.name] if self.name is not None else ["h", self.number]

    @property
    def key(self) -> tuple:
        return (self.name, id(self.session) if self.session else None, self.number)


def target_of(proxy: Proxy) -> Target:
    return object.__getattribute__(proxy, "_target")


def _ask(proxy: Proxy, operation: str, *args: Any) -> Any:
    target = target_of(proxy)
    return target.world.request(operation, target, args, {})


def _exactly(proxy: Proxy, operation: str, kind: type) -> Any:
    """The answer of `len`, `int`, `str` ...: of exactly that type, or the student has erred."""
    value = _ask(proxy, operation)
    if type(value) is not kind:
        raise TypeError(
            f"{operation}() of a {target_of(proxy).class_name} gave a {type(value).__name__}"
        )
    return value


def _refuse(what: str) -> Callable[..., Any]:
    def refuse(self: Proxy, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"this {target_of(self).class_name} lives in the student's process and cannot be "
            f"{what} here; ask it for plain values (numbers, arrays, attributes) and use those"
        )

    return refuse


def _between_proxies(operation: str) -> Callable[..., Any]:
    def compute(self: Proxy, other: Any) -> Any:
        if not isinstance(other, Proxy):
            _refuse("computed with")(self)
        return _ask(self, operation, other)

    return compute


class Proxy:
    """Stands for any object of the student; see the module's text."""

    __slots__ = ("__weakref__", "_target")
    __array_ufunc__ = None
    __array_priority__ = 1e9

    def __init__(self, target: Target) -> None:
        object.__setattr__(self, "_target", target)

    def __del__(self) -> None:
        target = object.__getattribute__(self, "_target")
        if target.session is not None:
            target.session.dropped_handles.append([target.number, target.mentions])

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in FACTS:
            return object.__getattribute__(self, name)
        target = object.__getattribute__(self, "_target")
        value = target.world.request("getattr", target, (name,), {})
        if isinstance(value, Proxy):
            found = target_of(value)
            found.path = target.path if name in _SAME_CONTRACT else f"{target.path}.{name}"
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            raise AttributeError(f"{name} of the student's objects cannot be set")
        _ask(self, "setattr", name, value)

    def __delattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(f"{name} of the student's objects cannot be deleted")
        _ask(self, "delattr", name)

    def __dir__(self) -> list[str]:
        return [name for name in _ask(self, "dir") if type(name) is str]

    def __getitem__(self, key: Any) -> Any:
        return _ask(self, "getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _ask(self, "setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        _ask(self, "delitem", key)

    def __len__(self) -> int:
        return _exactly(self, "len", int)

    def __bool__(self) -> bool:
        return True if target_of(self).kind in "fc" else _exactly(self, "bool", bool)

    def __int__(self) -> int:
        return _exactly(self, "int", int)

    def __index__(self) -> int:
        return _exactly(self, "index", int)

    def __float__(self) -> float:
        return _exactly(self, "float", float)

    def __str__(self) -> str:
        return _exactly(self, "str", str)

    def __repr__(self) -> str:
        try:
            return _exactly(self, "repr", str)
        except Exception:
            return f"<{target_of(self).class_name} of the student>"

    def __iter__(self) -> Iterator[Any]:
        iterator = _ask(self, "iter")
        return _Items(iterator) if isinstance(iterator, Proxy) else iter(iterator)

    def __next__(self) -> Any:
        return next(_Items(self))

    def __contains__(self, item: Any) -> bool:
        # Compared here: the student's side would see what is looked for and could say yes.
        return any(item is other or item == other for other in self)

    def __enter__(self) -> Any:
        return _ask(self, "enter")

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            _ask(self, "exit", False)
            return False
        try:
            _ask(self, "exit", True)
        except Exception:
            return False  # the test's own error goes on, whatever theirs is
        return False

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Proxy):
            if target_of(self).key == target_of(other).key:
                return True
            if "o" not in (target_of(self).kind, target_of(other).kind):
                return False
        return _refuse("compared")(self)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if target_of(self).kind == "o":
            _refuse("hashed")(self)
        return hash(target_of(self).key)

    def __instancecheck__(self, obj: Any) -> bool:
        return isinstance(obj, Proxy) and _ask(obj, "isinstance", self) is True

    def __subclasscheck__(self, kind: Any) -> bool:
        return isinstance(kind, Proxy) and _ask(kind, "issubclass", self) is True

    def __reduce_ex__(self, protocol: int) -> Any:
        return _refuse("copied or pickled")(self)

    @property
    def __signature__(self) -> Any:
        import inspect

        parameters = []
        for name, kind, has_default, default in _ask(self, "signature"):
            kind = inspect._ParameterKind(kind)
            default = default if has_default else inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, kind, default=default))
        return inspect.Signature(parameters)

    __lt__ = __le__ = __gt__ = __ge__ = _refuse("ordered")
    __array__ = _refuse("read as an array")
    __add__ = _between_proxies("add")
    __sub__ = _between_proxies("sub")
    __mul__ = _between_proxies("mul")
    __truediv__ = _between_proxies("truediv")
    __matmul__ = _between_proxies("matmul")
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rmatmul__ = _refuse("computed with")
    __floordiv__ = __mod__ = __pow__ = __neg__ = __abs__ = _refuse("computed with")


# Views of one function keep its contract.
_SAME_CONTRACT = ("py_func", "__wrapped__")


class CallableProxy(Proxy):
    """Stands for a function, a class, or an object that can be called."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        target = target_of(self)
        return target.world.call(target, args, kwargs)[0]


class _Items:
    """Asks for one item after the other."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def __iter__(self) -> _Items:
        return self

    def __next__(self) -> Any:
        item = _ask(self._proxy, "next")
        if type(item) is not list or len(item) > 1:
            raise TypeError("next() of the student's iterator gave something else than an item")
        if not item:
            raise StopIteration
        return item[0]


def make_proxy(target: Target) -> Proxy:
    return (Proxy if target.kind == "o" else CallableProxy)(target)
