"""Readings inside a process: what they say of functions whose answer is known."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tito import inside
from tito.checks import CheckFailed, claim

X = np.ones(50_000)


def adds(x):
    return x + 1


@pytest.fixture(scope="module")
def compiled():
    numba = pytest.importorskip("numba")

    @numba.njit
    def twice(x, out):
        for i in range(x.shape[0]):
            out[i] = 2 * x[i]

    @numba.njit
    def copies(x):
        return x.copy()

    return twice, copies


def test_compiled_functions_show_their_assembly_and_signatures(compiled):
    twice, copies = compiled
    x, out = np.ones(8), np.zeros(8)
    assert "twice" in claim("assembly", twice, x, out)
    assert "define" in claim("llvm", twice, x, out)
    assert "double" in claim("llvm", twice, x, out)
    (signature,) = claim("signatures", twice, x, out)
    assert signature.count("float64") == 2
    assert claim("parfors", twice, x, out) == 0
    assert not out.any()  # it got copies


def test_arrays_of_compiled_code_are_counted(compiled):
    twice, copies = compiled
    x = np.ones(8)
    assert claim("allocations", twice, x, np.zeros(8)) == 0
    assert claim("allocations", twice, out=np.zeros(8), x=x) == 0
    assert claim("allocations", copies, x) == 1


def test_turns_of_prange_say_what_they_changed_and_what_was_changed_beside_them():
    numba = pytest.importorskip("numba")
    prange = numba.prange

    @numba.njit(parallel=True)
    def rows(x, out):
        out[:] = 0
        for i in prange(len(x)):
            for j in numba.prange(x.shape[1]):
                out[i] += x[i, j]

    @numba.njit(parallel=True)
    def for_show(x, out):
        for i in prange(len(x)):
            out[i] = 0
        for i in range(len(x)):
            for j in range(x.shape[1]):
                out[i] += x[i, j]

    @numba.njit(parallel=True)
    def racing(x, out):
        for i in prange(len(x)):
            for j in range(x.shape[1]):
                out[j] += x[i, j]

    x, out = np.ones((3, 2)), np.full(3, np.nan)
    assert claim("turns", rows, x, out) == (3, 0, 0)
    assert claim("turns", for_show, x, out) == (3, 3, 0)
    assert claim("turns", racing, x, np.zeros(3)) == (3, 0, 2)
    assert list(prange(3)) == [0, 1, 2]
    assert np.isnan(out).all()


def test_the_peak_is_what_a_call_holds_at_once():
    assert X.nbytes <= claim("peak_bytes", adds, X) < 1.1 * X.nbytes
    assert claim("peak_bytes", np.add, X, 1, out=np.empty_like(X)) < 0.1 * X.nbytes
    assert not tracemalloc.is_tracing()


def test_the_peak_can_be_taken_while_memory_is_traced():
    tracemalloc.start()
    try:
        before = np.ones(200_000)
        assert claim("peak_bytes", adds, X) < 1.1 * X.nbytes < before.nbytes
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()


def products(a, b, out):
    np.matmul(a[:2], b, out=out[:2])
    out[2:] = a[2:] @ b
    out += np.dot(a, b)
    out += a.dot(b)
    out += np.einsum("ij,jk->ik", a, b)
    return np.multiply(out, 2), a * 2, a.T


def test_products_are_noted_with_the_shapes_of_their_operands():
    a, b, out = np.ones((3, 4)), np.ones((4, 5)), np.zeros((3, 5))
    assert claim("products", products, a, b, out) == [
        ("matmul", [(2, 4), (4, 5)]),
        ("matmul", [(1, 4), (4, 5)]),
        ("dot", [(3, 4), (4, 5)]),
        ("dot", [(3, 4), (4, 5)]),
        ("einsum", [(3, 4), (4, 5)]),
    ]


def test_what_was_recorded_computes_the_same():
    a, b = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)
    want, got = np.zeros((3, 5)), np.zeros((3, 5))
    products(a, b, want)
    own = [array.view(type("R", (inside._Recorded,), {"log": []})) for array in (a, b, got)]
    products(*own)
    assert np.array_equal(got, want)


@pytest.mark.parametrize(
    "kind", ["assembly", "llvm", "signatures", "parfors", "turns", "allocations"]
)
def test_plain_functions_have_no_assembly(kind):
    pytest.importorskip("numba")
    with pytest.raises(CheckFailed, match="adds is no function that Numba compiled"):
        claim(kind, adds, X)


def test_a_look_alike_is_no_compiled_function(compiled):
    class Compiled:
        signatures = ()

        def __call__(self, x):
            return x

        def inspect_asm(self):
            return {1: "vfmadd231ps"}

    with pytest.raises(CheckFailed, match="Compiled is no function that Numba compiled"):
        claim("assembly", Compiled(), X)


def test_a_compiled_function_with_a_method_of_its_own_is_refused(compiled):
    twice, _ = compiled
    twice.inspect_asm = lambda: {1: "vfmadd231ps"}
    try:
        with pytest.raises(CheckFailed, match="its inspect_asm is not Numba's"):
            claim("assembly", twice, np.ones(8), np.zeros(8))
    finally:
        del twice.inspect_asm


def test_an_unknown_kind_is_the_authors_mistake():
    with pytest.raises(ValueError, match="there is no claim 'speed'"):
        claim("speed", adds, X)
