"""Which vector instructions this CPU has, in the three steps that thresholds are published for."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

# From the widest on. "generic" is every other CPU: ARM, or an x86-64 without AVX2.
INSTRUCTION_SETS = ("avx512", "avx2", "generic")

# AVX-512 as servers have it, the set that compilers call x86-64-v4.
_AVX512 = frozenset(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"))
_AVX2 = frozenset(("avx2", "fma"))
_PF_AVX2, _PF_AVX512F = 40, 41  # IsProcessorFeaturePresent


@cache
def instruction_set() -> str:
    """ "avx512", "avx2" or "generic"; what cannot be read counts as generic."""
    readers = {"linux": _linux, "darwin": _mac, "win32": _windows}
    try:
        return readers.get(sys.platform, lambda: "generic")()
    except (OSError, AttributeError, subprocess.SubprocessError):
        return "generic"


def widest(flags: frozenset[str]) -> str:
    """The instruction set of a CPU with these flags, as Linux spells them."""
    if flags >= _AVX512 | _AVX2:
        return "avx512"
    return "avx2" if flags >= _AVX2 else "generic"


def _linux() -> str:
    text = Path("/proc/cpuinfo").read_text(errors="replace")
    match = re.search(r"^flags\s*:\s*(.+)$", text, re.MULTILINE)
    return widest(frozenset(match[1].split())) if match else "generic"


def _mac() -> str:
    command = ["/usr/sbin/sysctl", "hw.optional"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    present = set(re.findall(r"^hw\.optional\.(\w+): 1$", done.stdout, re.MULTILINE))
    if "avx512f" in present:
        return "avx512"
    return "avx2" if "avx2_0" in present else "generic"


def _windows() -> str:
    import ctypes

    present = ctypes.windll.kernel32.IsProcessorFeaturePresent
    if present(_PF_AVX512F):
        return "avx512"
    return "avx2" if present(_PF_AVX2) else "generic"
