"""Every module, run in a kernel: with the reference in place, and as students get it."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.running import executed
from tests.sharing import made_once
from tito.course import Course
from tito.grading.judge.text import import_lines
from tito.notebook import Role, load
from tito.release import kit

nbformat = pytest.importorskip("nbformat")

ROOT = Path(__file__).parents[1]
MODULES = [ref.name for ref in Course(ROOT).modules]
# CPU time of the kernel and of all processes that it started: half a minute on a machine as CI has
# one, three times as much on a busy one, and what a stall may add.
MOST_SECONDS = 120
# Measuring takes most of the time. With the reference, all cells run on every Python; what they say
# where an answer is missing hangs on none, and is tried in one module on the older ones.
STUBS = [
    pytest.param(name, marks=() if name == "02_loops" else pytest.mark.newest) for name in MODULES
]
MEASURES_ALL = sys.version_info >= (3, 13)
CLOCK = "import os; _t = os.times(); print(sum(_t[:4]))"
# One sample of what is measured, or one round. Then every cell still runs and shows what it would
# show; how long it measures is tried with the reference on one Python.
ONE_ROUND = """
import functools
import tito.machine
from tito.machine import board, measuring, timer

def fewest(function, **options):
    return functools.wraps(function)(lambda *args, **more: function(*args, **{**more, **options}))

tito.machine.time_call = fewest(timer.time_call, repeats=1)
tito.machine.compare = fewest(timer.compare, rounds=1)
tito.machine.measure = board.measure = fewest(measuring.measure, rounds=1)
"""


def text_of(output: dict) -> str:
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.traceback))
    return str(output.data.get("text/plain", ""))


def executed_in_haste(notebook, folder: Path):
    """Executed with one round of each measurement."""
    notebook.cells.insert(0, nbformat.v4.new_code_cell(ONE_ROUND))
    ran = executed(notebook, folder)
    assert ran.cells.pop(0).outputs == []
    return ran


def has_figure_or_table(outputs: list) -> bool:
    """A picture, or text with a number in it."""
    if any(
        "image/png" in o.get("data", {}) or "image/svg+xml" in o.get("data", {}) for o in outputs
    ):
        return True
    return any(re.search(r"\d", text_of(o)) for o in outputs)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A copy of the course, so that running it leaves nothing in the checkout."""
    folder = tmp_path_factory.mktemp("modules") / "the course"
    for name in ("modules", "tinykernels"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def fresh(tmp_path_factory) -> Path:
    """The course's kit, of which every worker has a copy."""
    made = made_once(tmp_path_factory, "kit", lambda folder: kit.generate(Course(ROOT), folder))
    return shutil.copytree(made, tmp_path_factory.mktemp("kit") / "a kit")


@pytest.mark.parametrize("name", MODULES)
def test_the_reference_runs_from_top_to_bottom(name, course):
    path = course / "modules" / name / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(CLOCK))
    run = executed if MEASURES_ALL else executed_in_haste
    ran = run(notebook, path.parent)
    assert float(text_of(ran.cells[-1].outputs[0])) < MOST_SECONDS
    measures = [c.index - 1 for c in load(path).of_role(Role.MEASURE)]
    assert measures
    bare = [i + 1 for i in measures if not has_figure_or_table(ran.cells[i].outputs)]
    assert bare == [], "these measure cells show neither a figure nor a number"
    loud = [o for i in measures for o in ran.cells[i].outputs if o.get("name") == "stderr"]
    assert loud == []


@pytest.mark.parametrize("name", STUBS)
def test_a_fresh_kit_runs_through_without_a_traceback_of_ours(name, fresh):
    path = fresh / "modules" / name / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    if not MEASURES_ALL:
        for cell in load(path).of_role(Role.MEASURE):
            notebook.cells[cell.index - 1].source = "\n".join(import_lines(cell.source))
    # As Jupyter's Run All does: a cell that fails stops it, unless it is tagged.
    ran = executed_in_haste(notebook, path.parent)
    texts = [text_of(o) for cell in ran.cells for o in cell.get("outputs", [])]
    assert any("not written yet" in text for text in texts)
    for text in texts:
        assert "Traceback" not in text
        assert "site-packages" not in text and str(ROOT / "tito") not in text
