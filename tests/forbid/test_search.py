"""Forbidden routes: each way there is found, and honest code is left alone."""

import sys
import time

import pytest

from tito.forbid import SETS, Finding, find

NP = "import numpy as np\n"

ROUTES = {
    "operator": "def f(a, b): return a @ b",
    "augmented operator": "def f(a, b):\n    a @= b\n    return a",
    "np.dot": NP + "def f(a, b): return np.dot(a, b)",
    "np.linalg": NP + "def f(a, b): return np.linalg.multi_dot([a, b])",
    "alias of numpy": "import numpy as q\ndef f(a, b): return q.dot(a, b)",
    "alias of a submodule": "import numpy.linalg as L\ndef f(a, b): return L.matmul(a, b)",
    "module in a variable": NP + "la = np.linalg\ndef f(a, b): return la.multi_dot([a, b])",
    "from-import": "from numpy import dot as d\ndef f(a, b): return d(a, b)",
    "import in the function": "def f(a, b):\n    import numpy as z\n    return z.inner(a, b)",
    "from-import in the function": "def f(a, b):\n    from numpy import dot\n    return dot(a, b)",
    "star import": "from numpy import *\ndef f(a, b): return dot(a, b)",
    "method": "def f(a, b): return a.dot(b)",
    "method unbound": NP + "def f(a, b): return np.ndarray.dot(a, b)",
    "dunder": "def f(a, b): return a.__matmul__(b)",
    "dunder unbound": NP + "def f(a, b): return np.ndarray.__matmul__(a, b)",
    "method of the type": "def f(a, b): return type(a).dot(a, b)",
    "function in a variable": NP + "m = np.dot\ndef f(a, b): return m(a, b)",
    "function in a local": NP + "def f(a, b):\n    g = np.matmul\n    return g(a, b)",
    "default argument": NP + "def f(a, b, _m=np.dot): return _m(a, b)",
    "module as default": NP + "def f(a, b, n=np): return n.dot(a, b)",
    "function in a dictionary": NP + "ops = {'m': np.dot}\ndef f(a, b): return ops['m'](a, b)",
    "module in a list": NP + "M = [1, np]\ndef f(a, b): return M[1].inner(a, b.T)",
    "put into a dictionary": NP + "ops = {}\nops['m'] = np.dot\ndef f(a, b): return ops['m'](a, b)",
    "put into a list": NP + "ops = []\nops.append(np.dot)\ndef f(a, b): return ops[0](a, b)",
    "put into a class": NP + "class K: pass\nK.m = np.dot\ndef f(a, b): return K.m(a, b)",
    "module unpacked": NP + "m, k = np, 1\ndef f(a, b): return m.dot(a, b)",
    "walrus": NP + "def f(a, b): return (m := np).inner(a, b)",
    "conditional": NP + "m = np if True else 0\ndef f(a, b): return m.inner(a, b)",
    "partial": NP + "from functools import partial\ndef f(a, b): return partial(np.dot, a)(b)",
    "map": NP + "def f(a, b): return list(map(np.dot, [a], [b]))[0]",
    "getattr of the module": NP + "def f(a, b): return getattr(np, 'dot')(a, b)",
    "getattr of the array": "def f(a, b): return getattr(a, 'dot')(b)",
    "getattr, added up": NP + "def f(a, b): return getattr(np, 'd' + 'ot')(a, b)",
    "getattr, formatted": NP + "def f(a, b): return getattr(np, f'd{\"ot\"}')(a, b)",
    "getattr, by a name": NP + "name = 'inner'\ndef f(a, b): return getattr(np, name)(a, b)",
    "getattr, computed": NP
    + "def f(a, b):\n    n = ''.join('dot')\n    return getattr(np, n)(a, b)",
    "attrgetter": NP + "import operator\ndef f(a, b): return operator.attrgetter('dot')(np)(a, b)",
    "methodcaller": "import operator\ndef f(a, b): return operator.methodcaller('dot', b)(a)",
    "operator.matmul": "import operator\ndef f(a, b): return operator.matmul(a, b)",
    "__dict__": NP + "def f(a, b): return np.__dict__['dot'](a, b)",
    "vars": NP + "def f(a, b): return vars(np)['inner'](a, b)",
    "globals": NP + "def f(a, b): return globals()['np'].inner(a, b)",
    "helper from globals": "def h(a, b): return a @ b\ndef f(a, b): return globals()['h'](a, b)",
    "helper got from globals": "def h(a, b): return a @ b\n"
    + "def f(a, b): return globals().get('h')(a, b)",
    "sys.modules": "import sys\ndef f(a, b): return sys.modules['numpy'].inner(a, b)",
    "__import__": "def f(a, b): return __import__('numpy').inner(a, b)",
    "importlib": "import importlib\ndef f(a, b):\n"
    + "    n = importlib.import_module('numpy')\n    return n.inner(a, b)",
    "eval": "def f(a, b): return eval('a @ b')",
    "exec": "def f(a, b):\n    exec('c = a @ b')",
    "ctypes": "import ctypes\ndef f(a, b): return ctypes.CDLL('blas').sgemm(a, b)",
    "scipy": "from scipy.linalg.blas import dgemm\ndef f(a, b): return dgemm(1, a, b)",
    "torch": "import torch\ndef f(a, b): return torch.mm(a, b)",
    "sumprod": "import math\ndef f(a, b): return math.sumprod(a, b)",
    "helper": "def h(a, b): return a @ b\ndef f(a, b): return h(a, b)",
    "helper by another name": "def h(a, b): return a @ b\ng = h\ndef f(a, b): return g(a, b)",
    "the function by another name": "def g(a, b): return a @ b\nf = g",
    "lambda": "f = lambda a, b: a @ b",
    "helper lambda": "h = lambda a, b: a @ b\ndef f(a, b): return h(a, b)",
    "nested function": "def f(a, b):\n    def g():\n        return a @ b\n    return g()",
    "comprehension": "def f(a, b): return [x @ b for x in a]",
    "decorator": "def w(g):\n    return lambda a, b: a @ b\n@w\ndef f(a, b): pass",
    "class": "class K:\n    def go(self, a, b): return a.dot(b)\ndef f(a, b): return K().go(a, b)",
    "subclass of ndarray": NP
    + "class A(np.ndarray):\n    def mm(self, b): return self.dot(b)\n"
    + "def f(a, b): return a.view(A).mm(b)",
    "a class with a dot does not excuse x.dot": "class K:\n    def dot(self): pass\n"
    + "def f(a, b): return a.dot(b)",
    "match": "def f(a, b):\n    match a:\n        case q: return q.dot(b)",
    "global": "def f(a, b):\n    global h\n    h = a.dot\n    return h(b)",
    "magics around it": "%%time\n!ls\nimport numpy as np\n%matplotlib inline\n"
    + "def f(a, b): return np.dot(a, b)",
}


# Further ways round: a module handed on, text that is run, products under other names.
ROUTES |= {
    "match": NP + "def f(a,b):\n    match np:\n        case m: return m.inner(a,b)",
    "with": NP
    + "import contextlib\ndef f(a,b):\n"
    + "    with contextlib.nullcontext(np) as m: return m.inner(a,b)",
    "lambda arg": NP + "def f(a,b): return (lambda m: m.inner(a,b))(np)",
    "param": NP + "def g(m,a,b): return m.inner(a,b)\ndef f(a,b): return g(np,a,b)",
    "kwparam": NP + "def g(a,b,*,m): return m.inner(a,b)\ndef f(a,b): return g(a,b,m=np)",
    "class attr": NP + "class K: m=np\ndef f(a,b): return K.m.inner(a,b)",
    "self attr": NP
    + "class K:\n    def __init__(self): self.m=np\n"
    + "    def go(self,a,b): return self.m.inner(a,b)\ndef f(a,b): return K().go(a,b)",
    "yield": NP + "def ms(): yield np\ndef f(a,b): return next(ms()).inner(a,b)",
    "return": NP + "def ms(): return np\ndef f(a,b): return ms().inner(a,b)",
    "decorator": NP
    + "def deco(g): return lambda a,b: g(a,b,np)\n@deco\ndef f(a,b,m): return m.inner(a,b)",
    "namespace": NP + "import types\ndef f(a,b): return types.SimpleNamespace(m=np).m.inner(a,b)",
    "dict(m=)": NP + "def f(a,b): return dict(m=np)['m'].inner(a,b)",
    "getattribute": NP + "def f(a,b): return np.__getattribute__('inner')(a,b)",
    "object getattribute": NP + "def f(a,b): return object.__getattribute__(np,'inner')(a,b)",
    "getattr_static": NP
    + "import inspect\ndef f(a,b): return inspect.getattr_static(np,'inner')(a,b)",
    "resolve_name": "import pkgutil\ndef f(a,b): return pkgutil.resolve_name('numpy:inner')(a,b)",
    "locate": "import pydoc\ndef f(a,b): return pydoc.locate('numpy.inner')(a,b)",
    "pickle": "import pickle\ndef f(a,b): return pickle.loads(b'cnumpy\\ninner\\n.')(a,b)",
    "timeit": "import timeit\ndef f(a,b):\n    g={'a':a,'b':b}\n"
    + "    timeit.timeit('import numpy; global r; "
    + "r=numpy.inner(a,b)',globals=g,number=1)\n    return g['r']",
    "FunctionType": "import types,marshal\n"
    + "def f(a,b): return types.FunctionType(marshal.loads(b''),{})(a,b)",
    "matrix": NP + "def f(a,b): return np.asarray(np.matrix(a)*np.matrix(b))",
    "asmatrix": NP + "def f(a,b): return np.asmatrix(a)*b",
    "ma.innerproduct": NP + "def f(a,b): return np.ma.innerproduct(a,b)",
    "solve": NP + "def f(a,b): return np.linalg.solve(np.linalg.inv(a),b)",
    "lstsq": NP + "def f(a,b): return np.linalg.lstsq(a,b)",
    "cov": NP + "def f(a,b): return np.cov(a,b)",
    "polymul": NP + "def f(a,b): return np.polymul(a,b)",
    "get_blas": "from scipy.linalg import get_blas_funcs\n"
    + "def f(a,b): return get_blas_funcs('gemm')(1,a,b)",
    "c_einsum": NP + "def f(a,b): return np._core.multiarray.c_einsum('ij,jk',a,b)",
    "user_ns": NP + "def f(a,b): return get_ipython().user_ns['np'].inner(a,b)",
    "ev": "def f(a,b): return get_ipython().ev('np.inner')(a,b)",
    "__main__": "import __main__\nimport numpy as np\ndef f(a,b): return __main__.np.inner(a,b)",
    "numexpr": "import numexpr\ndef f(a,b): return numexpr.evaluate('a*b')",
    "setattr": NP + "class K: pass\nsetattr(K,'m',np)\ndef f(a,b): return K.m.inner(a,b)",
    "globals update": NP + "globals().update(q=np)\ndef f(a,b): return q.inner(a,b)",
    "globals item": NP + "globals()['q']=np\ndef f(a,b): return q.inner(a,b)",
    "gc": "import gc\n"
    + "def f(a,b): return [o for o in gc.get_objects() if "
    + "getattr(o,'__name__','')=='inner'][0](a,b)",
    "zip": NP + "def f(a,b):\n    (m,),=zip([np])\n    return m.inner(a,b)",
    "except": NP
    + "class E(Exception): pass\ndef f(a,b):\n    try: raise E(np)\n"
    + "    except E as e: return e.args[0].inner(a,b)",
    "nonlocal": NP
    + "def f(a,b):\n    m=None\n    def s():\n        nonlocal m\n        m=np\n"
    + "    s()\n    return m.inner(a,b)",
    "global": NP + "def s():\n    global m\n    m=np\ns()\ndef f(a,b): return m.inner(a,b)",
    "helper made by exec": "exec('def h(a, b): return a @ b')\ndef f(a, b): return h(a, b)",
    "helper replaced by exec": "def h(a, b): return 1\n"
    + "exec('def h(a, b): ' + 'return a @ b')\ndef f(a, b): return h(a, b)",
    "exec into a dictionary": "g = {}\nexec('def h(a, b): return a @ b', g)\n"
    + "def f(a, b): return g['h'](a, b)",
    "exec of what cannot be read": "def run(t): exec(t)\nrun('x')\ndef f(a, b): return 1",
    "run_cell": "get_ipython().run_cell('def h(a, b): return a @ b')\ndef f(a, b): return h(a, b)",
    "timeit of a text": "import timeit\n"
    + "timeit.timeit('global h\\ndef h(a, b): return a @ b', globals=globals())\n"
    + "def f(a, b): return h(a, b)",
    "a module written by a cell": "open('own_h.py', 'w').write('def h(a, b): return a @ b')\n"
    + "import own_h\ndef f(a, b): return own_h.h(a, b)",
    "put into builtins": NP + "import builtins\nbuiltins.h = np.dot\ndef f(a, b): return h(a, b)",
    "set in builtins": NP
    + "import builtins\nsetattr(builtins, 'h', np.dot)\ndef f(a, b): return h(a, b)",
    "itself replaced by setattr": NP
    + "import sys\ndef f(a, b): return 1\nsetattr(sys.modules['__main__'], 'f', np.dot)",
    "__globals__": NP + "def f(a, b): return f.__globals__['np'].inner(a, b)",
    "a frame's globals": NP
    + "import sys\ndef f(a, b): return sys._getframe().f_globals['np'].inner(a, b)",
    "sys.modules, computed": NP
    + "import sys\ndef f(a, b): return sys.modules[__name__].__dict__['np'].inner(a, b)",
    "match takes it out": NP
    + "def f(a, b):\n    match a:\n        case np.ndarray(dot=d): return d(b)",
    "getattr of the array, computed": "def f(a, b): return getattr(a, 'tod'[::-1])(b)",
}


# Tables of names, modules that come from other modules, a function put in another's place.
ROUTES |= {
    "sys.modules.get": "import sys\ndef f(a, b): return sys.modules.get('numpy').inner(a, b)",
    "sys.modules.items": "import sys\n"
    + "def f(a, b): return [m for n, m in sys.modules.items() if n == 'numpy'][0].inner(a, b)",
    "__dict__.get": NP + "def f(a, b): return np.__dict__.get('inner')(a, b)",
    "vars.get": NP + "def f(a, b): return vars(np).get('inner')(a, b)",
    "values of vars": NP
    + "def f(a, b):\n    for g in vars(np).values():\n        if repr(g) == 'i': return g(a, b)",
    "vars copied": NP + "def f(a, b): return dict(vars(np))['inner'](a, b)",
    "vars unpacked": NP + "def f(a, b): return {**vars(np)}['inner'](a, b)",
    "vars joined": NP + "def f(a, b): return ({} | vars(np))['inner'](a, b)",
    "vars in a variable": NP + "d = vars(np)\ndef f(a, b): return d['inner'](a, b)",
    "vars, computed": NP + "def f(a, b): return vars(np)['renni'[::-1]](a, b)",
    "itemgetter": NP + "import operator\n"
    + "def f(a, b): return operator.itemgetter('inner')(vars(np))(a, b)",
    "builtins' table": "def f(a, b): return __builtins__['__import__']('numpy').inner(a, b)",
    "builtins by a builtin": "def f(a, b): return len.__self__.__import__('numpy').inner(a, b)",
    "another library's numpy": "import numba\ndef f(a, b): return numba.np.inner(a, b)",
    "relative import_module": "import importlib\n"
    + "def f(a, b): return importlib.import_module('.linalg', 'numpy').matmul(a, b)",
    "importlib.__import__": "import importlib\n"
    + "def f(a, b): return importlib.__import__('numpy').inner(a, b)",
    "loaded by its spec": "import importlib.util as u\ndef f(a, b):\n"
    + "    m = u.module_from_spec(u.find_spec('numpy'))\n    return m.inner(a, b)",
    "loaded by its loader": NP
    + "def f(a, b): return np.__loader__.load_module('numpy').inner(a, b)",
    "star after a definition": "def dot(a, b): return 0\nfrom numpy import *\n"
    + "def f(a, b): return dot(a, b)",
    "put in another's place": NP + "import numpy as q\nq.add = q.inner\n"
    + "def f(a, b): return np.add(a, b)",
    "put there by a function": "def swap():\n    import numpy as q\n    q.add = q.inner\nswap()\n"
    + NP + "def f(a, b): return np.add(a, b)",
    "put there by setattr": NP + "import sys\nsetattr(sys.modules['numpy'], 'add', np.inner)\n"
    + "def f(a, b): return np.add(a, b)",
    "put there by update": NP + "vars(np).update(add=np.inner)\n"
    + "def f(a, b): return np.add(a, b)",
    "put there by mock": NP + "from unittest.mock import patch\n"
    + "patch.object(np, 'add', np.inner).start()\ndef f(a, b): return np.add(a, b)",
    "update of a dictionary": NP + "ops = {}\nops.update(m=np.inner)\n"
    + "def f(a, b): return ops['m'](a, b)",
}  # fmt: skip

LIB = "lib = 'libscipy_openblas64_.so'\n"
NUMBA = "from numba import njit, types\nfrom numba.extending import intrinsic\n"

# Code that was changed after it was written, and libraries that are reached by an address.
ROUTES |= {
    "names of the code exchanged": NP
    + "def f(a, b): return np.tod(a, b)\n"
    + "c = f.__code__\nf.__code__ = c.replace(co_names=('np', 'tod'[::-1]))",
    "another operator in the code": "def h(a, b): return a + b\n"
    + "raw = bytearray(h.__code__.co_code)\n"
    + "h.__code__ = h.__code__.replace(co_code=bytes(raw))\ndef f(a, b): return h(a, b)",
    "the code of a given function exchanged": "def f(a, b): return 1\n"
    + "for g in [f]:\n    g.__code__ = (lambda a, b: 2).__code__",
    "code set by setattr": "def f(a, b): return 1\n"
    + "for g in [f]:\n    setattr(g, '__code__', (lambda a, b: 2).__code__)",
    "a function of changed code": "def h(a, b): return a + b\n"
    + "g = type(h)(h.__code__.replace(co_code=b''), {})\ndef f(a, b): return g(a, b)",
    "ctypes by way of numpy": NP + LIB
    + "blas = np.ctypeslib.ctypes.CDLL(lib)\ndef f(a, b): return blas['sg' + 'emm'](a, b)",
    "a library loaded by numpy": NP + LIB
    + "blas = np.ctypeslib.load_library(lib, '.')\ndef f(a, b): return blas['sg' + 'emm'](a, b)",
    "a function of a loaded library": NUMBA + LIB
    + "import llvmlite.binding as ll\n"
    + "g = types.ExternalFunction('sgemm', types.void(types.voidptr))\n"
    + "@njit\ndef f(a, b): return g(a.ctypes)",
    "its name alone": "from numba.core.types import ExternalFunction as E\n"
    + "g = E('dlopen', None)\ndef f(a, b): return g(a, b)",
    "a symbol of a loaded library": LIB
    + "import llvmlite.binding as ll\nll.load_library_permanently(lib)\n"
    + "g = ll.address_of_symbol('sgemm')\ndef f(a, b): return g",
    "a symbol declared in an intrinsic": NUMBA
    + "@intrinsic\ndef g(typingctx, a):\n    def made(context, builder, signature, args):\n"
    + "        link = builder.module.declare_intrinsic('dlopen', (), None)\n"
    + "        return builder.call(link, args)\n    return types.void(a), made\n"
    + "@njit\ndef f(a, b): return g(a)",
    "a symbol inserted in an intrinsic": NUMBA
    + "from numba.core import cgutils\n"
    + "@intrinsic\ndef g(typingctx, a):\n    def made(context, builder, signature, args):\n"
    + "        link = cgutils.get_or_insert_function(builder.module, None, 'dlsym')\n"
    + "        return builder.call(link, args)\n    return types.void(a), made\n"
    + "@njit\ndef f(a, b): return g(a)",
    "an overload": NUMBA
    + "from numba.extending import overload\ndef g(a, b): return 1\n@overload(g)\n"
    + "def _(a, b): return lambda a, b: a @ b\n@njit\ndef f(a, b): return g(a, b)",
    "an overload in a function, by another name": NUMBA
    + "import numba.extending as e\ndef g(a, b): return 1\ndef tell(what):\n"
    + "    @what\n    def _(a, b): return lambda a, b: a @ b\n"
    + "def h(a, b): return lambda a, b: a.dot(b)\ne.overload(g)(h)\n"
    + "@njit\ndef f(a, b): return g(a, b)",
    "a lowering": NUMBA
    + "from numba.extending import lower_builtin as low\ndef g(a, b): return 1\n"
    + "@low(g, types.float64)\ndef _(context, builder, signature, args):\n"
    + "    return context.compile_internal(builder, lambda a, b: a @ b, signature, args)\n"
    + "@njit\ndef f(a, b): return g(a, b)",
    "a function of LLVM": NUMBA
    + "from llvmlite import ir\n"
    + "@intrinsic\ndef g(typingctx, a):\n    def made(context, builder, signature, args):\n"
    + "        return builder.call(ir.Function(builder.module, None, 'sgemm'), args)\n"
    + "    return types.void(a), made\n@njit\ndef f(a, b): return g(a)",
}  # fmt: skip

PICKLED = "b'cnumpy\\ninner\\n.'"
INTO = "    names = {'a': a, 'b': b}\n"

# Names that are made while the code runs: for the notebook's own table, for libraries' lookups.
ROUTES |= {
    "an array's namespace": "def f(a, b): return a.__array_namespace__().inner(a, b)",
    "an array's namespace, kept": "def f(a, b):\n    xp = a.__array_namespace__()\n"
    + "    return xp.linalg.vecdot(a, b)",
    "globals, computed": NP + "def f(a, b): return globals()['pn'[::-1]].inner(a, b)",
    "helper from globals, computed": "def h(a, b): return a @ b\n"
    + "def f(a, b): return globals()[chr(104)](a, b)",
    "globals searched": "def h(a, b): return a @ b\n"
    + "def f(a, b): return [v for k, v in globals().items() if len(k) == 1][0](a, b)",
    "globals copied": "def h(a, b): return a @ b\ndef f(a, b): return dict(globals())['h'](a, b)",
    "globals in a variable": "def h(a, b): return a @ b\n"
    + "g = globals()\ndef f(a, b): return g['h'](a, b)",
    "vars in a variable": "def h(a, b): return a @ b\nd = vars()\ndef f(a, b): return d['h'](a, b)",
    "globals matched": "def h(a, b): return a @ b\ndef f(a, b):\n    match globals():\n"
    + "        case {'h': g}: return g(a, b)",
    "globals unpacked": "def h(a, b): return a @ b\n"
    + "def f(a, b): return (lambda h=0, **_: h(a, b))(**globals())",
    "put under a computed name": NP + "def f(a, b): return 1\nglobals()[chr(102)] = np.inner",
    "put there by update of globals": NP
    + "def f(a, b): return 1\nglobals().update({chr(102): np.inner})",
    "put there by the table's alias": NP
    + "def f(a, b): return 1\ng = globals()\ng |= {'f': np.inner}",
    "put into this module": NP + "import sys\ndef f(a, b): return 1\n"
    + "setattr(sys.modules[__name__], chr(102), np.inner)",
    "put into a frame": NP + "import sys\ndef f(a, b): return 1\n"
    + "sys._getframe().f_globals[chr(102)] = np.inner",
    "put into the shell": NP
    + "def f(a, b): return 1\nget_ipython().user_ns['f'] = np.inner",
    "imported under the function's name": "from numpy import inner as f",
    "imported so in a function": "def s():\n    global f\n    from numpy import inner as f\ns()",
    "bound by match": NP + "def f(a, b): return 1\nmatch np.inner:\n    case f: pass",
    "bound by except": NP + "class E(Exception):\n"
    + "    def __call__(self, a, b): return np.inner(a, b)\n"
    + "try: raise E\nexcept E as e: f = e",
    "getattr handed to map": "def f(a, b): return list(map(getattr, [a], ['dot']))[0](b)",
    "getattr handed to partial": "from functools import partial\n"
    + "def f(a, b): return partial(getattr, a)('dot')(b)",
    "members": "import inspect\ndef f(a, b): return dict(inspect.getmembers(a))['dot'](b)",
    "module of a thing": "import inspect\n"
    + "def f(a, b): return inspect.getmodule(type(a)).inner(a, b)",
    "a hint as text": NP + "import typing\ndef h(x: 'np.inner'): pass\n"
    + "def f(a, b): return typing.get_type_hints(h)['x'](a, b)",
    "a hint evaluated": NP + "import inspect\ndef h(x: 'np.inner'): pass\n"
    + "def f(a, b): return inspect.get_annotations(h, eval_str=True)['x'](a, b)",
    "a formatter": "import string\n"
    + "def f(a, b): return string.Formatter().get_field('0.dot', [a], {})[0](b)",
    "a text that a profiler runs": f"import cProfile\ndef f(a, b):\n{INTO}"
    + "    cProfile.runctx('c = a @ b', names, names)\n    return names['c']",
    "a text that a tracer runs": f"import trace\ndef f(a, b):\n{INTO}"
    + "    trace.Trace().runctx('c = a @ b', names, names)\n    return names['c']",
    "a text that a debugger runs": "import pdb\n"
    + "def f(a, b): return pdb.runeval('a @ b', {}, {'a': a, 'b': b})",
    "a docstring that is run": f"import doctest\ndef f(a, b):\n{INTO}"
    + "    doctest.run_docstring_examples('>>> c = a @ b', names)\n    return names['c']",
    "resolved by logging": "import logging.config as c\n"
    + "def f(a, b): return c.BaseConfigurator({}).resolve('numpy.inner')(a, b)",
    "an entry point": "import importlib.metadata as m\n"
    + "def f(a, b): return m.EntryPoint('x', 'numpy:inner', 'g').load()(a, b)",
    "an unpickler": "import pickle, io\n"
    + f"def f(a, b): return pickle.Unpickler(io.BytesIO({PICKLED})).load()(a, b)",
    "pickle's own library": f"import _pickle\ndef f(a, b): return _pickle.loads({PICKLED})(a, b)",
}  # fmt: skip
if sys.version_info >= (3, 12):
    ROUTES["a type alias"] = NP + "type T = np.inner\ndef f(a, b): return T.__value__(a, b)"
    ROUTES["an alias of that name"] = NP + "type f = np.inner"

# A product by way of something else.
ROUTES |= {
    f"detour by {call.partition('(')[0]}": f"import {library}\ndef f(a, b): return {library}.{call}"
    for library, call in [
        ("numpy", "fft.irfft(numpy.fft.rfft(a) * numpy.fft.rfft(b))"),
        ("numpy", "linalg.norm(a + b)"),
        ("numpy", "linalg.svd(a)"),
        ("numpy", "convolve(a, b)"),
        ("numpy", "correlate(a, b)"),
        ("numpy", "average(a, weights=b)"),
        ("numpy", "trapezoid(a, b)"),
        ("numpy", "polyval(a, b)"),
        ("numpy", "polynomial.Polynomial(a)"),
        ("scipy.signal", "fftconvolve(a, b)"),
        ("scipy.fft", "next_fast_len(3)"),
        ("scipy.sparse", "csr_matrix(a) * b"),
        ("scipy.ndimage", "correlate1d(a, b)"),
        ("scipy.spatial", "distance.cdist(a, b)"),
        ("math", "dist(a, b)"),
        ("statistics", "correlation(a, b)"),
    ]
}


@pytest.mark.parametrize("source", ROUTES.values(), ids=ROUTES.keys())
def test_each_route_is_found(source):
    findings = find({"cell 1": source}, ["f"], ["blas"])
    assert findings
    assert all(f.set == "blas" and f.label == "cell 1" for f in findings)


HONEST = {
    "an exception": NP
    + "def f(a, b):\n    try: return a * b\n"
    + "    except np.linalg.LinAlgError: return a",
    "stars before a definition": "from numpy import *\ndef dot(a, b): return 0\n"
    + "def f(a, b): return dot(a, b)",
    "asking whether a library is there": "import sys\n"
    + "def f(a, b):\n    if 'numba' in sys.modules: return 1\n    return {}.get('x', a)",
    "a scratch cell that shows a product": NP
    + "import matplotlib.pyplot as plt\n"
    + "plt.plot(np.dot(1, 2))\nplt.title = 'x'\nshow(np.dot, np.dot(1, 2))\n"
    + "np.set_printoptions(precision=3)\ndef f(a, b): return a * b",
    "modules used as modules": NP
    + "import math, operator\nla = np.linalg\n"
    + "def f(a, b, dtype=np.float32):\n    xp = np\n    c = xp.zeros(len(a), dtype=dtype)\n"
    + "    if isinstance(a, np.ndarray) and hasattr(np, 'exp'):\n        c[0] = la is None\n"
    + "    return dict(map=list(map(math.exp, c)), add=operator.add, kinds=(np.float32, c))",
    "names kept by global and nonlocal": NP
    + "n = 0\ndef f(a, b):\n    global n\n    n = n + 1\n    best = a\n    def keep(c):\n"
    + "        nonlocal best\n        best = c\n    keep(np.abs(b))\n    return best",
    "loops": NP
    + "def f(a, b):\n    c = np.zeros((len(a), b.shape[1]), a.dtype)\n"
    + "    for i in range(len(a)):\n        c[i, 0] = float(a[i, 0]) * 2\n    return c",
    "own function of that name": "def dot(a, b):\n    return sum(x * y for x, y in zip(a, b))\n"
    + "def f(a, b): return dot(a, b)",
    "strings and comments": 'def f(a, b):\n    """Uses no np.dot(a, b)."""\n'
    + "    # not a @ b either\n    raise ValueError('use a @ b or np.dot')",
    "a scratch cell": NP
    + "def check(a, b): return a @ b\ncheck(np.eye(2), np.eye(2))\n"
    + "def f(a, b): return 1",
    "parameter of that name": "def f(a, b, dot=None): return dot",
    "parameter hides an import": "from numpy import dot\ndef f(a, b, dot=None): return dot",
    "local of that name": "def f(a, b):\n    inner, outer = 3, 2\n    return inner * outer",
    "loop variable of that name": "def f(a, b):\n    return [inner for inner in a]",
    "keyword of that name": "def g(dot=1): return dot\ndef f(a, b): return g(dot=2)",
    "attribute that is set": "class S: pass\ndef f(a, b):\n    s = S()\n    s.dot = 1",
    "own method": "class K:\n    def dot(self, b): return 1\n"
    + "    def go(self, b): return self.dot(b)\ndef f(a, b): return K().go(b)",
    "own instance": "class K:\n    def dot(self, b): return 1\n"
    + "def f(a, b):\n    k = K()\n    return k.dot(b)",
    "own instance at once": "class K:\n    def dot(self, b): return 1\n"
    + "def f(a, b): return K().dot(b)",
    "own attribute": "class K:\n    def __init__(self): self.dot = 2\n"
    + "    def go(self): return self.dot\ndef f(a, b): return K().go()",
    "decorator sign": "import functools\n@functools.cache\ndef h(x): return x\n"
    + "def f(a, b): return h(a)",
    "re.compile": "import re\ndef f(a, b): return re.compile('x')",
    "built-in sum": "def f(a, b): return sum(x * y for x, y in zip(a, b))",
    "getattr of a plain name": "def f(a, b): return getattr(a, 'shape')",
    "getattr of an object": "def f(a, b, name='x'): return getattr(a, name, None)",
    "recursion": "def f(a, b): return f(a, b) if a else g(a, b)\ndef g(a, b): return f(a, b)",
    "a name made from itself": "def f(a, b):\n    a = a.T.ravel().reshape(2, 3)\n    return a + b",
    "a cell that does not parse": "def f(a, b: return a @ b",
    "harmless texts in a scratch cell": "exec('x = 1')\neval('1 + 1')\ndef f(a, b): return x",
    "timing a function": "import timeit\ndef f(a, b): return 1\n"
    + "timeit.timeit(lambda: f(1, 2), number=3)\ntimeit.repeat(f)",
    "methods of those names": "class Stack:\n    def push(self, x): self.x = x\n"
    + "    def ex(self): return 1\ns = Stack()\ns.push(3)\ns.ex()\ndef f(a, b): return 1",
    "files and libraries": NP
    + "import json, math\njson.dump([1], open('x.json', 'w'))\n"
    + "def f(a, b): return math.pi + np.pi",
    "a library that is not there": "try:\n    import no_such_progress_bar as bar\n"
    + "except ImportError:\n    bar = list\ndef f(a, b): return bar(a)",
    "setattr of an object": NP
    + "class K: pass\nk = K()\nsetattr(k, 'g', np.exp)\ndef f(a, b): return k.g(a)",
    "facts about the code": "def f(a, b):\n"
    + "    return f.__code__.co_argcount, f.__code__.co_name, f.__code__.co_filename",
    "code looked at in a scratch cell": "import dis\ndef f(a, b): return 1\n"
    + "dis.dis(f.__code__)\nprint(f.__code__)",
    "an address of an array's data": NP
    + "base = np.zeros(3)\ndef f(a, b): return a.ctypes.data % 64, base.ctypes.data",
    "the CPU's name": "import llvmlite.binding as ll\n"
    + "cpu = ll.get_host_cpu_name()\ndef f(a, b): return cpu",
    "an overload with loops": NUMBA
    + "from numba.extending import overload\ndef g(a, b): return 1\n@overload(g)\n"
    + "def _(a, b): return lambda a, b: a[0] * b[0]\n@njit\ndef f(a, b): return g(a, b)",
    "an instruction of LLVM": NUMBA
    + "from llvmlite import ir\nfrom numba.core import cgutils\nname = 'llvm.fma'\n"
    + "@intrinsic\ndef g(typingctx, a):\n    def made(context, builder, signature, args):\n"
    + "        one = builder.module.declare_intrinsic(name, (ir.FloatType(),))\n"
    + "        shape = ir.FunctionType(ir.FloatType(), [])\n"
    + "        two = cgutils.get_or_insert_function(builder.module, shape, 'llvm.sqrt.f32')\n"
    + "        return builder.call(one, args)\n    return types.void(a), made\n"
    + "@njit\ndef f(a, b): return g(a)",
}


HONEST |= {
    "asking for a name": "def f(a, b):\n    if 'numba' in globals(): return a\n"
    + "    return globals().get('flag', b)",
    "names of a function in a text": "def f(a, b):\n    n = 3\n    print(locals())\n"
    + "    return '{n}'.format(**locals())",
    "names looked at in a scratch cell": NP
    + "def f(a, b): return 1\nfor k, v in list(globals().items()): print(k, np.dot(1, 2))\n"
    + "for i in range(3): globals()[f'x{i}'] = 2 * i\ntotal = np.zeros(3)\ntotal += 1",
    "shapes and types matched": NP
    + "def f(a, b):\n    match a.shape:\n        case (m, n): return np.zeros((m, n))\n"
    + "        case [m, *rest]: return rest\n        case {'x': y, **more}: return more\n"
    + "        case other: return other",
    "errors by a name": NP
    + "def f(a, b):\n    try: return a * b\n"
    + "    except (np.linalg.LinAlgError, ValueError) as e: raise TypeError(e.args) from e",
    "loops of an array's namespace": "def f(a, b):\n    xp = a.__array_namespace__()\n"
    + "    return xp.exp(a) + xp.zeros(3)",
    "a signature": "import inspect\ndef g(x): pass\n"
    + "def f(a, b): return len(inspect.signature(g).parameters)",
    "tests of one's own": NP
    + "import cProfile, doctest, unittest\ndef f(a, b): return a * b\n"
    + "class T(unittest.TestCase):\n"
    + "    def test(self): self.assertEqual(f(1, 2), np.dot(1, 2))\n"
    + "unittest.main(exit=False)\ndoctest.testmod()\ncProfile.run('f(1, 2)')",
    "attributes by a table": "class K:\n    def __init__(self, **k): self.__dict__.update(k)\n"
    + "def f(a, b): return vars(K(a=a))['a'], K(b=b).__dict__.get('b')",
    "imported under a name of one's own": "from math import exp as f",
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST.keys())
def test_honest_code_is_left_alone(source):
    assert find({"cell 1": source}, ["f"], ["blas"]) == []


@pytest.mark.parametrize(
    "body",
    [
        "globals()['_'.join(['g', 'spec'])](a, b)",
        "[v for k, v in globals().items() if k.endswith('spec')][0](a, b)",
        "typing.get_type_hints(h)['x'](a, b)",
        "inspect.getmodule(f).g_spec(a, b)",
    ],
)
def test_the_specification_under_a_name_that_is_made(body):
    cells = {
        "given": "import inspect, typing\ndef g_spec(a, b): return 1",
        "own": f"def h(x: 'g_spec'): pass\ndef f(a, b):\n    return {body}",
    }
    assert [(x.label, x.line) for x in find(cells, ["f"], ["spec"], given=["given"])] == [
        ("own", 3)
    ]


def test_a_function_that_is_imported_has_the_line_of_its_import():
    (finding,) = find({"own": "import math\nfrom numpy import dot as f"}, ["f"], ["blas"])
    assert finding.line == 2


def test_a_finding_names_cell_line_and_route():
    cells = {
        "cell 3 (helper)": "import numpy as q\n\n\ndef h(a, b):\n    return q.dot(a, b)\n",
        "cell 5 (f)": "def f(a, b):\n    return h(a, b)\n",
    }
    (finding,) = find(cells, ["f"], ["blas"])
    assert finding == Finding("cell 3 (helper)", 5, "q.dot", "blas", ("f", "h"))
    assert str(finding) == "cell 3 (helper), line 5: q.dot (forbid: blas)"


def test_an_alias_is_shown_with_what_it_is():
    (finding,) = find({"c": "from numpy import dot as d\ndef f(a): return d(a, a)"}, "f", ["blas"])
    assert finding.route == "d (that is numpy.dot)"


def test_a_definition_that_was_replaced_before_is_dead():
    cells = {
        "1": "def h(a, b): return a @ b\ndef f(a, b): return a @ b",
        "2": "def h(a, b): return 0",
        "3": "def f(a, b): return h(a, b)",
    }
    assert find(cells, ["f"], ["blas"]) == []


@pytest.mark.parametrize("start", ["1", None])
def test_a_later_harmless_twin_hides_nothing(start):
    cells = {
        "1": "def h(a, b): return a @ b\ndef f(a, b): return h(a, b)",
        "2": "def h(a, b): return 0",
    }
    assert [f.label for f in find(cells, ["f"], ["blas"], start=start)] == ["1"]


def test_a_later_definition_of_the_function_counts_from_its_own_cell_on():
    cells = {"1": "def f(a, b): return 0", "2": "def f(a, b): return a @ b"}
    assert [f.label for f in find(cells, ["f"], ["blas"], start="1")] == ["2"]


def test_a_helper_kept_under_another_name_before_it_was_replaced():
    cells = {
        "1": "def h(a, b): return a @ b\ng = h",
        "2": "def h(a, b): return 0\ndef f(a, b): return g(a, b)",
    }
    assert [f.label for f in find(cells, ["f"], ["blas"])] == ["1"]


SUMS = {
    "np.sum": NP + "def f(x): return np.sum(x)",
    "method": "def f(x): return x.sum()",
    "mean": "def f(x): return x.mean(axis=0)",
    "reduce": NP + "def f(x): return np.add.reduce(x)",
    "fsum": "import math\ndef f(x): return math.fsum(x)",
    "cumsum": NP + "def f(x): return np.cumsum(x)[-1]",
}


@pytest.mark.parametrize("source", SUMS.values(), ids=SUMS.keys())
def test_sums_are_a_set_of_their_own(source):
    assert find({"c": source}, ["f"], ["sum"])
    assert find({"c": source}, ["f"], ["blas"]) == []


@pytest.mark.parametrize(
    "body",
    [
        "np.cumsum(x)",
        "np.add.accumulate(x)",
        "x.cumsum()",
        "list(accumulate(x))",
        "np.nancumsum(x)",
    ],
)
def test_running_sums(body):
    source = f"{NP}from itertools import accumulate\ndef f(x): return {body}"
    assert find({"c": source}, ["f"], ["scan"])


def test_reductions():
    for body in ("np.max(x)", "x.min()", "np.maximum.reduce(x)", "np.any(x)"):
        assert find({"c": f"{NP}def f(x): return {body}"}, ["f"], ["reductions"]), body
    assert find({"c": "def f(x): return max(x)"}, ["f"], ["reductions"]) == []


@pytest.mark.parametrize(
    "body", ["relu_spec(x)", "h(x)", "globals()['relu_spec'](x)", "list(map(relu_spec, [x]))[0]"]
)
def test_the_specification_is_no_solution(body):
    cells = {
        "given": "def relu_spec(x):\n    return x",
        "helper": "h = relu_spec",
        "solution": f"def relu(x):\n    return {body}",
    }
    (finding, *_) = find(cells, ["relu"], ["spec"])
    assert finding.label in ("helper", "solution")
    assert find(cells, ["relu"], ["blas"]) == []


def test_the_exercises_own_cell_is_named_first():
    cells = {"1": "def h(a): return a @ a", "2": "def g(a): return a @ a"}
    cells["3"] = "def f(a): return h(a) @ g(a)"
    assert [f.label for f in find(cells, ["f"], ["blas"])] == ["3", "1", "2"]


def test_a_name_that_only_looks_like_a_specification():
    source = "def f(x, low_spec=1):\n    high_spec = 2\n    return low_spec + high_spec"
    assert find({"c": source}, ["f"], ["spec"]) == []


def test_several_sets():
    source = NP + "def f(a, b):\n    c = a @ b\n    return c.sum()"
    assert [(f.set, f.line) for f in find({"c": source}, ["f"], ["blas", "sum"])] == [
        ("blas", 3),
        ("sum", 4),
    ]


def test_an_unknown_set_is_named():
    with pytest.raises(ValueError, match="no forbid set is called 'blass'"):
        find({}, [], ["blass"])


def test_every_set_says_what_it_is_and_what_to_do():
    for name, forbidden in SETS.items():
        assert forbidden.what and forbidden.advice, name


def test_deep_nesting_ends():
    source = "def f(a):\n    return " + "(" * 80 + "a @ a" + ")" * 80
    assert find({"c": source}, ["f"], ["blas"])
    chain = (
        "".join(f"def f{i}(a): return f{i + 1}(a)\n" for i in range(400))
        + "def f400(a): return a @ a"
    )
    assert find({"c": chain}, ["f0"], ["blas"])


def test_many_cells_that_use_each_other_are_read_once():
    names = [f"v{i}" for i in range(40)]
    # Every name may be any of the others: 40 to the power of 40 ways, and one answer.
    begin = " = ".join(names) + " = 0\n"  # none is what it was in the cell before
    cell = begin + "\n".join(f"{a} = {b}" for a in names for b in names)
    cells = {str(i): cell for i in range(20)} | {"end": "def f(x): return v7.inner(x, x)"}
    started = time.process_time()
    assert find(cells, ["f"], ["blas"]) == []
    assert time.process_time() - started < 20
