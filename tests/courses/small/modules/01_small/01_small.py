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
