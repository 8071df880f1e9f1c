"""Loops, choices and variances: the sets of a module that works on whole arrays."""

import pytest

from tito.forbid import find

NP = "import numpy as np\n"
LOOPS = {
    "for": "def f(x):\n    for v in x: pass",
    "while": "def f(x):\n    while True: return x",
    "list": "def f(x): return [v for v in x]",
    "generator": "def f(x): return max(v for v in x)",
    "set": "def f(x): return {v for v in x}",
    "dictionary": "def f(x): return {v: v for v in x}",
    "helper": "def g(x): return [v for v in x]\ndef f(x): return g(x)",
    "in a default": "def f(x, y=[v for v in range(2)]): return y",
    "digits of an index": "def f(x):\n for i in (0, 1):\n  for j in (0, 1): x[2 * i + j] = 0",
    "digits together": "def f(x): return [x[2 * i + j] for i in (0, 1) for j in (0, 1)]",
    "a loop in a few turns": "def f(x):\n    for y in (x, x):\n        while y: y = 0",
    "what a literal unpacks": "def f(x):\n    for v in (*x,): return v",
    "many turns": "def f(x):\n    for i in (0, 1, 2, 3, 4, 5, 6, 7, 8): x[i] = 0",
    "map": "def f(x): return list(map(abs, x))",
    "sum of Python": "def f(x): return sum(x)",
    "reduce": "from functools import reduce\ndef f(x): return reduce(max, x)",
    "vectorize": NP + "g = np.vectorize(abs)\ndef f(x): return g(x)",
    "apply_along_axis": NP + "def f(x): return np.apply_along_axis(abs, 0, x)",
    "ndindex": NP + "def f(x): return list(np.ndindex(x.shape))",
    "an earlier kernel": "from tinykernels.loops import relu_loops as r\ndef f(x): return r(x)",
}
WHOLE = {
    "ufunc": NP + "def f(x): return np.maximum(x, 0)",
    "method": "def f(x): return x.sum(axis=0)",
    "max of two": "def f(x): return max(x.size, 1)",
    "two arguments": "def f(x, y):\n for n, v in (('x', x), ('y', y)): print(n, v)\n return x",
    "a few shapes": "def f(x): return [v.shape for v in [x, x]]",
    "a dictionary of two": "T = {t: np.dtype(t) for t in ('f4', 'f8')}\ndef f(x): return T",
    "a scratch cell": "for i in range(3): print(i)\ndef f(x): return x",
    "another function": "def g(x): return [v for v in x]\ndef f(x): return x",
    "where": NP + "def f(x): return np.where(x < 0, 0, x)",
}
DOOR = {"tinykernels.loops": "def check(x):\n    return ' or '.join(str(n) for n in x)\n"}


@pytest.mark.parametrize("source", LOOPS.values(), ids=LOOPS.keys())
def test_each_way_to_loop_is_found(source):
    assert [finding.set for finding in find({"1": source}, ["f"], ["loops"])][:1] == ["loops"]


@pytest.mark.parametrize("source", WHOLE.values(), ids=WHOLE.keys())
def test_work_on_whole_arrays_is_left_alone(source):
    assert find({"1": source}, ["f"], ["loops"]) == []


def test_a_loop_is_shown_by_its_first_line():
    found = find({"1": "def f(x):\n    for v in x:\n        x = v"}, ["f"], ["loops"])
    assert [(f.line, f.route) for f in found] == [(2, "for v in x:")]


def test_a_helper_of_the_package_may_loop():
    source = "from tinykernels.loops import check\ndef f(x): return check(x)"
    assert find({"1": source}, ["f"], ["loops"], package=DOOR) == []


@pytest.mark.parametrize("name", ["where", "select", "choose"])
def test_a_choice_between_arrays(name):
    found = find({"1": NP + f"def f(x): return np.{name}(x, x, x)"}, ["f"], ["where"])
    assert [f.route for f in found] == [f"np.{name}"]
    assert find({"1": NP + "def f(x): return np.maximum(x, 0)"}, ["f"], ["where"]) == []


@pytest.mark.parametrize("route", ["x.var()", "x.std(axis=0)", "np.nanvar(x)", "np.cov(x)"])
def test_a_variance(route):
    assert find({"1": NP + f"def f(x): return {route}"}, ["f"], ["var"])
    assert find({"1": NP + "def f(x): return x.mean()"}, ["f"], ["var"]) == []


@pytest.mark.parametrize(
    "source",
    [
        "from tinykernels.simd.gemm import gemm\ndef f(x): return gemm(x, x)",
        "def f(x):\n    from tinykernels.simd import gemm as g\n    return g.gemm(x, x)",
        "import tinykernels.simd.gemm\ndef f(x): return tinykernels.simd.gemm.gemm_skinny(x, x)",
        "from tinykernels.simd.gemm import PackedMatrix as P\ndef f(x): return x @ P(x)",
    ],
)
def test_the_floats_of_an_earlier_module(source):
    assert "gemm" in [finding.set for finding in find({"1": source}, ["f"], ["gemm"])]


def test_vectors_of_the_module_with_that_gemm_are_no_product():
    source = "from tinykernels.simd.vec import vload\ndef f(x): return vload(x, 0)"
    assert find({"1": source}, ["f"], ["gemm"]) == []
