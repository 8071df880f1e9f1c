"""A hand-in from bytes to points, through the judge's process and the student's."""

import json
import sys
from dataclasses import replace

import pytest

from tests.grading.judge.samples import (
    CLAMP,
    CLAMP_WRONG,
    DOUBLE,
    DOUBLE_WRONG,
    STUB,
    as_file,
    hand_in,
    master,
    solution,
    test_cell,
)
from tito.errors import UserError
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.judge import grade
from tito.grading.judge.job import Job, as_bytes
from tito.grading.judge.run import Judge
from tito.grading.limits import Limits
from tito.notebook import Cell, Notebook

pytestmark = pytest.mark.usefixtures("any_engine", "ready_judges")

# Seconds of CPU as in a course: a machine that stands still books some on whoever ran.
ROOMY = Limits(idle=2, memory=1 << 30)
# For what runs for ever.
SHORT = Limits(
    solution=1, given=1, extra=0.5, call=0.5, test=1.5, idle=2, wall_factor=20, memory=1 << 30
)


def run(own, nb=None, limits=ROOMY, **options):
    return grade(nb or master(), own, limits=limits, **options)


def by_id(result):
    return {c.id: c for c in result.cells}


def one(student, test, given="import numpy as np", points=4, **options):
    """Grade one solution cell `f` against one test cell; the test's result."""
    [cell] = many([(student, test)], given, points, **options)
    return cell


def many(pairs, given="import numpy as np", points=4, **options):
    """Grade pairs of a student's cell that defines `f` and a test of it, all in one notebook."""
    cells, own = [Cell("code", given)], [Cell("code", given)]
    for number, (student, test) in enumerate(pairs):
        check = test_cell(f"t{number}", test, points)
        cells += [solution(f"f{number}", "def f(*a): ..."), check]
        own += [solution(f"f{number}", student), check]
    result = grade(Notebook(cells), Notebook(own), limits=ROOMY, **options)
    assert len(result.cells) == len(pairs)
    return result.cells


# -- right and wrong


def test_a_right_hand_in_gets_everything():
    result = run(as_file(hand_in()))
    assert [c.status for c in result.cells] == ["passed"] * 3
    assert (result.points, result.max_points) == (7, 7)
    assert result.deviations == [] and result.reason is None


def test_a_wrong_hand_in_gets_nothing_and_reads_why():
    result = run(hand_in(CLAMP_WRONG, DOUBLE_WRONG))
    assert result.points == 0
    cells = by_id(result)
    assert cells["clamp-test"].message == "above the upper bound"
    assert cells["double-test"].message == "twice each"


def test_a_half_done_hand_in_gets_its_half():
    stub = DOUBLE.split("\n")[0] + "\n" + STUB
    result = run(hand_in(CLAMP, stub))
    assert result.points == 3
    cell = by_id(result)["double-test"]
    assert cell.status == "missing"
    assert cell.message == "exercise 2 (double): double_all is not written yet"


def test_nothing_handed_in_for_an_exercise():
    own = hand_in()
    own.cells.pop(2)
    result = run(Notebook(own.cells))
    assert result.points == 4
    assert "no cell of the notebook defines it" in by_id(result)["clamp-test"].message


def test_what_is_no_notebook_is_broken_and_keeps_the_maximum():
    result = run(b"<html>")
    assert result.status == "broken" and "web page" in result.reason
    assert (result.points, result.max_points) == (0, 7)


def test_another_notebook_is_broken():
    result = run(Notebook([Cell("code", "x = 1")]))
    assert result.status == "broken" and "belongs to small" in result.reason


def test_the_result_is_json_and_the_same_every_time():
    first, second = (json.dumps(run(hand_in()).to_json()) for _ in range(2))
    for document in (first, second):
        assert json.loads(document)["points_exact"] == "7"
    strip = [{**c, "seconds": 0} for c in json.loads(first)["cells"]]
    assert strip == [{**c, "seconds": 0} for c in json.loads(second)["cells"]]


# -- what an honest student does costs nothing


def test_everything_an_honest_student_does():
    own = hand_in()
    own.cells[1].source = "import math\nimport string\n\nLIMIT = 10\nprint('edited')"
    own.cells[1].id = "given"
    own.cells[2].source = (
        "%matplotlib inline\n!pip list\nimport sys, warnings\n"
        + CLAMP.replace(
            "    return",
            "    print('debug', x)\n    print('err', file=sys.stderr)\n"
            "    warnings.warn('careful')\n    return",
        )
        + "display(clamp(1, 0, 2))\nclamp?\n"
    )
    own.cells[5].source = "%%time\n" + DOUBLE
    extras = [
        Cell("code", "1 / 0"),
        Cell("code", "import asyncio\nawait asyncio.sleep(0)"),
        Cell("code", "%timeit sum(range(10))"),
        Cell("code", "while True:\n    pass"),
        Cell("code", "def not finished"),
        Cell("code", "raise SystemExit"),
        Cell("code", "print('x' * 10_000_000)"),
        Cell("code", "input('your name? ')"),
    ]
    own = Notebook([*own.cells[:4], *extras, *own.cells[4:]])
    result = run(own, limits=replace(ROOMY, extra=0.5))
    assert result.points == 7, [(c.id, c.message) for c in result.cells]
    assert any("ZeroDivisionError" in r for r in result.raised)


def test_cells_of_one_number_are_told_apart():
    """The third cell of the hand-in ends its process, the third of the master has to run."""
    nb = master()
    nb.cells.insert(2, Cell("code", "BOUND = 12"))
    nb.cells[4].source = "assert clamp(BOUND, 0, LIMIT) == 10"
    nb.cells[5].source = "assert clamp(-BOUND, -3, 3) == -3 and BOUND == 12"
    nb = Notebook(nb.cells, path=nb.path)
    own = hand_in("def clamp(x, low, high): return min(max(x, low), high) if x else exit")
    own.cells.insert(2, Cell("code", "import os\nos._exit(1)"))
    own.cells.insert(4, Cell("code", "def clamp(*a): return 10"))
    own.cells.insert(5, Cell("code", CLAMP.replace("    return", "    BOUND\n    return")))
    result = run(Notebook(own.cells), nb)
    assert result.points == 7, [(c.id, c.message) for c in result.cells]


def test_a_given_cell_that_fails_is_told_once():
    nb, own = master(), hand_in()
    for notebook in (nb, own):
        notebook.cells.insert(2, Cell("code", "1 / 0"))
    result = run(Notebook(own.cells), Notebook(nb.cells, path=nb.path))
    assert result.points == 7 and result.deviations == []
    assert result.raised == ["given cell 3, line 1: ZeroDivisionError: division by zero"]


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 20000 + "1",
        "x = " + "+".join(["1"] * 20000),
        "x = a" + ".b" * 20000,
        "x = " + "(" * 20000 + ")" * 20000,
        "if 1: pass\n" + "elif 1: pass\n" * 5000,
        "\n".join(f"v{i} = 1" for i in range(20000)),
        "x = 1\0",
        "x = '" + "a" * (5 << 20) + "'",
    ],
    ids=["unary", "binary", "attributes", "brackets", "elif", "statements", "null", "huge"],
)
def test_a_cell_that_no_compiler_takes_costs_nobody_points(source):
    own = hand_in()
    own.cells.insert(4, Cell("code", source))
    result = run(Notebook(own.cells))
    assert (result.status, result.points) == ("graded", 7)


def test_a_copied_cell_below_wins_as_in_jupyter():
    own = hand_in(CLAMP_WRONG)
    own.cells.insert(3, solution("clamp", CLAMP))
    assert run(Notebook(own.cells)).points == 7
    own = hand_in(CLAMP)
    own.cells.insert(3, solution("clamp", CLAMP_WRONG))
    assert by_id(run(Notebook(own.cells)))["clamp-test"].points == 0


def test_an_answer_in_a_cell_of_its_own_counts():
    own = hand_in(CLAMP.split("\n")[0] + "\n" + STUB)
    own.cells.insert(3, Cell("code", CLAMP))
    assert run(Notebook(own.cells)).points == 7


# -- tests, points and order are the master's


def test_edited_tests_and_points_change_nothing():
    own = hand_in(CLAMP_WRONG, DOUBLE_WRONG)
    for cell in own.cells[3:]:
        if cell.graded:
            cell.source = "assert True"
            cell.nbgrader["points"] = 100
    result = run(own)
    assert (result.points, result.max_points) == (0, 7)


def test_a_student_cannot_reach_the_tests():
    patch = (
        "import builtins, numpy as np\n"
        "builtins.len = lambda *a: 0\nnp.allclose = lambda *a, **k: True\n"
        "class Equal:\n    def __eq__(self, other): return True\n    __req__ = __eq__\n"
        "def clamp(*a): return Equal()\ndef double_all(*a): return Equal()\n"
    )
    assert run(hand_in(patch, "pass")).points == 0


def test_points_are_exact():
    nb = master()
    for cell, points in zip([nb.cells[3], nb.cells[4], nb.cells[6]], [0.1, 0.2, 1 / 3]):
        cell.nbgrader["points"] = points
    assert str(run(hand_in(), nb).points) == "19/30"


def test_a_failing_test_of_no_points_is_shown_as_failing():
    nb = master()
    nb.cells[3].nbgrader["points"] = 0
    cell = by_id(run(hand_in(CLAMP_WRONG), nb))["clamp-test"]
    assert (cell.status, cell.points) == ("failed", 0)


def test_bad_points_in_the_master_stop_before_anything_runs():
    nb = master()
    nb.cells[3].nbgrader["points"] = float("nan")
    with pytest.raises(UserError, match="clamp-test"):
        run(hand_in(), nb)


def test_what_a_person_grades_waits():
    essay = Cell("markdown", "because", {"nbgrader": {**hand_in().cells[2].nbgrader}})
    essay.nbgrader.update(grade_id="essay", grade=True, points=5)
    nb = master()
    result = run(hand_in(), Notebook([*nb.cells, essay], path=nb.path))
    assert (result.points, result.max_points, result.manual_points) == (7, 7, 5)
    assert by_id(result)["essay"].status == "manual"


# -- partial credit


LAST_VALUES = {
    "None": ("passed", 4),
    "0": ("failed", 0),
    "0.0": ("failed", 0),
    "1.5": ("partial", 1.5),
    "4": ("passed", 4),
    "np.float64(0.0)": ("failed", 0),
    "np.array(3.0)": ("partial", 3),
    "print(0)": ("passed", 4),
    "2;": ("passed", 4),
    "True": ("error", 0),
    "9": ("error", 0),
    "-1": ("error", 0),
    "float('nan')": ("error", 0),
    "'3'": ("error", 0),
    "1, 2": ("error", 0),
    "f(2)": ("error", 0),
    "got = f(2)\nmax(got, 0)": ("error", 0),
    "2 * (f(2) == 4)": ("partial", 2),
    "f": ("error", 0),
    "print(f(2))": ("passed", 4),
    "display(f(2))": ("passed", 4),
    "np.testing.assert_allclose(f(2), 4)": ("passed", 4),
    "import asyncio\nawait asyncio.sleep(0)": ("passed", 4),
}


def test_the_last_value_is_the_score():
    right = "def f(x): return 2 * x"
    cells = many([(right, f"assert f(1) == 2\n{last}") for last in LAST_VALUES])
    found = {last: (c.status, c.points) for last, c in zip(LAST_VALUES, cells)}
    assert found == LAST_VALUES
    for cell in cells:
        assert ("for the instructor" in (cell.message or "")) == (cell.status == "error")


def test_points_says_what_is_missing():
    test = "from tito.checks import points\nassert f(1) == 2\npoints(1, 'two loops are enough')"
    cell = one("def f(x): return 2 * x", test)
    assert (cell.status, cell.points, cell.message) == ("partial", 1, "two loops are enough")


def test_a_test_that_asked_nothing_is_reported():
    nb = master()
    nb.cells[3].source = "assert 1 + 1 == 2"
    result = run(hand_in(), nb)
    assert "clamp-test: passed without asking the student's code" in result.deviations


# -- a process that dies or hangs costs its own question


@pytest.mark.clock
@pytest.mark.parametrize(
    "line, status",
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(3600)", "timeout"),
        ("import os; os._exit(0)", "died"),
        ("import ctypes; ctypes.string_at(0)", "died"),
        # Zeros that nobody touches, so that the limit is met before any time is spent. It is a
        # MemoryError, and Python may or may not have enough left to say so.
        ("x = []\nwhile True: x.append(bytes(50 << 20))", "died missing"),
    ],
)
def test_a_solution_cell_that_ends_badly(line, status):
    result = run(hand_in(f"{line}\n{CLAMP}"), limits=SHORT)
    cells = by_id(result)
    assert cells["double-test"].points == 4
    assert cells["clamp-test"].points == 0
    assert cells["clamp-test"].status in status.split()
    assert cells["clamp-test"].message.startswith("clamp is not there: cell 3 (clamp)")


@pytest.mark.clock
@pytest.mark.parametrize(
    "line, status",
    [("while True: pass", "timeout"), ("import os; os._exit(0)", "died")],
)
def test_a_call_that_ends_badly(line, status):
    body = f"def clamp(x, low, high):\n    {line}\n"
    cells = by_id(run(hand_in(body), limits=SHORT))
    assert cells["clamp-test"].status == status
    assert cells["double-test"].points == 4


def test_a_judge_that_dies_costs_the_test_it_was_running():
    nb = master()
    nb.cells[3].source = "clamp(1, 2, 3)\nimport os\nos._exit(9)"
    result = run(hand_in(), nb)
    assert result.points == 5
    assert "exit code 9" in by_id(result)["clamp-test"].message


@pytest.mark.clock
def test_a_judge_that_burns_is_ended():
    nb = master()
    nb.cells[3].source = "clamp(1, 2, 3)\nwhile True: pass"
    result = run(hand_in(), nb, limits=SHORT)
    assert result.points == 5
    assert by_id(result)["clamp-test"].status == "timeout"


# -- hidden tests


LEAKY = """
seen = []
def f(x):
    seen.append(repr(x))
    print("input was", seen)
    open("copy.txt", "a").write(repr(x))
    raise RuntimeError(f"input was {seen}")
"""
REGION = """
assert f(1) is not None
### BEGIN HIDDEN TESTS
CONFIDENTIAL = [-3.75, 8.5]
assert [f(v) for v in CONFIDENTIAL] == [0, 8.5], f"CONFIDENTIAL {CONFIDENTIAL}"
### END HIDDEN TESTS
"""


def leaky_notebook(source):
    cells = [
        solution("f", source),
        test_cell("region", REGION),
        test_cell("tagged", "assert f(-6.125) == 0, 'CONFIDENTIAL -6.125'", hidden=True),
        solution("g", source.replace("def f", "def g")),
        test_cell("later", "assert g(1) == 1, 'the visible test below'"),
    ]
    return Notebook(cells)


@pytest.mark.parametrize(
    "source",
    [
        LEAKY,
        LEAKY.replace("raise RuntimeError(f", "return print(").replace("seen}", "seen}"),
        LEAKY.replace('    raise RuntimeError(f"input was {seen}")', "    return str(seen)"),
        LEAKY.replace("raise RuntimeError", "raise AssertionError"),
        LEAKY.replace("raise RuntimeError", "raise NotImplementedError"),
        LEAKY.replace("    raise RuntimeError", "    if x != 1: raise RuntimeError"),
    ],
)
def test_hidden_inputs_never_come_back(source):
    nb = leaky_notebook("def f(x): return x")
    text = json.dumps(grade(nb, leaky_notebook(source), limits=ROOMY).to_json())
    for word in ("CONFIDENTIAL", "3.75", "8.5", "6.125"):
        assert word not in text


def test_a_visible_failure_still_says_everything():
    nb = leaky_notebook("def f(x): return x")
    result = grade(nb, leaky_notebook(LEAKY), limits=ROOMY)
    assert "RuntimeError: input was ['1']" in by_id(result)["region"].message
    assert "RuntimeError: input was ['1']" in by_id(result)["later"].message


def test_visible_only_leaves_hidden_tests_for_later():
    nb = leaky_notebook("def f(x): return x")
    own = leaky_notebook("def f(x): return max(x, 0)")
    result = grade(nb, own, visible_only=True, limits=ROOMY)
    cells = by_id(result)
    assert (cells["tagged"].status, cells["tagged"].points) == ("later", None)
    assert result.later_points == 2
    assert cells["region"].status == "passed"


def test_a_kit_without_the_hidden_code_leaves_them_for_later():
    result = run(hand_in(), hand_in())
    assert by_id(result)["clamp-hidden"].status == "later"
    assert (result.points, result.max_points) == (6, 7)


def test_special_casing_the_visible_test_loses_the_hidden_points():
    cells = by_id(run(hand_in("def clamp(x, low, high): return 10")))
    assert cells["clamp-test"].points == 2
    assert (cells["clamp-hidden"].status, cells["clamp-hidden"].points) == ("failed", 0)
    assert cells["clamp-hidden"].message == "a hidden test failed"


class Counting(SpawnEngine):
    """Counts the student's processes."""

    started = 0

    def start(self, stage, limits):
        self.started += 1
        return super().start(stage, limits)


def judged(own, nb=None):
    """How many processes a hand-in took, and the points of its cells."""
    engine, events = Counting(), []
    Judge(Job(nb or master(), as_bytes(own), limits=ROOMY), events.append, engine).run()
    points = {e["id"]: e["points"] for e in events if e["event"] == "cell"}
    return engine.started, points


def test_a_right_hand_in_needs_one_process():
    started, points = judged(hand_in())
    assert points == {"clamp-test": "2", "double-test": "4", "clamp-hidden": "1"}
    assert started == 1


def test_an_exercise_with_hidden_tests_only_needs_no_second_process_either():
    nb, own = master(), hand_in()
    nb.cells[6].metadata["tags"] = own.cells[6].metadata["tags"] = ["hidden-tests"]
    assert judged(own, nb) == (1, {"clamp-test": "2", "clamp-hidden": "1", "double-test": "4"})


def test_a_hidden_test_that_fails_is_repeated_in_a_fresh_process():
    started, points = judged(hand_in("def clamp(x, low, high): return 10"))
    assert points["clamp-hidden"] == "0"
    assert started == 2


def test_hidden_tests_keep_the_notebooks_order():
    """Cells below a test change what it finds neither for better nor for worse."""
    below = Cell("code", CLAMP)
    own = with_below(hand_in("def clamp(x, low, high): return 10"), below)
    assert judged(own)[1]["clamp-hidden"] == "0"
    helper = "def bound(v, low, high): return max(low, min(v, high))\n"
    uses = helper + "def clamp(x, low, high): return bound(x, low, high)"
    own = with_below(hand_in(uses), Cell("code", "def bound(*a): return 'spoilt'"))
    assert judged(own)[1]["clamp-hidden"] == "1"
    spoils = Cell("code", "import builtins\nbuiltins.min = lambda *a: 'spoilt'")
    assert judged(with_below(hand_in(), spoils))[1]["clamp-hidden"] == "1"


def with_below(notebook, cell):
    """The cell below the hidden test of clamp, above the last exercise."""
    return Notebook([*notebook.cells[:5], cell, *notebook.cells[5:]])


# -- forbidden routes


def test_a_forbidden_route_takes_the_points_of_its_exercise():
    given = Cell("code", "import numpy as np")
    tests = [
        test_cell("dot-test", "assert dot(np.ones(3), np.ones(3)) == 3"),
        test_cell("dot-hidden", "assert dot(np.ones(2), np.ones(2)) == 2", hidden=True),
    ]
    other = [solution("inc", "def inc(x): return x + 1"), test_cell("inc-t", "assert inc(1) == 2")]
    head = "#| forbid: blas\ndef dot(a, b):\n"
    right = head + "    return sum(x * y for x, y in zip(a, b))"
    route = head + "    return through(a, b)\n"
    helper = Cell("code", "def through(a, b):\n    return a @ b")
    nb = Notebook([given, solution("dot", right), *tests, *other])
    assert grade(nb, nb, limits=ROOMY).points == 6
    own = Notebook([given, helper, solution("dot", route), *tests, *other])
    result = grade(nb, own, limits=ROOMY)
    cells = by_id(result)
    assert result.points == 2
    for grade_id in ("dot-test", "dot-hidden"):
        assert cells[grade_id].status == "failed"
        assert "cell 2, line 2" in cells[grade_id].message and "a @ b" in cells[grade_id].message


@pytest.mark.parametrize(
    "cell",
    [
        "{}\nfiles = !ls",
        "{}\n_ = %pwd",
        "{}\nnp.dot?",
        "/print 1\n{}",
        "  \n%%time\n{}",
        "%%prun -s cumulative\n!ls\n{}",
        "{head}\n%time dot = lambda a, b: a @ b",
        "{head}\n_ = %time globals().update(dot=lambda a, b: a @ b)",
        "{head}\nget_ipython().run_line_magic('time', 'dot = lambda a, b: a @ b')",
        "{head}\nrun = get_ipython().magic\nrun('time dot = lambda a, b: ' + 'a @ b')",
        "{head}\ngetattr(get_ipython(), 'ma' 'gic')('time dot = lambda a, b: a @ b')",
        "get_ipython().run_cell_magic('capture', '', '{escaped}')",
        "{prompted}",
        "{indented}",
        "{}\n_ = 1 <> 2",
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "dot = InteractiveShell.instance().run_line_magic('time', 'lambda a, b: a @ b')",
        "import IPython.core.interactiveshell as shells\nbox = []\n"
        "shell = shells.InteractiveShell.instance()\n"
        "shell.push({{'box': box}})\n"
        "shell.run_cell_magic('time', '', 'box.append(lambda a, b: a @ b)')\ndot = box[0]",
        "{head}\ndef dot(a, b): pass\nvars(get_ipython())['user_ns']['dot'] = lambda a, b: a @ b",
        "{head}\ndot = _",
    ],
)
def test_nothing_hides_a_forbidden_route_that_only_a_notebook_understands(cell):
    given = Cell("code", "from __future__ import barry_as_FLUFL\nimport numpy as np\nnp.dot")
    test = test_cell("dot-test", "assert dot(np.ones(3), np.ones(3)) == 3")
    head = "#| forbid: blas"
    right = f"{head}\ndef dot(a, b): return sum(x * y for x, y in zip(a, b))"
    route = f"{head}\ndef dot(a, b):\n    return a @ b"
    lines = route.split("\n")
    forms = {
        "head": head,
        "escaped": route.replace("\n", "\\n"),
        "prompted": ">>> " + "\n... ".join(lines[1:]),
        "indented": "\n".join(f"  {line}" for line in lines),
    }
    nb = Notebook([given, solution("dot", right), test])
    assert grade(nb, nb, limits=ROOMY).points == 2
    own = Notebook([given, solution("dot", cell.format(route, **forms)), test])
    assert grade(nb, own, limits=ROOMY).points == 0


@pytest.mark.parametrize(
    "cell",
    [
        "1 / 0\n{}",
        "import nothing_of_that_name\n{}",
        "raise SystemExit\n{}",
        "if 0:\n    {}",
        "while 0:\n    {}",
        "for dot in []: pass",
        "try:\n    1 / 0\n    {}\nexcept Exception: pass",
        "match 1:\n    case 2:\n        {}",
        "0 and (dot := sum)",
        "[dot := 1 for _ in []]",
        "dot: object",
        "dot = (lambda f: f)(dot)",
        "dot = saved",
        "dot = kept()",
        "dot += 0",
    ],
)
def test_a_forbidden_route_above_is_dead_only_if_it_is_replaced_indeed(cell):
    test = test_cell("dot-test", "assert dot(np.ones(3), np.ones(3)) == 3")
    right = "def dot(a, b): return sum(x * y for x, y in zip(a, b))"
    nb = Notebook([Cell("code", "import numpy as np"), solution("dot", right), test])
    nb.cells[1].source = nb.cells[1].source.replace(right, f"#| forbid: blas\n{right}")
    above = (
        "class Dot:\n    def __call__(self, a, b): return a @ b\n"
        "    def __add__(self, other): return self\n"
        "dot = Dot()\nsaved = dot\ndef kept(): return saved"
    )

    def points(source, *extra):
        cells = [nb.cells[0], *(Cell("code", e) for e in extra), solution("dot", source), test]
        return grade(nb, Notebook(cells), limits=ROOMY).points

    assert points(f"#| forbid: blas\n{cell.format(right)}", above) == 0
    # What was tried above costs nothing where the answer takes its place.
    assert points(f"#| forbid: blas\n{right}", above) == 2
    assert points(f"#| forbid: blas\n{right}\n1 / 0", above) == 2


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("import no_such_library\nSCALE = 1.0", "line 1, which makes it, stopped: ModuleNotFound"),
        ("names = !ls\nfirst = names[0]\nSCALE = 1.0", "stopped: IndexError"),
    ],
)
def test_a_name_that_is_missing_because_its_cell_stopped_is_said_to_be(cell, why):
    test = test_cell("dot-test", "assert dot(2, 3) == 6")
    right = solution("dot", "def dot(a, b): return a * b")
    needs = solution("dot", "def dot(a, b): return a * b * SCALE")
    nb = Notebook([Cell("code", "import numpy as np"), right, test])
    result = grade(nb, Notebook([nb.cells[0], Cell("code", cell), needs, test]), limits=ROOMY)
    message = result.cells[0].message
    assert "NameError: name 'SCALE'" in message and why in message
    result = grade(nb, Notebook([nb.cells[0], needs, test]), limits=ROOMY)
    assert "stopped" not in result.cells[0].message


def test_a_cell_that_runs_a_text_of_its_own_is_left_out_and_costs_nothing():
    test = test_cell("dot-test", "assert dot(2, 3) == 6")
    right = solution("dot", "#| forbid: blas\ndef dot(a, b): return a * b")
    nb = Notebook([Cell("code", "import numpy as np"), right, test])
    tried = "text = 'd' + 'ot = np.dot'\nspace = {}\nexec(str(text), space)"
    result = grade(nb, Notebook([nb.cells[0], right, Cell("code", tried), test]), limits=ROOMY)
    assert result.points == 2
    (remark,) = result.deviations
    assert "line 3" in remark and "was not run" in remark and "exec(str(text), space)" in remark
    # Where the answer needs it, or is it, that is no way round.
    binds = "exec(str('by = np.dot'))"
    needs = solution("dot", "#| forbid: blas\ndef dot(a, b): return by(a, b)")
    result = grade(nb, Notebook([nb.cells[0], Cell("code", binds), needs, test]), limits=ROOMY)
    assert result.points == 0 and "NameError" in result.cells[0].message
    is_it = solution("dot", "#| forbid: blas\nexec(str('def dot(a, b): return np.dot(a, b)'))")
    result = grade(nb, Notebook([nb.cells[0], is_it, test]), limits=ROOMY)
    assert result.points == 0 and "cannot be read, so it may be" in result.cells[0].message


@pytest.mark.parametrize(
    "end", ["import os; os._exit(0)", "import os; os.abort()", "while True: pass", "1 / 0"]
)
def test_a_forbidden_route_above_is_dead_where_its_heir_is_left_out(end):
    """A cell that ended its process is not run again before the hidden tests."""
    tests = [test_cell("dot-test", "assert dot(2, 3) == 6")]
    tests += [test_cell("dot-hidden", "assert dot(4, 3) == 12", hidden=True)]
    given, limits = Cell("code", "import numpy as np"), Limits(solution=1, extra=1)
    nb = Notebook([given, solution("dot", "#| forbid: blas\ndef dot(a, b): return a * b"), *tests])
    assert grade(nb, nb, limits=limits).points == 4
    extra = ["def by(a, b): return np.dot(a, b)", f"{end}\ndef by(a, b): return 0"]
    cells = [given, *(Cell("code", source) for source in extra)]
    own = solution("dot", "#| forbid: blas\ndef dot(a, b): return by(a, b)")
    assert grade(nb, Notebook([*cells, own, *tests]), limits=limits).points == 0


@pytest.mark.parametrize(
    "cell",
    [
        "files = !ls\n{head}{body}",
        "%%time\n{head}{body}",
        "%%capture out\n{head}{body}",
        "%%capture\nfrom __future__ import annotations\n{head}{body}",
        "{head}{body}\n%timeit dot([1], [2])",
        "{head}    !ls\n    %matplotlib inline\n    %timeit a\n    x = !pwd\n{body}",
        "n = %time 0  # how long\n{head}    if n: return n\n{body}",
        "%time n = 0\nm = %time len('a')  # one\n{head}    if n: return m\n{body}",
        "files = !ls\n{head}    if files: return files\n{body}",
    ],
)
def test_a_right_answer_may_have_what_only_a_notebook_understands(cell):
    test = test_cell("dot-test", "assert dot([2.0], [3.0]) == 6")
    head, body = "#| forbid: blas\ndef dot(a, b):\n", "    return sum(x * y for x, y in zip(a, b))"
    nb = Notebook([solution("dot", head + body), test])
    own = Notebook([solution("dot", cell.format(head=head, body=body)), test])
    assert grade(nb, own, limits=ROOMY).points == 2


def test_a_forbidden_route_in_the_package_takes_the_points(tmp_path):
    folder = tmp_path / "tinykernels"
    folder.mkdir()
    (folder / "vectorized.py").write_text("def fast(a, b):\n    return a @ b\n")
    (folder / "loops.py").write_text("def slow(a, b):\n    return sum(map(float.__mul__, a, b))\n")
    tests = [
        test_cell("dot-test", "assert dot([2.0], [3.0]) == 6"),
        test_cell("dot-hidden", "assert dot([1.0], [3.0]) == 3", hidden=True),
    ]
    head = "#| forbid: blas\nimport numpy as np\n"
    right = head + "from tinykernels.loops import slow\ndef dot(a, b): return slow(a, b)"
    nb = Notebook([solution("dot", right), *tests])
    options = {"limits": ROOMY, "package": folder, "package_modules": ["loops", "vectorized"]}
    assert grade(nb, nb, **options).points == 4
    # Not as a notebook would read it: a module is imported as it is.
    quotes = "get_ipython().run_line_magic('time', \"'''\")\n"
    hidden = f"{quotes}def fast(a, b):\n    return a @ b\n{quotes}"
    route = head + "import tinykernels.vectorized as v\n"
    route += "def dot(a, b): return v.fast(np.array(a), np.array(b))"
    for text in ((folder / "vectorized.py").read_text(), hidden):
        (folder / "vectorized.py").write_text(text)
        result = grade(nb, Notebook([solution("dot", route), *tests]), **options)
        assert result.points == 0
        for cell in result.cells:
            assert "fast of tinykernels.vectorized uses @" in cell.message


def test_a_given_cell_may_make_functions_out_of_texts_and_a_students_may_not():
    makes = "def made(text):\n    space = {}\n    exec(text, space)\n    return space['g']"
    given = Cell("code", makes)
    test = test_cell("dot-test", "assert dot(3.0, 2.0) == 6")
    body = "#| forbid: blas\ndef dot(a, b):\n    return made('def g(x, y): return x * y')(a, b)"
    nb = Notebook([given, solution("dot", body), test])
    assert grade(nb, nb, limits=ROOMY).points == 2
    own = makes.replace("space", "names")
    result = grade(nb, Notebook([given, Cell("code", own), *nb.cells[1:]]), limits=ROOMY)
    # It is not run, and the course's own is used.
    assert result.points == 2 and "cell 2, line 3: the cell was not run" in result.deviations[0]
    mine = Notebook([given, solution("dot", f"{body}\n{own}"), test])
    [cell] = grade(nb, mine, limits=ROOMY).cells
    assert cell.points == 0 and "line 6: exec cannot be read" in cell.message


def test_the_line_told_is_the_students_not_that_of_a_given_helper_below_it():
    given = "def item(x, i):\n    if i >= len(x):\n        raise IndexError(i)\n    return x[i]"
    cell = one("def f(x):\n    return item(x, 9)", "assert f([1]) == 1", given)
    assert cell.message == "IndexError: 9\n  in cell 2 (f0), line 2: return item(x, 9)"


def test_the_time_of_a_hidden_test_tells_little():
    body = "import time\ndef clamp(x, low, high):\n    end = time.process_time() + 0.13\n"
    body += "    while time.process_time() < end: pass\n    return min(max(x, low), high)"
    cells = by_id(run(hand_in(body)))
    hidden, shown = cells["clamp-hidden"].seconds, cells["clamp-test"].seconds
    assert shown >= 0.13 and hidden >= 0.1
    assert hidden == round(hidden, 1) and shown != round(shown, 1)


# -- seven holes of a naive build; six can be met here


def test_hole_1_changing_the_input_does_not_make_a_wrong_result_right():
    cheat = "def f(a):\n    a[...] = 0\n    return np.zeros(len(a))"
    test = "x = np.arange(5.0)\ngot = f(x)\nassert np.array_equal(got, 2 * x), 'twice x'"
    cell = one(cheat, test)
    assert cell.points == 0 and "changed" in cell.message


def test_hole_1_a_named_output_may_be_written():
    good = "def f(a, out):\n    out[:] = 2 * a"
    test = "x = np.arange(5.0)\nout = np.zeros(5)\nf(x, out)\nassert np.array_equal(out, 2 * x)"
    nb = Notebook(
        [
            Cell("code", "import numpy as np"),
            solution("f", "def f(a, out): ..."),
            test_cell("t", test),
        ]
    )
    own = Notebook([nb.cells[0], solution("f", good), nb.cells[2]])
    assert grade(nb, own, limits=ROOMY).points == 2


def test_hole_2_an_empty_array_does_not_hold_the_answer():
    test = (
        "want = np.arange(33.0) * 3\n"
        "del want\n"
        "out = np.empty(33)\n"
        "f(np.arange(33.0), out)\n"
        "assert np.array_equal(out, np.arange(33.0) * 3), 'three times x'\n"
    )
    like = test.replace("np.empty(33)", "np.empty_like(np.zeros(33))")
    nothing = "def f(x, out): pass"
    assert [c.points for c in many([(nothing, test), (nothing, like)])] == [0, 0]


def test_hole_3_numpy_never_asks_the_student_where_memory_lies():
    cheat = (
        "class Fake:\n"
        "    asked = []\n"
        "    def __getattr__(self, name):\n"
        "        Fake.asked.append(name)\n"
        "        raise AttributeError(name)\n"
        "    __array_interface__ = {'shape': (3,), 'typestr': '<f8', 'data': (4096, False),"
        " 'version': 3}\n"
        "    def __array__(self, *a, **k): return np.ones(3)\n"
        "    def __len__(self): return 3\n"
        "def f(x): return Fake()"
    )
    cell = one(cheat, "assert np.allclose(f(1), np.ones(3)), 'ones'")
    assert cell.points == 0 and cell.status in ("error", "failed")


def test_hole_4_an_exception_does_not_end_a_loop_of_the_test():
    tests = [
        "assert all(map(lambda k: f(k) == k, [1, 2])), 'same'",
        "for got in map(f, [1, 2]):\n    assert got == 1",
    ]
    errors = ["StopIteration", "GeneratorExit", "SystemExit(0)", "KeyboardInterrupt"]
    pairs = [(f"def f(x):\n    raise {e}", test) for e in errors for test in tests]
    assert [c.points for c in many(pairs)] == [0] * len(pairs)


SLY = [
    ("__exit__ = lambda self, *a: True", "with f(1) as got:\n    assert got == 3, 'three'"),
    ("__contains__ = lambda self, x: True", "assert 3 in f(1), 'holds 3'"),
    ("__eq__ = lambda self, other: True", "assert f(1) == 3, 'three'"),
    ("__req__ = __eq__ = lambda self, other: True", "assert 3 == f(1), 'three'"),
    ("__ne__ = lambda self, other: False", "assert not (f(1) != 3), 'three'"),
    ("__rsub__ = lambda self, other: 0", "assert abs(3 - f(1)) < 1e-9, 'three'"),
    ("__lt__ = __gt__ = lambda self, other: True", "assert f(1) > 5, 'large'"),
    ("__bool__ = lambda self: 1", "assert f(1) and f(1) == 3, 'three'"),
]


def test_hole_5_the_students_objects_do_not_judge_themselves():
    def cheat(body):
        return (
            f"class Sly:\n    {body}\n    __enter__ = lambda self: self\n"
            "    __iter__ = lambda self: iter([1])\n    __hash__ = None\n"
            "def f(x): return Sly()"
        )

    cells = many([(cheat(body), test) for body, test in SLY])
    assert {body: c.points for (body, _), c in zip(SLY, cells)} == {body: 0 for body, _ in SLY}


def test_hole_6_the_students_names_never_shadow_the_tests_own():
    cheat = (
        "class np:\n    array_equal = staticmethod(lambda *a: True)\n"
        "all = len = abs = lambda *a: True\n"
        "def check(*a): return True\n"
        "def f(x): return 7"
    )
    given = "import numpy as np\ndef check(got, want):\n    return got == want"
    tests = ["check(f(1), 2)", "np.array_equal(f(1), 2)", "all([f(1) == 2])", "len([f(1)]) == 2"]
    cells = many([(cheat, f"assert {test}, 'two'") for test in tests], given)
    assert [c.points for c in cells] == [0] * len(tests)


# -- masters of other courses


def test_a_foreign_master_may_lean_on_imports_and_names_of_earlier_cells():
    nb = Notebook(
        [
            solution("f", "import math\ndef f(x): return x"),
            test_cell(
                "first",
                "import fractions\nHALF = float(fractions.Fraction(1, 2))\nassert f(2) == 2",
            ),
            test_cell("second", "assert f(HALF) == HALF and math.pi and fractions"),
            Cell("code", "if __name__ == '__main__':\n    print(HALF)"),
        ]
    )
    own = Notebook([solution("f", "def f(x): return x"), *nb.cells[1:]])
    result = grade(nb, own, limits=ROOMY)
    assert result.points == 4, [c.message for c in result.cells]


def test_unseeded_numbers_are_the_same_in_every_run():
    test = "import random\nx = [random.random() for _ in range(9)]\nassert f(x) < 0, f'{x}'"
    messages = {one("def f(x): return 0", test).message for _ in range(2)}
    assert len(messages) == 1


def test_the_secret_decides_what_rng_gives():
    test = "from tito.checks import rng\nassert f(1) == rng('t').integers(1 << 30), f\"{rng('t')\
.integers(1 << 30)}\""
    plain = one("def f(x): return 0", test).message
    secret = one("def f(x): return 0", test, secret=b"only the course knows").message
    assert plain != secret


def test_the_students_own_missing_export_says_how_to_go_on(tmp_path):
    package = tmp_path / "tinykernels"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "first.py").write_text(
        "def door(*a):\n"
        "    raise NotImplementedError('door is exercise 2 of 04_doors: tito start 04')\n"
    )
    nb = Notebook(
        [
            Cell("code", "from tinykernels.first import door"),
            solution("f", "def f(x): ..."),
            test_cell("t", "assert f(3) == 3"),
        ]
    )
    own = Notebook(
        [nb.cells[0], solution("f", "def f(x):\n    door(x)\n    return x"), nb.cells[2]]
    )
    result = grade(nb, own, limits=ROOMY, package=package, before="own")
    assert result.before == "own"
    assert "door is exercise 2 of 04_doors" in result.cells[0].message
    assert "tito export 04" in result.cells[0].message


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Landlock and seccomp are Linux's")
def test_the_result_names_what_confined_the_code():
    assert run(hand_in()).isolation
