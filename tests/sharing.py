"""What one worker of a run makes for all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_SECONDS = 300.0


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that `make` fills, once in a run of tests; to be read, or copied.

    Whoever comes first makes it. If that fails or takes too long, the others make their own.
    """
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # each worker has a folder of its own in that of the run
    folder, failed = base / name, base / f"{name}.failed"
    try:
        (base / f"{name}.begun").mkdir()
    except FileExistsError:
        end = time.monotonic() + PATIENCE_SECONDS
        while not folder.is_dir() and not failed.exists() and time.monotonic() < end:
            time.sleep(0.05)
        if not folder.is_dir():
            make(folder := factory.mktemp("own") / name)
        return folder
    try:
        make(base / f"{name}.partly")
        (base / f"{name}.partly").rename(folder)
    except BaseException:
        failed.touch()
        raise
    return folder
