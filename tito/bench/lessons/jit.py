"""The lessons of module 07: what its compiled kernels reach beside NumPy and the forms before them.

The kernels are those of the course folder's package; without `tinykernels/jit.py` all are left out.
Both sides of a ratio write into an array that is there, where they can.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tito.here  # noqa: F401  the package of this course folder comes first
from tito.bench import peers
from tito.bench.lessons.lesson import Band, Lesson
from tito.bench.lessons.timed import Calls, counted, timed
from tito.bench.workload import Kernel, load, numbers
from tito.checks import expect_close
from tito.machine import instruction_set, probes

SIDES = (256, 512, 1024)
SOFTMAX, LAYERNORM, RELU, EXPONENTS = (512, 2048), (256, 4096), (1024, 1024), 1 << 20
# A measurement here is short, and one bad moment would take all of it: many that lie apart make a
# repeat. Few are enough where they take longer and the margin is wide; products of small matrices
# differ by half from one pair of arrays to the next.
ROUNDS, SAMPLES = 7, 9
FEW_ROUNDS, FEW_SAMPLES, LARGE = 2, 3, 1024
PAGE, NEAR = 4096, (48, 512)  # bytes
MOST_TRIES = 40  # places that follow each other are 16 bytes apart, in their pages
NOT_EXPORTED = "tinykernels/jit.py is not there: tito export 07"

# (arrays, out) -> what is called without arguments, so that nothing but the kernel is timed.
Side = Callable[[tuple[np.ndarray, ...], np.ndarray], Callable[[], Any]]

# At least so many times as fast. AVX2 and plain x86-64 were measured on the same CPU with its other
# features forced off, for Numba and for NumPy; what wins nothing there is not promised.
AT_LEAST: dict[str, dict[str, float]] = {
    "avx512": {
        "tiles": 1.6, "softmax": 2.7, "softmax of 03": 1.8,
        "layernorm": 10, "layernorm of 03": 5, "relu": 0.95, "exp": 2.3,
    },
    "avx2": {
        "tiles": 1.6, "softmax": 2, "softmax of 03": 1.6,
        "layernorm": 6, "layernorm of 03": 5, "relu": 0.9, "exp": 3,
    },
    "generic": {"tiles": 1.2, "layernorm": 4, "layernorm of 03": 5},
}  # fmt: skip
# Half a unit of float32's last place is 6e-8: the polynomial may lose three such.
LARGEST_ERROR = 2e-7


def lessons() -> list[Lesson]:
    """For this machine's instruction set."""
    return [
        *(tiles(side) for side in SIDES),
        softmax("softmax", _plain("softmax"), "NumPy's plain spelling"),
        softmax("softmax of 03", _into("vectorized", "softmax"), "03's softmax"),
        layernorm("layernorm", _plain("layernorm"), "NumPy's plain spelling"),
        layernorm("layernorm of 03", _into("vectorized", "layernorm"), "03's layer norm"),
        relu("relu", "ReLU", _into("jit", "relu_fused")),
        relu("relu kernel", "ReLU without the function around its kernel", _relu_kernel),
        exponential(),
        largest_error(),
    ]


def tiles(side: int) -> Lesson:
    """Sixteen numbers in registers against one."""
    arrays = lambda: (numbers(side, side, seed=1), numbers(side, side, seed=2))  # noqa: E731
    return _lesson(
        f"tiles, {side}",
        "tiles",
        f"product of two {side} x {side}: i, p, j / tiles of 4 x 4",
        "a quarter of the loads and stores of i, p, j is left",
        lambda: _pair(_into("jit", "matmul_ikj"), _into("jit", "matmul_registers"), *arrays()),
        FEW_ROUNDS,
        SAMPLES if side < LARGE else FEW_SAMPLES,
    )


def softmax(name: str, other: Side, called: str) -> Lesson:
    """A row that stays in the first cache, and an exp that vectorises."""
    return _lesson(
        name,
        name,
        f"softmax of {SOFTMAX[0]} x {SOFTMAX[1]}: {called} / fused",
        "each row is read from memory once and written once, and exp is a polynomial",
        lambda: _pair(other, _into("jit", "softmax_fused"), numbers(*SOFTMAX, seed=3)),
    )


def layernorm(name: str, other: Side, called: str) -> Lesson:
    """Two walks over a row in the first cache."""
    rows, columns = LAYERNORM
    return _lesson(
        name,
        name,
        f"layer norm of {rows} x {columns}: {called} / fused",
        "one walk for both sums, one for the results of a band of rows, and nothing in float64",
        lambda: _pair(
            other,
            _into("jit", "layernorm_fused"),
            numbers(rows, columns, seed=4),
            numbers(columns, seed=5),
            numbers(columns, seed=6),
        ),
    )


def relu(name: str, called: str, second: Side) -> Lesson:
    """As fast as memory."""
    return _lesson(
        name,
        "relu",
        f"{RELU[0]} x {RELU[1]} float32: a copy / {called}",
        "both read and write every number once",
        lambda: _pair(_copy, second, numbers(*RELU, seed=7), alike=False),
    )


def _relu_kernel(arrays: tuple[np.ndarray, ...], out: np.ndarray) -> Callable[[], Any]:
    return partial(_function("jit", "relu_kernel"), arrays[0].ravel(), out.ravel())


def _copy(arrays: tuple[np.ndarray, ...], out: np.ndarray) -> Callable[[], Any]:
    return partial(np.copyto, out, *arrays)


def exponential() -> Lesson:
    """A polynomial against NumPy's vectors."""
    return _lesson(
        "exp",
        "exp",
        f"exp of {EXPONENTS:,} float32: np.exp / exp_fused",
        "nothing but multiplications, additions and a shift of bits",
        lambda: _pair(
            lambda arrays, out: partial(np.exp, *arrays, out=out),
            _into("jit", "exp_fused"),
            np.random.default_rng(8).uniform(-80, 80, EXPONENTS).astype(np.float32),
        ),
    )


def largest_error() -> Lesson:
    """What the speed of exp costs in digits: nothing to speak of."""
    band = Band(0, LARGEST_ERROR, "half a unit in float32's last place is 6e-8")
    compared = "largest relative error of exp_fused for 400,001 numbers from -87.3 to 88.3"
    missing = _missing()
    if missing:
        return Lesson("error of exp", compared, band, left_out=missing)
    return counted("error of exp", compared, band, _largest_error)


def _largest_error() -> float:
    x = np.linspace(-87.3, 88.3, 400_001, dtype=np.float32)
    return float(np.max(np.abs(_function("jit", "exp_fused")(x) / np.exp(x.astype(float)) - 1)))


def _lesson(
    name: str,
    goal: str,
    compared: str,
    why: str,
    calls: Callable[[], Calls],
    rounds: int = ROUNDS,
    samples: int = SAMPLES,
) -> Lesson:
    """A lesson with the band of this machine's instruction set."""
    which = instruction_set()
    least = AT_LEAST.get(which, {}).get(goal)
    left_out = _missing()
    if left_out is None and least is None:
        left_out = f"nothing is promised for {which} CPUs"
    why = f"{why}; the module promises so much for {which}"
    return timed(
        name,
        compared,
        Band(least or 0, why=why),
        calls,
        left_out,
        rounds,
        warm=True,
        samples=samples,
    )


def _missing() -> str | None:
    """Why nothing here can be measured."""
    return probes.missing() or (None if load(Kernel("jit.exp_fused")) else NOT_EXPORTED)


def _function(file: str, name: str) -> Callable[..., Any]:
    return load(Kernel(f"{file}.{name}"))


def _into(file: str, name: str) -> Side:
    """A function of the package, which writes into `out`."""

    def side(arrays: tuple[np.ndarray, ...], out: np.ndarray) -> Callable[[], Any]:
        function, (x, *given) = _function(file, name), arrays
        # As people write it: a partial with keywords puts a dict together in each call.
        return lambda: function(x, *given, out=out) if given else function(x, out=out)

    return side


def _plain(workload: str) -> Side:
    """NumPy's plain spelling, which makes its own arrays."""
    return lambda arrays, out: partial(peers.LIBRARIES["numpy"][1](1)[workload].function, *arrays)


def _room(shape: tuple[int, ...], inputs: tuple[np.ndarray, ...]) -> np.ndarray:
    """A new array for float32 results that begins not a few lines behind an input, in their pages.

    A load waits for a store to an address that ends in the same 12 bits. Where a process happens
    to place the two so, a kernel loses a twentieth to an eighth by it, all the process long; where
    they lie otherwise, nothing.
    """
    tried = []
    while len(tried) < MOST_TRIES:
        tried.append(np.empty(shape, np.float32))  # all are kept: a free place would come again
        if not any(_close_behind(tried[-1], array) for array in inputs):
            break
    return tried[-1]


def _close_behind(second: np.ndarray, first: np.ndarray) -> bool:
    return NEAR[0] <= (second.ctypes.data - first.ctypes.data) % PAGE < NEAR[1]


def _pair(first: Side, second: Side, *arrays: np.ndarray, alike: bool = True) -> Calls:
    """Both on the same arrays, writing into the same place; looked at once whether they agree."""
    is_product = len(arrays) == 2
    shape = (len(arrays[0]), arrays[1].shape[1]) if is_product else arrays[0].shape
    out = _room(shape, arrays)
    calls = first(arrays, out), second(arrays, out)
    if alike:
        want = np.array(calls[0]())
        inner = arrays[0].shape[-1]
        expect_close(calls[1](), want, inner=inner, scale=np.abs(want) + 8)
    return calls
