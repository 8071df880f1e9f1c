"""Limits: defaults that can be changed, and wrong ones that are refused by name."""

import pytest

from tito.errors import UserError
from tito.grading.limits import Limits


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
