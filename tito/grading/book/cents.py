"""Exact points as a sheet shows them."""

from __future__ import annotations

from fractions import Fraction


def cents(value: Fraction) -> str:
    """Two decimals at most, halves rounded up; none where there are none.

    >>> cents(Fraction(7, 3)), cents(Fraction(1, 8)), cents(Fraction(12)), cents(Fraction(1, 2))
    ('2.33', '0.13', '12', '0.5')
    """
    hundredths = (value * 100 + Fraction(1, 2)).__floor__()
    whole, rest = divmod(abs(hundredths), 100)
    text = f"{whole}.{rest:02d}".rstrip("0").rstrip(".") if rest else str(whole)
    return f"-{text}" if hundredths < 0 else text
