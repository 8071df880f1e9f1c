"""Values as a message prints them: short, on one line, with dtype and shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

WIDEST_ROW = 8
WINDOW = 6
SMALL_MATRIX = 12
LONGEST_TEXT = 60
DIGITS = (6, 9, 17)
PLAIN = (type(None), bool, int, float, complex, str, bytes)

Index = tuple[int, ...]


def pair(got: Any, want: Any, focus: Index | None = None) -> list[tuple[str, str]]:
    """The rows "got" and "expected", aligned, around the element at `focus`.

    More digits are shown only when the two would read the same with few.
    """
    for digits in DIGITS:
        left, right = body(got, focus, digits), body(want, focus, digits)
        if left != right:
            break
    width = max(len(left), len(right))
    return [
        ("got", f"{left:<{width}} {kind_of(got)}".rstrip()),
        ("expected", f"{right:<{width}} {kind_of(want)}".rstrip()),
    ]


def value(x: Any, focus: Index | None = None) -> str:
    """One value with what it is: "[1. 2.] float64 (2,)", "3 int"."""
    return f"{body(x, focus)} {kind_of(x)}".rstrip()


def kind_of(x: Any) -> str:
    """dtype and shape of an array, the type's name of anything else."""
    if isinstance(x, np.ndarray):
        return f"{dtype_name(x.dtype)} {x.shape}"
    if x is None:
        return ""
    return dtype_name(x.dtype) if isinstance(x, np.generic) else type(x).__name__


def dtype_name(dtype: np.dtype) -> str:
    """The dtype's name; byte order is said where it is not the machine's own."""
    return dtype.name if dtype.isnative else f"{dtype.name} (byte order swapped)"


def body(x: Any, focus: Index | None = None, digits: int = DIGITS[0]) -> str:
    """The value itself, shortened around the element at `focus`."""
    if isinstance(x, np.ndarray):
        return _array(x, focus, digits)
    if isinstance(x, (float, np.floating)):
        return number(x, digits)
    if isinstance(x, np.generic):
        return _element(x, digits)
    if type(x) in (list, tuple, dict, set, frozenset, range, slice) or type(x) in PLAIN:
        return _shortened(_plain_repr(x))
    return f"<{type(x).__name__}>"


def number(x: Any, digits: int = DIGITS[0]) -> str:
    """A float in at most `digits` significant digits: "3.", "0.25", "1.e-09", "nan"."""
    if not math.isfinite(x):
        return str(float(x))
    if x == 0 or 1e-4 <= abs(float(x)) < 1e7:  # 1e7 is no float16: NumPy would warn
        return np.format_float_positional(x, precision=digits, fractional=False, trim=".")
    return np.format_float_scientific(x, precision=digits - 1, trim=".")


def index_text(index: Index) -> str:
    """[3], [0, 3]: how the element is written after the array's name."""
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def _array(a: np.ndarray, focus: Index | None, digits: int) -> str:
    if isinstance(a, np.ma.MaskedArray):
        return "<masked>"
    if a.ndim == 0:
        return _element(a[()], digits)
    if a.size == 0:
        return "[]"
    if a.ndim == 1:
        return _row(a, focus[0] if focus else 0, digits)
    if a.ndim == 2 and a.size <= SMALL_MATRIX and len(a) <= 4:
        return "[" + " ".join(_row(row, 0, digits) for row in a) + "]"
    focus = focus if focus is not None and _inside(focus, a.shape) else (0,) * a.ndim
    *lead, column = focus
    place = ", ".join([str(int(i)) for i in lead] + [":"])
    return f"[{place}] = {_row(a[tuple(lead)], column, digits)}"


def _inside(focus: Index, shape: Index) -> bool:
    return len(focus) == len(shape) and all(i < n for i, n in zip(focus, shape))


def _row(row: np.ndarray, focus: int, digits: int) -> str:
    n = len(row)
    if n <= WIDEST_ROW:
        return "[" + " ".join(_element(x, digits) for x in row) + "]"
    start = max(0, min(int(focus) - 2, n - WINDOW))
    parts = [_element(x, digits) for x in row[start : start + WINDOW]]
    before = ["..."] if start > 0 else []
    after = ["..."] if start + WINDOW < n else []
    return "[" + " ".join(before + parts + after) + "]"


def _element(x: Any, digits: int) -> str:
    if isinstance(x, (float, np.floating)):
        return number(x, digits)
    if isinstance(x, (bool, int, np.bool_, np.integer)):
        return _shortened(str(x))
    return _shortened(str(x)) if isinstance(x, (np.generic, *PLAIN)) else f"<{type(x).__name__}>"


def _plain_repr(x: Any, depth: int = 0) -> str:
    """repr() that never runs a repr of a class that is not Python's or NumPy's own."""
    if type(x) in PLAIN:
        return repr(x)[: 2 * LONGEST_TEXT]
    if isinstance(x, (np.ndarray, np.generic)):
        return body(x)
    if type(x) in (list, tuple) and depth < 4:
        inside = ", ".join(_plain_repr(item, depth + 1) for item in x[: WIDEST_ROW + 1])
        comma = "," if type(x) is tuple and len(x) == 1 else ""
        return f"[{inside}]" if type(x) is list else f"({inside}{comma})"
    if type(x) is dict and depth < 4:
        items = list(x.items())[: WIDEST_ROW + 1]
        inside = (f"{_plain_repr(k, depth + 1)}: {_plain_repr(v, depth + 1)}" for k, v in items)
        return "{" + ", ".join(inside) + "}"
    return repr(x) if type(x) in (range, slice) else f"<{type(x).__name__}>"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."
