"""Changes of an input, found bit by bit."""

import numpy as np
import pytest

from tito.checks import CheckFailed, expect_unchanged
from tito.checks.memory import Snapshot, named_arguments


@pytest.mark.parametrize(
    ("array", "change", "index"),
    [
        (np.arange(3.0), lambda x: x.__setitem__(2, 9), (2,)),
        (np.zeros((2, 3)), lambda x: x.__setitem__((1, 0), -0.0), (1, 0)),
        (np.full(2, np.nan), lambda x: x.__setitem__(1, 0), (1,)),
        (np.zeros((3, 4), order="F"), lambda x: x.__setitem__((2, 1), 1), (2, 1)),
        (np.zeros((4, 6))[::2, ::3], lambda x: x.__setitem__((1, 1), 1), (1, 1)),
        (np.zeros(5)[::-1], lambda x: x.__setitem__(4, 1), (4,)),
        (np.zeros(()), lambda x: x.__setitem__((), 1), ()),
        (np.array([True, False]), lambda x: x.__setitem__(1, True), (1,)),
        (np.array([1, "a"], object), lambda x: x.__setitem__(0, 2), (0,)),
        (np.zeros(2, [("a", "i4"), ("b", "f8")]), lambda x: x["b"].__setitem__(1, 1), (1,)),
    ],
)
def test_the_first_changed_element(array, change, index):
    snapshot = Snapshot.of(array)
    assert snapshot.first_change() is None
    change(array)
    assert snapshot.first_change() == index


def test_nan_is_no_change():
    x = np.array([np.nan, 1.0])
    assert expect_unchanged(lambda x: 3, x) == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_changed_shape_is_a_change():
    def flatten(x):
        x.shape = (4,)

    with pytest.raises(CheckFailed, match="flatten changed its input x"):
        expect_unchanged(flatten, np.zeros((2, 2)))


def test_the_message_names_the_parameter_and_the_element():
    def scale(a, b, factor=2):
        b[1, 0] *= factor
        return a

    with pytest.raises(CheckFailed) as caught:
        expect_unchanged(scale, np.ones(2), b=np.ones((2, 2)), factor=3)
    assert str(caught.value).splitlines()[:3] == [
        "scale changed its input b at [1, 0]",
        "  before    [[1. 1.] [1. 1.]] float64 (2, 2)",
        "  after     [[1. 1.] [3. 1.]] float64 (2, 2)",
    ]
    assert caught.value.public.startswith("scale: changed its input b")


def test_an_array_inside_a_list_is_watched():
    def spoil(batch):
        batch[1][0] = 7

    with pytest.raises(CheckFailed, match=r"changed its input batch\[1\] at \[0\]"):
        expect_unchanged(spoil, [np.ones(2), np.ones(2)])


def test_out_may_change():
    def double(x, out):
        out[...] = 2 * x
        return out

    out = np.zeros(2)
    assert expect_unchanged(double, np.ones(2), out) is out
    assert expect_unchanged(double, np.ones(2), out=out) is out


def test_nothing_to_watch_is_the_tests_mistake():
    with pytest.raises(ValueError, match="no array to watch"):
        expect_unchanged(lambda n: n, 3)


def test_names_of_arguments():
    def f(a, *rest, b=0, **more):
        pass

    assert named_arguments(f, (1, 2, 3), {"b": 4, "c": 5}) == [
        ("a", 1), ("rest[0]", 2), ("rest[1]", 3), ("b", 4), ("c", 5),
    ]  # fmt: skip
    # Built-in functions without a signature, and calls that do not fit one.
    assert named_arguments(min, (1, 2), {}) == [("1", 1), ("2", 2)]
    assert named_arguments(lambda: 0, (1,), {"k": 2}) == [("1", 1), ("k", 2)]
