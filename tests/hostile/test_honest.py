"""What honest students write, beside their answers and in them: none of it costs a point."""

from __future__ import annotations

import pytest

from tests.hostile.lesson import MAX_POINTS, RIGHT, graded, hand_in, place, with_cell
from tito.grading.limits import Limits

# About what the hand-ins do: how judges start is tried elsewhere.
pytestmark = pytest.mark.usefixtures("ready_judges")
NUMPY = "import numpy as np\n"
BITS, SCALED, MEAN = RIGHT["bits"], RIGHT["scaled"], RIGHT["mean"]
# Nothing here runs for ever, and what compiles or draws needs a second of CPU on a quiet machine.
REAL = Limits()

# name of the way: the exercise, and the cell that answers it
WAYS = {
    "plot": (
        "scaled",
        NUMPY + "import matplotlib.pyplot as plt\nplt.plot([1,2]); plt.show()\n" + SCALED,
    ),
    "plot in func": (
        "scaled",
        NUMPY
        + (
            "import matplotlib.pyplot as plt\ndef scaled(x,factor):\n    plt.plot(x)\n"
            "    plt.savefig('p.png')\n    plt.close()\n    return x*factor"
        ),
    ),
    "type hints": (
        "scaled",
        (
            "from __future__ import annotations\nimport numpy as np\n"
            "def scaled(x: Undefined, factor: float) -> np.ndarray:\n"
            "    return x * factor"
        ),
    ),
    "dataclass": (
        "mean",
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass Mean:\n"
            "    n: int = 0\n    seen: list = field(default_factory=list)\n"
            "    def __call__(self, values):\n        self.n += 1\n"
            "        return sum(values)/len(values)"
        ),
    ),
    "slots frozen": (
        "mean",
        (
            "from dataclasses import dataclass\n@dataclass(frozen=True, slots=True)\n"
            "class Mean:\n    def __call__(self, values):\n"
            "        return sum(values)/len(values)"
        ),
    ),
    "inherit": (
        "mean",
        (
            "from abc import ABC, abstractmethod\nclass Base(ABC):\n    @abstractmethod\n"
            "    def __call__(self, v): ...\nclass Mean(Base):\n"
            "    def __call__(self, values):\n        return sum(values)/len(values)"
        ),
    ),
    "recursion": ("bits", "def bits(n):\n    return 0 if n==0 else (n&1)+bits(n>>1)"),
    "generator": (
        "bits",
        (
            "def ones(n):\n    while n:\n        yield n & 1\n        n >>= 1\n"
            "def bits(n):\n    return sum(ones(n))"
        ),
    ),
    "lru_cache": (
        "bits",
        (
            "from functools import lru_cache\n@lru_cache(None)\ndef bits(n):\n"
            "    return 0 if n==0 else (n&1)+bits(n>>1)"
        ),
    ),
    "numba": (
        "scaled",
        NUMPY
        + (
            "from numba import njit, prange\n"
            "@njit(parallel=True, cache=True, fastmath=True)\ndef scaled(x, factor):\n"
            "    out = np.empty_like(x)\n    for i in prange(len(x)):\n"
            "        out[i] = x[i]*factor\n    return out"
        ),
    ),
    "numba vectorize": (
        "scaled",
        NUMPY
        + (
            "from numba import vectorize\n@vectorize(['float64(float64,float64)'])\n"
            "def mul(a,b): return a*b\ndef scaled(x, factor):\n"
            "    return mul(x, float(factor))"
        ),
    ),
    "numba ufunc itself": (
        "scaled",
        NUMPY
        + (
            "from numba import vectorize\n@vectorize(['float64(float64,float64)'])\n"
            "def scaled(a,b): return a*b"
        ),
    ),
    "numpy ufunc itself": ("scaled", NUMPY + "scaled = np.multiply"),
    "partial": (
        "bits",
        (
            "from functools import partial\ndef _b(n, one): return bin(n).count(one)\n"
            "bits = partial(_b, one='1')"
        ),
    ),
    "lambda": ("bits", "bits = lambda n: bin(n).count('1')"),
    "callable obj": (
        "bits",
        "class B:\n    def __call__(self, n): return bin(n).count('1')\nbits = B()",
    ),
    "int.bit_count": ("bits", "bits = int.bit_count"),
    "np.int result": ("bits", NUMPY + "def bits(n): return np.int64(bin(n).count('1'))"),
    "np.float result": (
        "mean",
        NUMPY + "class Mean:\n    def __call__(self, v): return np.mean(v)",
    ),
    "0d result": (
        "mean",
        NUMPY + "class Mean:\n    def __call__(self, v): return np.array(np.mean(v))",
    ),
    "function for class": ("mean", "def Mean():\n    return lambda v: sum(v)/len(v)"),
    "tqdm": (
        "bits",
        (
            "import sys,time\ndef bits(n):\n    for i in range(3):\n"
            "        sys.stderr.write(f'\\r{i*33}%|###'); sys.stderr.flush()\n"
            "    return bin(n).count('1')"
        ),
    ),
    "unicode": (
        "bits",
        (
            "def zähle_äöü(zahl_π):\n    'Zählt 🎉'\n"
            "    print('→ ∑', zahl_π, '\\ud83d')\n"
            "    return bin(zahl_π).count('1')\nbits = zähle_äöü"
        ),
    ),
    "print surrogate stderr": (
        "bits",
        (
            "import sys\ndef bits(n):\n"
            "    print('\\udcff\\x00\\x1b[31m', file=sys.stderr)\n"
            "    return bin(n).count('1')"
        ),
    ),
    "global state": (
        "bits",
        ("calls = 0\ndef bits(n):\n    global calls\n    calls += 1\n    return bin(n).count('1')"),
    ),
    "threads": (
        "scaled",
        NUMPY
        + (
            "from concurrent.futures import ThreadPoolExecutor\ndef scaled(x, factor):\n"
            "    with ThreadPoolExecutor(4) as p:\n"
            "        return np.array(list(p.map(lambda v: v*factor, x)))"
        ),
    ),
    "sleep": (
        "bits",
        ("import time\ndef bits(n):\n    time.sleep(0.05)\n    return bin(n).count('1')"),
    ),
    "random": (
        "bits",
        (
            "import random, numpy as np\ndef bits(n):\n"
            "    random.random(); np.random.rand(3)\n    return bin(n).count('1')"
        ),
    ),
    "files": (
        "bits",
        (
            "open('table.txt','w').write('1')\ndef bits(n):\n"
            "    one = open('table.txt').read()\n    return bin(n).count(one)"
        ),
    ),
    "tempfile": (
        "bits",
        (
            "import tempfile\ndef bits(n):\n"
            "    with tempfile.NamedTemporaryFile('w+') as f:\n"
            "        f.write(bin(n)); f.seek(0)\n        return f.read().count('1')"
        ),
    ),
    "np.save": (
        "scaled",
        NUMPY + "def scaled(x,f):\n    np.save('a.npy', x)\n    return np.load('a.npy')*f",
    ),
    "pickle": (
        "scaled",
        NUMPY
        + (
            "import pickle, copy\ndef scaled(x,f):\n"
            "    return copy.deepcopy(pickle.loads(pickle.dumps(x)))*f"
        ),
    ),
    "%%time": ("scaled", "%%time\nimport numpy as np\n" + SCALED),
    "%%timeit like": (
        "bits",
        BITS
        + ("\n%timeit -n 2 -r 1 bits(7)\n%time bits(3)\nx = %time bits(3)\n!ls\nfiles = !ls\n"),
    ),
    "%%capture": ("bits", "%%capture out\nprint('x')\n" + BITS),
    "%matplotlib widget": (
        "bits",
        (
            "%matplotlib widget\n%config InlineBackend.figure_format='retina'\n"
            "%pip install tqdm\n%load_ext line_profiler\n"
        )
        + BITS,
    ),
    "help ?": ("bits", "bits?\nprint??\n" + BITS),
    "warnings": (
        "scaled",
        NUMPY
        + ("def scaled(x,f):\n    np.log(np.array([-1.0,0.0])); np.array([1.0])/0\n    return x*f"),
    ),
    "warnings error": (
        "scaled",
        NUMPY + "import warnings\nwarnings.simplefilter('error')\n" + SCALED,
    ),
    "np.seterr": ("scaled", NUMPY + "np.seterr(all='raise')\n" + SCALED),
    "printoptions": ("scaled", NUMPY + "np.set_printoptions(precision=2)\n" + SCALED),
    "asserts": ("scaled", NUMPY + SCALED + "\nassert scaled(np.ones(2),3)[0]==3\n"),
    "failing after": ("scaled", NUMPY + SCALED + "\nscaled('a')\n"),
    "main guard": ("bits", BITS + "\nif __name__ == '__main__':\n    print(bits(3))\n"),
    "doctest": (
        "bits",
        (
            'def bits(n):\n    """\n    >>> bits(3)\n    2\n    """\n'
            '    return bin(n).count("1")\nimport doctest\ndoctest.testmod()\n'
        ),
    ),
    "unittest": (
        "bits",
        BITS
        + (
            "\nimport unittest\nclass T(unittest.TestCase):\n"
            "    def test(self): self.assertEqual(bits(3),2)\n"
            "unittest.main(argv=['x'], exit=False)\n"
        ),
    ),
    "unittest exit": ("bits", BITS + "\nimport unittest\nunittest.main(argv=['x'])\n"),
    "asyncio": (
        "bits",
        ("import asyncio\nasync def g(): return 1\nawait g()\nasyncio.get_event_loop()\n") + BITS,
    ),
    "nest asyncio.run": (
        "bits",
        (
            "import asyncio\nasync def g(n): return bin(n).count('1')\n"
            "def bits(n): return asyncio.run(g(n))"
        ),
    ),
    "class in func": ("bits", "def bits(n):\n    class A: v = bin(n).count('1')\n    return A.v"),
    "match": (
        "bits",
        (
            "def bits(n):\n    match n:\n        case 0: return 0\n"
            "        case _: return (n & 1) + bits(n >> 1)"
        ),
    ),
    "walrus": (
        "bits",
        (
            "def bits(n):\n    c = 0\n"
            "    while (n and (c := c + (n & 1), n := n >> 1)): pass\n    return c"
        ),
    ),
    "enum": (
        "bits",
        (
            "from enum import IntEnum\nclass N(IntEnum):\n    ZERO=0\n    TWO=2\n"
            "    EIGHT=8\ndef bits(n): return N(bin(n).count('1'))"
        ),
    ),
    "bool int": (
        "bits",
        (
            "def bits(n):\n    s = False\n    for c in bin(n)[2:]: s = s + (c=='1')\n"
            "    return int(s)"
        ),
    ),
    "logging": (
        "bits",
        (
            "import logging\nlogging.basicConfig(level='DEBUG')\ndef bits(n):\n"
            "    logging.warning('n=%s', n)\n    return bin(n).count('1')"
        ),
    ),
    "contextmanager": (
        "bits",
        (
            "from contextlib import redirect_stdout\nimport io\ndef bits(n):\n"
            "    with redirect_stdout(io.StringIO()) as o:\n        print(bin(n))\n"
            "    return o.getvalue().count('1')"
        ),
    ),
    "sys.stdout replaced": ("bits", "import sys, io\nsys.stdout = io.StringIO()\n" + BITS),
    "stdout closed": ("bits", "import sys\nsys.stdout.close()\n" + BITS),
    "input": ("bits", BITS + "\nn = input('n? ')"),
    "del": ("bits", BITS + "\nfor i in range(3): pass\ndel i"),
    "star import": (
        "scaled",
        "from numpy import *\ndef scaled(x, factor): return asarray(x)*factor",
    ),
    "shadow builtins": ("bits", "sum = 3\nlist = [1]\ntype = 2\nprint = None\n" + BITS),
    "time.clock": (
        "bits",
        "import time\nt=time.perf_counter()\n" + BITS + "print(f'{time.perf_counter()-t:.3f}')",
    ),
    "tracemalloc": ("bits", "import tracemalloc\ntracemalloc.start()\n" + BITS),
    "gc": ("bits", "import gc\ngc.disable()\ngc.collect()\n" + BITS),
    "recursion limit": ("bits", "import sys\nsys.setrecursionlimit(100000)\n" + BITS),
    "decorator timer": (
        "bits",
        (
            "import time, functools\ndef timed(f):\n    @functools.wraps(f)\n"
            "    def g(*a, **k):\n        t=time.time()\n        r=f(*a,**k)\n"
            "        print(f.__name__, time.time()-t)\n        return r\n    return g\n"
            "@timed\n"
        )
        + BITS,
    ),
    "ipywidgets display html": (
        "bits",
        (
            "from IPython.display import display, HTML, Markdown, clear_output\n"
            "display(HTML('<b>x</b>'))\nclear_output()\n"
        )
        + BITS,
    ),
    "np matrix": ("scaled", NUMPY + "def scaled(x, f): return np.asmatrix(x).A1 * f"),
    "memmap": (
        "scaled",
        NUMPY
        + (
            "def scaled(x, f):\n"
            "    m = np.memmap('m', dtype=x.dtype, mode='w+', shape=x.shape)\n"
            "    m[:] = x*f\n    return m"
        ),
    ),
    "masked": ("scaled", NUMPY + "def scaled(x, f):\n    return np.ma.array(x*f).filled()"),
    "own subclass": (
        "scaled",
        NUMPY + "class A(np.ndarray): pass\ndef scaled(x, f): return (x*f).view(A)",
    ),
    "view of bigger": (
        "scaled",
        NUMPY
        + (
            "buf = np.zeros(1000)\ndef scaled(x, f):\n    buf[:len(x)] = x*f\n"
            "    return buf[:len(x)]"
        ),
    ),
    "fortran/strided result": (
        "scaled",
        NUMPY
        + ("def scaled(x, f):\n    b = np.zeros((len(x), 2))\n    b[:,0] = x*f\n    return b[:,0]"),
    ),
    "ctypes": ("bits", "import ctypes\nlibc = ctypes.CDLL(None)\n" + BITS),
    "multiprocessing cpu_count": (
        "bits",
        ("import multiprocessing, os\nprint(multiprocessing.cpu_count(), os.cpu_count())\n") + BITS,
    ),
    "inspect": ("bits", "import inspect\n" + BITS + "print(inspect.getsource(bits))"),
    "deep nested def": (
        "bits",
        (
            "def outer():\n    def mid():\n"
            "        def bits(n): return bin(n).count('1')\n        return bits\n"
            "    return mid()\nbits = outer()"
        ),
    ),
    "queue": (
        "bits",
        (
            "import queue, threading\nq=queue.Queue()\ndef w():\n    while True:\n"
            "        n, r = q.get(); r.append(bin(n).count('1')); q.task_done()\n"
            "threading.Thread(target=w, daemon=True).start()\ndef bits(n):\n    r=[]\n"
            "    q.put((n,r)); q.join()\n    return r[0]"
        ),
    ),
    "non-daemon thread": (
        "bits",
        ("import threading, time\nthreading.Thread(target=time.sleep, args=(100,)).start()\n")
        + BITS,
    ),
    "pandas": ("bits", "try:\n    import pandas\nexcept ImportError: pass\n" + BITS),
    "atexit": ("bits", "import atexit\natexit.register(print, 'bye')\n" + BITS),
    "signal": ("bits", "import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n" + BITS),
    "alarm": (
        "bits",
        (
            "import signal\nsignal.signal(signal.SIGALRM, lambda *a: print('tick'))\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
        )
        + BITS,
    ),
    "faulthandler": ("bits", "import faulthandler\nfaulthandler.enable()\n" + BITS),
    "comment only cell + crlf": ("bits", "def bits(n):\r\n    return bin(n).count('1')\r\n"),
    "tabs": ("bits", "def bits(n):\n\treturn bin(n).count('1')"),
    "form feed": ("bits", "\x0c" + BITS),
    "super": (
        "mean",
        (
            "class A:\n    def __call__(self, v): return sum(v)/len(v)\nclass Mean(A):\n"
            "    def __call__(self, v):\n        return super().__call__(v)"
        ),
    ),
    "property cached": (
        "mean",
        (
            "from functools import cached_property\nclass Mean:\n    @cached_property\n"
            "    def x(self): return 1\n"
            "    def __call__(self, v): return self.x*sum(v)/len(v)"
        ),
    ),
    "Mean redefined": (
        "mean",
        "class Mean:\n    def __call__(self, values):\n        return 0.25\n" + MEAN,
    ),
    "fractions": (
        "mean",
        (
            "from fractions import Fraction\nclass Mean:\n"
            "    def __call__(self, v): return Fraction(sum(v))/len(v)"
        ),
    ),
    "decimal": (
        "mean",
        (
            "from decimal import Decimal\nclass Mean:\n"
            "    def __call__(self, v): return float(Decimal(sum(v))/len(v))"
        ),
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_honest_way_costs_nothing(way, fastest):
    exercise, source = WAYS[way]
    own = hand_in(RIGHT)
    place(own, exercise).source = source
    result = graded(own, fastest, limits=REAL)
    lost = [(c.id, c.message) for c in result.cells if not c.points]
    assert (result.points, lost) == (MAX_POINTS, [])


def test_an_answer_in_two_cells_costs_nothing(engine):
    own = hand_in(RIGHT, bits="def ones(n):\n    return bin(n).count('1')\n")
    own = with_cell(own, "bits-test", "import math  # for later\nbits = ones")
    own = with_cell(own, "bits-test", "1 / 0")
    assert graded(own, engine, limits=REAL).points == MAX_POINTS


def test_facts_about_the_machine_can_be_asked(engine):
    ask = (
        "import getpass, os, platform, psutil, tempfile, time\n"
        "print(getpass.getuser(), os.path.expanduser('~'), tempfile.gettempdir(), os.cpu_count())\n"
        "print(platform.uname(), platform.processor(), psutil.virtual_memory(), time.tzname)\n"
    )
    result = graded(hand_in(RIGHT, bits=ask + BITS), engine, limits=REAL)
    assert (result.points, result.raised) == (MAX_POINTS, [])
