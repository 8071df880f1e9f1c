"""Wrong kernels for the small course, and what each may still earn."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from textwrap import dedent

_rows: Counter[str] = Counter()


@dataclass(frozen=True)
class Wrong:
    """One wrong kernel.

    exercise, source : the solution cell and what stands in it
    message    : words that some of its cells say
    earned     : test cells (without the exercise's name) that it passes all the same, points
    judge_only : a notebook cannot see it, since all is one process there
    row        : which of its exercise's wrong kernels it is; one hand-in holds those of one row
    """

    name: str
    exercise: str
    source: str
    message: str
    earned: dict[str, float] = field(default_factory=dict)
    judge_only: bool = False
    row: int = 0

    def __str__(self) -> str:
        return f"{self.exercise}: {self.name}"


def _wrong(name: str, exercise: str, source: str, message: str, **more: object) -> Wrong:
    _rows[exercise] += 1
    row = _rows[exercise] - 1
    return Wrong(name, exercise, dedent(source), message, row=row, **more)


_IJK = """
def matmul_tiles(a, b, out, block):
    {copies}
    (m, k), n = a.shape, b.shape[1]
    for i in range(m):
        for j in range(n):
            out[i, j] = 0
            for p in range(k):
                out[i, j] = out[i, j] + {left} * {right}
"""


def _ijk(copies: str = "pass", left: str = "a[i, p]", right: str = "b[p, j]") -> str:
    return _IJK.format(copies=copies, left=left, right=right)


_COPIES = "this copies the array; the count is about reading elements where they are used"

WRONG = [
    _wrong("no tiles", "matmul_tiles", _ijk(), "misses: full points up to 400", earned={"test": 2}),
    _wrong(
        "rows only, one after the other",
        "matmul_tiles",
        """
        def matmul_tiles(a, b, out, block):
            (m, k), n = a.shape, b.shape[1]
            for i in range(m):
                for j in range(n):
                    out[i, j] = 0
                for p in range(k):
                    x = a[i, p]
                    for j in range(n):
                        out[i, j] = out[i, j] + x * b[p, j]
        """,
        "misses: full points up to 400, half up to 700",
        earned={"test": 2, "count": 1},
    ),
    _wrong(
        "lists of the elements first",
        "matmul_tiles",
        _ijk(
            "x, y = ([[v for v in row] for row in z] for z in (a, b))",
            "x[i][p]",
            "y[p][j]",
        ),
        f"b: 144 reads, each element once and in order, where the algorithm needs 432: {_COPIES}",
        earned={"test": 2},
    ),
    _wrong(
        "reads remembered inside the array",
        "matmul_tiles",
        """
def matmul_tiles(a, b, out, block):
    if hasattr(a, "_backend"):
        remember(type(a._backend), out._backend)
    ijk(a, b, out)
"""
        + _ijk().replace("matmul_tiles(a, b, out, block)", "ijk(a, b, out)")
        + """
def remember(backend, but):
    read, seen = backend.read, {}
    def once(self, position):
        key = id(self), position
        if key not in seen or self is but:
            seen[key] = read(self, position)
        return seen[key]
    backend.read = once
""",
        _COPIES,
        earned={"test": 2},
        judge_only=True,  # in one process it would change the arrays of all tests that follow
    ),
    _wrong(
        "the sum forgets its tiles",
        "matmul_tiles",
        """
        def matmul_tiles(a, b, out, block):
            (m, k), n = a.shape, b.shape[1]
            for p0 in range(0, k, block):
                for i in range(m):
                    for j in range(n):
                        total = 0.0
                        for p in range(p0, min(p0 + block, k)):
                            total = total + a[i, p] * b[p, j]
                        out[i, j] = total
        """,
        "wrong in all 16 elements",
    ),
    _wrong(
        "asks again and again",
        "matmul_tiles",
        """
        def matmul_tiles(a, b, out, block):
            (m, k), n = a.shape, b.shape[1]
            for i in range(m):
                for j in range(n):
                    out[i, j] = 0
                    for p in range(k):
                        for _ in range(50):
                            x = a[i, p]
                        out[i, j] = out[i, j] + x * b[p, j]
        """,
        "a was read or written 4,000 times",
        earned={"test": 2},
    ),
    _wrong(
        "not compiled",
        "axpy",
        """
        def axpy(y, x, alpha):
            for i in range(y.shape[0]):
                y[i] += alpha * x[i]
        """,
        "axpy cannot be read: axpy is no function that Numba compiled",
        earned={"test": 2},
    ),
    _wrong(
        "a new array for the sum",
        "axpy",
        """
        @njit(fastmath=True)
        def axpy(y, x, alpha):
            scaled = np.empty_like(x)
            for i in range(x.shape[0]):
                scaled[i] = alpha * x[i]
            for i in range(y.shape[0]):
                y[i] += scaled[i]
        """,
        "too many arrays allocated",
        earned={"test": 2, "packed": 1},
    ),
    _wrong(
        "in float64",
        "axpy",
        """
        @njit
        def axpy(y, x, alpha):
            for i in range(y.shape[0]):
                y[i] += np.float64(alpha) * x[i]
        """,
        "no packed multiplication in the loop",
        earned={"test": 2, "hidden": 1},
    ),
    _wrong(
        "half of it",
        "axpy",
        """
        @njit(fastmath=True)
        def axpy(y, x, alpha):
            for i in range(y.shape[0] - 1):
                y[i] += alpha * x[i]
        """,
        "wrong in 1 of 5 elements",
    ),
    _wrong(
        "a class with assembly of its own",
        "axpy",
        """
        class Compiled:
            signatures = ["float32"]
            def __call__(self, y, x, alpha):
                for i in range(y.shape[0]):
                    y[i] += alpha * x[i]
            def inspect_asm(self):
                return {1: "vmulps"}
        axpy = Compiled()
        """,
        "axpy cannot be read",
        earned={"test": 2},
    ),
    _wrong(
        "assembly patched into the compiled function",
        "axpy",
        """
        @njit
        def axpy(y, x, alpha):
            for i in range(y.shape[0]):
                y[i] += np.float64(alpha) * x[i]
        type(axpy).inspect_asm = lambda self, signature=None: {1: "vmulps vfmadd231ps"}
        """,
        "no packed multiplication in the loop",
        earned={"test": 2, "hidden": 1},
        judge_only=True,
    ),
    _wrong(
        "one after the other",
        "run_threads",
        """
        def run_threads(operation, items, num_workers):
            return [operation(item) for item in items]
        """,
        "2 items never ran at the same time: only one thread came",
        earned={"test": 2},
    ),
    _wrong(
        "all on one worker",
        "run_threads",
        """
        from concurrent.futures import ThreadPoolExecutor
        def run_threads(operation, items, num_workers):
            with ThreadPoolExecutor(1) as pool:
                return list(pool.map(operation, items))
        """,
        "2 items never ran at the same time: only one thread came",
        earned={"test": 2},
    ),
    _wrong(
        "more workers than asked for",
        "run_threads",
        """
        from concurrent.futures import ThreadPoolExecutor
        def run_threads(operation, items, num_workers):
            barrier = __import__("threading").Barrier(len(items) or 1)
            def work(item):
                barrier.wait(60)
                return operation(item)
            with ThreadPoolExecutor(len(items) or 1) as pool:
                return list(pool.map(work, items))
        """,
        "two workers, each with a thread of its own",
        earned={"test": 2, "hidden": 1},
    ),
    _wrong(
        "exceptions swallowed",
        "run_threads",
        """
        from concurrent.futures import ThreadPoolExecutor
        def run_threads(operation, items, num_workers):
            def quiet(item):
                try:
                    return operation(item)
                except Exception:
                    return None
            with ThreadPoolExecutor(num_workers) as pool:
                return list(pool.map(quiet, items))
        """,
        "did not raise ValueError",
        earned={"together": 2, "hidden": 1},
    ),
    _wrong(
        "f(middle) three times a step",
        "root",
        """
        def root(f, low, high, steps):
            for _ in range(steps):
                middle = (low + high) / 2
                if f(middle) < 0:
                    low = middle
                elif f(middle) > 0:
                    high = middle
                elif f(middle) == 0:
                    return middle
            return (low + high) / 2
        """,
        "calls of f: full points up to 20",
        earned={"hidden": 1},
    ),
    _wrong(
        "the list of calls emptied",
        "root",
        """
        def root(f, low, high, steps):
            for _ in range(steps):
                middle = (low + high) / 2
                low, high = (middle, high) if f(middle) + f(middle) < 0 else (low, middle)
            for name in ("asked", "calls"):
                globals().get(name, []).clear()
                getattr(f, "__globals__", {}).get(name, []).clear()
            return (low + high) / 2
        """,
        "calls of f: full points up to 20",
        earned={"hidden": 1},
        judge_only=True,
    ),
    _wrong(
        "the other half",
        "root",
        """
        def root(f, low, high, steps):
            for _ in range(steps):
                middle = (low + high) / 2
                low, high = (low, middle) if f(middle) < 0 else (middle, high)
            return low
        """,
        "",
    ),
    _wrong(
        "the operator",
        "row_products",
        "def row_products(a, b):\n    return (a[:, None] @ b[:, :, None])[:, 0, 0]\n",
        "a library's matrix product, which this exercise forbids",
    ),
    _wrong(
        "the specification",
        "row_products",
        "def row_products(a, b):\n    return row_products_spec(a, b)\n",
        "the specification that your function is tested against, which this exercise forbids",
    ),
    _wrong(
        "in float32",
        "row_products",
        """
        def row_products(a, b):
            out = np.zeros(a.shape[0], "f4")
            for i in range(a.shape[0]):
                for j in range(a.shape[1]):
                    out[i] += a[i, j] * b[i, j]
            return out
        """,
        "row_products",
    ),
]
