"""Threads of NumPy and Numba, and the kernels of OpenBLAS: what the environment decides.

Both libraries read their variables once, when they are imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from tito.machine import blas

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",  # Accelerate
    "NUMBA_NUM_THREADS",
)
# OpenBLAS's names for x86, from what every CPU runs to what only the newest do; the names of one
# line use the same width of vectors. Those of other CPUs have no order here.
_CORES = (
    "prescott core2 penryn dunnington nehalem atom athlon opteron opteron_sse3 barcelona bobcat",
    "sandybridge bulldozer piledriver steamroller",
    "haswell zen excavator",
    "skylakex cooperlake sapphirerapids",
)
_RANK = {name: rank for rank, line in enumerate(_CORES) for name in line.split()}
_ASK = "import sys; sys.path.insert(0, {root!r}); from tito.machine import blas; print(blas.core())"


def thread_environment(threads: int) -> dict[str, str]:
    """Variables that give NumPy's BLAS and Numba so many threads, for a process to be started."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return dict.fromkeys(_VARIABLES, str(threads))


def hidden_core() -> str | None:
    """The better kernels that OPENBLAS_CORETYPE keeps OpenBLAS from choosing, if any.

    A fresh process without the variable is asked. None also where there is no OpenBLAS to ask.
    """
    forced = blas.core()
    if not os.environ.get("OPENBLAS_CORETYPE") or forced is None:
        return None
    natural = _natural_core()
    return natural if natural and is_better(natural, forced) else None


def is_better(core: str, other: str) -> bool:
    """Whether a core type uses wider vectors than another one; unknown ones are just different.

    >>> is_better("SkylakeX", "Haswell"), is_better("Haswell", "Zen"), is_better("Zen", "SkylakeX")
    (True, False, False)
    """
    ranks = _RANK.get(core.lower()), _RANK.get(other.lower())
    if None in ranks:
        return core.lower() != other.lower()
    return ranks[0] > ranks[1]


@cache
def _natural_core() -> str | None:
    root = Path(__file__).resolve().parents[2]
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK.format(root=str(root))],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    word = done.stdout.strip()
    return word if done.returncode == 0 and word not in ("", "None") else None
