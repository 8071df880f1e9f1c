"""Cells that a warm student process has compiled for all its forks run as any other cell does."""

import json

import pytest

from tito.grading.engine.fork import ForkEngine, start_warm_student
from tito.grading.engine.warm import forking_works
from tito.grading.judge.ahead import for_students
from tito.grading.judge.plan import Plan, Step
from tito.grading.judge.process import in_memory
from tito.grading.judge.world import World
from tito.grading.stage import make_library, make_stage, remove_folder

pytestmark = pytest.mark.skipif(not forking_works(), reason="no fork engine on this system")

HELPERS = (
    "import colorsys\n\ndef fails(x):\n    def inner():\n        return x[7]\n    return inner()"
)
LOOK = """
import inspect, sys
source = inspect.getsource(fails)
ready = "colorsys" in sys.modules
"""


@pytest.fixture(scope="module")
def world_after():
    """Makes a world whose warm parent has read these cells of a master."""
    library = make_library()
    warm = start_warm_student(library, with_numba=False)
    stages, worlds = [], []

    def make(*cells):
        warm.wait_until_ready()
        steps = [Step("given", f"given {n}", cell, n) for n, cell in enumerate(cells)]
        with in_memory(json.dumps(for_students(Plan(steps)))) as told:
            warm.prepare({}, [told])
        stages.append(make_stage(library=library))
        worlds.append(World(ForkEngine(warm, library), stages[-1]))
        return worlds[-1]

    yield make
    for world, stage in zip(worlds, stages):
        world.close()
        stage.remove()
    warm.close()
    remove_folder(library)


def test_tracebacks_and_sources_are_those_of_the_cell_in_its_own_file(world_after):
    world = world_after(LOOK, HELPERS)
    assert world.run_cell("helpers", HELPERS).status == "ok"
    assert world.run_cell("look", LOOK).status == "ok"
    assert world.bind(["source", "ready"]) == {
        "source": HELPERS.partition("\n\n")[2] + "\n",
        "ready": True,
    }
    outcome = world.run_cell("call", "fails([])")
    assert (outcome.status, outcome.message) == ("error", "IndexError: list index out of range")
    other = world.run_cell("again, in another file", HELPERS + "\nfails([])")
    assert (other.status, other.line) == ("error", 5)


def test_the_last_value_is_shown_unless_a_semicolon_hides_it(world_after):
    world = world_after("a = 1\na + 1", "a + 2;")
    assert world.run_cell("one", "a = 1\na + 1").output == "2\n"
    assert world.run_cell("two", "a + 2;").output == ""


def test_a_future_import_of_an_earlier_cell_holds_as_in_a_notebook(world_after):
    cell = "def f(x: undefined_name): return x"
    world = world_after(cell)
    assert world.run_cell("one", cell).status == "error"
    assert world.run_cell("two", "from __future__ import annotations").status == "ok"
    assert world.run_cell("three", cell).status == "ok"


def test_what_cannot_be_compiled_or_imported_is_left_to_those_who_run_it(world_after):
    world = world_after("def f(:", "import no_such_module", "%time b = 2", "import tkinter")
    assert world.run_cell("one", "def f(:").message.startswith("SyntaxError")
    assert world.run_cell("two", "%time b = 2").status == "ok"
    assert world.bind(["b"]) == {"b": 2}
    loaded = world.run_cell("three", "import sys\nprint('tkinter' in sys.modules)")
    assert loaded.output == "False\n"
