"""The warm process that student processes are forked from: all loaded, nothing of anybody's run."""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import tempfile
from contextlib import suppress
from typing import Any

from tito.grading import forkserver, sandbox
from tito.grading.child import cells
from tito.grading.child import main as child
from tito.grading.sandbox import namespaces, view

# What a student process imports in its first moments anyway.
LOADED = (
    "asyncio", "concurrent.futures", "ctypes", "dataclasses", "decimal", "fractions", "inspect",
    "itertools", "linecache", "math", "msgpack", "numpy", "numpy.linalg", "numpy.random",
    "resource", "statistics", "tokenize", "tito.here",
    "tito.counted", "tito.grading.child.capture", "tito.grading.child.cells",
    "tito.grading.child.hooks", "tito.grading.child.server", "tito.grading.sandbox.landlock",
    "tito.grading.sandbox.locks", "tito.grading.sandbox.mounts", "tito.grading.sandbox.privileges",
    "tito.grading.sandbox.seccomp",
)  # fmt: skip


def main(control: int, own_path: list[str], with_numba: bool) -> None:
    """Load, then fork a student process for each request on the socket `control`.

    own_path : where the interpreter finds its standard library
    """
    keeper = sandbox.own_processes()
    namespaces.possible()  # found out once for all forks
    view.listed_folders([])
    for name in LOADED:
        __import__(name)
    if with_numba:
        _load_numba()
    channel = socket.socket(fileno=control)
    forkserver.serve(channel, lambda *request: _begin(own_path, *request), _prepare)
    if keeper is not None:
        keeper.end()


def _load_numba() -> None:
    """Numba, with a function compiled: the first one takes half a second longer than others."""
    try:
        import numba
        import numpy as np
    except ImportError:
        return

    @numba.njit
    def total(x):
        result = 0.0
        for i in range(x.size):
            result += x[i]
        return result

    total(np.ones(3))


def _prepare(request: dict[str, Any], files: list[int]) -> None:
    """Read what the master's cells import, and those cells; none of it runs here."""
    with open(files[0], encoding="ascii", closefd=False) as file:
        ahead = json.load(file)
    for name in ahead["modules"]:
        with suppress(ImportError):
            __import__(name)
    for source in ahead["cells"]:
        cells.read_ahead(source)


def _begin(own_path: list[str], request: dict[str, Any], files: list[int]) -> None:
    """Become the student process of a stage; `files` are the wire in and out, what is printed,
    and the memory for calls that are measured, if there is one.

    From here on all is as in a process of its own: path, environment, random numbers.
    """
    forkserver.keep_only(files)
    first, last = request["path"]
    sys.path[:] = [*first, *own_path, *last]
    _move_packages(first)
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    random.seed()
    sys.modules["numpy.random"].seed()
    child.main(request["root"], os.getppid(), 3 if len(files) > 3 else None)


def _move_packages(folders: list[str]) -> None:
    """Have what is still to be imported of tito come from the stage: it can read no other."""
    folder = next(f for f in folders if os.path.isdir(os.path.join(f, "tito")))
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "tito" and hasattr(module, "__path__"):
            module.__path__ = [os.path.join(folder, *name.split("."))]
