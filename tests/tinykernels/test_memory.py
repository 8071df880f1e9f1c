"""The exported instruments of 04: contracts by name, laws, and the cache against another one."""

import doctest
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinykernels import loops, memory
from tito.checks import cache_misses

DTYPES = (np.float32, np.float64)
WHOLE = st.integers(-8, 8).map(float)
MATRICES = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2), elements=WHOLE)


def test_the_examples_of_the_docstrings_are_right():
    assert doctest.testmod(memory).failed == 0
    assert doctest.testmod(memory).attempted >= 10


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("byte_offset", "(index, strides)"),
        ("lines_touched", "(offsets, itemsize, line=64)"),
        ("TracedArray", "(array, base=0, touch=None)"),
        ("CacheSimulator", "(size, line, ways)"),
        ("sum_by_rows", "(a)"),
        ("sum_by_columns", "(a)"),
        ("transpose_loops", "(a, out=None)"),
        ("transpose", "(a, out=None)"),
        ("predict_misses", "(rows, cols, order, itemsize, line, lines)"),
        ("pad_rows", "(a, extra)"),
        ("working_set", "(*shapes, itemsize=4)"),
    ],
)
def test_a_public_name_and_its_signature(name, signature):
    found = getattr(memory, name)
    assert str(inspect.signature(found)) == signature
    assert name in memory.__all__
    assert found.__doc__


def address(view, index):
    """Bytes from the first element of a view to another one, by NumPy's own word."""
    data = [view[(*i, ...)].__array_interface__["data"][0] for i in (index, (0,) * view.ndim)]
    return data[0] - data[1]


def views():
    x = np.arange(12.0).reshape(3, 4)
    yield from (x, x.T, x[::-1], x[:, ::2], x[::2, ::-3], np.asfortranarray(x))
    yield np.broadcast_to(x[0], (3, 4))
    yield x.astype(np.float32)[None]


@pytest.mark.parametrize("view", list(views()))
def test_an_element_lies_where_numpy_says(view):
    for index in np.ndindex(*view.shape):
        assert memory.byte_offset(index=index, strides=view.strides) == address(view, index)


@given(st.lists(st.integers(-300, 300)), st.integers(1, 150), st.sampled_from([1, 16, 48, 64]))
def test_the_lines_of_elements_are_those_of_their_bytes(offsets, itemsize, line):
    lines = {(offset + byte) // line for offset in offsets for byte in range(itemsize)}
    assert memory.lines_touched(offsets, itemsize, line=line) == len(lines)
    array = np.array(offsets, np.int64)
    assert memory.lines_touched(array, np.int64(itemsize), line) == len(lines)


@pytest.mark.parametrize("view", list(views()))
def test_a_traced_array_is_the_array_and_tells_each_access(view):
    seen = []
    traced = memory.TracedArray(
        array=view, base=96, touch=lambda address, is_write: seen.append((address, is_write))
    )
    assert traced.shape == view.shape and traced.dtype == view.dtype and len(traced) == len(view)
    for index in np.ndindex(*view.shape):
        from_the_end = tuple(i - n for i, n in zip(index, view.shape, strict=True))
        seen.clear()
        assert traced[index] == traced[from_the_end] == view[index]
        assert seen == 2 * [(96 + address(view, index), False)]


def test_a_write_reaches_the_array():
    x, seen = np.zeros((2, 3), np.float32), []
    traced = memory.TracedArray(x.T, touch=lambda *access: seen.append(access))
    traced[2, -1] = 7
    assert x[1, 2] == 7 and np.count_nonzero(x) == 1
    assert seen == [(20, True)]


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ((3, 0), IndexError),
        ((0, -5), IndexError),
        (0, TypeError),
        ((0, slice(1)), TypeError),
        (([0], 0), TypeError),
        ((0.0, 0), TypeError),
    ],
)
def test_an_index_that_is_no_element_touches_nothing(index, error):
    def touch(*access):
        raise AssertionError(access)

    traced = memory.TracedArray(np.zeros((3, 4)), touch=touch)
    with pytest.raises(error):
        traced[index]
    with pytest.raises(error):
        traced[index] = 1


@pytest.mark.parametrize(
    ("lines", "ways", "sets", "hits"),
    [
        ("", 1, 1, ""),
        ("AAA", 1, 1, ".++"),
        ("ABAB", 1, 1, "...."),
        ("ABAB", 2, 1, "..++"),
        ("ABABC", 1, 2, "..++."),
        ("ACAC", 1, 2, "...."),  # both in set 0
        ("ABACAB", 2, 1, "..+.+."),  # the hit made A young again: B had to go
        ("ABCABC", 2, 1, "......"),  # a loop that is one line too long
        ("ACEBACE", 2, 2, "......."),  # three lines of set 0; B lies in set 1
    ],
)
def test_traces_by_hand(lines, ways, sets, hits):
    cache = memory.CacheSimulator(size=64 * ways * sets, line=64, ways=ways)
    found = cache.run([64 * (ord(letter) - ord("A")) for letter in lines])
    assert "".join(".+"[hit] for hit in found) == hits
    assert (cache.hits, cache.misses) == (hits.count("+"), hits.count("."))


@given(
    st.lists(st.one_of(st.integers(0, 3000), st.integers(2**40, 2**40 + 3000)), max_size=150),
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from([1, 2, 3, 7]),
    st.sampled_from([1, 16, 48, 64]),
)
def test_the_simulator_and_the_graders_model_count_the_same_misses(addresses, ways, sets, line):
    size = line * ways * sets
    cache = memory.CacheSimulator(size, line, ways)
    hits = [cache.access(address) for address in addresses]
    assert (
        cache.misses
        == hits.count(False)
        == cache_misses(addresses, size=size, line=line, ways=ways)
    )
    assert cache.hits + cache.misses == len(addresses)
    cache.reset()
    assert (cache.hits, cache.misses) == (0, 0)
    assert cache.run(addresses) == hits


def test_a_larger_cache_of_one_set_never_misses_more():
    addresses = [int(a) for a in np.random.default_rng(1).integers(0, 2000, 400)]
    misses = [cache_misses(addresses, size=64 * ways, ways=ways) for ways in range(1, 40)]
    own = []
    for ways in range(1, 40):
        cache = memory.CacheSimulator(64 * ways, 64, ways)
        cache.run(addresses)
        own.append(cache.misses)
    assert own == misses == sorted(misses, reverse=True)


@pytest.mark.parametrize(
    ("size", "line", "ways", "error"),
    [
        (100, 64, 1, ValueError),
        (64, 64, 2, ValueError),
        (0, 64, 1, ValueError),
        (64.0, 64, 1, TypeError),
        (64, True, 1, TypeError),
        (64, 64, None, TypeError),
    ],
)
def test_a_cache_that_cannot_be(size, line, ways, error):
    with pytest.raises(error):
        memory.CacheSimulator(size, line, ways)


@given(MATRICES)
def test_sums_of_columns_are_sums_of_rows_of_the_transpose(a):
    assert np.array_equal(memory.sum_by_rows(a), a.sum(axis=1))
    assert np.array_equal(memory.sum_by_columns(a=a), memory.sum_by_rows(a.T))


@given(MATRICES)
def test_transposing_twice_is_nothing(a):
    turned = memory.transpose_loops(a)
    assert turned.flags.c_contiguous and np.array_equal(turned, a.T)
    assert np.array_equal(memory.transpose(turned), a)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_empty_and_small_matrices(shape, dtype):
    a = np.ones(shape, dtype)
    assert memory.sum_by_rows(a).tolist() == [shape[1]] * shape[0]
    assert memory.sum_by_columns(a).tolist() == [shape[0]] * shape[1]
    assert memory.transpose_loops(a).shape == shape[::-1]
    assert memory.pad_rows(a, extra=2).shape == shape
    for result in (memory.sum_by_rows(a), memory.transpose_loops(a), memory.pad_rows(a, 0)):
        assert result.dtype == dtype


def test_sums_are_kept_in_float64():
    tenths = np.full((1, 5000), 0.1, np.float32)
    want = np.float32(5000 * float(np.float32(0.1)))
    assert memory.sum_by_rows(tenths)[0] == memory.sum_by_columns(tenths.T)[0] == want


@pytest.mark.parametrize(
    "kernel",
    [
        memory.sum_by_rows,
        memory.sum_by_columns,
        memory.transpose_loops,
        lambda a: memory.pad_rows(a, 1),
    ],
)
def test_what_is_no_matrix_of_floats_is_refused(kernel):
    for bad in (np.ones(3), np.ones((1, 2, 3))):
        with pytest.raises(ValueError, match="axes"):
            kernel(bad)
    for bad in ([[1.0]], np.ones((2, 2), int), np.ones((2, 2)).astype(">f8")):
        with pytest.raises(TypeError, match="astype"):
            kernel(bad)


def test_an_out_is_filled_and_one_that_does_not_fit_is_refused():
    a, wide = np.arange(6.0).reshape(2, 3), np.full((6, 4), 7.0)
    out = wide[::-2, ::2]
    assert memory.transpose_loops(a=a, out=out) is out
    assert np.array_equal(out, a.T) and np.all(wide[:, 1::2] == 7)
    square = np.ones((3, 3))
    for bad in (square, square.T, np.ones((2, 3)), np.ones((3, 3), np.float32)):
        with pytest.raises(ValueError, match="out"):
            memory.transpose_loops(square, bad)


def walked(kernel, *arrays):
    """The order in which a kernel goes through its arrays: lists of element numbers."""
    seen = [[] for _ in arrays]
    traced = [
        memory.TracedArray(x, touch=lambda address, _, s=s, x=x: s.append(address // x.itemsize))
        for x, s in zip(arrays, seen, strict=True)
    ]
    kernel(*traced)
    return seen


def test_the_walks_go_in_the_order_that_they_promise():
    a, out = np.zeros((5, 7)), np.zeros((7, 5))
    assert walked(memory.sum_by_rows, a) == [list(range(35))]
    assert walked(memory.sum_by_columns, a) == [[7 * i + j for j in range(7) for i in range(5)]]
    down = [5 * j + i for i in range(5) for j in range(7)]
    assert walked(memory.transpose_loops, a, out) == [list(range(35)), down]


def test_every_loop_of_the_package_takes_a_traced_array():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    seen = []
    traced = memory.TracedArray(b, touch=lambda *access: seen.append(access))
    assert np.array_equal(loops.matmul_loops(a, traced), a @ b)
    assert len(seen) == 24


@given(
    st.integers(0, 12),
    st.integers(0, 4),
    st.sampled_from(["rows", "columns"]),
    st.sampled_from([1, 4, 8]),
    st.sampled_from([1, 2, 8]),
    st.integers(1, 16),
)
def test_the_prediction_is_what_a_cache_counts(rows, cols, order, itemsize, elements, lines):
    line, cols = itemsize * elements, cols * elements
    walk = itertools.product(range(rows), range(cols))
    if order == "columns":
        walk = ((i, j) for j, i in itertools.product(range(cols), range(rows)))
    addresses = [itemsize * (cols * i + j) for i, j in walk]
    cache = memory.CacheSimulator(lines * line, line, lines)
    cache.run(addresses)
    got = memory.predict_misses(rows, cols, order, itemsize=itemsize, line=line, lines=lines)
    assert got == cache.misses == cache_misses(addresses, size=lines * line, line=line, ways=lines)


def test_a_prediction_needs_rows_that_end_where_lines_end():
    for rows, cols, itemsize, line in ((3, 24, 4, 64), (2, 1, 4, 64), (2, 4, 48, 64)):
        with pytest.raises(ValueError, match="lines of 64 bytes"):
            memory.predict_misses(rows, cols, "rows", itemsize, line, 8)
    with pytest.raises(ValueError, match="order"):
        memory.predict_misses(4, 16, "both", 4, 64, 8)


def test_padding_spreads_a_column_over_the_sets():
    a = np.arange(4096, dtype=np.float32).reshape(64, 64)
    padded = memory.pad_rows(a, 16)
    assert np.array_equal(padded, a) and padded.strides == (320, 4)
    assert not np.shares_memory(padded, a)
    misses = {}
    for name, x in {"plain": a, "padded": padded}.items():
        cache = memory.CacheSimulator(4096, 64, 8)
        traced = memory.TracedArray(x, touch=lambda address, _, cache=cache: cache.access(address))
        memory.sum_by_columns(traced)
        misses[name] = cache.misses
    assert misses == {"plain": 4096, "padded": 256}


def test_working_sets_are_exact():
    assert memory.working_set(*3 * [(64, 64)]) == 48 * 1024
    assert memory.working_set(*3 * [(256, 256)]) == 768 * 1024
    assert memory.working_set((10**6, 10**7), (3,), itemsize=8) == 8 * (10**13 + 3)
    assert memory.working_set() == 0
    for bad, error in ((0, ValueError), (True, TypeError), (4.0, TypeError)):
        with pytest.raises(error, match="itemsize"):
            memory.working_set((2,), itemsize=bad)
