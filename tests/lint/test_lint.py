"""Files of any kind and origin, and the rules that need two cells to go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tito import template
from tito.cli import main
from tito.lint import grading_problems, lint
from tito.notebook import Cell, Notebook

TAGS = {"tags": ["raises-exception"]}


def solution(name, source, **more):
    return _graded(name, source, grade=False, solution=True, locked=False, **more)


def check(name, source, **more):
    return _graded(name, source, grade=True, solution=False, locked=True, points=2, **more)


def _graded(name, source, **nbgrader):
    keys = {"grade_id": name, "schema_version": 3, "task": False, **nbgrader}
    return Cell("code", source, {"nbgrader": keys, **TAGS})


REGION = """\
def f(x):
    '''One more than the number x.'''
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION"""
GIVEN = Cell("code", "limit = 3\n\n\nclass Point:\n    pass\n")
TEST = "assert f(1) == 1, 'f of 1 is 1'"


def rules(*cells):
    return {(f.rule, f.cell) for f in lint(Notebook(list(cells))) if f.rule[:7] != "anatomy"}


def test_a_plain_master_is_clean():
    assert rules(GIVEN, solution("f", REGION), check("t", TEST)) == set()


@pytest.mark.parametrize(
    ("rule", "cells"),
    [
        ("solution-region", [solution("f", "def f(x):\n    return x"), check("t", TEST)]),
        (
            "solution-rebinds-solution",
            [solution("f", REGION), check("t", TEST), solution("g", REGION)],
        ),
        (
            "test-rebinds-given",
            [
                GIVEN,
                solution("f", REGION.replace("return x", "return x + limit")),
                check("t", "limit = 4\n" + TEST),
            ],
        ),
        ("test-without-solution", [solution("f", REGION), check("t", "assert 1, 'one'")]),
        ("test-without-solution", [check("t", TEST), solution("f", REGION)]),
        (
            "isinstance-given",
            [GIVEN, solution("f", REGION), check("t", "assert isinstance(f(1), Point), 'no'")],
        ),
        (
            "metadata-dropped",
            [solution("f", REGION), check("t", TEST), Cell("code", "", {"nbgrader": "x"})],
        ),
        (
            "metadata-dropped",
            [Cell("code", "", {"incorrectly_encoded_metadata": "nbgrader={'grade': True}"})],
        ),
        (
            "uses-measure-name",
            [Cell("code", "#| measure\nfast = 1", TAGS), Cell("code", "#| measure\nfast", TAGS)],
        ),
        ("measure-clock", [Cell("code", "#| measure\nimport time\ntime.perf_counter()", TAGS)]),
        (
            "alt-text-figure",
            [Cell("code", "#| measure\nimport pylab as plt\nplt.subplots()", TAGS)],
        ),
        (
            "alt-text",  # the words are a picture's own, not its neighbour's
            [Cell("markdown", "<img src='a'>\n<img alt='two' src='b'>")],
        ),
        ("alt-text", [Cell("markdown", "<img\n alt=''\n src='a'>")]),
        (
            "test-unknown-name",  # the import stands where the judge does not run it
            [solution("f", "import math\n" + REGION), check("t", "z = math.pi\n" + TEST)],
        ),
    ],
)
def test_two_cells_that_do_not_go_together(rule, cells):
    assert rule in {r for r, _ in rules(*cells)}


IMPORT = Cell("code", "#| measure\nimport math", TAGS)
LATER = "\n\n\ndef later(x):\n    return x\n"


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([IMPORT, Cell("code", "#| measure\nmath.pi", TAGS)], set()),
        ([IMPORT, Cell("code", "area = math.pi")], {"uses-measure-name"}),
        ([Cell("code", "def early(x):\n    return later(x)" + LATER)], set()),
        (
            [Cell("code", "def early(x):\n    return later(x)"), Cell("code", LATER)],
            set(),
        ),
        ([Cell("code", "early = later(1)"), Cell("code", LATER)], {"undefined-name"}),
        (
            [Cell("code", "def early(x=later(1)):\n    return x"), Cell("code", LATER)],
            {"undefined-name"},
        ),
        ([Cell("code", 'text = """\n%timeit\n!ls\n"""')], set()),
        ([Cell("code", "print(unknown)"), Cell("code", "from math import *")],
         {"undefined-name", "star-import"}),
        ([Cell("code", "from math import *"), Cell("code", "print(unknown)")], {"star-import"}),
    ],
)  # fmt: skip
def test_who_may_use_what(cells, wanted):
    assert {r for r, _ in rules(*cells)} == wanted


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("for n in f([1]).shape:\n    z = n", set()),
        ("sizes = f([1]).shape\nfor n in sizes:\n    z = f(n)", set()),
        ("ok = f(1) == 1\nz = [c for c in str(ok)]", set()),
        ("for a, b in zip([1], [2]):\n    z = f(a)", set()),
        ("for a, b in zip(f([1]), [2]):\n    z = a", {"loop-length"}),
        ("for i, a in enumerate(f([1])):\n    z = a", {"loop-length"}),
        ("for k, v in f({}).items():\n    z = v", {"loop-length"}),
        ("got = f([1])\nfor a in sorted(got):\n    z = a", {"loop-length"}),
        ("got = f([1])\nfor i in range(len(got)):\n    z = got[i]", {"loop-length"}),
        ("got = f([1])\nassert len(got) == 1, 'one'\nfor i in range(len(got)):\n    z = i", set()),
        ("for i in range(3):\n    z = f(i)", set()),
        ("x = [1]\nexpect_close(f(x), sorted(x))", {"want-after-call"}),
        ("x = [1]\nexpect_close(f(x), float(x[0]))", set()),
        ("x, y = [1], [2]\nexpect_close(f(x), sorted(y))", set()),
        ("x = [1]\nexpect_close(f(x), x)", set()),
    ],
)
def test_what_is_looped_over_and_compared(lines, wanted):
    checks = Cell("code", "def expect_close(a, b):\n    assert a == b, 'no'")
    assert {r for r, _ in rules(checks, solution("f", REGION), check("t", lines))} == wanted


def test_a_figure_may_be_described_in_the_text_below_it():
    drawn = Cell("code", "#| measure\nimport pylab as plt\nplt.subplots()", TAGS)
    assert rules(drawn, Cell("markdown", "*Figure: two bars of unlike height.*")) == set()
    assert rules(Cell("markdown", "<img src='a'\n alt='a bar'>")) == set()


def test_a_helper_that_only_compares_may_be_the_last_expression():
    helper = Cell("code", "def same(a, b):\n    assert a == b, f'{a} is not {b}'")
    score = Cell("code", "def same(a, b):\n    return a == b")
    cells = [solution("f", REGION), check("t", "same(f(1), 1)")]
    assert rules(helper, *cells) == set()
    assert {r for r, _ in rules(score, *cells)} == {"last-expression"}


def test_a_checked_length_quiets_the_loop():
    loop = "got = f([1])\nfor a in got:\n    assert a == 1, 'one'"
    cells = [solution("f", REGION), check("t", loop)]
    assert {r for r, _ in rules(*cells)} == {"loop-length"}
    cells[1].source = loop.replace("\n", "\nassert len(got) == 1, 'one item'\n", 1)
    assert rules(*cells) == set()


def test_a_foreign_master_needs_only_what_grading_needs():
    cells = [
        solution("f", "def f(x):\n    return x"),
        check("t", "assert f(1) == 1"),
        check("t", "assert f(2) == 2"),
        check("bad id", "assert f(2) == 2"),
    ]
    cells[1].metadata["nbgrader"]["points"] = "2"
    found = grading_problems(Notebook(cells, path=Path("master.ipynb")))
    assert [(f.rule, f.cell) for f in found] == [
        ("points", "cell 2 (t)"),
        ("grade-id-duplicate", "cell 3 (t)"),
        ("grade-id-invalid", "cell 4 (bad id)"),
    ]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "modules" / "07_numba").mkdir(parents=True)
    (tmp_path / "tinykernels").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "modules" / "07_numba" / "07_numba.py").write_text(
        template.text("07_numba"), encoding="utf-8"
    )
    return tmp_path


def test_the_command_ends_with_zero_for_warnings_alone(folder, capsys):
    assert main(["lint", "07"]) == 0
    shown = capsys.readouterr()
    assert "warning" in shown.out
    assert shown.err == ""


def test_the_command_names_file_cell_and_line_and_ends_with_one(folder, capsys):
    path = folder / "modules" / "07_numba" / "07_numba.py"
    path.write_text(path.read_text("utf-8").replace("    # Hint", "    # cat\n    # Hint"), "utf-8")
    assert main(["lint", "07"]) == 1
    shown = capsys.readouterr()
    assert f"{path}:cell 10 (axpy_loops):13: error: a comment" in shown.err
    assert "    # cat\n" in shown.err
    assert "1 errors" in shown.out


def test_a_loose_notebook_can_be_named_outside_a_course(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = [
        {"cell_type": "code", "metadata": c.metadata, "source": c.source, "outputs": []}
        for c in (solution("f", REGION), check("t", "f(1)"))
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    Path("loose.ipynb").write_text(json.dumps(document), encoding="utf-8")
    assert main(["lint", "loose.ipynb"]) == 1
    assert "loose.ipynb:cell 2 (t):1: error" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none.ipynb", "09", "none.py"])
def test_what_is_not_there_ends_with_two(folder, name):
    assert main(["lint", name]) == 2
