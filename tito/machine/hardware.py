"""What this machine is: read from it, never assumed. What cannot be read is None or empty."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass, fields
from types import ModuleType

from tito.machine import blas, linux, macos, windows
from tito.machine.caches import Cache, size_text
from tito.machine.features import in_order, numpy_features

_READERS = {"linux": linux, "darwin": macos, "win32": windows}


@dataclass(frozen=True)
class Facts:
    """CPU, Python and BLAS of this process; None or empty for what could not be read.

    cores        : CPUs that this process may use
    blas_core    : the instruction set that OpenBLAS chose its kernels for, e.g. "SkylakeX"
    blas_threads : how many threads it would use
    caches       : from the core outwards
    features     : instruction sets, spelled as Linux spells them: "avx2", "asimd"
    memory       : bytes that this process may use
    """

    cpu: str | None
    cores: int | None
    system: str
    python: str
    numpy: str | None
    blas: str | None
    blas_core: str | None
    blas_threads: int | None
    caches: tuple[Cache, ...] = ()
    features: tuple[str, ...] = ()
    memory: int | None = None

    def __str__(self) -> str:
        return "\n".join(f"{field.name:<13} {self._text(field.name)}" for field in fields(self))

    def _text(self, name: str) -> str:
        value = getattr(self, name)
        if value is None or value == ():
            return "unknown"
        if name == "caches":
            return ", ".join(map(str, value))
        if name == "features":
            return " ".join(value)
        return size_text(value) if name == "memory" else str(value)


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
        caches=caches(),
        features=features(),
        memory=memory(),
    )


def cpu_model() -> str | None:
    """The processor's name as the system gives it."""
    reader = _reader()
    return (reader.cpu() if reader else None) or platform.processor() or None


def usable_cores() -> int | None:
    """The CPUs this process may use, which in a container can be fewer than the machine has."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        allowed = os.cpu_count()
    reader = _reader()
    return reader.cores(allowed) if reader else allowed


def caches() -> tuple[Cache, ...]:
    """The caches that data pass through, from the core outwards; empty where none can be read."""
    reader = _reader()
    return reader.caches() if reader else ()


def features() -> tuple[str, ...]:
    """The CPU's instruction sets that matter to kernels; empty where none can be read."""
    reader = _reader()
    return in_order({*(reader.features() if reader else ()), *numpy_features()})


def memory() -> int | None:
    """Bytes of memory that this process may use."""
    reader = _reader()
    return reader.memory() if reader else None


def free_memory() -> int | None:
    """Bytes that can be had now without pushing anything out."""
    reader = _reader()
    return reader.free_memory() if reader else None


def _reader() -> ModuleType | None:
    return _READERS.get(sys.platform)


def _numpy_version() -> str | None:
    try:
        import numpy
    except ImportError:
        return None
    return numpy.__version__
