"""Limits: defaults that can be changed, and wrong ones that are refused by name."""

import pytest

from tito.errors import UserError
from tito.grading.limits import Limits, limits_of


def test_a_limit_is_changed_and_the_others_stay():
    limits = Limits().changed({"solution": 3, "memory": 1e9})
    assert (limits.solution, limits.memory, limits.call) == (3, 1_000_000_000, Limits().call)
    assert isinstance(limits.memory, int)


def test_wall_time_is_a_multiple_of_cpu_time():
    assert Limits(wall_factor=4).wall(5) == 20


@pytest.mark.parametrize("values", [{"speed": 3}, {"call": 0}, {"call": "5"}, {"call": True}])
def test_wrong_limits_are_refused(values):
    with pytest.raises(UserError, match=next(iter(values))):
        Limits().changed(values)


def test_each_kind_of_cell_has_its_limit():
    limits = Limits(solution=3, given=4, extra=1)
    assert [limits.cell(role) for role in ("solution", "given", "extra")] == [3, 4, 1]


def test_a_course_has_limits_of_its_own(tmp_path):
    assert limits_of(None) == limits_of(tmp_path) == Limits()
    (tmp_path / "course.toml").write_text("[limits]\nsolution = 40\nmemory = 8e9\n")
    assert limits_of(tmp_path) == Limits(solution=40, memory=8_000_000_000)


def test_limits_of_a_class_count_more_than_its_courses(tmp_path):
    course, room = tmp_path / "course", tmp_path / "room"
    for folder, text in ((course, "solution = 40\ncall = 7"), (room, "call = 8")):
        folder.mkdir()
        (folder / "course.toml").write_text(f"[limits]\n{text}\n")
    assert limits_of(course, room) == Limits(solution=40, call=8)


@pytest.mark.parametrize(
    "text", ["[limits]\nspeed = 3", "limits = 3", "[limits", "[limits]\ncall='x'"]
)
def test_a_mistake_in_course_toml_names_the_file(tmp_path, text):
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(UserError, match=r"course\.toml") as caught:
        limits_of(tmp_path)
    assert "course.toml" in str(caught.value)
