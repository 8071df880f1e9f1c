"""Traces, against ones worked out by hand."""

import numpy as np
import pytest

from tito.bench.lessons.traces import LINE, column_trace, matmul_trace, transpose_trace

# 2 x 2 matrices: a begins at 0, b and c on the next two lines.
BEGINS = {"a": 0, "b": LINE, "c": 2 * LINE}


def addresses(words):
    """Of the elements by their names: "b2" is the third number of b."""
    return [BEGINS[word[0]] + 4 * int(word[1:]) for word in words.split()]


@pytest.mark.parametrize(
    ("order", "trace"),
    [
        # a row of a, a column of b, then the sum is done
        ("ijk", "a0 b0 a1 b2 c0  a0 b1 a1 b3 c1  a2 b0 a3 b2 c2  a2 b1 a3 b3 c3"),
        # one number of a stays, a row of b and one of c pass by
        ("ikj", "a0 b0 c0 b1 c1  a1 b2 c0 b3 c1  a2 b0 c2 b1 c3  a3 b2 c2 b3 c3"),
        # one number of b stays, a column of a and one of c pass by
        ("jki", "a0 b0 c0 a2 c2  a1 b2 c0 a3 c2  a0 b1 c1 a2 c3  a1 b3 c1 a3 c3"),
    ],
)
def test_orders_by_hand(order, trace):
    assert matmul_trace(order, 2).tolist() == addresses(trace)


def test_blocks_visit_the_same_elements_in_another_order():
    plain, blocked = matmul_trace("ikj", 6), matmul_trace("ikj", 6, 3)
    assert set(plain) == set(blocked) and plain.tolist() != blocked.tolist()
    # The first block: rows 0 to 2 of c, columns 0 to 2, and nothing else.
    size = 48 * 4  # 36 elements, up to the next line
    inside = {4 * (6 * i + j) for i in range(3) for j in range(3)}
    first = {matrix * size + x for matrix in range(3) for x in inside}
    assert set(blocked[: len(blocked) // 8]) == first


def test_one_block_is_no_block():
    assert matmul_trace("ijk", 5, 5).tolist() == matmul_trace("ijk", 5).tolist()
    assert transpose_trace(5, 7).tolist() == transpose_trace(5).tolist()


def test_a_transpose_reads_rows_and_writes_columns():
    assert transpose_trace(2).tolist() == addresses("a0 b0 a1 b2 a2 b1 a3 b3")


def test_a_transpose_in_tiles_touches_each_element_once():
    trace = transpose_trace(7, 3)
    assert len(trace) == 2 * 49 == len(set(trace))


@pytest.mark.parametrize(("rows", "columns"), [(2, 3), (3, 2)])
def test_a_walk_down_columns(rows, columns):
    wanted = [4 * (10 * i + j) for j in range(columns) for i in range(rows)]
    assert column_trace(rows, columns, 10).tolist() == wanted


def test_every_multiply_add_touches_two_elements_and_keeps_one():
    """Of the three one stays in a register through the innermost loop."""
    n = 5
    for order in ("ijk", "ikj", "jki"):
        trace = matmul_trace(order, n)
        assert len(trace) == 2 * n**3 + n**2
        assert trace.dtype == np.int64 and trace.min() == 0
