"""What this machine is: read from it, never assumed. What cannot be read is None."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path

from tito.machine import blas


@dataclass(frozen=True)
class Facts:
    """CPU, Python and BLAS of this process; None for what could not be read.

    cores        : CPUs that this process may use
    blas_core    : the instruction set that OpenBLAS chose its kernels for, e.g. "SkylakeX"
    blas_threads : how many threads it would use
    """

    cpu: str | None
    cores: int | None
    system: str
    python: str
    numpy: str | None
    blas: str | None
    blas_core: str | None
    blas_threads: int | None

    def __str__(self) -> str:
        rows = [(field.name, getattr(self, field.name)) for field in fields(self)]
        return "\n".join(
            f"{name:<13} {'unknown' if value is None else value}" for name, value in rows
        )


def facts() -> Facts:
    """The facts of this machine, read now."""
    return Facts(
        cpu=cpu_model(),
        cores=usable_cores(),
        system=f"{platform.system()} {platform.machine()}".strip(),
        python=platform.python_version(),
        numpy=_numpy_version(),
        blas=blas.name(),
        blas_core=blas.core(),
        blas_threads=blas.threads(),
    )


def cpu_model() -> str | None:
    """The processor's name as the system gives it."""
    readers = {"linux": _linux_cpu, "darwin": _mac_cpu, "win32": _windows_cpu}
    try:
        return readers.get(sys.platform, platform.processor)() or platform.processor() or None
    except (OSError, ImportError, subprocess.SubprocessError):
        return None


def usable_cores() -> int | None:
    """The CPUs this process may use, which in a container can be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count()


def _linux_cpu() -> str | None:
    text = Path("/proc/cpuinfo").read_text(errors="replace")
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match[1].strip() if match else None


def _mac_cpu() -> str | None:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    return done.stdout.strip() or None


def _windows_cpu() -> str | None:
    import winreg

    path = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
    with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
        return str(winreg.QueryValueEx(key, "ProcessorNameString")[0]).strip()


def _numpy_version() -> str | None:
    try:
        import numpy
    except ImportError:
        return None
    return numpy.__version__
