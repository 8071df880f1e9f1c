"""A small master whose tests are good, for audits that are quick."""

from __future__ import annotations

from tito.notebook import Cell, Notebook

GIVEN = "import math\n\n\ndef specification(values):\n    return max([-math.inf, *values])"
LARGEST = '''\
def largest(values):
    """The largest number of a list of numbers; -inf for an empty list."""
    ### BEGIN SOLUTION
    best = -math.inf
    for i in range(len(values)):
        if values[i] > best:
            best = values[i]
    return best
    ### END SOLUTION
'''
DOUBLE = '''\
def double_largest(values):
    """Twice the largest number of a list."""
    ### BEGIN SOLUTION
    return 2 * largest(values)
    ### END SOLUTION
'''
TEST = """\
for values in ([1.0, 3.0, 2.0], [-2.0], [4.0, -4.0], [1.0, 9.0]):
    want = specification(values)
    got = largest(values)
    assert got == want, f"largest of {values}: got {got}, expected {want}"
"""
HIDDEN = """\
### BEGIN HIDDEN TESTS
assert largest([]) == -math.inf, "the largest of nothing is -inf"
assert largest([5.0]) == 5.0, "one number"
### END HIDDEN TESTS
"""
DOUBLE_TEST = 'assert double_largest([1.0, 4.0]) == 8.0, "twice the largest"\n'


def solution(name, source):
    keys = {"grade": False, "grade_id": name, "locked": False, "solution": True}
    return Cell("code", source, {"nbgrader": {**keys, "schema_version": 3, "task": False}})


def check(name, source, points=2, tags=()):
    keys = {"grade": True, "grade_id": name, "locked": True, "solution": False, "points": points}
    metadata = {"nbgrader": {**keys, "schema_version": 3, "task": False}}
    return Cell("code", source, {**metadata, "tags": ["raises-exception", *tags]})


def small_master(**changed):
    """The master; cells by name can be replaced."""
    sources = {
        "given": GIVEN,
        "largest": LARGEST,
        "largest-test": TEST,
        "largest-hidden": HIDDEN,
        "double": DOUBLE,
        "double-test": DOUBLE_TEST,
        **{key.replace("_", "-"): value for key, value in changed.items()},
    }
    cells = [
        Cell("code", sources["given"]),
        solution("largest", sources["largest"]),
        check("largest-test", sources["largest-test"]),
        check("largest-hidden", sources["largest-hidden"], 1, ["hidden-tests"]),
        Cell("code", "#| measure\nprint(largest([1.0]))"),
        solution("double", sources["double"]),
        check("double-test", sources["double-test"]),
    ]
    return Notebook(cells)
