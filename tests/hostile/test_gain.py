"""Ways to gain points with wrong answers, each kind that is known: none gains one.

The answers are wrong throughout, so every point would be a stolen one.
"""

from __future__ import annotations

import pytest

from tests.hostile.lesson import (
    MAX_POINTS,
    RIGHT,
    TESTS,
    WRONG,
    document,
    earned,
    file_of,
    graded,
    hand_in,
    place,
    with_cell,
)

# About what the hand-ins do: how judges start is tried elsewhere.
pytestmark = pytest.mark.usefixtures("ready_judges")
PATCHES = {
    "numpy's comparisons": (
        "import numpy as np\n"
        "for name in ('allclose', 'array_equal', 'isclose', 'array_equiv', 'all'):\n"
        "    setattr(np, name, lambda *a, **k: True)\n"
        "np.testing.assert_allclose = lambda *a, **k: None\n"
    ),
    "builtins": (
        "import builtins\n"
        "builtins.abs = lambda x: 0\nbuiltins.len = lambda x: 0\n"
        "builtins.isinstance = lambda *a: True\nbuiltins.AssertionError = Warning\n"
    ),
    "input transformer": (
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass\\n'])\n"
    ),
    "syntax tree transformer": (
        "import ast\n"
        "class NoAsserts(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(NoAsserts())\n"
    ),
    "kernel": "get_ipython().kernel.do_execute = lambda *a, **k: {'status': 'ok'}\n",
    "traceback printer": "get_ipython().showtraceback = lambda *a, **k: None\n",
    "excepthook": "import sys\nsys.excepthook = lambda *a: None\n",
    "custom exceptions": (
        "get_ipython().set_custom_exc((Exception,), lambda *a, **k: None)\n"
        "get_ipython().events.register('pre_run_cell', lambda *a: None)\n"
    ),
    "trace function": (
        "import sys\n"
        "def trace(frame, event, arg):\n"
        "    frame.f_trace_lines = False\n    return trace\n"
        "sys.settrace(trace)\nsys.setprofile(trace)\n"
    ),
    "asserts off": "import sys\nsys.flags = type('F', (), {'optimize': 2})()\n",
    "skip magic": "%%skip\n",
    "exit with success": "import sys\nsys.exit(0)\n",
    "exit IPython": "exit()\n",
    "end the process": "import os\nos._exit(0)\n",
    "the test cell's names": "np = None\nSIZES = ()\n",
    "the tests' modules": (
        "import sys, types\n"
        "fake = types.ModuleType('tito.checks')\n"
        "fake.__getattr__ = lambda name: (lambda *a, **k: None)\n"
        "sys.modules['tito.checks'] = sys.modules['tito'] = fake\n"
    ),
    "files named like libraries": (
        "for name in ('numpy.py', 'math.py', 'tito.py', 'sitecustomize.py', 'conftest.py'):\n"
        "    open(name, 'w').write('raise SystemExit(0)')\n"
    ),
    "lessons of earlier cells": (
        "import gc\n"
        "for o in gc.get_objects():\n"
        "    if type(o).__name__ == 'Cells':\n"
        "        o.run = lambda *a: None\n"
    ),
    "the server's operations": (
        "import gc\n"
        "for o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'getattr' in o and 'timed' in o:\n"
        "        for key in list(o): o[key] = lambda *a, **k: True\n"
    ),
}


@pytest.mark.parametrize("kind", PATCHES)
def test_patching_the_own_process_gains_nothing(kind, engine):
    result = graded(hand_in(first=PATCHES[kind]), engine)
    assert result.status == "graded" and len(result.cells) == len(TESTS)
    assert earned(result) == {}


YES = (
    "class Yes(float):\n"
    "    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = lambda self, other: True\n"
    "    __ne__ = lambda self, other: False\n"
    "    __sub__ = __rsub__ = __abs__ = __mul__ = lambda self, *other: Yes(0)\n"
    "    __array__ = lambda self, *a, **k: np.zeros(1)\n"
    "    __array_ufunc__ = __array_function__ = lambda self, *a, **k: True\n"
    "    __hash__ = lambda self: 0\n"
    "    shape, ndim, size, dtype = (1,), 1, 1, np.dtype('f8')\n"
)
# What stands in place of an answer; each is returned by every function that is asked for.
ANSWERS = {
    "always equal": YES + "answer = lambda: Yes()",
    "always equal array": (
        "class Array(np.ndarray):\n"
        "    __eq__ = lambda self, other: np.True_\n"
        "    __array_ufunc__ = __array_function__ = lambda self, *a, **k: True\n"
        "answer = lambda: np.zeros(4).view(Array)"
    ),
    "always equal text": (
        "class Text(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n"
        "answer = lambda: Text('')"
    ),
    "empty": "answer = lambda: np.zeros(0)",
    "empty list": "answer = lambda: []",
    "not a number": "answer = lambda: np.full(4, np.nan)",
    "not a number, alone": "answer = lambda: float('nan')",
    "infinite": "answer = lambda: float('inf')",
    "true": "answer = lambda: True",
    "nothing": "answer = lambda: None",
    "not implemented": "answer = lambda: NotImplemented",
    "points": "answer = lambda: 5",
    "an address": (
        "class Address:\n"
        "    __array_interface__ = dict(version=3, shape=(1,), typestr='<f8', data=(4096, True))\n"
        "answer = Address"
    ),
    "a mock": "from unittest.mock import MagicMock\nanswer = MagicMock",
    "an endless sequence": (
        "class Endless:\n"
        "    __len__ = lambda self: 3\n    __getitem__ = lambda self, i: Endless()\n"
        "    __iter__ = lambda self: iter(lambda: 1, 0)\n"
        "    __float__ = lambda self: 3.0\n    __abs__ = lambda self: 0.0\n"
        "answer = Endless"
    ),
    "stop iteration": "def answer(): raise StopIteration",
    "generator exit": "def answer(): raise GeneratorExit",
    "system exit": "def answer(): raise SystemExit(0)",
    "keyboard interrupt": "def answer(): raise KeyboardInterrupt",
    "skip": "from unittest import SkipTest\ndef answer(): raise SkipTest('not today')",
    "an assertion of its own": "def answer(): raise AssertionError",
}
EVERYWHERE = (
    "\nscaled = lambda x, factor: answer()\n"
    "fill_ramp = lambda out: answer()\n"
    "class Mean:\n    __call__ = lambda self, values: answer()\n"
    "bits = lambda n: answer()\n"
)


@pytest.mark.parametrize("kind", ANSWERS)
def test_no_object_passes_for_an_answer(kind, engine):
    code = "import numpy as np\n" + ANSWERS[kind] + EVERYWHERE
    result = graded(hand_in(dict.fromkeys(WRONG, code)), engine)
    assert result.status == "graded"
    assert earned(result) == {}


INPUTS = {
    "overwrites its input": "def scaled(x, factor):\n    x[...] = 0\n    return np.zeros(x.shape)",
    "returns its input": "def scaled(x, factor):\n    return x",
    "overwrites through a view": (
        "def scaled(x, factor):\n    x[::-1][...] = 0\n    return x.reshape(-1)"
    ),
    "changes its input later": (
        "import threading\n"
        "def scaled(x, factor):\n"
        "    got = np.zeros(x.shape)\n"
        "    def later():\n"
        "        import time\n        time.sleep(0.01)\n        x[...] = 0; got[...] = 3 * x\n"
        "    threading.Thread(target=later).start()\n    return got"
    ),
    "remembers the memory it was given": (
        "seen = []\n"
        "def scaled(x, factor):\n"
        "    seen.append(x)\n"
        "    for old in seen: old[...] = 0\n"
        "    return seen[0][: len(x)]"
    ),
    "makes the array read-only": (
        "def scaled(x, factor):\n    x.flags.writeable = False\n    return x"
    ),
    "resizes what it was given": (
        "def scaled(x, factor):\n    x.resize(0, refcheck=False)\n    return x"
    ),
    "changes the shape it was given": (
        "def scaled(x, factor):\n    x.shape = (1, -1)\n    return x"
    ),
    "changes the dtype it was given": (
        "def scaled(x, factor):\n    x.dtype = np.int64\n    return x"
    ),
}


@pytest.mark.parametrize("kind", INPUTS)
def test_what_a_call_does_to_its_input_gains_nothing(kind, engine):
    result = graded(hand_in(scaled="import numpy as np\n" + INPUTS[kind]), engine)
    assert result.status == "graded"
    assert earned(result) == {}


def _duplicated(before: bool) -> bytes:
    """A copy of a test's cell that tests nothing, above or below the real one."""
    damaged = document(hand_in())
    cells = damaged["cells"]
    at = next(i for i, c in enumerate(cells) if "mean-test" in str(c["metadata"]))
    copy = {**cells[at], "id": "again", "source": "assert True"}
    cells.insert(at if before else at + 1, copy)
    return file_of(damaged)


def _settings(**changed: object) -> bytes:
    """Every test's settings changed, and the test with them."""
    damaged = document(hand_in())
    for cell in damaged["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["metadata"]["nbgrader"] |= changed
            cell["source"] = "pass"
    return file_of(damaged)


def _tests_as(kind: str) -> bytes:
    damaged = document(hand_in())
    for cell in damaged["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["cell_type"] = kind
            del cell["outputs"], cell["execution_count"]
    return file_of(damaged)


def _answers_in_tests() -> bytes:
    """The tests' own cells hold what would make them pass, by every name they have."""
    damaged = document(hand_in())
    for cell in damaged["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "scaled = fill_ramp = Mean = bits = np = SIZES = None"
    return file_of(damaged)


def _given_edited() -> bytes:
    """A given cell that the tests lean on, with other contents."""
    own = hand_in()
    own.cells[1].source = "import numpy as np\nSIZES = ()\nnp.allclose = lambda *a: True"
    return file_of(document(own))


def _no_tests() -> bytes:
    damaged = document(hand_in())
    damaged["cells"] = [
        c for c in damaged["cells"] if not c["metadata"].get("nbgrader", {}).get("grade")
    ]
    return file_of(damaged)


FILES = {
    "copy of a test below": lambda: _duplicated(before=False),
    "copy of a test above": lambda: _duplicated(before=True),
    "points and unlocked": lambda: _settings(points=100, locked=False),
    "not graded": lambda: _settings(grade=False),
    "now solutions": lambda: _settings(grade=False, solution=True, locked=False),
    "task": lambda: _settings(task=True),
    "another schema": lambda: _settings(schema_version=1),
    "tests as markdown": lambda: _tests_as("markdown"),
    "tests as raw": lambda: _tests_as("raw"),
    "answers in the tests": _answers_in_tests,
    "given cell edited": _given_edited,
    "tests deleted": _no_tests,
}


@pytest.mark.parametrize("kind", FILES)
def test_what_is_done_to_the_file_gains_nothing(kind, engine):
    result = graded(FILES[kind](), engine)
    assert result.status == "graded"
    assert (earned(result), result.max_points) == ({}, MAX_POINTS)


def test_each_wrong_answer_costs_its_own_points(engine):
    """The answers that the attacks above start from are wrong, each by itself."""
    for name in WRONG:
        result = graded(hand_in(RIGHT, **{name: WRONG[name]}), engine)
        lost = {c.id for c in result.cells if not c.points}
        assert lost and {i.split("-")[0] for i in lost} == {name}


def test_an_exit_between_a_wrong_answer_and_its_test_gains_nothing(engine):
    for code in ("import os; os._exit(0)", "exit()", "raise SystemExit(0)"):
        assert earned(graded(with_cell(hand_in(), "mean-test", code), engine)) == {}


def test_an_answer_that_depends_on_who_asks_gains_nothing(engine):
    """Right while the cells run, wrong when the judge calls: the call counts."""
    turn = RIGHT["bits"].replace("bits(n)", "right(n)") + (
        "import sys\n"
        "def bits(n):\n"
        "    names = [f.f_code.co_filename for f in _frames()]\n"
        "    return right(n) if not any('server' in n for n in names) else -1\n"
        "def _frames():\n"
        "    frame = sys._getframe()\n"
        "    while frame: yield frame; frame = frame.f_back\n"
        "assert bits(255) >= -1\n"
    )
    own = hand_in(bits=turn)
    assert place(own, "bits").source == turn
    assert earned(graded(own, engine)) == {}
