"""Names of CPU features, spelled as Linux spells them on every system, in one order."""

from __future__ import annotations

from collections.abc import Iterable

# What kernels of the course can use, or a reader of a benchmark asks for; the rest is left out.
X86 = (
    "sse2",
    "ssse3",
    "sse4_1",
    "sse4_2",
    "avx",
    "f16c",
    "fma",
    "avx2",
    "avx_vnni",
    "avx512f",
    "avx512cd",
    "avx512bw",
    "avx512dq",
    "avx512vl",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_int8",
    "amx_bf16",
)
ARM = ("asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme")

# NumPy asks the CPU itself, also where the system tells little (Windows knows no FMA).
_NUMPY = {
    "SSE2": "sse2",
    "SSSE3": "ssse3",
    "SSE41": "sse4_1",
    "SSE42": "sse4_2",
    "AVX": "avx",
    "F16C": "f16c",
    "FMA3": "fma",
    "AVX2": "avx2",
    "AVX512F": "avx512f",
    "AVX512CD": "avx512cd",
    "AVX512BW": "avx512bw",
    "AVX512DQ": "avx512dq",
    "AVX512VL": "avx512vl",
    "AVX512VNNI": "avx512_vnni",
    "ASIMD": "asimd",
    "ASIMDHP": "asimdhp",
    "ASIMDDP": "asimddp",
    "SVE": "sve",
}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that are known here, each once, in the order of the lists above.

    >>> in_order({"avx2", "rdtscp", "avx"})
    ('avx', 'avx2')
    """
    present = set(names)
    return tuple(name for name in (*X86, *ARM) if name in present)


def numpy_features() -> set[str]:
    """What NumPy found; empty where it cannot be asked."""
    try:
        from numpy._core._multiarray_umath import __cpu_features__ as found
    except ImportError:
        return set()
    return {ours for theirs, ours in _NUMPY.items() if found.get(theirs)}
