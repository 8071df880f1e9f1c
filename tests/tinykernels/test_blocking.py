"""The exported blocked kernels: contracts by name, edges, bad blocks, and their misses."""

import doctest
import inspect
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinykernels import blocking
from tito.checks import cache_misses, contents, counts, remote_array

DTYPES = (np.float32, np.float64)
PRODUCTS = (blocking.cache_friendly_matmul, blocking.blocked_matmul)
# No block sizes: each must be refused before anything is written or allocated.
BAD_BLOCKS = (0, -1, -7, 3.0, 1.5, "3", None, False, True, float("nan"), (2, 2), np.float32(2))
# Sizes that a tile divides, does not divide, or exceeds; one less and one more than a multiple.
SIZES_AND_BLOCKS = [
    *((1, 1, 1, block) for block in (1, 3)),
    *((6, 1, 2, block) for block in (1, 4, 7)),
    *((8, 8, 8, block) for block in (1, 4, 7, 8, 9)),
    *((9, 7, 8, block) for block in (2, 4, 8)),
    *((2, 11, 13, block) for block in (3, 5, 12, 64)),
    (32, 31, 33, 16),
    (65, 34, 17, 32),
]


def whole_numbers(*shape, dtype=np.float32, seed=0):
    """Whole numbers, so that products are exact in any order of summation."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


def test_the_examples_of_the_docstrings_are_right():
    result = doctest.testmod(blocking, extraglobs={"np": np})
    assert result.failed == 0 and result.attempted >= 7


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("block_ranges", "(n, block)"),
        ("blocked_transpose_loops", "(a, out, block)"),
        ("blocked_transpose", "(a, block=64, out=None)"),
        ("cache_friendly_matmul", "(a, b, block_size=32, out=None)"),
        ("blocked_matmul", "(a, b, block_size=64, out=None)"),
        ("choose_block_size", "(cache_bytes, itemsize=4, arrays=3, line=64)"),
        ("best_block", "(misses, candidates)"),
    ],
)
def test_a_public_name_and_its_signature(name, signature):
    function = getattr(blocking, name)
    assert str(inspect.signature(function)) == signature
    assert name in blocking.__all__
    assert function.__doc__


@given(st.integers(0, 300), st.integers(1, 400))
def test_ranges_cover_all_once_and_only_the_last_is_short(n, block):
    ranges = blocking.block_ranges(n=n, block=block)
    assert [i for start, stop in ranges for i in range(start, stop)] == list(range(n))
    assert all(stop - start == block for start, stop in ranges[:-1])
    assert all(start < stop for start, stop in ranges)


def test_a_huge_block_is_one_range_of_python_ints():
    assert blocking.block_ranges(np.int32(5), 10**30) == [(0, 5)]
    assert {type(i) for pair in blocking.block_ranges(np.int64(5), np.int8(2)) for i in pair} == {
        int
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "k", "n", "block"), SIZES_AND_BLOCKS)
@pytest.mark.parametrize("product", PRODUCTS)
def test_a_blocked_product_is_exact_for_any_size_and_block(product, m, k, n, block, dtype):
    if product is blocking.cache_friendly_matmul and m * k * n > 20_000:
        m, k, n = m // 2, k // 2, n // 2
    a, b = whole_numbers(m, k, dtype=dtype), whole_numbers(k, n, dtype=dtype, seed=1)
    want = (a.astype(float) @ b.astype(float)).astype(dtype)
    result = product(a, b, block_size=block)
    assert result.dtype == dtype and np.array_equal(result, want)
    out = np.full((m, n), np.nan, dtype)
    assert product(a=a, b=b, block_size=block, out=out) is out
    assert np.array_equal(out, want), "what stood in out counted"


@pytest.mark.parametrize("product", PRODUCTS)
def test_no_inner_index_gives_zeros_and_no_rows_give_none(product):
    assert np.array_equal(product(np.ones((2, 0)), np.ones((0, 3)), 2), np.zeros((2, 3)))
    assert product(np.ones((0, 2)), np.ones((2, 3)), 2).shape == (0, 3)
    assert product(np.ones((2, 2)), np.ones((2, 0)), 2).shape == (2, 0)


@pytest.mark.parametrize("block", BAD_BLOCKS, ids=repr)
def test_a_bad_block_is_refused_before_any_work(block):
    a, out = np.ones((3, 3)), np.full((3, 3), 7.0)
    calls = [
        *(lambda p=p: p(a, a, block_size=block, out=out) for p in PRODUCTS),
        *(lambda p=p: p(a, a, block_size=block) for p in PRODUCTS),
        lambda: blocking.blocked_transpose(a, block, out=out),
        lambda: blocking.blocked_transpose_loops(a, out, block),
        lambda: blocking.block_ranges(3, block),
        lambda: blocking.block_ranges(0, block),
        lambda: blocking.choose_block_size(block),
        lambda: blocking.choose_block_size(64, arrays=block),
        lambda: blocking.best_block(lambda candidate: 0, [4, block]),
    ]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match="must be"):
            call()
    assert np.all(out == 7.0)


def test_a_bad_block_allocates_no_result():
    """As where the result would be far larger than memory."""
    a, b = np.broadcast_to(np.float32(1), (10**7, 1)), np.broadcast_to(np.float32(1), (1, 10**7))
    for product in PRODUCTS:
        with pytest.raises(ValueError, match="at least 1"):
            product(a, b, block_size=-1)
    with pytest.raises(ValueError, match="at least 1"):
        blocking.blocked_transpose(np.broadcast_to(np.float32(1), (10**7, 10**7)), 0)


@pytest.mark.parametrize("product", PRODUCTS)
def test_numpy_integers_and_huge_blocks_count(product):
    a = whole_numbers(5, 5)
    for block in (np.int32(2), np.uint8(3), np.int64(5), 10**9):
        assert np.array_equal(product(a, a, block_size=block), a @ a)


@pytest.mark.parametrize("product", PRODUCTS)
def test_shapes_and_dtypes_that_a_product_refuses(product):
    a = np.ones((2, 3))
    for bad in (np.ones(3), np.ones((2, 3)), np.ones((3, 2, 1))):
        with pytest.raises(ValueError):
            product(a, bad, 2)
    for bad in (np.ones((3, 2), np.float32), np.ones((3, 2), int), [[1.0], [2.0], [3.0]]):
        with pytest.raises(TypeError, match="astype"):
            product(a, bad, 2)
    with pytest.raises(ValueError, match="shares memory"):
        product(np.ones((3, 3)), square := np.ones((3, 3)), 2, out=square)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 4), (9, 5), (5, 9), (33, 64), (0, 3), (3, 0)])
@pytest.mark.parametrize("block", [1, 4, 5, 32, 1000])
def test_both_transposes_are_the_transpose(m, n, block, dtype):
    a = whole_numbers(m, n, dtype=dtype)
    result = blocking.blocked_transpose(a=a, block=block)
    assert result.dtype == dtype and np.array_equal(result, a.T)
    assert not np.shares_memory(result, a)
    for order in "CF":
        out = np.full((n, m), 7, dtype, order=order)
        assert blocking.blocked_transpose(a, block, out=out) is out
        assert np.array_equal(out, a.T)
        out = np.full((n, m), 7, dtype, order=order)
        assert blocking.blocked_transpose_loops(a=a, out=out, block=block) is out
        assert np.array_equal(out, a.T)


@given(st.integers(1, 10**7), st.sampled_from([1, 2, 4, 8]), st.integers(1, 4))
def test_the_largest_block_that_fits(cache_bytes, itemsize, arrays):
    block = blocking.choose_block_size(cache_bytes, itemsize, arrays)
    step = 64 // itemsize
    assert block % step == 0 and block >= step
    assert block == step or arrays * block**2 * itemsize <= cache_bytes
    assert arrays * (block + step) ** 2 * itemsize > cache_bytes


def test_the_root_of_a_large_square_is_exact():
    side = 2**200 + 16
    assert blocking.choose_block_size(12 * side**2) == side
    assert blocking.choose_block_size(12 * side**2 - 1) == side - 16
    assert math.isqrt(side**2) == side


def test_the_best_block_is_the_smallest_of_the_best_and_each_is_asked_once():
    asked = []

    def misses(block):
        asked.append(block)
        return abs(block - 10) // 4

    assert blocking.best_block(misses, [32, 12, 8, 16, 9]) == 8
    assert sorted(asked) == [8, 9, 12, 16, 32]
    with pytest.raises(ValueError, match="empty"):
        blocking.best_block(misses, ())


def transposed_misses(m, n, block):
    a = remote_array(whole_numbers(m, n), "a")
    out = remote_array(np.zeros((n, m), np.float32), "out")
    blocking.blocked_transpose_loops(a, out, block)
    assert np.array_equal(contents(out), contents(a).T)
    return cache_misses(a, out, size=2048)


def test_tiles_make_a_transpose_miss_no_more_than_it_must():
    compulsory = 2 * 48 * 48 * 4 // 64
    assert transposed_misses(48, 48, 16) == compulsory
    assert transposed_misses(48, 48, 48) > 8 * compulsory
    assert compulsory < transposed_misses(48, 48, 4) < 3 * compulsory


def test_the_blocked_product_reads_each_element_for_each_use_and_misses_little():
    a, b = (remote_array(whole_numbers(24, 24, seed=s), name) for s, name in enumerate("ab"))
    misses = {}
    for block in (8, 24):
        out = remote_array(np.zeros((24, 24), np.float32), "out")
        a, b = remote_array(contents(a), "a"), remote_array(contents(b), "b")
        blocking.cache_friendly_matmul(a, b, block, out=out)
        assert counts(a).reads == counts(b).reads == 24**3
        misses[block] = cache_misses(a, b, out, size=1024)
    assert misses[8] < 700 < 10_000 < misses[24]


def test_all_operands_of_the_blocked_product_are_tiles():
    from tito.checks import claim

    products = claim("products", blocking.blocked_matmul, np.ones((9, 7)), np.ones((7, 5)), 4)
    sizes = list(itertools.chain.from_iterable(s for _, shapes in products for s in shapes))
    assert len(products) == 3 * 2 * 2 and max(sizes) == 4
