"""The BLAS that NumPy loaded: its name, the kernels it chose, its threads.

NumPy's wheels bring an OpenBLAS, which answers through ctypes. Another BLAS (Accelerate on a Mac, a
distribution's own) has a name and nothing else to tell here: None.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any


def name() -> str | None:
    """Name and version of the BLAS that NumPy was built with."""
    try:
        import numpy

        found = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{found['name']} {found.get('version', '')}".strip()
    except (ImportError, KeyError, TypeError):
        return None


def core() -> str | None:
    """The instruction set that OpenBLAS chose its kernels for, e.g. "SkylakeX"."""
    function = _function("get_corename", ctypes.c_char_p)
    return function().decode() if function else None


def threads() -> int | None:
    """How many threads OpenBLAS would use."""
    function = _function("get_num_threads", ctypes.c_int)
    return function() if function else None


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep OpenBLAS to the calling thread; does nothing with another BLAS."""
    set_threads = _function("set_num_threads", None)
    before = threads()
    if set_threads is None or before is None:
        yield
        return
    set_threads(1)
    try:
        yield
    finally:
        set_threads(before)


@cache
def _library() -> ctypes.CDLL | None:
    """The OpenBLAS file that came with NumPy; opening it again gives the one in use."""
    for path in _files():
        try:
            return ctypes.CDLL(str(path))
        except OSError:
            continue
    return None


def _files() -> Iterator[Path]:
    """Where NumPy's wheels keep it: numpy.libs on Linux and Windows, numpy/.dylibs on macOS."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or not spec.origin:
        return
    package = Path(spec.origin).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs", package / ".libs"):
        yield from sorted(path for path in folder.glob("*openblas*") if path.is_file())


def _function(name: str, returns: Any) -> Any:
    """One of OpenBLAS's functions, whatever this build calls it; None if there is none."""
    for prefix in ("scipy_openblas_", "openblas_"):
        for suffix in ("64_", "", "_64"):
            function = getattr(_library(), f"{prefix}{name}{suffix}", None)
            if function is not None:
                function.restype = returns
                return function
    return None
