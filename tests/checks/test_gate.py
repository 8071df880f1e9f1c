"""The gate in front of claims: what passes, what is left out, what is refused."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tito.checks.gate import cells_behind

GIVEN = ["import numpy as np\nfrom numba import njit, prange\nimport numba\n"]


def look(*cells: str, name: str = "f", own: str = "", given: list[str] = GIVEN):
    named = {f"cell {i}": dedent(cell) for i, cell in enumerate(cells, 1)}
    return cells_behind(name, named, given, {"cell 1": dedent(own)})


def tricks(*cells: str, **more) -> list[str]:
    return [str(trick) for cell in look(*cells, **more).values() for trick in cell.tricks]


@pytest.mark.parametrize(
    "source",
    [
        "@njit\ndef f(x):\n    return x + 1\n",
        "@njit(fastmath={'reassoc', 'contract'}, error_model='numpy')\ndef f(x):\n    return x\n",
        "@numba.njit('float32(float32)', cache=True)\ndef f(x):\n    return x\n",
        "@numba.vectorize([numba.float32(numba.float32)])\ndef f(x):\n    return x\n",
        "fast = njit(fastmath=True)\n@fast\ndef f(x):\n    return x\n",
        "def g(x):\n    return x\nf = njit(fastmath=True)(g)\n",
        "SAFE = {'fastmath': {'reassoc'}, 'nogil': True}\n@njit(**SAFE)\ndef f(x):\n    return x\n"
        "g = njit(inline='always', **SAFE)(lambda x: x)",
        "from tinykernels.jit import kernel\ndef f(x):\n    return x\nf = kernel(f)\n",
        "import functools\n@functools.cache\ndef f(x):\n    return x.a().types, np.copy(x).ctypes",
        "def f(x):\n    a = np.random.default_rng(1)\n    return a, numba.types.int64(x)",
        "def f(x):\n    match x:\n        case slice(start=0):\n            return 1",
        "A = np.array([1, 2])\nB: int = 4\nTWO = np.float32(2)\nf = lambda x: x[:B] * TWO * A",
        "from math import ceil\nimport math as m\ndef f(x):\n    return m.floor(ceil(x))\n",
        "from tinykernels.loops import relu_loops\ndef f(x):\n    return relu_loops(x)\n",
        """
        def f(x, out=None):
            if type(x) is not np.ndarray or not hasattr(x, "shape"):
                raise TypeError(f"{type(x).__name__}")
            sum = max = 0
            input = x
            out[0], out.flat[1], out.T[2] = sum, max, input
            for stats in x:
                np.add.at(out, 1, stats)
            np.put(out, [0], [1])
            return out
        """,
        """
        class f:
            def __init__(self, a):
                self._a = a
                self.signatures = {}
                self.table[3] = 4
            def load(self):
                return self._a
            @property
            def size(self):
                return self._a.size
        """,
        "from numba.extending import intrinsic\nfrom llvmlite import ir\n@intrinsic\ndef g(t, a):\n"
        "    def made(c, b, s, args):\n"
        "        fma = b.module.declare_intrinsic('llvm.fma', (ir.FloatType(),))\n"
        "        return b.call(fma, args)\n    return a(a), made\n"
        "@njit\ndef f(x):\n    return g(x)",
        """
        from functools import partial
        from concurrent.futures import ThreadPoolExecutor
        def f(x):
            with ThreadPoolExecutor(2) as pool:
                return list(pool.map(partial(g, 2), x))
        def g(n, x):
            return x
        """,
    ],
)
def test_honest_code_passes(source):
    assert tricks(source) == []
    assert look(source)["cell 1"].source


def test_what_is_no_definition_is_left_out_and_costs_nothing():
    passed = look(
        """
        %%time
        import matplotlib.pyplot as plt, time
        !ls
        @njit
        def f(x):
            return x
        started = time.time()
        print(f(3), exec)
        plt.plot([f(i) for i in range(3)])
        np.random.seed(1)
        np.add = f
        kernels = {"f": f}
        kernels["f"] = f
        for i in range(10):
            f(i)
        def show():
            open("figure.png")
            return getattr(plt, "show")()
        """
    )["cell 1"]
    assert passed.tricks == []
    assert passed.source == "@njit\ndef f(x):\n    return x"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import numba.core.dispatcher as d\ndef f(x):\n    return d", "import of numba.core"),
        ("def f(x):\n    import os\n    os._exit(0)", "import of os"),
        ("def f(x):\n    from numba import core\n    return core", "import of numba.core"),
        (
            "def f(x):\n    from tito.inside import KINDS\n    KINDS.clear()",
            "import of tito.inside",
        ),
        ("def f(x):\n    from math import *", "import of *"),
        ("def f(x):\n    return eval('1')", "eval"),
        ("def f(x):\n    setattr(np, 'add', x)", "setattr"),
        ("def f(x):\n    return getattr(x, 'over' + 'loads')", "getattr"),
        ("def f(x):\n    return globals()['g']", "globals"),
        ("def f(x):\n    return __builtins__", "__builtins__"),
        ("def f(x):\n    np.add = x", "assigning to .add of something else"),
        ("def f(x):\n    for np.dot in [x]:\n        pass", "assigning to .dot"),
        ("def f(x):\n    del np.dot", "assigning to .dot"),
        ("def f(x):\n    k = f\n    k.overloads.clear()", ".overloads"),
        ("def f(x):\n    f.table[3] = 4", "assigning to .table[...]"),
        ("def f(x):\n    return x.__class__.__mro__", ".__class__"),
        ("def f(x):\n    return f._compileinfos", "the private ._compileinfos"),
        ("def f(x):\n    return np.core", ".core"),
        ("def f(x):\n    return numba.core.registry", ".core"),
        ("def f(x):\n    return np.load('a', allow_pickle=True)", ".load"),
        ("def f(x):\n    return type('T', (), {})", "type(...) that makes a class"),
        ("class f:\n    def inspect_asm(self):\n        return {}", "defining inspect_asm"),
        ("class f:\n    def __getattr__(self, name):\n        return 1", "defining __getattr__"),
        ("class f:\n    def __array_ufunc__(self, *a):\n        return 1", "__array_ufunc__"),
        ("class f(metaclass=type):\n    pass", "with a metaclass"),
        ("def g(f):\n    return 3\n@g\ndef f(x):\n    return x", "the decorator @g"),
        ("@(lambda f: 3)\ndef f(x):\n    return x", "the decorator"),
        ("def njit(f):\n    return f\n@njit\ndef f(x):\n    return x", "njit is given another"),
        ("njit = dict\n@njit\ndef f(x):\n    return x", "njit is given another meaning"),
        ("import math as np\ndef f(x):\n    return np.pi", "np is given another meaning"),
        ("def f(x):\n    global np\n    np = x", "np is given another meaning"),
        ("@njit(pipeline_class=g)\ndef f(x):\n    return x\nclass g: pass", "options of Numba"),
        *(
            (f"{options}\n@njit(**g)\ndef f(x):\n    return x\nclass h: pass", "options of Numba")
            for options in (
                "g = dict([('pipeline_class', h)])",
                "g = {'pipeline_class': h}",
                "g = {'pipeline_' + 'class': h}",
                "n = {'pipeline_class': h}\ng = {**n}",
                "g = {}\ng = {'fastmath': True}",
                "g = {}\nclass f2:\n    g['pipeline_class'] = h\n@njit\ndef k(x):\n    return f2",
                "g = {}\nn = g\n@n.get\ndef k(x):\n    pass",
                "g = {}\n@njit\ndef k(x):\n    global g\n    g = {'pipeline_class': h}",
                "import math as g",
            )
        ),
        ("g = njit(pipeline_class=h)\n@g\ndef f(x):\n    return x\nclass h: pass", "options of"),
        # Parts of Python that an allowed module carries, and what copies or traces by itself.
        ("def f(x, y=dataclasses.builtins.setattr):\n    pass\nimport dataclasses", ".builtins"),
        ("import enum as e\ndef f(x):\n    e.bltns.exec('x')", ".bltns"),
        ("from dataclasses import sys as s\ndef f(x):\n    return s.modules", "dataclasses.sys"),
        ("import typing\ndef f(x):\n    return typing.types.FunctionType", ".types"),
        ("def f(x):\n    return numba.extending.os", ".os"),
        ("from tinykernels import jit\ndef f(x):\n    return jit.np.core", ".core"),
        (
            "import functools\n@functools.wraps(g, assigned=('inspect_asm',))\n@njit\n"
            "def f(x):\n    return x\n@njit\ndef g(x):\n    return x",
            ".wraps",
        ),
        (
            "from functools import update_wrapper as u\ndef f(x):\n    u(f, g)\ndef g(x): pass",
            "functools.update_wrapper",
        ),
        ("import threading\ndef f(x):\n    threading.setprofile_all_threads(x)", ".setprofile"),
        ("from threading import settrace\ndef f(x):\n    settrace(x)", "threading.settrace"),
        (
            "import enum\nclass g(dict, enum.Enum):\n    __module__ = 'tito.inside'\n"
            "def f(x):\n    enum.global_enum(g)",
            "__module__",
        ),
        ("import enum\ndef f(x):\n    enum.global_enum(x)", ".global_enum"),
        ("@njit\ndef f(x):\n    with numba.objmode():\n        np.exp(x, x)", ".objmode"),
        ("from numba import objmode as o\n@njit\ndef f(x):\n    with o():\n        x()", "objmode"),
        (
            "def f(x):\n    match f:\n        case object(overloads=o):\n            o.clear()",
            "overloads",
        ),
        (
            "def f(x):\n    match f:\n        case object(__class__=c):\n            return c",
            "__class__",
        ),
        ("@njit(locals=g())\ndef f(x):\n    return x\ndef g():\n    return {}", "the decorator"),
        # Texts that are evaluated, functions of C by their names, instructions given as a text.
        (
            "import typing\ndef g(x: 'y'): pass\ndef f(x, y=typing.get_type_hints(g)): pass",
            ".get_type_hints",
        ),
        ("from typing import ForwardRef as R\ndef f(x, y=R('z')): pass", "typing.ForwardRef"),
        ("import functools\ndef f(x, y=functools.singledispatch(3)): pass", ".singledispatch"),
        ("g = numba.types.ExternalFunction('g', 3)\n@njit\ndef f(x): g(x)", ".ExternalFunction"),
        (
            "from numba.types import ExternalFunction as g\n@njit\ndef f(x): g(x)",
            "numba.types.ExternalFunction",
        ),
        (
            "def f(x, y=numba.extending.get_cython_function_address('a', 'b')): pass",
            ".get_cython_function_address",
        ),
        ("def f(x):\n    np.lib.format.read_array(x, allow_pickle=True)", ".read_array"),
        *(
            (
                "from numba.extending import intrinsic\nfrom llvmlite import ir\n"
                "@intrinsic\ndef g(t, a):\n    def made(c, b, s, args):\n"
                f"        return {made}\n    return a(a), made\n@njit\ndef f(x): g(x)",
                what,
            )
            for made, what in (
                ("ir.Function(b.module, 1, 'printf')", ".Function"),
                ("ir.values.Function(b.module, 1, 'printf')", ".Function"),
                ("b.module.declare_intrinsic('printf', ())", "declared by its name"),
                ("c.get_python_api(b)", ".get_python_api"),
                ("ir.InlineAsm(1, 'vmulps', '')", ".InlineAsm"),
                ("b.asm(1, 'vmulps', '', ())", ".asm"),
                ("b.inttoptr(1, 2)", ".inttoptr"),
            )
        ),
    ],
)
def test_tricks_are_refused(source, what):
    assert what in "\n".join(tricks(source))
    assert "cell 1, line" in tricks(source)[0]


def test_a_trick_in_a_helper_of_another_cell_is_refused_and_an_unused_one_is_not():
    helper = "def g(x):\n    return eval('x')\n"
    assert tricks(helper, "def f(x):\n    return g(x)\n") == ["cell 1, line 1: eval"]
    assert tricks(helper, "def f(x):\n    return x\n") == []
    assert set(look(helper, "def f(x):\n    return x\n")) == {"cell 2"}


@pytest.mark.parametrize(
    "scratch",
    [
        "import time\nfrom contextlib import contextmanager\n@contextmanager\ndef timer(label):\n"
        "    start = time.perf_counter()\n    yield\n    print(label, time.perf_counter() - start)",
        "import random\nimport functools\n@functools.lru_cache\ndef draw(): return random.random()",
        "import os\nfrom dataclasses import dataclass\n@dataclass\nclass Where:\n"
        "    path: str = os.curdir",
        "import sys\ndef loud(f):\n    return lambda *a: print(f(*a), file=sys.stderr)\n@loud\n"
        "def play(x): return x",
        "import time\n@njit\ndef other(x): return x\nprint(time.time())",
    ],
)
def test_what_is_tried_with_a_decorator_and_not_needed_costs_nothing(scratch):
    assert tricks(scratch, "def f(x):\n    return x") == []


def test_of_an_import_of_several_a_kernel_needs_its_own_alone():
    assert tricks("import itertools, time", "def f(x):\n    return itertools.count(x)") == []
    assert tricks("import itertools, time", "def f(x):\n    return time.time()")


def test_a_helper_may_manage_a_context():
    quiet = "@contextmanager\ndef quiet():\n    with np.errstate(all='ignore'):\n        yield"
    kernel = "def f(x):\n    with quiet(), suppress(ValueError):\n        return x"
    assert not tricks(f"from contextlib import contextmanager, suppress\n{quiet}", kernel)
    assert tricks(f"from contextlib import redirect_stdout as suppress\n{quiet}", kernel)
    assert tricks("import contextlib\ndef f(x):\n    return contextlib.sys")


def test_warnings_may_be_quiet():
    assert not tricks("import warnings\ndef f(x):\n    with warnings.catch_warnings(): return x")
    assert tricks("import warnings\ndef f(x):\n    return warnings.sys.modules")


def test_helpers_come_from_wherever_they_stand():
    cells = ("A = 3\n", "B = 4\n", "def f(x):\n    return g(x)\ndef g(x):\n    return A\n")
    assert list(look(*cells)) == ["cell 1", "cell 3"]
    assert look(*cells)["cell 3"].source.startswith("def f(x)")


def test_statements_of_the_master_pass_as_they_are():
    own = "def make(n):\n    return eval('n')\nf = make(3)\n"
    assert tricks(own, own=own) == []
    assert look(own, own=own)["cell 1"].source == "def make(n):\n    return eval('n')\nf = make(3)"
    assert tricks(own.replace("3", "4")) == ["cell 1, line 1: eval"]


def test_a_given_decorator_may_be_used_until_the_student_redefines_it():
    given = [*GIVEN, "kernel = njit(fastmath=True)\n"]
    source = "@kernel\ndef f(x):\n    return x\n"
    assert tricks(source, given=given) == []
    mine = "def kernel(f):\n    return 3\n" + source
    assert tricks(mine, given=given) == ["cell 1, line 4: the decorator @kernel"]


def test_a_given_decorator_may_be_used_in_two_steps():
    given = [*GIVEN, "kernel = njit(fastmath=True)\n"]
    source = "def f(x):\n    return x\nf = kernel(f)\n"
    assert tricks(source, given=given) == []
    assert look(source, given=given)["cell 1"].source.endswith("f = kernel(f)")
    short = "f = kernel(lambda x: x + 1)\n"
    assert look(short, given=given)["cell 1"].source == "f = kernel(lambda x: x + 1)"
    assert tricks("f = njit(lambda x: eval('x'))\n") == ["cell 1, line 1: eval"]
    # The student's own function of that name runs code of the student's.
    mine = "def kernel(f):\n    return 3\n" + source
    assert not look(mine, given=given)["cell 1"].source.endswith("f = kernel(f)")


USED = "@fast\ndef f(x):\n    return x\n"


@pytest.mark.parametrize(
    "source",
    [
        "def fast(f):\n    return njit(f)\n",
        "def fast(f):\n    'With all flags.'\n    return njit(fastmath=True, nogil=True)(f)\n",
        "def fast(f, /):\n    return numba.njit(f)\n",
        "def fast(f):\n    return kernel(f)\n",
        "def faster(f):\n    return kernel(f)\ndef fast(f):\n    return faster(f)\n",
    ],
)
def test_a_decorator_of_ones_own_that_only_compiles_may_be_used(source):
    given = [*GIVEN, "kernel = njit(fastmath=True)\n"]
    assert tricks(source + USED, given=given) == []
    found = look(source + USED, given=given)["cell 1"].source
    assert "def fast(f" in found and found.endswith(USED.strip())
    assert tricks(source, USED, given=given) == []


@pytest.mark.parametrize(
    "source",
    [
        "def fast(f):\n    return njit(other)\n",
        "def fast(f):\n    return other\n",
        "def fast(f):\n    return njit(f) if f else 3\n",
        "def fast(f):\n    print(f)\n    return njit(f)\n",
        "def fast(njit):\n    return njit(njit)\n",
        "def fast(f):\n    return f(f)\n",
        "def fast(f):\n    return njit(f)(f)\n",
        "def fast(f):\n    return njit(other)(f)\n",
        "def fast(f):\n    return njit(other)()(f)\n",
        "def fast(f):\n    return other(f)\n",
        "def fast(f):\n    return njit(f, locals=other())\n",
        "def fast(f):\n    return njit(locals=other())(f)\n",
        "def fast(f):\n    return njit(*f)\n",
        "def fast(f, g=other()):\n    return njit(f)\n",
        "def fast(f: other()):\n    return njit(f)\n",
        "def fast(f) -> other():\n    return njit(f)\n",
        "def fast(*f):\n    return njit(f)\n",
        "async def fast(f):\n    return njit(f)\n",
        "def fast(f):\n    yield\n    return njit(f)\n",
        "@other\ndef fast(f):\n    return njit(f)\n",
        "def fast(f):\n    return kernel(f)\ndef kernel(f):\n    return other\n",
        "def fast(f):\n    return kernel(f)\nfrom tinykernels.jit import relu_fused as kernel\n",
        "def faster(f):\n    return kernel(f)\ndef fast(f):\n    return faster(f)\n"
        "def kernel(f):\n    return other\n",
        "def fast(f):\n    return njit(f)\ndef fast(f):\n    return other\n",
        "def fast(f):\n    return njit(f)\nfast = lambda f: other\n",
        "def fast(f):\n    return njit(f)\nclass A:\n    global fast\n    fast = 3\n",
    ],
)
def test_a_decorator_that_might_do_more_is_refused(source):
    given = [*GIVEN, "kernel = njit(fastmath=True)\n"]
    other = "def other(f=None):\n    return f\n"
    assert any("the decorator @" in found for found in tricks(other + source + USED, given=given))


def test_what_is_no_python_has_nothing_to_read():
    assert look("def f(:\n") == {}
    assert look("(" * 5000) == {}


@pytest.mark.parametrize(
    "kernel",
    [
        "import numpy as np\n@np.errstate(all='ignore')\ndef f(x):\n    return x",
        "from numpy import errstate\n@errstate(invalid='ignore')\ndef f(x):\n    return x",
        "from collections import namedtuple\nPair = namedtuple('Pair', 'a b')\n"
        "def f(x):\n    return Pair(x, x).a",
        "import numpy as np\nfrom functools import partial\nclipped = partial(np.maximum, 0)\n"
        "def f(x):\n    return clipped(x)",
        "import collections\nPair = collections.namedtuple('Pair', ['a'])\ndef f(x):\n"
        "    return Pair(x).a",
    ],
)
def test_what_is_made_at_the_top_and_runs_nothing_is_kept(kernel):
    assert tricks(kernel) == []
    [cell] = look(kernel).values()
    made = {"Pair"} if "Pair" in kernel else {"clipped"} if "clipped" in kernel else set()
    assert cell.binds >= {"f"} | made


@pytest.mark.parametrize(
    "kernel",
    [
        "import numpy as np\n@np.errstate(all=print())\ndef f(x):\n    return x",
        "from functools import partial\nreach = partial(setattr, object)\ndef f(x):\n"
        "    return reach(x)",
        "from functools import partial\nmine = partial(open, 'a')\ndef f(x):\n    return mine()",
        "import numpy as np\n@np.vectorize\ndef f(x):\n    return x",
    ],
)
def test_what_is_made_at_the_top_may_be_no_trick(kernel):
    assert tricks(kernel)
