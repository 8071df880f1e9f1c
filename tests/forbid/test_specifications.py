"""Given functions that no solution may be."""

import pytest

from tito.forbid import find, specifications

GIVEN_SPECS = """
def slow(x): return [float(v) for v in x]
def helper(n): return n
def ramp(n): return slow([helper(n)])
def shape(x): return (len(x),)
"""


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("expect_close(f(x), slow(x))", {"slow"}),
        ("want = slow(ramp(3))\nexpect_equal(f(ramp(3)), want)", {"slow"}),
        ("wanted = np.array(slow(x), 'f4')\nexpect_close(want=wanted, got=f(x))", {"slow"}),
        ("expect_close(f(x), slow(x).reshape(shape(x)))", {"slow"}),
        ("want = np.array([slow(row) for row in x])\nchecks.expect_close(f(x), want)", {"slow"}),
        ("for n in (1, 2):\n    x = ramp(n)\n    expect_close(f(x), -x * 2)", set()),
        ("expect_close(f(ramp(3)), 3.0)\nassert slow(f(x))", set()),
        ("expect_close(f(x)", set()),
    ],
)
def test_specifications_are_what_tests_compare_with(test, found):
    assert specifications([test], [GIVEN_SPECS]) == found


def test_what_the_reference_uses_is_nobodys_specification():
    test = "x = ramp(3)\nexpect_close(f(x), slow(x).reshape(shape(x)))"
    reference = "def f(x):\n    return x if shape(x) else None"
    assert specifications([test], [GIVEN_SPECS], reference) == {"slow"}
    reference = "def f(x):\n    return ramp(3)"
    assert specifications([test], [GIVEN_SPECS], reference) == set()


def test_a_specification_of_any_name_is_no_solution():
    cells = {"given": GIVEN_SPECS, "mine": "g = slow\ndef f(x):\n    return g(x)"}
    assert find(cells, ["f"], ["spec"]) == []
    (found,) = find(cells, ["f"], ["spec"], specs={"slow"})
    assert (found.label, found.line, found.route) == ("mine", 1, "slow")


def test_what_a_race_is_run_against_is_no_solution_either():
    assert specifications(["points(speed(f, slow, ramp, points=3))"], [GIVEN_SPECS]) == {"slow"}
    assert specifications(["points(speed(f, baseline=slow))"], [GIVEN_SPECS]) == {"slow"}
    assert specifications(["points(speed(f, np.add, ramp))"], [GIVEN_SPECS]) == set()
