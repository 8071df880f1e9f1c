"""What a cell imports from the package is followed like a helper of the notebook."""

from textwrap import dedent

import pytest

from tito.forbid import find, read_package

PACKAGE = {
    "tinykernels": "from .fast.gemm import gemm\n",
    "tinykernels.loops": """
import math
import numpy as np

def check(x):
    return np.asarray(x)

def slow(a, b):
    return sum(x * y for x, y in zip(check(a), b))
""",
    "tinykernels.vectorized": """
import numpy as np
from .loops import check

multiply = np.inner

def baseline(a, b):
    return check(a) @ b

def softmax(x):
    return np.exp(x)

class Matrix:
    def __init__(self, a):
        self.a = a

    def matmul(self, b):
        return self.a * b

class Product:
    def of(self, a, b):
        return np.inner(a, b)
""",
    "tinykernels.blocking": """
from tinykernels import vectorized
from tinykernels.loops import *
from tinykernels.twice import twice

def blocked(a, b):
    return vectorized.baseline(a, b)

def tiled(a, b):
    return slow(a, b)
""",
    "tinykernels.twice": """
from tinykernels.blocking import tiled

def twice(a, b):
    return tiled(a, b) + twice(a, b)
""",
    "tinykernels.fast": "",
    "tinykernels.fast.gemm": """
from .micro import kernel

def gemm(a, b):
    return kernel(a, b)
""",
    "tinykernels.fast.micro": "def kernel(a, b): return a.dot(b)",
}

V = "import tinykernels.vectorized as v\n"
B = "from tinykernels.vectorized import baseline\n"

ROUTES = {
    "from-import": B + "def f(a, b): return baseline(a, b)",
    "under another name": "from tinykernels.vectorized import baseline as x\n"
    + "def f(a, b): return x(a, b)",
    "in the function": "def f(a, b):\n    from tinykernels.vectorized import baseline as x\n"
    + "    return x(a, b)",
    "imported and not yet called": "def f(a, b):\n    from tinykernels.vectorized import baseline",
    "of the module": V + "def f(a, b): return v.baseline(a, b)",
    "by the full name": "import tinykernels.vectorized\n"
    + "def f(a, b): return tinykernels.vectorized.baseline(a, b)",
    "module from the package": "from tinykernels import vectorized as v\n"
    + "def f(a, b): return v.baseline(a, b)",
    "star": "from tinykernels.vectorized import *\ndef f(a, b): return baseline(a, b)",
    "star after a definition": "def baseline(a, b): return 0\n"
    + "from tinykernels.vectorized import *\ndef f(a, b): return baseline(a, b)",
    "handed to map": V + "def f(a, b): return list(map(v.baseline, [a], [b]))",
    "in a variable": V + "g = v.baseline\n" + "def f(a, b): return g(a, b)",
    "in a dictionary": V + "g = {'g': v}\n" + "def f(a, b): return g['g'].baseline(a, b)",
    "getattr": V + "def f(a, b): return getattr(v, 'baseline')(a, b)",
    "getattr, computed": V + "def f(a, b): return getattr(v, 'enilesab'[::-1])(a, b)",
    "__dict__": V + "def f(a, b): return v.__dict__['baseline'](a, b)",
    "vars handed on": V + "def f(a, b): return dict(vars(v))['baseline'](a, b)",
    "module handed on": V
    + "def g(m, a, b): return m.baseline(a, b)\n"
    + "def f(a, b): return g(v, a, b)",
    "import_module": "import importlib\n"
    + "def f(a, b): return importlib.import_module('tinykernels.vectorized').baseline(a, b)",
    "relative import_module": "import importlib\n"
    + "def f(a, b): return importlib.import_module('.vectorized', 'tinykernels').baseline(a, b)",
    "__import__": "def f(a, b):\n"
    + "    return __import__('tinykernels.vectorized').vectorized.baseline(a, b)",
    "sys.modules": "import sys\n"
    + "def f(a, b): return sys.modules['tinykernels.vectorized'].baseline(a, b)",
    "its alias of a product": "from tinykernels.vectorized import multiply\n"
    + "def f(a, b): return multiply(a, b)",
    "its numpy": V + "def f(a, b): return v.np.inner(a, b)",
    "its numpy, imported": "from tinykernels.loops import np as q\n"
    + "def f(a, b): return q.inner(a, b)",
    "its class": "from tinykernels.vectorized import Product\n"
    + "def f(a, b): return Product().of(a, b)",
    "through a second module": "from tinykernels.blocking import blocked\n"
    + "def f(a, b): return blocked(a, b)",
    "re-exported": "from tinykernels import gemm\ndef f(a, b): return gemm(a, b)",
    "in a sub-package": "from tinykernels.fast import gemm\ndef f(a, b): return gemm.gemm(a, b)",
    "in a helper": B + "def h(a, b): return baseline(a, b)\n" + "def f(a, b): return h(a, b)",
    "put in its place": "import numpy as np, tinykernels.loops as loops\n"
    + "loops.check = np.inner\n"
    + "from tinykernels.loops import check\ndef f(a, b): return check(a, b)",
}

HONEST = {
    "a checked input": "from tinykernels.loops import check, slow\n"
    + "def f(a, b): return slow(check(a), b)",
    "star": "from tinykernels.loops import *\ndef f(a, b): return slow(check(a), b)",
    "star in the package": "from tinykernels.blocking import tiled\n"
    + "def f(a, b): return tiled(a, b)",
    "modules that import each other": "from tinykernels.twice import twice\n"
    + "def f(a, b): return twice(a, b)",
    "another function of the module": V + "def f(a, b): return v.softmax(a) * b",
    "imported and not used": B + "def f(a, b): return a * b",
    "a class that has a matmul of its own": "from tinykernels.vectorized import Matrix\n"
    + "def f(a, b):\n    m = Matrix(a)\n    return m.matmul(b) + Matrix(a).matmul(b)",
    "a name that is not there": "from tinykernels.vectorized import gone\n"
    + "def f(a, b): return gone(a)",
}


@pytest.mark.parametrize("source", ROUTES.values(), ids=ROUTES.keys())
def test_a_route_in_the_package_is_found(source):
    assert find({"cell 1": source}, ["f"], ["blas"], package=PACKAGE)


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_what_takes_no_route_is_left_alone(source):
    assert find({"cell 1": source}, ["f"], ["blas"], package=PACKAGE) == []


def test_an_own_function_of_the_same_name_in_a_later_cell():
    own = "def baseline(a, b): return a * b\ndef f(a, b): return baseline(a, b)"
    assert find({"given": B, "own": own}, ["f"], ["blas"], package=PACKAGE) == []


def test_the_route_is_named_and_no_code_of_the_package_shown():
    source = "from tinykernels.vectorized import baseline as g\n\ndef f(a, b):\n    return g(a, b)"
    (found,) = find({"cell 1": source}, ["f"], ["blas"], package=PACKAGE)
    assert str(found) == (
        "cell 1, line 4: baseline of tinykernels.vectorized uses @ (forbid: blas)"
    )
    source = source.replace("vectorized import baseline", "blocking import blocked")
    (found,) = find({"cell 1": source}, ["f"], ["blas"], package=PACKAGE)
    assert found.route == (
        "blocked of tinykernels.blocking uses baseline of tinykernels.vectorized uses @"
    )


def test_each_set_is_looked_for():
    package = {"tinykernels.two": "def g(a, b): return (a @ b).sum()"}
    source = "from tinykernels.two import g\ndef f(a, b): return g(a, b)"
    found = find({"cell 1": source}, ["f"], ["sum", "blas"], package=package)
    assert {(f.set, f.route.rpartition(" ")[2]) for f in found} == {("blas", "@"), ("sum", ".sum")}


def test_the_files_of_a_package(tmp_path):
    folder = tmp_path / "tinykernels"
    (folder / "simd").mkdir(parents=True)
    for name in ("__init__.py", "loops.py", "later.py", "simd/__init__.py", "simd/vec.py"):
        (folder / name).write_text(f"# {name}\n", encoding="utf-8")
    assert read_package(folder, ["loops", "simd"]) == {
        "tinykernels.loops": "# loops.py\n",
        "tinykernels.simd": "# simd/__init__.py\n",
        "tinykernels.simd.vec": "# simd/vec.py\n",
    }
    assert {"tinykernels", "tinykernels.later"} <= read_package(folder).keys()


def test_a_file_that_does_not_parse_defines_nothing():
    package = {"tinykernels.broken": dedent("def g(:")}
    source = "from tinykernels.broken import g\ndef f(a, b): return g(a, b)"
    assert find({"cell 1": source}, ["f"], ["blas"], package=package) == []
