"""What --sizes may say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tito.bench.ladders import WORKLOADS
from tito.bench.sizes import chosen, parse, shown
from tito.errors import UsageError

GEMM, SOFTMAX, CONV = WORKLOADS["gemm"], WORKLOADS["softmax"], WORKLOADS["conv"]
ROOM = 8 << 30


def dims_of(workload, text, memory=ROOM):
    return [dims for _, dims in chosen([workload], text, memory)]


def test_one_number_stands_for_every_dimension():
    assert dims_of(GEMM, "64,256") == [(64, 64, 64), (256, 256, 256)]
    assert dims_of(SOFTMAX, "64") == [(64, 64)]
    assert dims_of(CONV, "8") == [(8, 8, 8, 8)]


def test_several_numbers_are_the_dimensions_in_order():
    assert dims_of(GEMM, "1x576x1536, 7X5x3,2*3\u00d74") == [(1, 576, 1536), (7, 5, 3), (2, 3, 4)]


@given(st.lists(st.lists(st.integers(1, 10**8), min_size=1, max_size=4), min_size=1))
def test_what_is_shown_is_read_back(sizes):
    wanted = list(dict.fromkeys(map(tuple, sizes)))
    assert parse(",".join(map(shown, wanted))) == wanted


def test_a_size_that_is_named_twice_is_measured_once():
    assert parse("64,32,64") == [(64,), (32,)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "begin at 1"),
        ("64,0x3x3", "begin at 1"),
        ("-5", "'-5' is no size"),
        ("64.5", "'64.5' is no size"),
        ("x64", "is no size"),
        ("64x", "is no size"),
        ("1e3", "is no size"),
        ("", "a size is missing"),
        ("64,,32", "a size is missing"),
        ("9" * 5000, "too large"),
        ("٣", "is no size"),
    ],
)
def test_what_is_no_size_is_said_to_be(text, words):
    with pytest.raises(UsageError, match=words) as error:
        parse(text)
    assert error.value.code == 2 and "--sizes" in error.value.hint


def test_a_size_has_to_fit_each_workload():
    with pytest.raises(UsageError, match="softmax has 2 dimensions, MxN; 1x2x3 has 3"):
        chosen([GEMM, SOFTMAX], "1x2x3", ROOM)


def test_a_size_that_memory_cannot_hold_is_refused_before_anything_is_made():
    with pytest.raises(UsageError, match=r"needs about .* GB .* at most .* half") as error:
        dims_of(GEMM, "100000")
    assert error.value.code == 2
    with pytest.raises(UsageError, match="needs about"):
        dims_of(SOFTMAX, "4096", memory=1 << 28)
    assert dims_of(SOFTMAX, "4096", memory=8 << 30)


def test_a_size_that_takes_too_long_is_refused():
    with pytest.raises(UsageError, match="too long"):
        dims_of(GEMM, "8000", memory=1 << 45)
    with pytest.raises(UsageError, match="too long"):
        dims_of(SOFTMAX, "20000x20000", memory=1 << 45)


def test_memory_that_is_not_known_is_taken_for_little():
    assert dims_of(GEMM, "512", memory=None)
    with pytest.raises(UsageError, match="needs about"):
        dims_of(GEMM, "6000", memory=None)


def test_the_sizes_that_nobody_asked_for_fit_a_small_machine():
    tasks = chosen(list(WORKLOADS.values()), None, 2 << 30)
    assert {w.name for w, _ in tasks} == set(WORKLOADS)
