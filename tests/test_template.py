"""`tito new` makes a module that its author can begin to change: it passes lint as it is."""

from __future__ import annotations

import pytest

from tito import template
from tito.course import Course
from tito.errors import UserError
from tito.grading.judge import grade
from tito.lint import lint_file
from tito.notebook import load
from tito.notebook.model import exercises
from tito.sync import check


@pytest.fixture
def course(tmp_path):
    (tmp_path / "modules").mkdir()
    (tmp_path / "tinykernels").mkdir()
    return Course(tmp_path)


@pytest.mark.parametrize("half", ["py", "ipynb"])
def test_the_template_passes_lint(course, half):
    ref = template.create(course, "07_numba")
    errors = [str(f) for f in lint_file(getattr(ref, half)) if f.is_error]
    assert errors == []


def test_the_pair_is_in_step_as_it_has_to_be_committed(course):
    assert check(template.create(course, "07_numba")) is None


@pytest.mark.parametrize("secret", [b"a", b"d"])  # inputs whose sums cancel
def test_the_reference_earns_every_point_of_its_own_tests(course, secret):
    master = load(template.create(course, "07_numba").py)
    result = grade(master, master, secret=secret)
    assert [(c.id, c.message) for c in result.cells if c.status == "failed"] == []
    assert result.points == result.max_points == 4


def test_the_exercise_has_all_its_cells(course):
    (exercise,) = exercises(load(template.create(course, "07_numba").py))
    assert [(t.grade_id, t.hidden) for t in exercise.tests] == [
        ("axpy_loops-test", False),
        ("axpy_loops-hidden", True),
        ("axpy_loops-count", False),
    ]


@pytest.mark.parametrize(
    ("word", "package"),
    [("blocking", "blocking"), ("numpy", "numpy_kernels"), ("profile", "profile_kernels")],
)
def test_the_package_file_shadows_no_library(word, package):
    assert template.package_name(word) == package
    assert f"#| default_exp {package}\n" in template.text(f"03_{word}")


@pytest.mark.parametrize("name", ["numba", "7_numba", "07-numba", "07_Numba", "../07_x", "07_"])
def test_what_is_no_module_name_is_refused(course, name):
    with pytest.raises(UserError) as caught:
        template.create(course, name)
    assert caught.value.code == 2
    assert list((course.root / "modules").iterdir()) == []


@pytest.mark.parametrize("second", ["07_numba", "07_other"])
def test_a_taken_name_or_number_is_refused(course, second):
    first = template.create(course, "07_numba")
    before = first.py.read_bytes()
    with pytest.raises(UserError, match="already"):
        template.create(Course(course.root), second)
    assert first.py.read_bytes() == before


def test_nothing_of_the_placeholders_is_left():
    assert "@" not in template.text("04_memory")
