"""`tito new`: a module with every part that a module has, and one exercise worked out."""

from __future__ import annotations

import importlib.util
import json
import keyword
import re
import sys

from tito.course import MODULE_NAME, Course, ModuleRef
from tito.errors import UsageError, UserError
from tito.files import write_atomic
from tito.notebook.percent import HEADER


def create(course: Course, name: str) -> ModuleRef:
    """Write modules/NAME/NAME.py and its notebook; UserError where the name is taken or no name."""
    match = MODULE_NAME.fullmatch(name)
    if not match:
        raise UsageError(
            f"{name!r} is no module name", hint="two digits, _ and small letters, e.g. 07_numba"
        )
    for module in course.modules:
        if module.name == name or module.number == int(match[1]):
            raise UserError(f"there is a module {module.name} already", path=module.folder)
    ref = ModuleRef(name, course.root / "modules" / name)
    if ref.folder.exists():
        raise UserError("there is such a folder already", path=ref.folder)
    write_atomic(ref.py, text(name))
    from tito.sync import sync

    sync(ref)
    return ref


def text(name: str) -> str:
    """The .py of a new module."""
    number, _, word = name.partition("_")
    replaced = {
        "@NUMBER@": number,
        "@NAME@": name,
        "@TITLE@": word.replace("_", " ").capitalize(),
        "@PACKAGE@": package_name(word),
    }
    body = TEMPLATE
    for mark, value in replaced.items():
        body = body.replace(mark, value)
    return HEADER + "\n" + _METADATA.sub(_metadata, body)


# In the text below: role, grade_id and points of a cell.
_METADATA = re.compile(r"@(solution|test|reflection) (\S+) (\d+)@")


def _metadata(match: re.Match[str]) -> str:
    """nbgrader's metadata of a cell, as it stands on its cell line."""
    role, grade_id, points = match.groups()
    metadata = {
        "grade": role != "solution",
        "grade_id": grade_id,
        "locked": role == "test",
        "points": int(points),
        "schema_version": 3,
        "solution": role != "test",
        "task": False,
    }
    if role == "solution":
        del metadata["points"]
    return json.dumps(metadata)


def package_name(word: str) -> str:
    """The file of the package for a module called `word`: its name, unless that hides a library.

    A package file that is run as a script stands first on the path and shadows what it is called.
    """
    taken = word in sys.stdlib_module_names or keyword.iskeyword(word)
    if taken or importlib.util.find_spec(word) is not None:
        return word + "_kernels"
    return word


TEMPLATE = '''\
# %% [markdown]
r"""
# @NUMBER@ @TITLE@

After this module you will be able to say, in one sentence, what this module is for.

| | |
|---|---|
| hours | 2 |
| difficulty | 1 of 5 |
| needs | functions, NumPy arrays |
| code goes to | `tinykernels/@PACKAGE@.py` |
| points | 4 by tests, 2 by hand |
"""

# %%
try:
    import tito.here
except ModuleNotFoundError:
    raise ImportError(
        "This notebook runs in a Python that does not know this course: choose the kernel of the "
        "course's environment (Kernel, Change Kernel), or run `tito doctor` in a terminal."
    ) from None

# %%
#| default_exp @PACKAGE@

# %%
#| export
import numpy as np

# %%
from tito.checks import (
    counts,
    expect_close,
    expect_fresh,
    expect_raises,
    expect_unchanged,
    points,
    remote_array,
    rng,
)

# %% [markdown]
r"""
## The gap

One number from your own machine that asks for an explanation. Here: the same sum of two vectors,
once by NumPy and once element by element.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call


def one_by_one(x, y):
    return [a + b for a, b in zip(x, y)]


x = np.ones(10_000)
numpy_time = time_call(np.add, x, x).median
python_time = time_call(one_by_one, x, x).median
print(f"NumPy {numpy_time * 1e6:.1f} us, one by one {python_time * 1e6:.1f} us")
print(f"{python_time / numpy_time:.0f} times as long: what does Python do all the while?")

# %% [markdown]
r"""
## Exercise 1: a scaled sum

The idea, in a few short sentences and one picture:

```text
x   [ 1 | 2 | 3 ]   times a
      +   +   +
y   [ 4 | 5 | 6 ]
```

$$ r_i = a \\, x_i + y_i $$

**Predict.** How many elements does the loop read and write? Write the number down before you run
the cells below.
"""


# %%
def axpy_specification(a, x, y):
    """The slow, obvious way: Python numbers, one after the other."""
    rows = [float(a) * float(left) + float(right) for left, right in zip(x.tolist(), y.tolist())]
    return np.array(rows, dtype=x.dtype)


def ramp(n, dtype=np.float64):
    """1, 2, ..., n: an input that can be followed by eye."""
    return np.arange(1, n + 1).astype(dtype)


# %% nbgrader=@solution axpy_loops 0@
#| export
def axpy_loops(a, x, y):
    """A scaled sum of two vectors, r[i] = a x[i] + y[i].

    a : float
    x, y : (n,) float32 or float64, both alike; not modified
    returns (n,) of x's dtype, a new array; n = 0 gives an empty array
    raises ValueError where the lengths differ

    >>> axpy_loops(2.0, np.array([1.0, 2.0]), np.array([10.0, 10.0]))
    array([12., 14.])
    """
    # Hint: one loop over the elements. About 5 lines.
    ### BEGIN SOLUTION
    if x.shape != y.shape:
        raise ValueError(f"x has shape {x.shape} and y {y.shape}: they must be as long")
    result = np.empty(x.shape, x.dtype)
    for i in range(x.shape[0]):
        result[i] = float(a) * float(x[i]) + float(y[i])
    return result
    ### END SOLUTION


# %% nbgrader=@test axpy_loops-test 2@ tags=["raises-exception"]
for n in (0, 1, 2, 7):
    for a in (2.0, -1.0):
        x, y = ramp(n), 10 * ramp(n)
        want = axpy_specification(a, x, y)
        expect_close(
            axpy_loops(a, x, y),
            want,
            allow_empty=n == 0,
            likely={"a multiplies y too": lambda: a * x + a * y},
            hint="a belongs to x alone",
        )
x, y = ramp(3, np.float32), ramp(3, np.float32)
want = axpy_specification(0.5, x, y)
expect_close(expect_unchanged(axpy_loops, 0.5, x, y), want)
expect_raises(ValueError, axpy_loops, 1.0, ramp(3), ramp(2))

# %% nbgrader=@test axpy_loops-hidden 1@ tags=["hidden-tests", "raises-exception"]
# 1 point, checked after hand-in
### BEGIN HIDDEN TESTS
generator = rng("axpy_loops-hidden")
for n in (3, 33, 101):
    for dtype in (np.float32, np.float64):
        x = generator.standard_normal(2 * n).astype(dtype)[::-2]
        y = generator.standard_normal(n).astype(dtype)
        want = axpy_specification(0.75, x, y)
        expect_close(expect_fresh(axpy_loops, 0.75, x, y), want, hint="try a reversed view")
### END HIDDEN TESTS

# %% nbgrader=@test axpy_loops-count 1@ tags=["raises-exception"]
left, right = ramp(9), ramp(9)
want = axpy_specification(3.0, left, right)
watched = remote_array(left, "x")
expect_close(axpy_loops(3.0, watched, right), want)
read = counts(watched).reads
wasteful = f"x has 9 elements and was read {read} times: read each once"
points(1 if read == 9 else 0, None if read == 9 else wasteful)

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

for n in (10, 100, 1000):
    seconds = time_call(axpy_loops, 2.0, ramp(n), ramp(n)).median
    print(f"n = {n:5d}: {seconds / n * 1e9:8.1f} ns an element")

# %% [markdown]
r"""
**The surprise**, said honestly, whatever the numbers above are.

## Use it

A two-layer network on the package so far, old kernels against new.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import time_call

inputs, bias = ramp(64), ramp(64)
hidden = axpy_loops(0.5, inputs, bias)
outputs = axpy_loops(0.1, hidden, bias)
new = time_call(axpy_loops, 0.5, inputs, bias).median
old = time_call(axpy_specification, 0.5, inputs, bias).median
print(f"two layers, last output {outputs[-1]:.3f}; new against old: {old / new:.2f} times")

# %% [markdown]
r"""
## Scoreboard

Every rung so far, verified before it is timed.
"""

# %% tags=["raises-exception"]
#| measure
from tito.machine import Rung, scoreboard

x, y = ramp(1000), ramp(1000)
wanted = axpy_specification(2.0, x, y)


def check(result):
    expect_close(result, wanted)


kernels = (axpy_specification, axpy_loops)
scoreboard([Rung(k.__name__, k, (2.0, x, y), check=check, nbytes=3 * x.nbytes) for k in kernels])

# %% [markdown]
r"""
## Reflection

Why does the loop take so long, if the additions do not?
"""

# %% [markdown] nbgrader=@reflection reflect-1 2@
"""
### BEGIN SOLUTION
1 point: each element is boxed into a Python object. 1 point: the interpreter decides anew, for
each element, what to add.
### END SOLUTION
"""

# %% [markdown]
r"""
## What usually goes wrong

- A loop over `x` that writes into `x`.

## You are done when

- `tito test @NUMBER@` shows no failed question, and
- you can say where the time goes.

## In production

Where this lives in real libraries, in two sentences.

## References

- A paper or a manual that you have read.

Next: `tito test @NUMBER@`, then `tito export @NUMBER@`.
"""
'''
