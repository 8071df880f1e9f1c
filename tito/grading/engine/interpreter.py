"""The Python of student processes: its path, its environment, its clock."""

from __future__ import annotations

import os
import site
import sys
import time
from pathlib import Path

from tito.grading.stage import Stage

# No environment, no site, no .pth files, no editable installs, no bytecode written.
FLAGS = ("-I", "-S", "-B", "-X", "utf8")

ONE_THREAD = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
)  # fmt: skip
KEPT_ENVIRONMENT = (
    "SYSTEMROOT", "SYSTEMDRIVE", "NUMBER_OF_PROCESSORS", "LD_LIBRARY_PATH", "LANG",
    # What Numba compiles for: a test that asks how wide a vector is must get the same answer.
    "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX",
)  # fmt: skip
HOMES = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR", "NUMBA_CACHE_DIR")
# glibc: freed memory stays with the process, so kernels pay no page faults in each call, and a new
# array holds the same remains of earlier ones whatever started the process.
KEEP_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(2 << 30),
    "MALLOC_TOP_PAD_": str(16 << 20),
}


def package_folders() -> list[str]:
    """Where installed packages are found: folders only, nothing that .pth files or hooks add."""
    candidates = [*sys.path, *site.getsitepackages()]  # on Windows the prefix is among these
    if site.ENABLE_USER_SITE:
        candidates.append(site.getusersitepackages())
    packages = [p for p in candidates if Path(p).name in ("site-packages", "dist-packages")]
    return [p for p in dict.fromkeys(packages) if os.path.isdir(p)]


def first_folders(stage: Stage) -> list[str]:
    """What comes first on the path of a stage's process, before the standard library."""
    return [str(folder) for folder in stage.libraries]


def last_folders(stage: Stage) -> list[str]:
    """What comes last: packages, then what cells write, so that it can hide nothing."""
    return [*package_folders(), str(stage.scratch)]


def environment(home: Path) -> dict[str, str]:
    """Nothing of ours but what a Python on this system needs; one BLAS thread."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    return {
        **kept,
        **KEEP_MEMORY,
        **dict.fromkeys(HOMES, str(home)),
        **dict.fromkeys(ONE_THREAD, "1"),
        "USER": "student",  # getpass.getuser(): the system's list of users cannot be read
        # Windows looks for libraries there; elsewhere it names programs, and none may be run.
        "PATH": os.environ.get("PATH", "") if os.name == "nt" else os.defpath,
        "MPLBACKEND": "agg",
    }


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process; OSError once it is gone."""
    if sys.platform == "linux":
        return time.clock_gettime((~pid << 3) | 2)  # CPUCLOCK_SCHED of the whole process
    import psutil

    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        raise OSError from None
    return times.user + times.system
