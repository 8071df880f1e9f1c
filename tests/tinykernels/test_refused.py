"""What nobody can do with a vector is refused in one line, by a kernel and by plain Python."""

import math

import numpy as np
import pytest

pytest.importorskip("numba")

from tinykernels.jit import kernel
from tinykernels.simd import vec

WAYS = pytest.mark.parametrize("way", ["plain", "compiled"])


def run(line, way="compiled"):
    """A kernel with that line in it, called; v is a vector, f a float, i a place in x."""
    calls = {name: getattr(vec, name) for name in vec.__all__}
    space = {"np": np, "math": math, **calls}
    exec(f"def wrong(x, i, f):\n    v = vload(x, 0)\n    {line}", space)
    wrong = space["wrong"] if way == "plain" else kernel(space["wrong"])
    return wrong(np.ones(4 * vec.VL, np.float32), 0, np.float32(2))


def refused(line, way, message):
    """The line raises a TypeError that is this message and no word more."""
    with pytest.raises(TypeError) as caught:
        run(line, way)
    assert str(caught.value) == message


@WAYS
@pytest.mark.parametrize(
    "line",
    [
        "vstore(x, 0, f * v)",
        "vstore(x, 0, v * v)",
        "v += vload(x, 0)",
        "vstore(x, 0, -v)",
        "vstore(x, 0, v**2)",
        "x[0] = v @ v",
        "v @= v",
        "x[0] += v",
        "x = x @ v",
        "if v < f: x[0] = f",
        "if f in v: x[0] = f",
        "vstore(x, 0, abs(v))",
        "x[0] = max(v, f)",
        "x[0] = divmod(v, f)[0]",
        "vstore(x, 0, np.sqrt(v))",
        "vstore(x, 0, np.maximum(v, f))",
        "x[0] = np.sum(v)",
        "x[0] = np.dot(v, v)",
        "x[0] = np.linalg.norm(v)",
        "vstore(x, 0, np.where(v, v, v))",
    ],
)
def test_operators_and_functions(line, way):
    refused(
        line,
        way,
        "vectors have no operators, and math and NumPy do not know them: "
        "write vadd(u, v), vfma(u, v, w), vsplat(f)",
    )


@WAYS
@pytest.mark.parametrize(
    "line",
    [
        "x[0] = v[0]",
        "x[0] = v[i]",
        "x[:4] = v[:4]",
        "v[i] = f",
        "v[0] = 1",
        "v[0] += f",
        "del v[0]",
        "x[0] = len(v)",
        "for one in v: x[0] += one",
        "for j, one in enumerate(v): x[j] = one",
        "for one, other in zip(v, x): x[0] = one",
        "one, other = v",
        "x[0] = list(v)[0]",
        "x[0] = float(v)",
        "x[0] = int(v)",
        "for j in range(v): x[j] = f",
        "if v: x[0] = f",
        "while not v: x[0] = f",
        "x[0] = f if v else x[1]",
        "x[0] = f if bool(v) else x[1]",
    ],
)
def test_numbers_and_arrays(line, way):
    message = (
        "a vector is neither a number nor an array: vstore(x, i, v) writes its floats into one"
    )
    refused(line, way, message)


@pytest.mark.parametrize(
    "line",
    [
        "x[i] = v",
        "x[:8] = v",
        "x[0] = x[v]",
        "x[0] = v.sum()",
        "x[0] = v.shape[0]",
        "v.size = 1",
        "v.fill(0)",
        "return v",
    ],
)
def test_what_numpy_does_with_an_array_of_floats_is_refused_when_it_is_compiled(line):
    message = (
        "a vector is neither a number nor an array: vstore(x, i, v) writes its floats into one"
    )
    refused(line, "compiled", message)


@pytest.mark.parametrize("line", ["x[0] = math.sqrt(v)", "x[0] = np.array(v)[0]"])
def test_functions_that_plain_python_answers_otherwise(line):
    with pytest.raises(TypeError, match=r"^vectors have no operators, and math and NumPy do not"):
        run(line)


@pytest.mark.parametrize(
    "line",
    [
        "sums = [v, v]; vstore(x, 0, sums[i])",
        "sums = [vzero() for r in range(4)]; vstore(x, 0, sums[i])",
        "sums = [vzero()] * 4; vstore(x, 0, sums[i])",
        "sums = [v, v]; sums[i] = vadd(v, v)",
        "sums = [vzero() for r in range(4)]; sums[1] = vfma(v, v, sums[1])",
        "sums = {0: v}; vstore(x, 0, sums[i])",
        "sums = np.full(4, v)",
    ],
)
def test_a_list_of_vectors_is_refused_for_the_process_would_die(line):
    refused(line, "compiled", "a list or an array cannot hold vectors: give each a name of its own")


def test_a_tuple_holds_vectors():
    run("sums = (v, vadd(v, v)); vstore(x, 0, sums[i]); vstore(x, 0, sums[1])")


def test_a_vector_is_printed_by_plain_python_only(capsys):
    refused(
        "print(f, v)",
        "compiled",
        "a compiled kernel cannot print a vector: its py_func, plain Python, can",
    )
    run("print(v)", "plain")
    assert capsys.readouterr().out == f"{np.ones(vec.VL)}\n"


def test_a_name_is_a_vector_or_a_number():
    line = "a name holds a vector or something else, not both: a sum of vectors begins with vzero()"
    refused("w = f if i else v; vstore(x, 0, w)", "compiled", line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "vload(v, 0)",
            f"vectors are loaded from contiguous float32 arrays, not from Vec({vec.VL})",
        ),
        ("vbcast(x, v)", f"a place in an array is a whole number, not Vec({vec.VL})"),
        ("vload(x, 0.5)", "a place in an array is a whole number, not float64"),
        ("vstore(x, 1 / 2, v)", "a place in an array is a whole number, not float64"),
        ("vload(x.reshape(2, -1).T, 0)", None),
    ],
)
def test_places(line, message):
    with pytest.raises(TypeError, match=r"^(vectors are loaded from|a place in an)") as caught:
        run(line)
    assert message is None or str(caught.value) == message
    assert "\n" not in str(caught.value)


@WAYS
def test_calls_with_something_missing_or_too_much(way):
    refused("vadd(v)", way, "vadd() missing 1 required positional argument: 'v'")
    refused("vsplat(v)", way, "vsplat makes a vector of one number")
