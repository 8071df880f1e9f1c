"""Points do not depend on what else the machine does.

python -m pytest -m slow -s tests/hostile/test_steady.py
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.courses.small_course import hand_in as hand_in_all
from tests.courses.small_course import master
from tests.hostile.lesson import RIGHT, SHORT, WRONG, graded, hand_in, place
from tito.grading.judge import grade
from tito.notebook import Cell, Notebook

TIMES = 20
BURN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10**6))\n"


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Something else runs on every core; it is ended by its id, and with this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(cores or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def outcome(result) -> str:
    """All of a result but its seconds, and which of its limits a never-ending answer met first."""
    told = result.to_json()
    for cell in told["cells"]:
        cell.pop("seconds")
        cell.pop("doubt", None)
        if cell["status"] == "timeout":
            assert "took longer than" in cell.pop("message")
    return json.dumps(told, sort_keys=True)


def mixed() -> Notebook:
    """Right, wrong, half right, failing and never-ending answers, and random numbers of its own."""
    own = hand_in(RIGHT, mean=WRONG["mean"], ramp="def fill_ramp(out):\n    while True: pass\n")
    place(own, "scaled").source = (
        "import numpy as np\nnoise = np.random.default_rng().standard_normal()\n" + RIGHT["scaled"]
    )
    return Notebook([*own.cells, Cell("code", "1 / 0")], path=own.path)


@pytest.mark.clock
def test_a_hand_in_has_the_same_points_twice_on_a_busy_machine(fastest):
    with busy_cores():
        first, second = (outcome(graded(mixed(), fastest, limits=SHORT)) for _ in range(2))
    assert first == second


@pytest.mark.slow
def test_a_hand_in_graded_often_on_a_busy_machine_has_the_same_points(engine):
    quiet = outcome(graded(mixed(), engine, limits=SHORT))
    with busy_cores():
        found = Counter(outcome(graded(mixed(), engine, limits=SHORT)) for _ in range(TIMES))
    print(f"\n{engine}: {TIMES} gradings on busy cores, {len(found)} different outcome(s)")
    assert list(found) == [quiet]


@pytest.mark.slow
def test_the_small_course_graded_often_on_a_busy_machine_has_the_same_points(engine):
    """With its counts, claims and speeds."""
    whole = master()
    with busy_cores():
        results = [grade(whole, hand_in_all(), engine=engine) for _ in range(TIMES)]
    points = Counter(str(r.points) for r in results)
    doubts = sum(cell.doubt for r in results for cell in r.cells)
    print(
        f"\n{engine}: the small course, {dict(points)} of {results[0].max_points}, doubts {doubts}"
    )
    assert list(points) == [str(results[0].max_points)]
