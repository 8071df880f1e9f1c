"""Points as exact numbers: what was 0.1 or a third in JSON is so again, and sums are right."""

from __future__ import annotations

from fractions import Fraction

MAX_DENOMINATOR = 10**6


def exact(value: int | float) -> Fraction:
    """The fraction that a person meant by `value`.

    >>> exact(0.1) * 10 == 1, exact(0.3333333333333333)
    (True, Fraction(1, 3))
    """
    return Fraction(value).limit_denominator(MAX_DENOMINATOR)


def display(value: Fraction) -> str:
    """For people: at most two decimals, none where there are none.

    >>> display(Fraction(7, 3)), display(Fraction(12))
    ('2.33', '12')
    """
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.2f}".rstrip("0").rstrip(".")


def as_number(value: Fraction) -> int | float:
    """For JSON: an int where it is whole, else the nearest float."""
    return value.numerator if value.denominator == 1 else float(value)


def problem(value: object) -> str | None:
    """Why `value` can be no points of a master, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"points are {value!r}, not a number"
    if value != value or value in (float("inf"), float("-inf")):
        return f"points are {value!r}, not a finite number"
    if value < 0 or value > 1000:
        return f"points are {value!r}, not from 0 to 1000"
    return None
