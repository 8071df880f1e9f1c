"""Ways round what is counted, claimed and forbidden, from a hand-in to points.

The answers are right; what an exercise asks for beside that is not done. The clock has attacks of
its own in tests/grading/judge/test_speed.py, wrong kernels are in tests/courses/wrong.py.
"""

from __future__ import annotations

import pytest

from tests.courses.small_course import hand_in, master
from tests.hostile.lesson import earned
from tito.grading.judge import grade
from tito.notebook import Cell, Notebook

HEAD = "def row_products(a, b):\n    "
ROUND_A_FORBID_SET = {
    "a helper cell": ("def h(x, y): return x @ y", HEAD + "return np.array(list(map(h, a, b)))"),
    "a text that is run": (
        "exec('def h(x, y): return x @ y')",
        HEAD + "return np.array(list(map(h, a, b)))",
    ),
    "a computed name": (
        "name = 'tod'[::-1]",
        HEAD + "return np.array([getattr(x, name)(y) for x, y in zip(a, b)])",
    ),
    "a module of one's own": (
        "open('mine.py', 'w').write('def h(x, y): return x @ y')\nimport mine",
        HEAD + "return np.array(list(map(mine.h, a, b)))",
    ),
    "an object's operator": (
        "class V:\n    def __init__(self, x): self.x = x\n"
        "    def __mul__(self, o): return self.x.dot(o.x)",
        HEAD + "return np.array([V(x) * V(y) for x, y in zip(a, b)])",
    ),
    "the specification by its globals": (
        "",
        HEAD + "return row_products.__globals__['row_products_spec'](a, b)",
    ),
    "the function replaced afterwards": (
        "",
        HEAD + "return 0\nglobals()['row_products'] = row_products_spec",
    ),
    "a compiled product": (
        "@njit\ndef h(x, y): return np.dot(x, y)",
        HEAD + "return np.array([h(x, y) for x, y in zip(a, b)])",
    ),
    "code that is exchanged": (
        "def h(x, y): return np.tod(x, y)\nc = h.__code__\n"
        "h.__code__ = c.replace(co_names=tuple(n.replace('tod', 'd' + 'ot') for n in c.co_names))",
        HEAD + "return np.array(list(map(h, a, b)))",
    ),
}


@pytest.mark.parametrize("way", ROUND_A_FORBID_SET)
def test_no_way_round_a_forbid_set_earns_a_point(way, fastest):
    helper, source = ROUND_A_FORBID_SET[way]
    own = hand_in("row_products", row_products=source)
    at = own.cells.index(own.by_id("row_products"))
    own = Notebook([*own.cells[:at], Cell("code", helper), *own.cells[at:]])
    result = grade(master("row_products"), own, engine=fastest)
    assert earned(result) == {}
    if not any("was not run" in remark for remark in result.deviations):
        assert all("forbids" in c.message for c in result.cells)


TILES = """
def matmul_tiles(a, b, out, block):
    {trick}
    (m, k), n = a.shape, b.shape[1]
    for i in range(m):
        for j in range(n):
            total = 0
            for p in range(k):
                total = total + {left} * {right}
            out[i, j] = total
"""
PLAIN = {"left": "a[i, p]", "right": "b[p, j]"}
ROUND_A_COUNT = {
    "a copy by numpy": {**PLAIN, "trick": "a, b = np.array(a), np.array(b)"},
    "a copy by lists": {**PLAIN, "trick": "a, b = np.array(a.tolist()), np.array(b.tolist())"},
    "a copy by dictionary": {
        "trick": "A, B = {}, {}",
        "left": "A.setdefault((i, p), a[i, p] if (i, p) not in A else 0)",
        "right": "B.setdefault((p, j), b[p, j] if (p, j) not in B else 0)",
    },
    "counts set to nothing": {
        **PLAIN,
        "trick": "for x in (a, b, out):\n"
        "        for name in ('reads', 'writes', 'trace'):\n"
        "            try: setattr(x._backend, name, 0)\n"
        "            except AttributeError: pass",
    },
    "the class patched": {
        **PLAIN,
        "trick": "type(a).__getitem__ = lambda self, key: np.float32(0)",
    },
    "the memory of the process searched": {
        **PLAIN,
        "trick": "import gc\n"
        "    for o in gc.get_objects():\n"
        "        if type(o) is np.ndarray and o.shape == a.shape: a = b = o",
    },
}


@pytest.mark.parametrize("way", ROUND_A_COUNT)
def test_no_way_round_a_count_earns_its_points(way, fastest):
    source = TILES.format(**ROUND_A_COUNT[way])
    own = hand_in("matmul_tiles", matmul_tiles=source)
    result = grade(master("matmul_tiles"), own, engine=fastest)
    assert not set(earned(result)) & {"matmul_tiles-count", "matmul_tiles-hidden"}, earned(result)


SCALAR = "def axpy(y, x, alpha):\n    for i in range(y.shape[0]):\n        y[i] += alpha * x[i]\n"
FAKE = "lambda *a, **k: {1: 'vmulps vfmadd231ps'}"
ROUND_A_CLAIM = {
    "a text of its own": SCALAR + f"axpy.inspect_asm = {FAKE}\naxpy.signatures = ['f']\n",
    "a subclass of the compiled function": (
        "from numba.core.dispatcher import Dispatcher\n@njit(fastmath=False)\n"
        + SCALAR.replace("alpha *", "np.float64(alpha) *")
        + f"class Mine(Dispatcher):\n    inspect_asm = {FAKE}\naxpy.__class__ = Mine\n"
    ),
    "the library patched": (
        "import numba\n"
        f"numba.core.registry.CPUDispatcher.inspect_asm = {FAKE}\n@njit\n"
        + SCALAR.replace("alpha *", "np.float64(alpha) *")
    ),
    "packed elsewhere": (
        "@njit(fastmath=True)\ndef other(y, x):\n    for i in range(y.shape[0]):\n"
        "        y[i] += np.float32(2) * x[i]\n"
        + SCALAR
    ),
    "another function's reading": (
        "import functools\n@njit('(f4[::1], f4[::1])', fastmath=True)\ndef other(y, x):\n"
        "    for i in range(y.shape[0]):\n        y[i] += np.float32(3) * x[i]\n"
        "@functools.wraps(other, assigned=('inspect_asm',), updated=())\n@njit\n"
        + SCALAR.replace("alpha *", "np.float64(alpha) *")
    ),
    "patched by the text of a hint": (
        "import typing\n@njit\n" + SCALAR.replace("alpha *", "one(np.float64(alpha)) *")
        + "def late(x: \"axpy.__class__.__class__.__setattr__(axpy.__class__, 'inspect_asm',"
        f" {FAKE}) or int\"):\n    pass\n"
        + "@njit\ndef one(x, h=(typing.get_type_hints(late), 0)[1]):\n    return x\n"
    ),
    "patched by a function of C": (
        "from numba import types\n"
        "run = types.ExternalFunction('PyRun_SimpleString', types.intc(types.voidptr))\n"
        "TEXT = np.frombuffer(b'import numba\\n'\n"
        "    b'k = numba.core.registry.CPUDispatcher\\n'\n"
        f"    b'k.inspect_asm = {FAKE.replace(chr(39), chr(34))}\\0', np.uint8)\n"
        "@njit(fastmath=False)\ndef axpy(y, x, alpha):\n    run(TEXT.ctypes)\n"
        "    for i in range(y.shape[0]):\n        y[i] += np.float64(alpha) * x[i]\n"
    ),
    "patched by a default": (
        "@njit\n" + SCALAR.replace("alpha *", "np.float64(alpha) *")
        + "def patch(f, g=setattr):\n"
        f"    g(type(f), 'inspect_asm', {FAKE})\n    return f\naxpy = patch(axpy)\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", ROUND_A_CLAIM)
def test_no_way_round_a_claim_earns_its_point(way, fastest):
    own = hand_in("axpy", axpy=ROUND_A_CLAIM[way])
    result = grade(master("axpy"), own, engine=fastest)
    assert "axpy-packed" not in earned(result), result.to_json()
    assert "axpy-test" in earned(result)
