"""What a cell is for follows from its metadata and directives, whatever stands in them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tito.notebook import Cell, Notebook, Role
from tito.notebook.model import exercises, safe_id


def cell(kind="code", source="", tags=None, **nbgrader):
    metadata = {"nbgrader": nbgrader} if nbgrader else {}
    return Cell(kind, source, metadata | ({"tags": tags} if tags else {}))


@pytest.mark.parametrize(
    ("made", "role"),
    [
        (cell(), Role.GIVEN),
        (cell(source="#| measure\nx"), Role.MEASURE),
        (cell(source="x\n#| measure"), Role.GIVEN),
        (cell(solution=True), Role.SOLUTION),
        (cell(solution=True, grade=True), Role.SOLUTION),
        (cell(grade=True), Role.TEST),
        (cell(grade=True, source="#| measure"), Role.TEST),
        (cell(grade="true"), Role.GIVEN),
        (cell("markdown"), Role.TEXT),
        (cell("markdown", solution=True, grade=True), Role.REFLECTION),
        (cell("markdown", task=True), Role.REFLECTION),
        (cell("markdown", grade=True), Role.TEXT),
        (cell("raw", solution=True), Role.TEXT),
    ],
)
def test_the_role_of_a_cell(made, role):
    assert made.role is role


def test_what_people_grade_by_hand():
    assert cell("markdown", solution=True, grade=True).manual
    assert cell("markdown", task=True).manual
    assert not cell(grade=True).manual and not cell(solution=True).manual


@pytest.mark.parametrize(
    ("made", "points"),
    [
        (cell(grade=True, points=0.1), Fraction(1, 10)),
        (cell(grade=True, points=2), Fraction(2)),
        (cell(grade=True), Fraction(0)),
        (cell("markdown", task=True, points=3), Fraction(3)),
        (cell(solution=True, points=3), None),
        (cell(grade=True, points="3"), None),
        (cell(grade=True, points=True), None),
        (cell(grade=True, points=float("nan")), None),
        (cell(grade=True, points=-1), None),
    ],
)
def test_points_are_exact_or_none(made, points):
    assert made.points == points


def test_hidden_cells_have_the_tag():
    assert cell(tags=["hidden-tests", "other"], grade=True).hidden
    assert not cell(tags=["hidden"], grade=True).hidden


def test_a_cell_is_called_by_its_place_and_grade_id():
    notebook = Notebook([cell(), cell(grade_id="relu_loops")])
    assert [c.label for c in notebook.cells] == ["cell 1", "cell 2 (relu_loops)"]
    assert notebook.by_id("relu_loops") is notebook.cells[1]
    assert notebook.by_id("no") is None


def test_a_notebook_knows_its_name_roles_and_target():
    cells = [cell(source="# text\n#| default_exp simd.gemm"), cell(grade=True), cell("markdown")]
    notebook = Notebook(cells, path=Path("a/08_simd.py"))
    assert notebook.name == "08_simd" and notebook.default_exp == "simd.gemm"
    assert notebook.of_role(Role.TEST, Role.TEXT) == cells[1:]
    assert Notebook([]).default_exp is None and Notebook([]).name == "notebook"


def test_an_exercise_is_a_solution_cell_and_the_tests_up_to_the_next():
    stray, first, second = cell(grade=True), cell(solution=True), cell(solution=True)
    tests = [cell(grade=True) for _ in range(3)]
    found = exercises(Notebook([stray, first, tests[0], cell(), tests[1], second, tests[2]]))
    assert [(e.number, e.solution, e.tests) for e in found] == [
        (1, first, tests[:2]),
        (2, second, tests[2:]),
    ]


@pytest.mark.parametrize(
    ("text", "made"),
    [("relu_loops", "relu_loops"), ("a b/ü", "a-b"), ("///", "cell"), ("", "cell")],
)
def test_a_safe_id_has_plain_letters_only(text, made):
    assert safe_id(text) == made
    assert len(safe_id("x" * 99)) == 64
