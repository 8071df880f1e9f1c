# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     cell_metadata_filter: nbgrader,tags,jupyter,-all
#     comment_magics: false
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
"""
# 01 Small: what the other modules have too little of

A module for the tests of the grader: one exercise for each kind of check.
"""

# %%
import numpy as np

from tito.checks import expect_close, expect_unchanged, points, rng, speed

# %% [markdown]
"""
## Exercise 1: what does not change is computed once

`y = c[0] + c[1] t + c[2] t² + ...` with `t = arctan(x)`. The given form computes the arctangent anew for every coefficient.
"""


# %%
# Given: the slow form.
def series_anew(c, x):
    """Sum of c[k] * arctan(x)**k, every term from the start."""
    y = np.zeros_like(x)
    for k in range(len(c)):
        term = np.full_like(x, c[k])
        t = np.arctan(x)
        for _ in range(k):
            term = term * t
        y = y + term
    return y


# %% nbgrader={"grade": false, "grade_id": "series", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def series(c, x):
    """Sum of c[k] * arctan(x)**k.

    c : (k,) float64;  x : (n,) float64;  returns (n,) float64, a new array
    """
    ### BEGIN SOLUTION
    t = np.arctan(x)
    y = np.zeros_like(x)
    for a in c[::-1]:
        y *= t
        y += a
    return y
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "series-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for n, k in ((1, 1), (5, 3), (33, 7)):
    c, x = np.linspace(-1, 1, k), np.linspace(-2, 2, n)
    want = series_anew(c, x)
    expect_close(expect_unchanged(series, c, x), want, inner=4 * k)

# %% nbgrader={"grade": true, "grade_id": "series-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
draw = rng("series-hidden")
c, x = draw.standard_normal(6), draw.standard_normal(41)
expect_close(series(c, x), series_anew(c, x), inner=24)
expect_close(series(c, x[::-2]), series_anew(c, x[::-2]), inner=24)


# %% nbgrader={"grade": true, "grade_id": "series-speed", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
def draw_series(rng):
    return rng.standard_normal(16), rng.standard_normal(16_000)


points(
    speed(
        series,
        series_anew,
        draw_series,
        inner=64,
        points=2,
        full=3,
        half=1.8,
        hint="what of the inner loop is the same in every turn?",
    )
)

# %%
# Given: what the exercises below are tested with.
from tito.checks import (
    Meeting,
    at_most,
    cache_misses,
    claim,
    contents,
    expect_equal,
    expect_raises,
    expect_reads,
    remote_array,
    worker,
)

# %% [markdown]
"""
## Exercise 2: a matrix product by tiles

Counted: the misses of a small cache, of which plain loops have many times as many.
"""


# %%
def product_spec(a, b):
    """The product of a (m, k) and b (k, n)."""
    return (a[:, :, None].astype(float) * b[None]).sum(axis=1).astype(a.dtype)


def counted_product(product, a, b, block):
    """(the product, misses) on counted arrays; every element is read where it is used."""
    (m, k), n = a.shape, b.shape[1]
    left, right = remote_array(a, "a", budget=4_000), remote_array(b, "b", budget=4_000)
    out = remote_array(np.zeros((m, n), a.dtype), "out", budget=4_000)
    product(left, right, out, block)
    expect_close(contents(out), product_spec(a, b), inner=k)
    # An element of a may be kept while its row of b is walked; those of b are too many to keep.
    expect_reads(right, least=m * n * k // block)
    return cache_misses(left, right, out, size=256, line=16, ways=4)


# %% nbgrader={"grade": false, "grade_id": "matmul_tiles", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def matmul_tiles(a, b, out, block):
    """out = a b, one element at a time, in tiles of `block` rows and columns."""
    ### BEGIN SOLUTION
    (m, k), n = a.shape, b.shape[1]
    for i in range(m):
        for j in range(n):
            out[i, j] = 0
    for i0 in range(0, m, block):
        for j0 in range(0, n, block):
            for p0 in range(0, k, block):
                for i in range(i0, min(i0 + block, m)):
                    for j in range(j0, min(j0 + block, n)):
                        total = out[i, j]
                        for p in range(p0, min(p0 + block, k)):
                            total = total + a[i, p] * b[p, j]
                        out[i, j] = total
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "matmul_tiles-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, k, n, block in ((1, 1, 1, 1), (4, 4, 4, 2), (5, 3, 7, 4)):
    a, b = np.linspace(-1, 1, m * k).reshape(m, k), np.linspace(0, 2, k * n).reshape(k, n)
    want = product_spec(a, b)
    out = np.full((m, n), 7.0)
    expect_unchanged(matmul_tiles, a, b, out, block)
    expect_close(out, want, inner=k, hint="what stood in out does not count")

# %% nbgrader={"grade": true, "grade_id": "matmul_tiles-count", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
a = np.linspace(-1, 1, 144, dtype="f4").reshape(12, 12)
misses = counted_product(matmul_tiles, a, a.T.copy(), 4)
points(*at_most(misses, 400, 700, points=2, unit="misses", hint="tiles in i, j and p"))

# %% nbgrader={"grade": true, "grade_id": "matmul_tiles-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
### BEGIN HIDDEN TESTS
a, b = rng("matmul_tiles-hidden").standard_normal((2, 8, 12)).astype("f4")
misses = counted_product(matmul_tiles, a, b.reshape(12, 8), 4)
points(*at_most(misses, 180, points=1, unit="misses", hint="other shapes too"))
### END HIDDEN TESTS

# %% [markdown]
"""
## Exercise 3: a compiled update

Claimed: packed instructions, and no array allocated on the way.
"""

# %%
import re

from numba import njit

PACKED = r"\bv?mulps|\bv?fn?madd\d+ps|\bf(mla|mul)\s.*\.4s"  # x86-64, aarch64


# %% nbgrader={"grade": false, "grade_id": "axpy", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| writes: y
@njit(fastmath={"reassoc", "contract"})
def axpy(y, x, alpha):
    """y += alpha * x, in place."""
    ### BEGIN SOLUTION
    for i in range(y.shape[0]):
        y[i] += alpha * x[i]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "axpy-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for n in (1, 5, 64):
    y, x = np.ones(n, "f4"), np.arange(n, dtype="f4")
    axpy(y, x, np.float32(2))
    expect_close(y, 1 + 2 * np.arange(n, dtype="f4"), inner=2)

# %% nbgrader={"grade": true, "grade_id": "axpy-packed", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
y, x = np.ones(64, "f4"), np.arange(64, dtype="f4")
packed = re.search(PACKED, claim("assembly", axpy, y, x, np.float32(2)))
axpy(y, x, np.float32(2))
expect_close(y, 1 + 2 * np.arange(64, dtype="f4"), inner=2)
points(1 if packed else 0, None if packed else "no packed multiplication in the loop")

# %% nbgrader={"grade": true, "grade_id": "axpy-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
### BEGIN HIDDEN TESTS
y, x = rng("axpy-hidden").standard_normal((2, 33)).astype("f4")
want = (y.astype(float) + 3 * x.astype(float)).astype("f4")
made = claim("allocations", axpy, y, x, np.float32(3))
axpy(y, x, np.float32(3))
expect_close(y, want, inner=2)
points(*at_most(made, 0, points=1, unit="arrays allocated", hint="update y where it is"))
### END HIDDEN TESTS

# %% [markdown]
"""
## Exercise 4: workers that meet

Only calls that run at the same time get out of a meeting.
"""


# %% nbgrader={"grade": false, "grade_id": "run_threads", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
from concurrent.futures import ThreadPoolExecutor


def run_threads(operation, items, num_workers):
    """[operation(item) for item in items], on that many threads; the first exception is raised."""
    ### BEGIN SOLUTION
    with ThreadPoolExecutor(num_workers) as pool:
        return list(pool.map(operation, items))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run_threads-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
def halves(x):
    if x % 2:
        raise ValueError(f"{x} is odd")
    return x // 2


expect_equal(run_threads(halves, [4, 2, 8, 6, 0], 2), [2, 1, 4, 3, 0], hint="order of the items")
expect_equal(run_threads(halves, [], 3), [])
expect_raises(ValueError, run_threads, halves, [2, 3, 4], 2)

# %% nbgrader={"grade": true, "grade_id": "run_threads-together", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
meet, seen = Meeting(2, seconds=1.5), {}


def together(item):
    meet()
    seen.setdefault(worker(), []).append(item)
    return item


expect_equal(run_threads(together, [1, 2, 3, 4], 2), [1, 2, 3, 4])
expect_equal(len(seen), 2, hint="two workers, each with a thread of its own")

# %% nbgrader={"grade": true, "grade_id": "run_threads-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
### BEGIN HIDDEN TESTS
meet = Meeting(3, seconds=1.5)


def three(item):
    meet()
    return -item


expect_equal(run_threads(three, [5, 1, 3], 3), [-5, -1, -3])
### END HIDDEN TESTS

# %% [markdown]
"""
## Exercise 5: a function that is asked seldom

The function comes from the test, which counts its calls.
"""


# %% nbgrader={"grade": false, "grade_id": "root", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
def root(f, low, high, steps):
    """Where f, which rises, crosses 0 between low and high: halve the interval `steps` times."""
    ### BEGIN SOLUTION
    for _ in range(steps):
        middle = (low + high) / 2
        if f(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "root-test", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
asked = []


def cubic(x):
    asked.append(x)
    return x**3 - 2


found = root(cubic, 0.0, 2.0, 20)
expect_equal(abs(found - 2 ** (1 / 3)) < 1e-5, True)
points(*at_most(len(asked), 20, points=3, unit="calls of f", hint="keep f(middle) in a name"))

# %% nbgrader={"grade": true, "grade_id": "root-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
### BEGIN HIDDEN TESTS
at = rng("root-hidden").uniform(1, 2)
expect_equal(abs(root(lambda x: x - at, 0.0, 3.0, 30) - at) < 1e-6, True)
### END HIDDEN TESTS

# %% [markdown]
"""
## Exercise 6: row products by hand

Forbidden: the library's product, and the specification.
"""


# %%
def row_products_spec(a, b):
    """The product of each row of a with the same row of b."""
    return np.array([np.dot(x, y) for x, y in zip(a, b)], a.dtype)


# %% nbgrader={"grade": false, "grade_id": "row_products", "locked": false, "schema_version": 3, "solution": true, "task": false}
#| export
#| forbid: blas, spec
def row_products(a, b):
    """The product of each row of a (m, n) with the same row of b (m, n): (m,)."""
    ### BEGIN SOLUTION
    out = np.zeros(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i] += a[i, j] * b[i, j]
    return out
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "row_products-test", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false} tags=["raises-exception"]
for m, n in ((1, 1), (3, 5)):
    a, b = np.linspace(-1, 1, m * n).reshape(m, n), np.linspace(0, 3, m * n).reshape(m, n)
    want = row_products_spec(a, b)
    expect_close(expect_unchanged(row_products, a, b), want, inner=n)

# %% nbgrader={"grade": true, "grade_id": "row_products-hidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false} tags=["hidden-tests", "raises-exception"]
### BEGIN HIDDEN TESTS
a, b = rng("row_products-hidden").standard_normal((2, 4, 9))
want = row_products_spec(a, b)
expect_close(row_products(a, b), want, inner=9)
### END HIDDEN TESTS
