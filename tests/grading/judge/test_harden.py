"""The judge's own process: nothing of it can be read, and it ends what burns."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from tito.grading.judge import harden
from tito.grading.judge.harden import poisoned

LINUX = sys.platform.startswith("linux")


@pytest.mark.parametrize(
    "dtype", ["f4", "f8", "c16", "i1", "u2", "i8", "bool", "S3", "U2", "M8[s]"]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 4)])
def test_fresh_memory_holds_no_answer(dtype, shape):
    array = poisoned(np.zeros(shape, dtype))
    assert array.dtype == np.dtype(dtype) and array.shape == shape
    if array.dtype.kind in "fc":
        assert np.isnan(array).all()
    elif array.size:
        assert array.reshape(-1).view("u1").any()


def test_fresh_memory_of_a_fortran_array_too():
    assert np.isnan(poisoned(np.zeros((2, 3), order="F"))).all()
    assert poisoned(np.zeros((2, 3), "S2", order="F")).tobytes() == b"Z" * 12


def run_python(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=180)


@pytest.mark.skipif(not LINUX, reason="/proc is Linux's")
def test_no_other_process_reads_the_judges_memory():
    code = (
        "from tito.grading.judge import harden\n"
        "import ctypes\n"
        "harden.close_memory()\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"  # PR_GET_DUMPABLE
    )
    assert run_python(code).stdout.strip() == "0"


@pytest.mark.skipif(not LINUX, reason="an address space limit that holds is Linux's")
def test_a_flood_of_values_meets_a_limit():
    code = (
        "from tito.grading.judge import harden\n"
        "harden.limit_memory(2 << 30)\n"
        "try:\n    bytearray(4 << 30)\nexcept MemoryError:\n    print('refused')\n"
    )
    assert run_python(code).stdout.strip() == "refused"


def test_the_watch_ends_what_burns_and_nothing_else():
    code = (
        "from tito.grading.judge.harden import Watch\nimport time\n"
        "watch = Watch(lambda: print('gave up', flush=True))\n"
        "watch.allow(0.2)\nwatch.allow(None)\n"
        "until = time.process_time() + 0.6\n"
        "while time.process_time() < until: pass\n"
        "print('free', flush=True)\n"
        "watch.allow(0.2)\n"
        "while True: pass\n"
    )
    done = run_python(code)
    assert done.stdout.split("\n")[:2] == ["free", "gave up"] and done.returncode == 3


def test_the_judge_looks_for_garbage_seldom_but_does():
    before = gc.get_threshold()
    try:
        harden.collect_seldom()
        assert before[0] < gc.get_threshold()[0] < 1_000_000
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
