"""Threads and core types that the environment decides."""

import os
import subprocess
import sys

import pytest

from tito.machine import blas, hidden_core, pinning, thread_environment
from tito.machine.pinning import is_better


def test_a_process_with_these_variables_has_so_many_threads():
    if blas.threads() is None:
        pytest.skip("NumPy has no OpenBLAS that tells its threads")
    code = "from tito.machine import facts; print(facts().blas_threads)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **thread_environment(1)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "1"


def test_every_library_is_told():
    told = thread_environment(3)
    assert set(told.values()) == {"3"}
    assert {"OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"} <= set(told)


@pytest.mark.parametrize("threads", [0, -1])
def test_at_least_one_thread(threads):
    with pytest.raises(ValueError, match="at least 1"):
        thread_environment(threads)


@pytest.mark.parametrize(
    ("core", "other", "better"),
    [
        ("SkylakeX", "Haswell", True),
        ("Haswell", "SkylakeX", False),
        ("Cooperlake", "SkylakeX", False),
        ("Zen", "Haswell", False),
        ("Haswell", "Nehalem", True),
        ("neoversen1", "armv8", True),
        ("NEOVERSEN1", "neoversen1", False),
    ],
)
def test_wider_vectors_are_better(core, other, better):
    assert is_better(core, other) is better


@pytest.fixture
def forced(monkeypatch):
    """A function that sets what OpenBLAS runs, and what it would choose by itself."""

    def force(now, natural, variable="Haswell"):
        monkeypatch.setenv("OPENBLAS_CORETYPE", variable)
        monkeypatch.setattr(blas, "core", lambda: now)
        monkeypatch.setattr(pinning, "_natural_core", lambda: natural)

    return force


@pytest.mark.parametrize(
    ("now", "natural", "hidden"),
    [
        ("Haswell", "SkylakeX", "SkylakeX"),
        ("SkylakeX", "SkylakeX", None),
        ("SkylakeX", "Haswell", None),  # forced upwards
        ("Haswell", None, None),
        (None, "SkylakeX", None),  # another BLAS
    ],
)
def test_better_kernels_that_are_hidden(forced, now, natural, hidden):
    forced(now, natural)
    assert hidden_core() == hidden


def test_without_the_variable_nothing_is_hidden(forced, monkeypatch):
    forced("Haswell", "SkylakeX")
    monkeypatch.delenv("OPENBLAS_CORETYPE")
    assert hidden_core() is None
    forced("Haswell", "SkylakeX", variable="")
    assert hidden_core() is None


def test_a_fresh_process_is_asked(monkeypatch):
    """Nehalem's kernels run on every x86 with SSE 4.2: there, they hide what NumPy would take."""
    own = blas.core()
    if own is None or own.lower() not in pinning._RANK or not is_better(own, "Nehalem"):
        pytest.skip("no OpenBLAS with better kernels than Nehalem's")
    done = subprocess.run(
        [sys.executable, "-c", "from tito.machine import hidden_core; print(hidden_core())"],
        env={**os.environ, "OPENBLAS_CORETYPE": "Nehalem"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == own


@pytest.mark.parametrize(
    "answer",
    [
        OSError("no Python"),
        subprocess.TimeoutExpired("python", 30),
        subprocess.CompletedProcess([], 1, stdout="SkylakeX\n"),
        subprocess.CompletedProcess([], 0, stdout="None\n"),
        subprocess.CompletedProcess([], 0, stdout=""),
    ],
)
def test_a_process_that_cannot_say_hides_nothing(monkeypatch, answer):
    def run(*args, **kwargs):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(pinning.subprocess, "run", run)
    assert pinning._natural_core.__wrapped__() is None
