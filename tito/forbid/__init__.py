"""Forbidden routes: "no @ here", checked on the syntax tree.

A set such as `blas` names every way to one library routine. `find` looks at the functions an
exercise asks for and at everything they reach: helpers, classes and variables of any cell, by
whatever name. The rules:

- Code that no root reaches is nobody's business: a scratch cell may use `@`.
- A mention counts, called or not: `map(np.dot, ...)`, `partial(np.dot, a)`, `f = np.dot`.
- Names are resolved: `import numpy as q`, `from numpy import dot as d`, `la = np.linalg`,
  `getattr(np, "dot")`, `np.__dict__["dot"]`, `sys.modules["numpy"]`, `importlib.import_module`.
  A parameter or a local variable hides the global name; the student's own function `dot` is
  followed like any helper and is no route by its name.
- `x.dot` on anything that is not a known module is the array method. It is not when `x` is
  `self` or an instance of a class of the notebook that defines `dot` and has no base class (but
  NamedTuple), or a SimpleNamespace(dot=...).
- What cannot be read counts where it can only hide something: `getattr(np, name)` with a computed
  name, `eval`, `exec`, `compile`, `pickle.loads`, `ctypes`; the code of a function that is
  exchanged, `f.__code__ = ...`; a function that compiled code finds by its name or address,
  `ExternalFunction("sgemm", ...)`; and a module that is handed on as a value, to a function or an
  attribute: `g(np)`, `self.m = np`.
- What is called by no name, `ops[0](a, b)`, `next(it)(a, b)`, `helper.fn(a, b)`, may be any
  function that a cell stores: `ops.append(np.dot)`, `helper.fn = np.dot`. One that is merely
  called, or that a bench names in a list, is stored nowhere.
- Words in strings and comments, keyword arguments and attributes being assigned are no mentions.

A cell that answers nothing and may bind anything (`unreadable`: `exec(text)`) is for whoever runs
it: grading leaves it out.

A definition that was surely replaced up to the exercise's own cell is dead; from that cell on every
definition counts, so that a later harmless twin hides nothing.
"""

from __future__ import annotations

from .cells import replaces
from .findings import Finding
from .package import read_package
from .search import find, unreadable
from .sets import SETS, ForbidSet
from .source import parsed, python_source, reading, tree_of
from .specifications import specifications

__all__ = [
    "SETS",
    "Finding",
    "ForbidSet",
    "find",
    "parsed",
    "python_source",
    "read_package",
    "reading",
    "replaces",
    "specifications",
    "tree_of",
    "unreadable",
]
