"""A module's notebook in a real kernel: the course folder, and errors as one message."""

import json
import linecache
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.running import executed
from tito.checks.display import Display

pytest.importorskip("nbclient")

FIRST = "import tito.here\nimport sys\nimport numpy as np\nfrom tito.checks import *"
STUB = "def relu(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
BROKEN = "def relu(x):\n    y = np.empty_like(x)\n    y[0] = x[len(x)]\n    return y"
NOISY = (
    "import logging, warnings\n"
    "def relu(x):\n    warnings.warn('careful')\n    print('hello', file=sys.stderr)\n"
    "    return np.maximum(x, 0)"
)
TEXT = """import linecache
text = "def step(x):\\n    return given(x)"
linecache.cache["<step>"] = len(text), None, text.splitlines(keepends=True), "<step>"
exec(compile(text, "<step>", "exec"))
def relu(x):
    return step(x)"""
PRODUCT = "#| forbid: blas\ndef product(a, b):\n    return a.dot(b)"

CELLS = {
    "first": FIRST,
    "path": "sys.path[0]",
    "package": "import tinykernels\ntinykernels.__file__",
    "unwritten elsewhere": "softmax(np.ones((1, 2)))",
    "stub": STUB,
    "stub tested": "x = np.ones(3)\nexpect_close(relu(x), x)",
    "stub measured": "#| measure\nrelu(np.ones(3))",
    "kit's stub": "raise NotImplementedError('softmax is exercise 3: tito start 03')",
    "broken": BROKEN,
    "broken tested": "for n in (3,):\n    x = np.ones(n)\n    expect_close(relu(x), x)",
    "broken handed over": "expect_unchanged(relu, np.ones(2))",
    "compiled": 'exec("def relu(x, y):\\n    y[9] = x[0]")',  # no cell's code, as with Numba
    "compiled tested": "x = np.ones(2)\ngot = expect_written(relu, x, x.copy(), place=1)",
    "compiled, the test's own mistake": "expect_written(relu, 1, 2, place=1)",
    "broken again": BROKEN,
    "broken measured": "#| measure\nrelu(np.ones(3))",
    "broken in a cell of one's own": "relu(np.ones(3))",
    "given": "def given(x):\n    return x[9]",
    "broken further down": "def relu(x):\n    y = x\n    return given(y)",
    "broken further down, tested": "x = np.ones(3)\nexpect_close(relu(x), x)",
    "noisy": NOISY,
    "noisy tested": "x = np.ones(3)\nexpect_close(relu(x), x)\npoints(2)",
    "noisy again": "relu(np.ones(2)); print('own', file=sys.stderr)",
    "failed": "x = np.ones(3)\nexpect_close(relu(x), 2 * x, hint='double it')",
    "assert": "expect_close(1.0, 1.0)\nassert relu(np.ones(1))[0] == 2, 'it must be 2'",
    "assert without a message": "expect_close(1.0, 1.0)\nassert False",
    "the test's own mistake": "expect_close(1.0, [1.0])",
    "other error": "1 / 0",
    "kernel": (
        "from numba import njit\nfrom numba.extending import overload\ndef twice(x):\n    pass\n"
        "@overload(twice)\ndef _(x):\n    raise TypeError('twice takes no number')\n"
        "run = njit(lambda x: twice(x))"
    ),
    "kernel in a cell of one's own": "run(1)",
    "whole traceback of the compiler": "%tb",
    "product": PRODUCT,
    "product tested": "a = np.eye(2)\nexpect_close(product(a, a), a)",
    "product rewritten": PRODUCT.replace("a.dot(b)", "a * b"),
    "product tested again": "a = np.eye(2)\nexpect_close(product(a, a), a)",
    "text": TEXT,
    "text tested": "x = np.ones(3)\nexpect_close(relu(x), x)",
    "callback": "def relu(x):\n    return x(0)",
    "callback tested": "def fails(i):\n    return [][i]\n\n\nexpect_close(relu(fails), 0.0)",
    "earlier result": "kept = np.ones(2)\ngiven = iter((kept, np.ones(2), kept, np.ones(2)))\n"
    "expect_fresh(lambda: next(given)) is kept",
    "the same in another cell": "expect_fresh(lambda: next(given)) is kept",
    "whole traceback": "%tb",
    "again": "import importlib, tito.here\nexpect_close(1.0, 2.0)",
}


def module_notebook() -> dict:
    """Just enough of a module for its exercises to be known: exercise 2 is relu, 4 is softmax."""

    def cell(kind, source, solution=False):
        grading = {"grade": False, "grade_id": source[:9], "locked": False, "schema_version": 3}
        metadata = {"nbgrader": {**grading, "solution": True, "task": False}} if solution else {}
        cell = {"cell_type": kind, "id": f"c{abs(hash(source))}", "metadata": metadata}
        cell["source"] = source
        return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})

    cells = [
        cell("markdown", "# 02 Loops"),
        cell("code", "def given(x):\n    return x"),
        cell("markdown", "## Exercise 2: ReLU"),
        cell("code", STUB, solution=True),
        cell("markdown", "## Exercise 4: Softmax"),
        cell("code", STUB.replace("relu", "softmax"), solution=True),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """A course folder of its own, at a path with a space, with another tinykernels."""
    root = tmp_path_factory.mktemp("a course").resolve()
    (root / "tinykernels").mkdir()
    (root / "tinykernels" / "__init__.py").write_text("")
    module = root / "modules" / "02_loops"
    module.mkdir(parents=True)
    (module / "02_loops.ipynb").write_text(json.dumps(module_notebook()))
    return root


@pytest.fixture(scope="module")
def outputs(course) -> dict[str, list]:
    """The outputs of CELLS, run one after the other in one kernel."""
    import nbformat

    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    executed(notebook, course / "modules" / "02_loops", allow_errors=True)
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells)}


def shown(outputs: list) -> str:
    """The traceback part of the one error output, without colours."""
    (error,) = [o for o in outputs if o.output_type == "error"]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))


def name_of(outputs: list) -> str:
    (error,) = [o for o in outputs if o.output_type == "error"]
    return error.ename


def test_the_first_cell_prints_nothing(outputs):
    assert outputs["first"] == []


def test_the_course_folder_comes_first(outputs, course):
    (value,) = outputs["path"]
    assert value.data["text/plain"] == repr(str(course))
    (value,) = outputs["package"]
    assert value.data["text/plain"] == repr(str(course / "tinykernels" / "__init__.py"))


def test_a_stub_is_one_line(outputs):
    assert name_of(outputs["stub tested"]) == "NotImplementedError"
    assert shown(outputs["stub tested"]) == "exercise 2 (relu) is not written yet"
    assert shown(outputs["stub measured"]) == "exercise 2 (relu) is not written yet"
    assert shown(outputs["kit's stub"]) == "softmax is exercise 3: tito start 03"


def test_a_name_of_another_exercise_is_named(outputs):
    assert name_of(outputs["unwritten elsewhere"]) == "NameError"
    assert shown(outputs["unwritten elsewhere"]) == (
        "exercise 4 (softmax) is not defined: run the cell that defines it first"
    )


def test_an_exception_in_the_students_function_names_case_and_line(outputs):
    number = list(CELLS).index("broken") + 1
    assert name_of(outputs["broken tested"]) == "IndexError"
    assert shown(outputs["broken tested"]) == (
        "relu  x (3,) float64: raised IndexError: index 3 is out of bounds for axis 0 with size 3\n"
        f"  where     cell [{number}], line 3\n"
        "              y[0] = x[len(x)]"
    )
    assert "relu(np.ones(2)): raised IndexError" in shown(outputs["broken handed over"])
    assert "raised IndexError" in shown(outputs["broken measured"])
    assert "tito" not in shown(outputs["broken handed over"])


def test_an_exception_in_what_the_course_gave_names_the_students_line(outputs):
    number = list(CELLS).index("broken further down") + 1
    assert shown(outputs["broken further down, tested"]) == (
        "relu  x (3,) float64: raised IndexError: index 9 is out of bounds for axis 0 with size 3\n"
        f"  where     cell [{number}], line 3\n"
        "              return given(y)"
    )


def test_of_a_text_that_was_compiled_its_line_is_shown(outputs):
    number = list(CELLS).index("text") + 1
    assert shown(outputs["text tested"]).endswith(
        f"  where     cell [{number}], line 6\n"
        "              return step(x)\n"
        "            line 2 of <step>\n"
        "              return given(x)"
    )


def test_a_function_that_the_test_hands_over_is_not_the_students_line(outputs):
    number = list(CELLS).index("callback") + 1
    said = shown(outputs["callback tested"])
    assert said.endswith(f"  where     cell [{number}], line 2\n              return x(0)")


@pytest.mark.parametrize("name, is_text", [("<ipython-input-7-0>", False), ("<step>", True)])
def test_a_cell_in_a_terminal_is_no_text_that_was_compiled(name, is_text):
    source, space = "def f(x):\n    return [][x]", {}
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    exec(compile(source, name, "exec"), space)
    with pytest.raises(IndexError) as raised:
        space["f"](3)
    found = Display(SimpleNamespace(compile=None))._in_a_text(raised.tb)
    assert found is None if not is_text else found.tb_lineno == 2


def test_of_a_compiled_function_the_line_of_the_call_is_shown(outputs):
    number = list(CELLS).index("compiled tested") + 1
    assert shown(outputs["compiled tested"]) == (
        "relu  x (2,) float64: raised IndexError: index 9 is out of bounds for axis 0 with size 2\n"
        f"  where     cell [{number}], line 2\n"
        "              got = expect_written(relu, x, x.copy(), place=1)"
    )
    mistake = shown(outputs["compiled, the test's own mistake"])
    assert "there is no array to watch" in mistake and "relu: raised" not in mistake


def test_in_a_cell_of_ones_own_errors_look_as_always(outputs):
    assert "Traceback (most recent call last)" in shown(outputs["broken in a cell of one's own"])
    assert "ZeroDivisionError" in shown(outputs["other error"])
    assert "the expected value is a list" in shown(outputs["the test's own mistake"])


def test_warnings_and_stderr_in_a_test_cell_cost_nothing(outputs):
    """nbgrader gives 0 to a test cell with any output on stderr."""
    kinds = [(o.output_type, o.get("name")) for o in outputs["noisy tested"]]
    assert set(kinds) == {("stream", "stdout"), ("execute_result", None)}
    text = "".join(o.text for o in outputs["noisy tested"] if o.output_type == "stream")
    assert "careful" in text and "hello" in text
    assert outputs["noisy tested"][-1].data["text/plain"] == "2"
    assert {o.name for o in outputs["noisy again"]} == {"stderr"}


def test_nbgrader_grades_the_outputs_as_meant(outputs):
    pytest.importorskip("nbgrader")
    from nbformat.v4 import new_code_cell
    from nbgrader.utils import determine_grade

    def grade(name):
        cell = new_code_cell(CELLS[name], outputs=outputs[name])
        cell.metadata["nbgrader"] = {"grade": True, "solution": False, "points": 3, "grade_id": "t"}
        return determine_grade(cell)[0]

    assert grade("noisy tested") == 2
    assert grade("product tested again") == 3
    for name in ("stub tested", "broken tested", "failed", "product tested", "assert"):
        assert grade(name) == 0, name


def test_a_failed_check_is_its_message(outputs):
    assert name_of(outputs["failed"]) == "CheckFailed"
    assert shown(outputs["failed"]).splitlines() == [
        "relu  x (3,) float64: wrong in all 3 elements",
        "  got       [1. 1. 1.] float64 (3,)",
        "  expected  [2. 2. 2.] float64 (3,)",
        "  try       double it",
    ]
    assert shown(outputs["again"]).startswith("the result: wrong value")


def test_a_plain_assert_is_its_message(outputs):
    assert shown(outputs["assert"]) == "it must be 2"
    assert shown(outputs["assert without a message"]) == "the test failed: assert False"


def test_a_forbidden_route_fails_the_test_until_it_is_rewritten(outputs):
    number = list(CELLS).index("product") + 1
    assert shown(outputs["product tested"]).splitlines() == [
        "product uses a library's matrix product, which this exercise forbids",
        f"  where     cell [{number}], line 3: a.dot",
        "  try       write the sum over the inner index yourself",
    ]
    assert outputs["product tested again"] == []


def test_earlier_results_end_with_the_cell(outputs):
    for name in ("earlier result", "the same in another cell"):
        (value,) = outputs[name]
        assert value.data["text/plain"] == "True"


def test_the_whole_traceback_is_still_there_for_who_asks(outputs):
    assert "Traceback (most recent call last)" in shown(outputs["whole traceback"])


def test_steps_of_the_compiler_are_left_out(outputs):
    pytest.importorskip("numba")
    text, whole = (
        shown(outputs[name])
        for name in ("kernel in a cell of one's own", "whole traceback of the compiler")
    )
    assert "run(1)" in text and text.endswith("TypeError: twice takes no number")
    assert "dispatcher.py" not in text and len(text.splitlines()) < 20
    assert "dispatcher.py" in whole


def test_a_folder_of_ones_own_that_is_called_numba_is_no_compiler():
    pytest.importorskip("numba")
    from tito.checks.display import _without_compiler

    place = str(Path("numba", "mine.py").absolute())
    try:
        exec(compile("1 / 0", place, "exec"))
    except ZeroDivisionError as error:
        last = _without_compiler(error.__traceback__)
    while last.tb_next is not None:
        last = last.tb_next
    assert last.tb_frame.f_code.co_filename == place


def test_without_ipython_importing_here_is_harmless(course):
    import subprocess

    code = "import tito.here, sys; print(sys.path[0])"
    folder = course / "modules" / "02_loops"
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={"PYTHONPATH": str(root), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == (str(course), "")


def test_errors_are_one_message_without_the_first_cell_too(tmp_path):
    """A kernel was restarted and the student goes on below the first cell."""
    from nbformat.v4 import new_code_cell, new_notebook

    sources = ("from tito.checks import expect_close", "expect_close(1.0, 2.0)")
    notebook = new_notebook(cells=[new_code_cell(s) for s in sources])
    executed(notebook, tmp_path, allow_errors=True)
    (shown,) = notebook.cells[1].outputs
    assert shown.ename == "CheckFailed"
    assert "Traceback" not in "\n".join(shown.traceback)
