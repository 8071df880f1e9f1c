"""What stands in other cells and functions is nobody's route, though it shares names with one."""

import pytest

from tito.forbid import find

NP = "import numpy as np\n"
SPEC = "def f_spec(x): return [v for v in x]"
SOLUTIONS = {
    "returned": "def f(x, out=None): return np.maximum(x, 0, out=out)",
    "in a statement": "def f(x, out=None):\n    np.maximum(x, 0, out=out)\n    return out",
}
SCRATCH = {
    "a library's check": "np.testing.assert_allclose(f(x), f_spec(x))",
    "a loop in a check": "np.testing.assert_allclose(f(x), [abs(v) for v in x])",
    "a global of the same name": "x = [v for v in (1, 2)]\nout = [v for v in x]",
    "times in a list": "times = []\nfor n in (1, 2): times.append([v for v in range(n)])",
    "another function's own": "def g(a, out=None):\n    out[...] = f_spec(a)\n    return out",
}


@pytest.mark.parametrize("scratch", SCRATCH.values(), ids=SCRATCH.keys())
@pytest.mark.parametrize("solution", SOLUTIONS.values(), ids=SOLUTIONS.keys())
def test_other_cells_do_not_make_a_solution_forbidden(solution, scratch):
    cells = {"given": NP + SPEC, "solution": solution, "scratch": scratch}
    assert find(cells, ["f"], ["loops", "spec"], "solution") == []


@pytest.mark.parametrize(
    "kept",
    [
        "ops = {}\nops['m'] = f_spec",
        "ops = []\nops.append(f_spec)",
        "ops = {}\ndef fill():\n    ops['m'] = f_spec\nfill()",
        "ops = {}\ndef fill(a, b):\n    ops.update(m=f_spec, n=a)\nfill(1, 2)",
    ],
)
def test_what_a_global_object_holds_is_followed(kept):
    cells = {"given": SPEC, "solution": kept + "\ndef f(x): return ops['m'](x)"}
    assert [finding.set for finding in find(cells, ["f"], ["spec"], "solution")] == ["spec"]
