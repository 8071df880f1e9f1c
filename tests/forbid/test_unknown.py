"""Forbidden functions that are put somewhere and called from there, by no name."""

import numpy as np
import pytest

from tito.forbid import find

HIDDEN = {
    "attr alias": ("def f(): pass\ng = f\ng.x = np.dot\ndot = f.x"),
    "attr by param": ("def f(): pass\ndef put(o): o.x = np.dot\nput(f)\ndot = f.x"),
    "attr local alias": (
        "def f(): pass\ndef put():\n    g = f\n    g.x = np.dot\nput()\ndot = f.x"
    ),
    "setattr assigned": ("def f(): pass\n_ = setattr(f, 'x', np.dot)\ndot = f.x"),
    "setattr lambda": ("def f(): pass\n(lambda o: setattr(o, 'x', np.dot))(f)\ndot = f.x"),
    "append assigned": ("ops = []\n_ = ops.append(np.dot)\ndot = ops[0]"),
    "append alias": ("ops = []\no = ops\no.append(np.dot)\ndot = ops[0]"),
    "append comp": ("ops = []\n[ops.append(np.dot) for _ in [0]]\ndot = ops[0]"),
    "append param": ("ops = []\ndef put(o): o.append(np.dot)\nput(ops)\ndot = ops[0]"),
    "append if": ("ops = []\nif ops.append(np.dot): pass\ndot = ops[0]"),
    "for target": ("class K: pass\nfor K.x in [np.dot]: pass\ndot = K.x"),
    "with target": (
        "class K: pass\n"
        "import contextlib\n"
        "with contextlib.nullcontext(np.dot) as K.x: pass\n"
        "dot = K.x"
    ),
    "tuple target": ("class K: pass\nK.x, K.y = np.dot, 1\ndot = K.x"),
    "aug": ("ops = []\nops += [np.dot]\ndot = ops[0]"),
    "list in alias": ("a = [None]\nb = [a]\nb[0][0] = np.dot\ndot = a[0]"),
    "dict item alias": ("d = {}\ne = {'d': d}\ne['d']['x'] = np.dot\ndot = d['x']"),
    "closure cell": (
        "def mk():\n"
        "    h = None\n"
        "    def get(): return h\n"
        "    def put(v):\n"
        "        nonlocal h\n"
        "        h = v\n"
        "    return get, put\n"
        "get, put = mk()\n"
        "put(np.dot)\n"
        "dot = get()"
    ),
    "default list": (
        "def st(v=None, keep=[]):\n"
        "    if v is not None: keep.append(v)\n"
        "    return keep[0]\n"
        "st(np.dot)\n"
        "dot = st()"
    ),
    "class attr by method": (
        "class K:\n    def put(self, v): self.v = v\nk = K()\nk.put(np.dot)\ndot = k.v"
    ),
    "exc": ("try:\n    raise ValueError(np.dot)\nexcept ValueError as e:\n    dot = e.args[0]"),
    "exc2": (
        "def r(): raise ValueError(np.dot)\n"
        "try:\n"
        "    r()\n"
        "except ValueError as e:\n"
        "    dot = e.args[0]"
    ),
    "deco": ("reg = []\ndef reg_(f):\n    reg.append(f)\n    return f\nreg_(np.dot)\ndot = reg[0]"),
    "map": ("ops=[]\nlist(map(ops.append,[np.dot]))\ndot=ops[0]"),
    "bound": ("ops=[]\nadd=ops.append\nadd(np.dot)\ndot=ops[0]"),
    "dataclass": (
        "from dataclasses import dataclass, field\n"
        "@dataclass\n"
        "class K:\n"
        "    f: object = field(default_factory=lambda: np.dot)\n"
        "dot = K().f"
    ),
    "partial": ("import functools\ndot = functools.partial(np.dot)"),
    "partialmethod": ("import functools\nclass K:\n    f = functools.partial(np.dot)\ndot = K.f"),
    "simple ns": ("import types\nk = types.SimpleNamespace(f=np.dot)\ndot = k.f"),
    "ns arg": ("import types\nh = [np.dot]\nk = types.SimpleNamespace(f=h)\ndot = k.f[0]"),
    "init": ("class K:\n    def __init__(self, v): self.v = v\nk = K(np.dot)\ndot = k.v"),
    "slots": (
        "class K:\n    def __init__(self, v): self.__dict__['v'] = v\nk = K(np.dot)\ndot = k.v"
    ),
    "queue": ("import queue\nq = queue.Queue()\nq.put(np.dot)\ndot = q.get()"),
    "deque": ("from collections import deque\nq = deque()\nq.appendleft(np.dot)\ndot = q[0]"),
    "ctxvar": ("import contextvars\nc = contextvars.ContextVar('c')\nc.set(np.dot)\ndot = c.get()"),
    "send": (
        "def g():\n"
        "    v = yield\n"
        "    while True: yield v\n"
        "h = g(); next(h)\n"
        "h.send(np.dot)\n"
        "dot = next(h)"
    ),
    "global fn": ("def put(v):\n    global keep\n    keep = v\nput(np.dot)\ndot = keep"),
    "func default": (
        "def h(v, d=[None]):\n    if v: d[0] = v\n    return d[0]\nh(np.dot)\ndot = h(None)"
    ),
    "init subclass": (
        "class B:\n"
        "    def __init_subclass__(cls, v): cls.v = v\n"
        "class C(B, v=np.dot): pass\n"
        "dot = C.v"
    ),
    "meta": (
        "class M(type):\n"
        "    def __new__(m, n, b, d, v): d['v'] = v; return type.__new__(m, n, b, d)\n"
        "class C(metaclass=M, v=np.dot): pass\n"
        "dot = C.v"
    ),
    "enum": ("import enum\nclass E(enum.Enum):\n    A = enum.member(np.dot)\ndot = E.A.value"),
    "thread": (
        "import threading\n"
        "out=[]\n"
        "t=threading.Thread(target=out.append,args=(np.dot,))\n"
        "t.start(); t.join()\n"
        "dot=out[0]"
    ),
    "chain": ("from collections import ChainMap\nd = ChainMap({}, {'a': np.dot})\ndot = d['a']"),
    "setdefault": ("d = {}\n_ = d.setdefault('a', np.dot)\ndot = d['a']"),
    "dict   upd": ("class K: pass\nk = K()\nz = k.__dict__\nz['v'] = np.dot\ndot = k.v"),
    "vars": ("class K: pass\nk = K()\nvars(k)['v'] = np.dot\ndot = k.v"),
    "vars upd": ("class K: pass\nk = K()\nvars(k).update(v=np.dot)\ndot = k.v"),
    "obj setattr": ("class K: pass\nk = K()\nobject.__setattr__(k, 'v', np.dot)\ndot = k.v"),
    "K.  setattr": ("class K: pass\nk = K()\nk.__setattr__('v', np.dot)\ndot = k.v"),
    "ior": ("d = {}\nd |= {'a': np.dot}\ndot = d['a']"),
    "slice": ("d = []\nd[:] = [np.dot]\ndot = d[0]"),
    "extend": ("d = []\nd.extend([np.dot])\ndot = d[0]"),
    "func attr in fn": (
        "def dot(a, b):\n"
        "    return helper.fn(a, b)\n"
        "def helper(): pass\n"
        "hh = helper\n"
        "hh.fn = np.dot"
    ),
    "iter": ("it = iter([np.dot])\ndot = next(it)"),
    "star": ("def mk(*a): return a\nx = mk(np.dot)\ndot = x[0]"),
    "kw": ("def mk(**a): return a\nx = mk(f=np.dot)\ndot = x['f']"),
    "zip": ("for n, dot in zip('a', [np.dot]): pass"),
    "sorted": ("dot = sorted([np.dot], key=id)[0]"),
    "max": ("dot = max(np.dot, np.dot, key=id)"),
    "np.array obj": ("z = np.array([np.dot], dtype=object)\ndot = z[0]"),
    "np.frompyfunc": ("z = np.empty(1, object)\nz[0] = np.dot\ndot = z[0]"),
    "np.put": ("z = np.empty(1, object)\nnp.put(z, 0, np.dot)\ndot = z[0]"),
    "copyto": ("z = np.empty(1, object)\ny = z[:]\ny[0] = np.dot\ndot = z[0]"),
    "view fn": ("ops=[None]\ndef same(): return ops\nsame()[0] = np.dot\ndot = ops[0]"),
    "insert": ("import bisect\nops=[]\nbisect.insort(ops, np.dot, key=id)\ndot=ops[0]"),
    "heapq": ("import heapq\nops=[]\nheapq.heappush(ops, (1, np.dot))\ndot=ops[0][1]"),
    "operator.setitem": ("import operator\nops=[None]\noperator.setitem(ops,0,np.dot)\ndot=ops[0]"),
    "list.append": ("ops=[]\nlist.append(ops, np.dot)\ndot=ops[0]"),
}


def routes(cell, *before):
    cells = {"cell 0": "import numpy as np"}
    cells |= {f"cell {i}": source for i, source in enumerate([*before, cell], 1)}
    return find(cells, ["dot"], ["blas"], start=list(cells)[-1])


@pytest.mark.parametrize("cell", HIDDEN.values(), ids=HIDDEN)
def test_what_is_stored_somewhere_may_be_what_is_called(cell):
    names = {"np": np}
    exec(cell, names)
    assert names["dot"] is np.dot or callable(names["dot"])
    assert routes(cell)


UNKNOWN = "OPS = [lambda a, b: a]\ndef dot(a, b):\n    return OPS[0](a, b)"


def test_the_message_says_where_it_is_stored_and_what_may_call_it():
    (found,) = routes(UNKNOWN, "OPS = []\nOTHERS = OPS\nOTHERS.append(np.dot)")
    assert (found.label, found.line, found.via) == ("cell 1", 3, ("dot",))
    assert found.route == "np.dot, which OPS[0] may be"


HONEST = {
    "timed by a function of one's own": (
        "def time_of(f, *args):\n    print(f.__name__)\n    return [f(*args) for _ in range(3)]\n"
        "def show(name, f):\n    print(name, time_of(f, 1, 2))\n"
        "show('numpy', np.dot)\nshow(f=np.dot, name='numpy')"
    ),
    "gone through": (
        "times = {}\nfor name, f in (('numpy', np.dot), ('mine', max)):\n"
        "    times[name] = f(1, 2)\n    print(f'{name}: {f}')"
    ),
    "gone through in a comprehension": "rows = [(n, f(1, 2)) for n, f in {'np': np.dot}.items()]",
    "looked at": "print(np.dot, callable(np.dot))\nassert np.dot is not max\nnp.dot",
    "called": "y = np.dot(1, 2)\nw = (lambda a: np.dot(a, a))(3)",
    "another name for it": "fast = np.dot\nfast(1, 2)",
    "named first, then gone through": (
        "kernels = {'numpy': np.dot, 'mine': max}\nfor name in kernels: kernels[name](1, 2)\n"
        "every = [np.dot, max]\nrows = [(f.__name__, f(1, 2)) for f in every]"
    ),
    "a race of one's own": (
        "def race(fs, **names):\n    return [f(1, 2) for f in fs]\nrace([np.dot, max], own=max)"
    ),
    "timeit": "import timeit\ntimeit.timeit(lambda: np.dot(1, 2), number=1)",
    "timed by a decorator": (
        "import functools\ndef timed(f):\n    @functools.wraps(f)\n    def inner(*a):\n"
        "        return f(*a)\n    return inner\n@timed\ndef ref(a): return np.dot(a, a)\n"
        "timed(np.dot)(1, 2)"
    ),
    "a parameter's default": "def check(g, ref=np.dot):\n    return g(1, 2) == ref(1, 2)",
    "chosen": "use = np.dot if len('ab') else max\nuse(1, 2)",
    "asked about": "import inspect\nhelp(abs)\nsorted([np.dot, max], key=repr)\ndir(np.dot)",
    "results stored": (
        "results = []\nfor n in (2, 3):\n    y = np.dot(n, n)\n    results.append(y)\n"
        "    results.append(('numpy', n, np.dot(n, n)))"
    ),
    "a time stored": (
        "def time_of(f): return f(1, 2)\ntimes = {}\ntimes['numpy'] = time_of(np.dot)"
    ),
    "an exception of one's own": "class Wrong(ValueError): pass\nassert np.dot(1, 2)",
    "a part": "import functools\ntwice = functools.partial(np.dot, 2)\ntwice(1)",
}


@pytest.mark.parametrize("cell", HONEST.values(), ids=HONEST)
def test_what_is_merely_called_is_stored_nowhere(cell):
    exec(cell, {"np": np})
    assert not routes(UNKNOWN, cell)


KNOWN = {
    "functions by name": "def f(a, b): return a\ndef dot(a, b): return f(a, b)",
    "what a factory returns": (
        "def make(n):\n    def inner(a, b): return a\n    return inner\n"
        "def dot(a, b): return make(3)(a, b)"
    ),
    "elements handed on": "def f(a): return a\ndef dot(a, b): return f(a[0]) + b[0]",
    "methods": "def dot(a, b): return a.reshape(-1).copy().max()",
    "a parameter": "def dot(a, b, f=max): return f(a, b)",
    "numbers of library calls handed on": (
        "def loop(n, body): return body(n)\ndef dot(a, b): return loop(len(a), lambda i: a)"
    ),
    "parts of a list of slices": (
        "def split(n, p): return [slice(i, i + 1) for i in range(p)]\n"
        "def run(w, parts):\n    for q in parts: w(q)\n"
        "def dot(a, b): return run(lambda q: a[q], split(3, 3))"
    ),
    "an element handed to what calls another parameter": (
        "def apply(g, x): return g(x)\ndef twice(x): return 2 * x\n"
        "def dot(a, b): return apply(twice, a[0]) + sum(map(abs, a[0]))"
    ),
    "attributes looked at": (
        "class P: pass\np = P()\nprint(vars(p), p.__dict__)\n"
        "def dot(a, b): return a.astype(float).copy()"
    ),
    "a count of one's own": (
        "N = 0\ndef tick(n):\n    global N\n    N = N + n\n"
        "def g(f, n): return f(n)\ndef dot(a, b):\n    tick(1)\n    return g(abs, N)"
    ),
    "two functions in turn": (
        "def s1(a): return a\ndef s2(a): return a\n"
        "def dot(a, b):\n    for step in (s1, s2): a = step(a)\n    return a"
    ),
    "an object of one's own": (
        "class K:\n    def __init__(self): self.n = 0\n    def go(self, a): return a\n"
        "def dot(a, b): return K().go(a)"
    ),
}


@pytest.mark.parametrize("cell", KNOWN.values(), ids=KNOWN)
def test_where_every_call_is_known_it_does_not_matter_what_is_stored(cell):
    assert not routes(cell, "OPS = [np.dot]\nOPS.append(lambda a, b: a @ b)")
