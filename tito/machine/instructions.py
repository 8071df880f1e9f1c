"""Which vector instructions this CPU has, in the three steps that thresholds are published for."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from tito.machine.hardware import features

# From the widest on. "generic" is every other CPU: ARM, or an x86-64 without AVX2.
INSTRUCTION_SETS = ("avx512", "avx2", "generic")

# AVX-512 as servers have it, the set that compilers call x86-64-v4.
_AVX512 = frozenset(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"))
_AVX2 = frozenset(("avx2", "fma"))


@cache
def instruction_set() -> str:
    """ "avx512", "avx2" or "generic"; what cannot be read counts as generic."""
    return widest(features())


def widest(flags: Collection[str]) -> str:
    """The instruction set of a CPU with these features, as Linux spells them."""
    present = frozenset(flags)
    if present >= _AVX512 | _AVX2:
        return "avx512"
    return "avx2" if present >= _AVX2 else "generic"
