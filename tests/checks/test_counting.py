"""Traces, copies by their name, budgets and counts as points."""

from __future__ import annotations

import threading
from fractions import Fraction

import numpy as np
import pytest

from tito.checks import (
    CheckFailed,
    at_most,
    contents,
    counts,
    expect_reads,
    is_copied,
    remote_array,
    trace,
)


def test_arrays_of_a_trace_lie_one_after_the_other_at_the_beginning_of_a_line():
    a = remote_array(np.arange(3, dtype="f4"), "a")
    b = remote_array(np.zeros((5, 4)), "b")
    out = remote_array(np.zeros(2, "f4"), "out")
    out[1] = a[2]
    out[0] = b[1, 2]
    # a has 12 bytes, so b begins at 64; b has 160 bytes, so out begins at 256.
    found = trace(a, b, out)
    assert found.addresses.tolist() == [8, 260, 64 + 48, 256]
    assert found.writes.tolist() == [False, True, False, True]
    assert found.itemsizes.tolist() == [4, 4, 8, 4]
    assert trace(b, a).addresses.tolist() == [192 + 8, 48]
    assert trace(a, b, line=16).addresses.tolist() == [8, 16 + 48]


@pytest.mark.parametrize(
    ("view", "addresses"),
    [
        (lambda x: x, [0, 4, 8, 12, 16, 20]),
        (lambda x: x.T, [0, 12, 4, 16, 8, 20]),
        (lambda x: x[::-1], [12, 16, 20, 0, 4, 8]),
        (lambda x: x[:, ::2], [0, 8, 12, 20]),
        (lambda x: np.asfortranarray(x), [0, 8, 16, 4, 12, 20]),
        (lambda x: np.broadcast_to(x[0], (2, 3)), [0, 4, 8, 0, 4, 8]),
    ],
)
def test_addresses_follow_the_layout_of_the_array(view, addresses):
    original = view(np.arange(6, dtype="f4").reshape(2, 3))
    x = remote_array(original)
    assert x.strides == original.strides
    assert [[float(v) for v in row] for row in x] == original.tolist()
    assert trace(x).addresses.tolist() == addresses


def test_a_padded_array_keeps_its_padding():
    x = remote_array(np.zeros((4, 40), "f4")[:, :16])
    _ = [row[0] for row in x]
    assert trace(x).addresses.tolist() == [0, 160, 320, 480]


def test_a_view_belongs_to_its_array():
    x = remote_array(np.arange(6.0).reshape(2, 3))
    _ = x[1][2], x.T[0, 1]
    assert trace(x, x[0]).addresses.tolist() == [40, 24]
    assert counts(x[1]) == (2, 0)


def test_contents_count_nothing():
    out = remote_array(np.zeros(3), "out")
    out[1] = 5
    assert contents(out).tolist() == [0, 5, 0]
    assert counts(out) == (0, 1)
    contents(out)[0] = 7
    assert contents(out)[0] == 0


def test_a_zero_dimensional_and_an_empty_array():
    point, empty = remote_array(np.array(3.0)), remote_array(np.zeros((0, 4)))
    assert float(point) == 3.0
    assert trace(empty, point).addresses.tolist() == [0]
    assert not is_copied(empty)


@pytest.mark.parametrize(
    "copying",
    [
        lambda x: [[x[i, j] for j in range(4)] for i in range(3)],
        lambda x: [list(row) for row in x],
        lambda x: list(x.flat),
        lambda x: [[x[i, j] for i in range(3)] for j in range(4)],
    ],
)
def test_reading_once_in_order_is_named_a_copy(copying):
    layout = np.asfortranarray if copying(np.zeros((3, 4)))[0].__class__ is list else np.array
    x = remote_array(layout(np.arange(12.0).reshape(3, 4)), "b")
    copying(x)
    assert is_copied(x)
    with pytest.raises(CheckFailed) as caught:
        expect_reads(x, least=60)
    message = str(caught.value)
    assert "b: 12 reads, each element once and in order, where the algorithm needs 60" in message
    assert "this copies the array; the count is about reading elements where they are used" in (
        message
    )
    assert "this copies the array" in caught.value.public and "12" not in caught.value.public


def test_many_reads_are_no_copy_and_few_in_no_order_are_too_few():
    x = remote_array(np.arange(4.0), "x")
    _ = [x[3], x[0], x[2], x[1]]
    assert not is_copied(x)
    with pytest.raises(CheckFailed, match="x: 4 reads, where the algorithm needs 8"):
        expect_reads(x, least=8)
    _ = [x[i] for i in (0, 1, 2, 3)]
    assert not is_copied(x)
    expect_reads(x, least=8)


@pytest.mark.parametrize(
    "copy",
    [
        lambda x: np.asarray(x),
        lambda x: np.array(x),
        lambda x: x.tolist(),
        lambda x: x.copy(),
        lambda x: x.astype("f8"),
        lambda x: x + 0,
        lambda x: np.zeros(4).__setitem__(slice(None), x),
        lambda x: np.copy(x),
        lambda x: np.ascontiguousarray(x),
        lambda x: x[[0, 1, 2, 3]],
    ],
)
def test_what_copies_at_once_says_so(copy):
    x = remote_array(np.arange(4.0))
    with pytest.raises(TypeError, match="this copies the array; the count is about reading"):
        copy(x)
    assert counts(x) == (0, 0)


def test_a_wasteful_kernel_ends_early():
    x = remote_array(np.arange(4.0), "x", budget=10)
    with pytest.raises(CheckFailed, match="x was read or written 10 times") as caught:
        for _ in range(100):
            x[1]
    assert "10" not in caught.value.public
    with pytest.raises(CheckFailed):
        x[1]
    assert counts(x) == (10, 0)
    with pytest.raises(ValueError, match="budget"):
        remote_array(np.zeros(1), budget=0)


def test_threads_lose_no_count():
    x = remote_array(np.arange(4.0))
    threads = [threading.Thread(target=lambda: [x[i % 4] for i in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(x) == (8000, 0) and len(trace(x)) == 8000


def test_steps_of_a_count():
    assert at_most(10, 10, points=3, unit="misses") == (3, None)
    assert at_most(11, 10, points=3, unit="misses")[0] == 0
    earned, message = at_most(11, 10, 2000, points=3, unit="misses", hint="block it")
    assert earned == Fraction(3, 2)
    assert message == ("11 misses: full points up to 10, half up to 2,000\n  try       block it")
    assert message.public == "too many misses\n  try       block it"
    assert at_most(2001, 10, 2000, points=3, unit="misses")[0] == 0
    with pytest.raises(ValueError, match="half must be more"):
        at_most(1, 10, 10, points=1, unit="misses")


def test_only_remote_arrays_are_traced():
    with pytest.raises(TypeError, match="remote_array, not ndarray"):
        trace(np.zeros(3))
    with pytest.raises(ValueError, match="at least one"):
        trace()
    with pytest.raises(ValueError, match="least"):
        expect_reads(remote_array(np.zeros(1)), least=0)
