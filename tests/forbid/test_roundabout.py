"""Roundabout ways to a forbidden function: parameters, scopes, annotations, look-ups."""

import pytest

from tito.forbid import find, unreadable
from tito.forbid.bindings import certain
from tito.forbid.source import parsed

# {name: (forbidden set, cell, ...)}: the last cell is the exercise's, `f` its function.
WAYS = {
    "a parameter's default": ("where", "def f(x, xp=np): return xp.where(x < 0, 0, x)"),
    "a helper's default": (
        "where",
        "def g(x, *, xp=np): return xp.where(x < 0, 0, x)\ndef f(x): return g(x)",
    ),
    "a default of the same name": ("blas", "def f(a, np=np): return np.inner(a, a)"),
    "a default read back": (
        "blas",
        "def g(m=np.inner): pass\ndef f(a): return g.__defaults__[0](a, a)",
    ),
    "a default put in": (
        "blas",
        "def g(a, m=abs): return m(a, a)\ndef f(a): return g(a)",
        "for h in [g]: h.__defaults__ = (np.inner,)",
    ),
    "a table as a default": ("spec", "def f(x, g=globals()): return g['f_spec'](x)"),
    "maybe imported": (
        "loops",
        "try:\n    from itertools import imap as map\nexcept ImportError: pass",
        "def f(x): return list(map(abs, x))",
    ),
    "an attribute of a built-in's name": (
        "loops",
        "class K: pass\nsetattr(K, 'map', 1)",
        "def f(x): return list(map(abs, x))",
    ),
    "bound never": (
        "spec",
        "if 0: globals = None",
        "def f(x): return globals()['f_spec'](x)",
    ),
    "bound and deleted": (
        "loops",
        "map = None\ndel map",
        "def f(x): return list(map(abs, x))",
    ),
    "bound by an empty loop": (
        "loops",
        "for map in (): pass",
        "def f(x): return list(map(abs, x))",
    ),
    "a class that says global": (
        "blas",
        "class K:\n    global g\n    from numpy import inner as g",
        "def f(a): return g(a, a)",
    ),
    "a mangled name": (
        "blas",
        "_K__g = np.inner\nclass K:\n    def go(self, a): return __g(a, a)",
        "def f(a): return K().go(a)",
    ),
    "a mangled name of an import": (
        "blas",
        "class K:\n    global __g\n    from numpy import inner as __g",
        "def f(a): return _K__g(a, a)",
    ),
    "a lambda's default that it returns": (
        "blas",
        "g = lambda m=np: m",
        "def f(a): return g().inner(a, a)",
    ),
    "a specification in an attribute": (
        "spec",
        "class K: pass\nK.a, K.b = f_spec, 0",
        "def f(x): return K.a(x)",
    ),
    "all names in an attribute": (
        "spec",
        "class K: pass\nK.a, K.b = globals(), 0",
        "def f(x): return K.a['f_spec'](x)",
    ),
    "put in by a comprehension": (
        "blas",
        "ops = []\n[ops.append(m) for m in [np.dot]]",
        "def f(a): return ops[0](a, a)",
    ),
    "global inside of another": (
        "blas",
        "def f(a):\n    np = 0\n    def g():\n        global np\n        return np.inner(a, a)\n"
        "    return g()",
    ),
    "the first iterable": ("blas", "g = [np.inner]\ndef f(a): return [g(a, a) for g in g][0]"),
    "an annotation": (
        "blas",
        "def f(a: np.inner): return f.__annotations__['a'](a, a)",
    ),
    "a bare annotation": ("blas", "q: np.inner\ndef f(a): return __annotations__['q'](a, a)"),
    "a lambda that returns the module": (
        "blas",
        "g = lambda: np\ndef f(a): return g().inner(a, a)",
    ),
    "imported in a class": (
        "blas",
        "class K:\n    import numpy as xp",
        "def f(a): return K.xp.inner(a, a)",
    ),
    "under a condition in a class": (
        "blas",
        "class K:\n    if 1: xp = np",
        "def f(a): return K.xp.inner(a, a)",
    ),
    "get of a dictionary": (
        "blas",
        "LIBRARIES = {'np': np}",
        "def f(a): return LIBRARIES.get('np').inner(a, a)",
    ),
    "locals": ("blas", "def f(a):\n    xp = np\n    return locals()['xp'].inner(a, a)"),
    "pop": ("blas", "def f(a): return [np].pop().inner(a, a)"),
    "values": ("blas", "def f(a): return [*{1: np}.values()][0].inner(a, a)"),
    "a comprehension": ("blas", "def f(a): return [m for m in [np]][0].inner(a, a)"),
    "two targets": (
        "blas",
        "class K: pass\nK.m, x = np, 1",
        "def f(a): return K.m.inner(a, a)",
    ),
    "a loop's target": (
        "blas",
        "class K: pass\nfor K.m in [np]: pass",
        "def f(a): return K.m.inner(a, a)",
    ),
    "getattr of a star": ("blas", "def f(a): return getattr(*(np, 'inner'))(a, a)"),
    "an array's getattr of a star": ("blas", "def f(a): return getattr(*(a, 'dot'))(a)"),
    "import_module by a keyword": (
        "blas",
        "import importlib",
        "def f(a): return importlib.import_module(name='numpy').inner(a, a)",
    ),
    "__import__ by a keyword": ("blas", "def f(a): return __import__(name='numpy').inner(a, a)"),
    "__import__ of a star": ("blas", "def f(a): return __import__(*['numpy']).inner(a, a)"),
    "the machinery of imports": (
        "blas",
        "import importlib",
        "def f(a): return importlib._bootstrap._gcd_import('numpy').inner(a, a)",
    ),
    "attrgetter of globals": (
        "spec",
        "import operator",
        "def f(x): return operator.attrgetter('__globals__')(f)['f_spec'](x)",
    ),
    "match of globals": (
        "spec",
        "def f(x):\n    match f:\n        case object(__globals__=g): return g['f_spec'](x)",
    ),
    "a frame's names": (
        "spec",
        "import inspect, sys",
        "def f(x): return inspect.getargvalues(sys._getframe(1)).locals['f_spec'](x)",
    ),
    "a registry of subclasses": (
        "blas",
        "class Kernel:\n    every = []\n    def __init_subclass__(cls): Kernel.every.append(cls)\n"
        "class Fast(Kernel):\n    def go(a): return a @ a",
        "def f(a): return Kernel.every[0].go(a)",
    ),
    "a pool's map": (
        "loops",
        "from concurrent.futures import ThreadPoolExecutor",
        "def f(x):\n    with ThreadPoolExecutor() as pool: return pool.map(abs, x)",
    ),
    "groups": (
        "loops",
        "from itertools import groupby",
        "def f(x): return list(groupby(x, key=abs))",
    ),
    "accumulate": ("sum", "def f(a): return np.add.accumulate(a)[-1]"),
    "a weighted histogram": ("sum", "def f(a): return np.histogram(a * 0, 1, weights=a)[0]"),
    "statistics": ("sum", "import statistics", "def f(a): return statistics.fmean(a) * len(a)"),
    "a private sum": ("sum", "def f(a): return np._core._methods._sum(a)"),
    "sort": ("reductions", "def f(a): return np.sort(a)[-1]"),
    "matlib": ("blas", "import numpy.matlib as ml", "def f(a): return (ml.zeros(a.shape) + a) * a"),
    "a matrix by np.r_": ("blas", "def f(a): return np.r_['c', a] * np.r_['r', a]"),
    "a column at a time": ("transpose", "def f(a): return np.stack(list(a), axis=1)"),
    "another order": ("transpose", "def f(a): return a.ravel('F').reshape(a.shape[::-1])"),
    "a view": ("transpose", "def f(a): return np.lib.stride_tricks.as_strided(a, (2, 2), (4, 8))"),
}


def routes(forbidden, *cells):
    sources = {"cell 0": "import numpy as np\ndef f_spec(x): return x"}
    sources |= {f"cell {i}": source for i, source in enumerate(cells, 1)}
    return find(sources, ["f"], [forbidden], start=f"cell {len(cells)}", specs=["f_spec"])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_roundabout_way_is_found(way):
    for cell in way[1:]:
        compile(cell, "cell", "exec")
    assert routes(*way)


HONEST = {
    "a default of another use": ("where", "def f(x, xp=np): return xp.maximum(x, 0)"),
    "annotations": ("blas", "def f(a: np.ndarray, b: 'np.dot' = None) -> np.ndarray: return a"),
    "a built-in's name for one's own": (
        "loops",
        "def map(f, x): return f(x)",
        "def f(x): return map(abs, x)",
    ),
    "a private name of one's own": (
        "blas",
        "class K:\n    def __go(self, a): return a\n    def go(self, a): return self.__go(a)",
        "def f(a): return K().go(a)",
    ),
    "rows in C order": ("transpose", "def f(a): return a.reshape(-1, order='C').ravel('C')"),
    "parts joined": ("blas", "def f(a): return np.r_[a, a]"),
    "copies": ("blas", "def f(a): return a.copy() + np.copy(a)"),
    "a field of a named tuple": (
        "sum",
        "from typing import NamedTuple\nclass S(NamedTuple):\n    sum: float = 0.0",
        "def f(a):\n    s = S(a[0])\n    return s.sum",
    ),
    "a field of what one's own method returns": (
        "sum",
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\nclass S:\n    sum: float = 0.0\n"
        "    def plus(self, x): return S(self.sum + x)",
        "def f(a):\n    s = S()\n    for x in a: s = s.plus(x)\n    return s.sum",
    ),
    "a field of what one's own function returns": (
        "var",
        "from typing import NamedTuple\n"
        "class Stats(NamedTuple):\n    mean: float\n    var: float\n"
        "def stats(a): return Stats(a[0], a[1])",
        "def f(a):\n    s = stats(a)\n    return s.var",
    ),
    "a field of a namespace": (
        "sum",
        "from types import SimpleNamespace",
        "def f(a):\n    s = SimpleNamespace(sum=0.0)\n    s.sum += a[0]\n    return s.sum",
    ),
    "a library that may not be there": (
        "blas",
        "try:\n    from tqdm.auto import tqdm\nexcept ImportError:\n    def tqdm(x): return x\n"
        "x = np.ones(3).copy()\nopen('/dev/null').close()",
        "def f(a): return [x for x in tqdm(a)]",
    ),
    "what only sounds like a text that is run": (
        "blas",
        "import itertools, threading, timeit\nitertools.repeat('- ', 3)\n"
        "np.repeat(a=[1, 2], repeats=2)\nthreading.Timer(interval=0.01, function=print)\n"
        "timeit.timeit(stmt=lambda: f(1), number=0)\ntimeit.repeat('f(1)', repeat=1, number=0)",
        "def f(a): return a",
    ),
    "get": ("blas", "SIZES = {'a': 3}", "def f(a): return SIZES.get('a', 0) * a"),
}


@pytest.mark.parametrize("way", HONEST.values(), ids=HONEST)
def test_honest_code_is_left_alone(way):
    assert not routes(*way)


@pytest.mark.parametrize(
    "cell",
    [
        "class S:\n    sum = 0\ndef made(a): return a\n"
        "def f(a):\n    s = made(a)\n    return s.sum()",
        "class S:\n    sum = 0\ndef made(a):\n    if len(a): return a\n    return S()\n"
        "def f(a):\n    s = made(a)\n    return s.sum()",
        "class S:\n    sum = 0\n    def copy(self): return S()\n"
        "def f(a):\n    s = a.copy()\n    return s.sum()",
    ],
)
def test_a_method_of_an_array_is_not_hidden_by_a_class_that_has_one(cell):
    assert routes("sum", cell)


def test_a_name_of_ones_own_is_no_specification_however_it_ends():
    cells = {"given": "def f_spec(x): return x", "mine": "def row_spec(x): return x"}
    cells["answer"] = "def f(x): return row_spec(x)"
    assert find(cells, ["f"], ["spec"], given=["given"], all_given=True) == []
    # A running notebook does not tell which cells are the course's.
    assert find(cells, ["f"], ["spec"], given=["given"])
    cells["answer"] = "def f(x): return f_spec(x)"
    assert find(cells, ["f"], ["spec"], given=["given"], all_given=True)


@pytest.mark.parametrize(
    ("cell", "route"),
    [
        ("t = input()\nexec(t)", "exec(t)"),
        ("import timeit\ntimeit.timeit('exec(t)')", "exec(t)"),
        ("def f(): pass\nf.__code__ = g", "f.__code__"),
        ("exec('x = 1')\neval(' 1 + 1')\nexec('1 +')", None),
    ],
)
def test_what_a_cell_may_bind_that_no_text_shows(cell, route):
    found = unreadable(cell)
    assert (found and found.route) == route
    assert found is None or found.hidden


def test_a_name_that_is_deleted_is_not_certain():
    assert certain(parsed("x = 1\ny = 2\ndel x").body) == {"y"}
    assert certain(parsed("x = 1\ndef f():\n    global x\n    del x").body) == {"f"}
