"""Is a value the expected one? Type, dtype, exact shape, finite pattern, then the numbers.

The order matters: NumPy's own comparisons broadcast, are true of empty results and let a scalar
match any array, so nothing is compared before the two are known to be of one kind.

Rounding bound. A result that adds up `inner` terms in its dtype is rounded `inner` times and a few
times more at the ends, and each rounding moves it by at most eps/2 of the magnitude that is being
added up, the *scale*. The bound allows four times that:

    |got - want| <= 2 * (inner + 3) * eps * scale + tiny

with eps and tiny (the smallest normal number, so that results below it may be flushed) of the
expected dtype. See Higham, Accuracy and Stability of Numerical Algorithms, section 3.1. The scale
is taken from the data:

    inner <= 1   each element's own |want|: a result near zero is held to a bound near zero
    inner > 1    the largest |want| in the array, since terms may cancel in some of the elements
    scale=...    the test's own, a number or an array: sum(|a||b|) is the exact one for a product
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tito.checks.show import Index, dtype_name, index_text


@dataclass
class Difference:
    """The first property in which a value is not the expected one.

    problem : one phrase for the message's first line
    kind    : the property alone, with no value in it
    focus   : the element to show
    tries   : what to do about it
    """

    problem: str
    kind: str
    focus: Index | None = None
    tries: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Bound:
    """What the tolerance is made of; see the module's text."""

    inner: float = 1
    scale: Any = None

    def tolerance(self, want: np.ndarray) -> np.ndarray:
        """The largest allowed error of each element of `want`."""
        info = np.finfo(want.dtype)
        scale = np.broadcast_to(self._scale(want), want.shape)
        return 2 * (self.inner + 3) * float(info.eps) * scale + float(info.tiny)

    def accepts(self, want: np.ndarray) -> bool:
        """Whether `want` itself is within the bound: a test's scale may be NaN."""
        if self.scale is None:
            return True
        scale = np.broadcast_to(np.asarray(self.scale, np.float64), want.shape)
        return bool(np.isfinite(scale).all())

    def _scale(self, want: np.ndarray) -> Any:
        if self.scale is not None:
            return np.abs(np.asarray(self.scale, dtype=np.float64))
        sizes = np.abs(want.astype(np.float64))
        if self.inner <= 1:
            return sizes
        return np.max(sizes, initial=0.0, where=np.isfinite(sizes))


def close(got: Any, want: Any, bound: Bound) -> Difference | None:
    """How `got` differs from `want`, or None. `want` is an array or a number."""
    form = _array_form if type(want) is np.ndarray else _number_form
    return form(got, want) or _values(np.asarray(got), np.asarray(want), bound)


def check_expected(want: Any) -> None:
    """An expected value that no result can be compared with is the test's mistake."""
    if isinstance(want, np.ndarray) and type(want) is not np.ndarray:
        raise TypeError(f"the expected value is a {type(want).__name__}: use a plain array")
    dtype = want.dtype if isinstance(want, (np.ndarray, np.generic)) else None
    if dtype is None and type(want) not in (bool, int, float):
        raise TypeError(
            f"the expected value is a {type(want).__name__}: use an array or a real number,"
            " or expect_equal for anything else"
        )
    if dtype is not None and dtype.kind not in "biuf":
        raise TypeError(f"the expected value has dtype {dtype}: use real numbers")


def equal(got: Any, want: Any, where: str = "") -> Difference | None:
    """How plain data differ from `want` exactly, or None; walks lists, tuples, dicts and sets."""
    if type(got) is not type(want):
        return _type_difference(got, f"{_a(type(want))}", where)
    if type(want) is np.ndarray:
        return _placed(_array_form(got, want) or _exact_values(got, want), where)
    if type(want) in (list, tuple):
        return _equal_items(got, want, where)
    if type(want) is dict:
        return _equal_dicts(got, want, where)
    if isinstance(want, np.generic):
        return _exact_values(np.asarray(got), np.asarray(want))
    if got == want or (got != got and want != want):
        return None
    return Difference(f"wrong value{where}", "a wrong value")


def arrays_equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element by element, NaN equal to NaN and -0.0 to 0.0."""
    same = np.asarray(a == b)
    if a.dtype.kind in "fc":
        same = same | (np.isnan(a) & np.isnan(b))
    return same


def _placed(difference: Difference | None, where: str) -> Difference | None:
    """The same, of an array inside a list or dict."""
    if difference and where:
        difference.problem, difference.focus = f"{difference.problem}, in the array{where}", None
    return difference


def _equal_items(got: Any, want: Any, where: str) -> Difference | None:
    if len(got) != len(want):
        return Difference(
            f"{len(got)} items{where}, expected {len(want)}", "a wrong number of items"
        )
    for i, (g, w) in enumerate(zip(got, want)):
        difference = equal(g, w, f"{where or ' at '}[{i}]")
        if difference:
            return difference
    return None


def _equal_dicts(got: dict, want: dict, where: str) -> Difference | None:
    missing = [key for key in want if key not in got]
    if missing:
        return Difference(f"key {missing[0]!r} is missing{where}", "a missing key")
    surplus = [key for key in got if key not in want]
    if surplus:
        return Difference(f"{len(surplus)} keys too many{where}", "a key too many")
    for key in want:
        difference = equal(got[key], want[key], f"{where or ' at '}[{key!r}]")
        if difference:
            return difference
    return None


def _array_form(got: Any, want: np.ndarray) -> Difference | None:
    """Type, dtype and shape, in this order."""
    if type(got) is not np.ndarray:
        return _type_difference(got, "an array")
    if got.dtype != want.dtype:
        return Difference(
            f"its dtype is {dtype_name(got.dtype)}, expected {dtype_name(want.dtype)}",
            "a wrong dtype",
            tries=_dtype_advice(got.dtype, want.dtype),
        )
    if got.shape != want.shape:
        return Difference(f"its shape is {got.shape}, expected {want.shape}", "a wrong shape")
    return None


def _dtype_advice(got: np.dtype, want: np.dtype) -> list[str]:
    if got.kind == "O":
        return ["build the array with its dtype: np.empty(shape, dtype)"]
    if got.kind == "c":
        return ["a real result has no imaginary part, not even a small one"]
    if got.kind == "f" and want.kind == "f":
        return [
            "to keep the dtype of the input: np.empty_like(x), np.zeros(shape, x.dtype)",
            f"where it is {want.name} for every input: .astype(np.{want.name})",
        ]
    return []


def _number_form(got: Any, want: Any) -> Difference | None:
    """Is it a number of the right kind? float64 counts as float, and any integer as int."""
    if isinstance(want, np.floating) and want.dtype.itemsize < 8:
        fits = type(got) is type(want)
        return None if fits else _type_difference(got, f"a {want.dtype.name} number")
    if isinstance(want, (bool, np.bool_)):
        return None if type(got) in (bool, np.bool_) else _type_difference(got, "a bool")
    whole = type(got) is int or isinstance(got, np.integer)
    if isinstance(want, (int, np.integer)):
        return None if whole else _type_difference(got, "an int")
    fits = type(got) in (float, int, np.float64, np.longdouble)
    return None if fits else _type_difference(got, "a float")


def _type_difference(got: Any, expected: str, where: str = "") -> Difference:
    if got is None:
        problem, tries = "returned None", ["end the function with return and the result"]
    elif type(got) is np.ndarray and got.ndim == 0:
        problem, tries = "returned a 0-d array", ["result[()] or float(result) is the number in it"]
    else:
        problem, tries = f"returned {_a(type(got))}", []
        if isinstance(got, np.generic) and expected in ("an int", "a float", "a bool"):
            tries = [f"{expected.split()[1]}(...) makes it a Python number"]
    if where:
        problem, tries = f"{problem.removeprefix('returned ')}{where}", []
    return Difference(f"{problem}, expected {expected}", "a wrong type", tries=tries)


def _a(kind: type) -> str:
    """The type's name with its article, as people call it."""
    if kind is type(None):
        return "None"
    names = {np.ndarray: "array", np.ma.MaskedArray: "masked array"}
    name = names.get(kind, kind.__name__)
    if issubclass(kind, np.generic):
        name = f"np.{name}"
    vowel = name[0] in "aeiouAEIOU" or name.startswith("np.")
    return f"{'an' if vowel else 'a'} {name}"


def _values(got: np.ndarray, want: np.ndarray, bound: Bound) -> Difference | None:
    if want.dtype.kind != "f":
        return _exact_values(got, want)
    if bound.accepts(want) and np.array_equal(got, want):
        return None
    return _pattern(got, want) or _finite_values(got, want, bound)


def _exact_values(got: np.ndarray, want: np.ndarray) -> Difference | None:
    return _wrong_elements(~arrays_equal(got, want))


def _pattern(got: np.ndarray, want: np.ndarray) -> Difference | None:
    """NaN and infinities must stand where they are expected and nowhere else."""
    if got.dtype.kind in "fiu" and np.isfinite(got).all() and np.isfinite(want).all():
        return None
    got_class, want_class = _classes(got), _classes(want)
    wrong = got_class != want_class
    if not wrong.any():
        return None
    first = _first(wrong)
    found, expected = _CLASS_NAMES[got_class[first]], _CLASS_NAMES[want_class[first]]
    place = f" at {index_text(first)}" if want.ndim else ""
    return Difference(
        f"{found}{place}, where {expected} is expected", "NaN or infinity at a wrong place", first
    )


_CLASS_NAMES = ["a finite number", "nan", "inf", "-inf"]


def _classes(a: np.ndarray) -> np.ndarray:
    """0 finite, 1 NaN, 2 inf, 3 -inf."""
    if a.dtype.kind != "f":
        return np.zeros(a.shape, dtype=int)
    return np.where(np.isnan(a), 1, np.where(np.isfinite(a), 0, np.where(a > 0, 2, 3)))


def _finite_values(got: np.ndarray, want: np.ndarray, bound: Bound) -> Difference | None:
    finite = np.isfinite(want)
    with np.errstate(all="ignore"):
        # In float64 at least: the difference itself must not be rounded to the tested dtype.
        error = np.abs(np.subtract(got, want, dtype=np.result_type(want.dtype, np.float64)))
        wrong = finite & ~(error <= bound.tolerance(want))
    return _wrong_elements(wrong)


def _wrong_elements(wrong: np.ndarray) -> Difference | None:
    """Which elements are wrong, said the shortest way."""
    count = int(wrong.sum())
    if not count:
        return None
    first = _first(wrong)
    if wrong.ndim == 0:
        problem = "wrong value"
    elif count == wrong.size:
        problem = f"wrong in all {count} elements" if count > 1 else "wrong in its only element"
    elif wrong.ndim == 1 and count > 1 and count == wrong.size - first[0]:
        problem = f"wrong from element {first[0]} on"
    else:
        problem = f"wrong in {count} of {wrong.size} elements, first at {index_text(first)}"
    return Difference(problem, "a wrong value", first)


def _first(wrong: np.ndarray) -> Index:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
