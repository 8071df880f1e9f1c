"""Lessons on this machine, with every core busy with something else."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tito.bench.lessons import SETS

HOME = Path(__file__).parents[3]
# Its bands are what the module promises; who shares a core's caches with others gets less.
ONLY_WHEN_QUIET = ("jit",)


@contextlib.contextmanager
def burners() -> Iterator[None]:
    """Two programs for each core that compute without end."""
    burn = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(burn) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SETS if name not in ONLY_WHEN_QUIET])
def test_every_ratio_stays_in_its_band(name):
    with burners():
        done = subprocess.run(
            [sys.executable, "-m", "tito", "bench", name, "--repeat", "5"],
            env={**os.environ, "PYTHONPATH": str(HOME)},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr + done.stdout
