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
  `self` or an instance of a class of the notebook that defines `dot` and has no base class.
- What cannot be read counts where it can only hide something: `getattr(np, name)` with a computed
  name, `eval`, `exec`, `compile`, `pickle.loads`, `ctypes`; and a module that is handed on as a
  value, to a function or an attribute: `g(np)`, `self.m = np`.
- Words in strings and comments, keyword arguments and attributes being assigned are no mentions.

A definition that was replaced before the exercise's own cell is dead; from that cell on every
definition counts, so that a later harmless twin hides nothing.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any


@dataclass(frozen=True)
class ForbidSet:
    """The routes to one thing that an exercise wants written by hand.

    what      : what is forbidden, for people
    advice    : what to do instead
    operators : syntax-tree names of binary operators
    functions : library -> names; any module of the library counts (numpy.linalg.matmul)
    methods   : names of array methods
    suffix    : how the notebook's own names end that are forbidden: "_spec"
    """

    what: str
    advice: str
    functions: Mapping[str, frozenset[str]]
    methods: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    suffix: str | None = None


@dataclass(frozen=True, order=True)
class Finding:
    """One forbidden route: where it stands and how it is written.

    via : the functions through which it is reached, from the root on
    """

    label: str
    line: int
    route: str
    set: str
    via: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.label}, line {self.line}: {self.route} (forbid: {self.set})"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PRODUCTS = _names(
    "dot matmul einsum einsum_path tensordot inner outer vdot vecdot matvec vecmat multi_dot"
    " matrix_power convolve correlate kron innerproduct outerproduct c_einsum"
    # Ways to a product that carry another name: M * M of matrices, inv and solve, a covariance.
    " matrix asmatrix bmat mat cov corrcoef polymul poly1d inv pinv solve lstsq"
    " tensorinv tensorsolve get_blas_funcs"
)
_TENSOR_PRODUCTS = _PRODUCTS | _names("mm bmm mv addmm addmv addbmm baddbmm linear")
_GEMM = frozenset(
    p + name for p in "sd" for name in _names("gemm gemv dot symm symv trmm ger syrk")
)
_SUMS = _names(
    "sum nansum mean nanmean average reduce reduceat trace var std cumsum cumulative_sum"
)
_MAXIMA = _names("max min amax amin argmax argmin nanmax nanmin prod ptp any all norm")
_SCANS = _names("cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod")
_ACCUMULATE = frozenset({"accumulate"})
_TENSOR_LIBRARIES = ("torch", "jax", "tensorflow", "cupy")
# In these a function is also reached as a method of the array class: numpy.ndarray.dot.
_ARRAY_LIBRARIES = ("numpy", *_TENSOR_LIBRARIES)


def _libraries(numpy: frozenset[str], **others: frozenset[str]) -> dict[str, frozenset[str]]:
    """The same names for NumPy and for the libraries that copy its names."""
    return {"numpy": numpy, "scipy": numpy} | dict.fromkeys(_TENSOR_LIBRARIES, numpy) | others


SETS: dict[str, ForbidSet] = {
    "blas": ForbidSet(
        what="a library's matrix product",
        advice="write the sum over the inner index yourself",
        operators=frozenset({"MatMult"}),
        functions={
            "numpy": _PRODUCTS,
            "scipy": _PRODUCTS | _GEMM,
            "math": frozenset({"sumprod"}),
            "operator": frozenset({"matmul", "imatmul", "__matmul__", "__imatmul__"}),
            **dict.fromkeys(_TENSOR_LIBRARIES, _TENSOR_PRODUCTS),
        },
        # Only dot and the dunders are methods of an array; the others name NumPy's functions
        # beyond doubt, also where the module behind them cannot be resolved.
        methods=_names(
            "dot __matmul__ __rmatmul__ __imatmul__ matmul einsum tensordot vdot multi_dot"
        ),
    ),
    "sum": ForbidSet(
        what="a library's sum",
        advice="add the terms up in a loop of your own",
        functions=_libraries(_SUMS, math=frozenset({"fsum", "sumprod"})),
        methods=_names("sum mean trace var std cumsum"),
    ),
    "reductions": ForbidSet(
        what="a library's reduction",
        advice="write the loop over the elements yourself",
        functions=_libraries(_SUMS | _MAXIMA, math=frozenset({"fsum", "sumprod"})),
        methods=_names("sum mean trace var std cumsum max min argmax argmin prod ptp any all"),
    ),
    "scan": ForbidSet(
        what="a library's running sum",
        advice="keep the running total yourself",
        functions=_libraries(_SCANS | _ACCUMULATE, itertools=_ACCUMULATE, pandas=_SCANS),
        methods=_SCANS | _ACCUMULATE,
    ),
    "spec": ForbidSet(
        what="the specification that your function is tested against",
        advice="write the kernel yourself",
        functions={},
        suffix="_spec",
    ),
}

# Ways to run code that a syntax tree does not show.
_UNREADABLE = {
    *("builtins.eval", "builtins.exec", "builtins.compile", "IPython.get_ipython"),
    *("pkgutil.resolve_name", "pydoc.locate", "pydoc.resolve", "inspect.getattr_static"),
    *("pickle.load", "pickle.loads", "marshal.load", "marshal.loads", "types.FunctionType"),
    *("types.CodeType", "types.LambdaType", "timeit.timeit", "timeit.repeat", "timeit.Timer"),
    *("gc.get_objects", "gc.get_referrers", "pandas.eval", "cProfile.run", "profile.run"),
}
_UNREADABLE_LIBRARIES = ("ctypes", "cffi", "_ctypes", "__main__", "numexpr", "runpy", "code")
_UNREADABLE_METHODS = _names(
    "__getattribute__ __getattr__ __globals__ f_globals f_locals f_builtins user_ns"
)
# Calls that run a text, with the place of the text; what it defines belongs to the cell.
_RUNNING = {
    "exec": 0, "eval": 0, "run_cell": 0, "run_cell_async": 0, "ex": 0, "ev": 0, "runsource": 0,
    "runcode": 0, "push": 0, "run_cell_magic": 2, "run_code": 0, "timeit": 0, "repeat": 0,
    "Timer": 0,
}  # fmt: skip
_TIMING = ("timeit", "repeat", "Timer")
# Calls that can leave a file behind, which may be a module.
_WRITING = _names("open write_text write_bytes copy copyfile move savetxt tofile fdopen")
# Parts of a library that have routes of their own in them.
_PARTS = _names("linalg core _core multiarray umath ma lib matlib blas sparse functional")
# Where a module as a value is followed, or told nothing.
_ASKING = {f"builtins.{name}" for name in ("getattr", "vars", "hasattr", "dir", "id", "print")}
_GETTERS = {"operator.attrgetter", "operator.methodcaller"}
# Cell magics whose body is Python that runs in the notebook's own namespace.
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun", "memit", "mprun")
_MAGIC_LINE = re.compile(r"^(\s*)(?:[%!?]|.*\?\s*$)")


def find(
    sources: Mapping[str, str],
    roots: Iterable[str],
    sets: Iterable[str],
    start: str | None = None,
    specs: Iterable[str] = (),
) -> list[Finding]:
    """The forbidden routes that the functions named in `roots` reach.

    Those in the exercise's own cell come first, then the others in the order of the cells.

    sources : label -> source of the code cells that ran before the exercise's last test, in order;
              given cells as well, for a given helper may hold the route
    roots   : the names that the exercise's solution cell defines in the master
    sets    : keys of SETS; an unknown one is a ValueError
    start   : label of the exercise's cell; the last cell that defines a root if not given
    specs   : names that the set "spec" forbids beside those with its suffix

    >>> find({"cell 1": "def f(a, b):\\n    return a @ b"}, ["f"], ["blas"])
    [Finding(label='cell 1', line=2, route='a @ b', set='blas', via=('f',))]
    """
    sets = list(sets)
    unknown = [name for name in sets if name not in SETS]
    if unknown:
        raise ValueError(f"no forbid set is called {unknown[0]!r}; there are {', '.join(SETS)}")
    cells = [_read(label, source) for label, source in sources.items()]
    search = _Search(cells, sets, _start_index(cells, set(roots), start), frozenset(specs))
    search.run(roots)
    found = [*search.findings.values(), *_unreadable_cells(cells, sets)]
    order = {cell.label: i for i, cell in enumerate(cells)}
    home = cells[search.start].label if cells else None
    return sorted(found, key=lambda f: (f.label != home, order[f.label], f.line, f.route))


def specifications(
    tests: Iterable[str], given: Iterable[str], reference: str = ""
) -> frozenset[str]:
    """Given functions that tests take their expected values from, whatever they are called.

    tests     : sources of the exercise's test cells
    given     : sources of the given cells
    reference : the master's solution: what it uses, a student may use too

    >>> given = "def slow(x): return x"
    >>> specifications(["want = slow(x); expect_close(f(x), want)"], [given])
    frozenset({'slow'})
    """
    bodies = {
        node.name: node
        for source in given
        for node in _parsed(source).body
        if isinstance(node, _FUNCTIONS)
    }
    found: set[str] = set()
    for test in tests:
        tree = _parsed(test)
        assigned = dict(_bindings(tree.body))
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and _last_name(call.func) in _COMPARING:
                found |= _makers_of(_want(call), assigned, bodies.keys())
    return frozenset(found - _reached(_parsed(reference), bodies))


_COMPARING = ("expect_close", "expect_equal")


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(python_source(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _want(check: ast.Call) -> ast.expr | None:
    """The expected value in expect_close(got, want)."""
    named = [k.value for k in check.keywords if k.arg == "want"]
    return named[0] if named else check.args[1] if len(check.args) > 1 else None


# Calls that only put a specification's result into another form.
_CONVERTING = _names("array asarray ascontiguousarray asfortranarray stack float int list tuple")


def _makers_of(value: Any, assigned: Mapping[str, Any], functions: Iterable[str]) -> set[str]:
    """The given functions that make an expected value, not those that make their arguments."""
    if isinstance(value, ast.Name):
        value = assigned.get(value.id)
    found: set[str] = set()
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in functions:
                found.add(node.func.id)
            elif _last_name(node.func) in _CONVERTING:
                waiting += node.args[:1]
            elif isinstance(node.func, ast.Attribute):
                waiting.append(node.func.value)  # spec(x).astype("f4")
        elif isinstance(node, (*_COMPREHENSIONS, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Subscript)):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node, (ast.Tuple, ast.List)):
            waiting += node.elts
    return found


def _reached(tree: ast.Module, bodies: Mapping[str, ast.AST]) -> set[str]:
    """Given functions that some code names, or that those name in their turn."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        names = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)}
        new = (names & bodies.keys()) - found
        found |= new
        waiting += [bodies[name] for name in new]
    return found


def _unreadable_cells(cells: list[_Cell], sets: list[str]) -> Iterator[Finding]:
    """Code that Python can run and `ast` cannot show is only written to hide something."""
    for cell in cells:
        if cell.too_deep and sets:
            yield Finding(cell.label, 1, "a cell nested too deeply to be read", sets[0])
        for call in cell.texts if sets else ():
            route = f"{_shown(call, '')}, a text that cannot be read"
            yield Finding(cell.label, call.lineno, route, sets[0])


def python_source(source: str) -> str:
    """A cell with its magics and `!` lines blanked, so that it parses; line numbers stay."""
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        magic = lines[first][2:].split(maxsplit=1)
        if not magic or magic[0] not in _PYTHON_MAGICS:
            return ""
        lines[first] = ""
    try:
        ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = [_without_magic(line) for line in lines]
    return "\n".join(lines)


def _without_magic(line: str) -> str:
    match = _MAGIC_LINE.match(line)
    return f"{match.group(1)}pass" if match else line


@dataclass
class _Cell:
    """What one cell binds at its top level.

    texts  : calls that run a text which cannot be read here
    writes : it may leave a file behind
    """

    label: str
    defined: dict[str, list[ast.AST]] = field(default_factory=dict)
    changed: dict[str, list[ast.AST]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    texts: list[ast.Call] = field(default_factory=list)
    writes: bool = False
    too_deep: bool = False

    @classmethod
    def read(cls, label: str, source: str) -> _Cell:
        cell = cls(label)
        try:
            tree = ast.parse(python_source(source))
        except (SyntaxError, ValueError):
            return cell  # a cell that does not parse has defined nothing
        except (RecursionError, MemoryError):
            cell.too_deep = True
            return cell
        run, cell.texts = _run_texts(tree)
        body = [*tree.body, *run]
        for name, node in [*_bindings(body), *_bound_from_inside(tree, ast.Global)]:
            cell.defined.setdefault(name, []).append(node)
        cell.writes = any(_called(n) in _WRITING for n in ast.walk(tree))
        for name, node in _changes(body):
            cell.changed.setdefault(name, []).append(node)
        cell.stars = [
            node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
        ]
        return cell


def _called(node: ast.AST) -> str | None:
    """The last part of the name that a call goes by."""
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "id", getattr(func, "attr", None))


def _run_texts(tree: ast.Module) -> tuple[list[ast.stmt], list[ast.Call]]:
    """(statements of the texts that a cell runs, calls whose text cannot be read).

    `exec` can bind any name, wherever it stands and whoever calls it; so what it runs has to be
    read, or counts as hiding something.
    """
    found: list[ast.stmt] = []
    unread: list[ast.Call] = []
    for call in ast.walk(tree):
        if _called(call) in _TIMING and call.args and _constant_text(call.args[0]) is None:
            continue  # a function, as nearly always
        place = _RUNNING.get(_called(call) or "")
        # A method called `push` or `ev` may be anybody's: only what is certainly ours counts.
        if place is None or not _runs_text(call):
            continue
        text = _constant_text(call.args[place]) if len(call.args) > place else None
        try:
            found += ast.parse(text).body if text is not None else []
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            text = None
        if text is None:
            unread.append(call)
    return found, unread


def _runs_text(call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id in ("exec", "eval")
    return _called(call) not in ("exec", "eval", "push", "ev", "ex") or _is_shell(call.func.value)


def _is_shell(node: ast.expr) -> bool:
    name = _called(node) or getattr(node, "id", "")
    return name in ("get_ipython", "ip", "shell", "ipython") or name.endswith("Interpreter")


def _constant_text(node: ast.expr) -> str | None:
    """The text of a constant, of constants that are added up, or what `compile` is given."""
    if _called(node) == "compile" and node.args:
        node = node.args[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_constant_text(node.left), _constant_text(node.right)]
        return "".join(parts) if None not in parts else None
    return node.value if isinstance(node, ast.Constant) and type(node.value) is str else None


@lru_cache(maxsize=256)
def _read(label: str, source: str) -> _Cell:
    """A cell read once; a search changes nothing in it."""
    return _Cell.read(label, source)


def _start_index(cells: list[_Cell], roots: set[str], start: str | None) -> int:
    """The index of the exercise's cell."""
    if start is not None:
        return [cell.label for cell in cells].index(start)
    defining = [i for i, cell in enumerate(cells) if roots & cell.defined.keys()]
    return max(defining, default=0)


@dataclass(frozen=True)
class _Import:
    """A name that stands for a library's module or function."""

    path: str


def _bindings(body: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST | _Import]]:
    """Every (name, what it is bound to) of a scope; nested functions keep theirs to themselves.

    Walks with a stack of its own, like all of this file: an expression may be nested deeper than
    Python's recursion goes, and must not escape by that.
    """
    stack = list(body)[::-1]
    while stack:
        node = stack.pop()
        yield from _bound_by(node)
        if not isinstance(node, _OWN_NAMES):
            stack += list(ast.iter_child_nodes(node))[::-1]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN_NAMES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, ast.AST | _Import]]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name, node
    elif isinstance(node, ast.Import):
        yield from _import_bindings(node)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, _Import(f"{node.module or ''}.{alias.name}")
    elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        yield from _assigned(node)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        yield from ((name, node.iter) for name in _target_names(node.target))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((n, node.context_expr) for n in _target_names(node.optional_vars))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, ast.Constant(None)
    elif isinstance(node, ast.Call) and _is_table(getattr(node.func, "value", None)):
        yield from ((k.arg, k.value) for k in node.keywords if k.arg)  # globals().update(m=np)
    elif _called(node) == "setattr" and len(node.args) == 3:
        name = _constant_text(node.args[1])  # of a module, it may be this one or builtins
        yield from [(name, node.args[2])] if name else []


def _changes(body: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """What is put into an object that has a name: ops["m"] = np.dot, K.m = ..., ops.append(...)."""
    for node in (part for statement in body for part in ast.walk(statement)):
        if isinstance(node, ast.Assign):
            targets, values = node.targets, [node.value]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            targets, values = [node.value.func], node.value.args
            if getattr(node.value.func, "id", "") == "setattr" and len(values) == 3:
                targets, values = [ast.Attribute(values[0], "")], values[2:]
            elif _called(node.value) == "exec" and len(values) > 1:  # exec(text, names)
                targets = [ast.Attribute(names, "") for names in values[1:]]
                values = _run_texts(ast.Module([node], []))[0]
        else:
            continue
        for target in targets:
            if isinstance(target, (ast.Subscript, ast.Attribute)):
                yield from ((name, value) for name in _base_names(target) for value in values)


def _base_names(node: ast.AST) -> list[str]:
    """The name that x.y[0].z begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return [node.id] if isinstance(node, ast.Name) else []


def _import_bindings(node: ast.Import) -> Iterator[tuple[str, _Import]]:
    for alias in node.names:
        if alias.asname:
            yield alias.asname, _Import(alias.name)
        else:
            top = alias.name.split(".")[0]
            yield top, _Import(top)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Subscript) and _is_table(target.value):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if isinstance(key, str):
                yield key, node.value  # globals()["m"] = np
        pairs = [(target, node.value)]
        both = (ast.Tuple, ast.List)
        unpacked = isinstance(target, both) and isinstance(node.value, both)
        if unpacked and len(target.elts) == len(node.value.elts):
            pairs = list(zip(target.elts, node.value.elts))
        for part, value in pairs:
            if isinstance(part, ast.Attribute) and _base_names(part) in _EVERYWHERE:
                yield part.attr, value
            for name in _target_names(part):
                yield name, value if value is not None else ast.Constant(None)


# What is put into these is found under its name alone.
_EVERYWHERE = (["builtins"], ["__builtins__"], ["__main__"])


def _is_table(node: ast.AST | None) -> bool:
    """globals() and its kin."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name in ("globals", "locals", "vars")


def _target_names(target: ast.AST) -> list[str]:
    return [
        node.id
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


@dataclass(frozen=True)
class _Scope:
    """Where a piece of code stands.

    cell  : its cell
    at    : the cell from which on global names are looked up: its own for what runs at once, the
            exercise's for the body of a function, which runs when the exercise is tested
    local : the names of the functions around it
    owner, self_name : the class around a method, and what the method calls its object
    """

    cell: int
    at: int
    local: Mapping[str, list[ast.AST | _Import]]
    owner: ast.ClassDef | None = None
    self_name: str | None = None

    def inside(self, node: ast.AST) -> _Scope:
        """The scope of a function's, lambda's or comprehension's body."""
        return replace(self, local={**self.local, **_own_names(node)})


_PARAMETER = ast.Constant(None)


@lru_cache(maxsize=1024)
def _own_names(node: ast.AST) -> dict[str, list[ast.AST | _Import]]:
    """What the names are that a function, lambda or comprehension has for itself."""
    names: dict[str, list[ast.AST | _Import]] = {}
    arguments = getattr(node, "args", None)
    if isinstance(arguments, ast.arguments):
        for argument in _arguments(arguments):
            names.setdefault(argument, []).append(_PARAMETER)
    if isinstance(node, _FUNCTIONS):
        declared = _declared(node, (ast.Global, ast.Nonlocal))
        for name, bound in _bindings(node.body):
            if name not in declared:
                names.setdefault(name, []).append(bound)
        for name, bound in _bound_from_inside(node, ast.Nonlocal):
            names.setdefault(name, []).append(bound)
    for generator in getattr(node, "generators", ()):
        for name in _target_names(generator.target):
            names.setdefault(name, []).append(_PARAMETER)
    return names


def _arguments(arguments: ast.arguments) -> list[str]:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in every]


def _declared(function: ast.AST, kinds: Any) -> set[str]:
    """Names that a function declares global or nonlocal; not those of functions inside it."""
    found: set[str] = set()
    stack = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            found |= set(node.names)
        if not isinstance(node, _OWN_NAMES):
            stack += ast.iter_child_nodes(node)
    return found


def _bound_from_inside(tree: ast.AST, kind: Any) -> Iterator[tuple[str, ast.AST | _Import]]:
    """What functions inside bind in the scope around them: by `global m`, by `nonlocal m`."""
    for inner in ast.walk(tree):
        if inner is not tree and isinstance(inner, _FUNCTIONS):
            names = _declared(inner, kind)
            yield from (pair for pair in _bindings(inner.body) if pair[0] in names)


def _cells_by_name(tables: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """For each name the indices of the cells whose table has it, in order."""
    cells: dict[str, list[int]] = {}
    for index, table in enumerate(tables):
        for name in table:
            cells.setdefault(name, []).append(index)
    return cells


@dataclass
class _Paths:
    """The library paths that a name may stand for, as far as they are known."""

    table: Any
    paths: set[str] = field(default_factory=set)
    settled: bool = False
    changed: bool = False

    def add(self, paths: Iterable[str]) -> None:
        before = len(self.paths)
        self.paths |= set(paths)
        self.changed = self.changed or len(self.paths) > before

    def take_change(self) -> bool:
        changed, self.changed = self.changed, False
        return changed


class _Search:
    """One walk from the roots through everything they reach."""

    def __init__(
        self, cells: list[_Cell], sets: list[str], start: int, specs: frozenset[str] = frozenset()
    ) -> None:
        self.specs = specs
        self.cells = cells
        self.sets = sets
        self.start = start
        self.findings: dict[tuple, Finding] = {}
        self._followed: set[int] = set()
        self._waiting: list[tuple[ast.AST, _Scope, tuple[str, ...]]] = []
        self._writes = any(cell.writes for cell in cells)
        self._stars = {star for cell in cells for star in cell.stars}
        self._defining = _cells_by_name(cell.defined for cell in cells)
        self._changing = _cells_by_name(cell.changed for cell in cells)
        self._known: dict[tuple, _Paths] = {}
        self._round: set[tuple] = set()

    def alive(self, name: str, at: int) -> list[tuple[int, ast.AST | _Import]]:
        """The global definitions of a name that hold from cell `at` on, with their cells."""
        defining = self._defining.get(name, [])
        first = max(bisect.bisect_right(defining, at) - 1, 0)
        found = [(i, node) for i in defining[first:] for node in self.cells[i].defined[name]]
        changing = self._changing.get(name, [])
        return found + [(i, node) for i in changing for node in self.cells[i].changed[name]]

    def run(self, roots: Iterable[str]) -> None:
        """Search everything that the roots reach."""
        for root in roots:
            self.follow(root, self.start, (root,))
        while self._waiting:
            node, scope, via = self._waiting.pop()
            try:
                self._check(node, scope, via)
            except RecursionError:
                self._round.clear()
                self._note(node, scope, via, "names behind names, too many to follow", self.sets[0])
            self._waiting += [(child, inner, via) for child, inner in self._parts(node, scope)]

    def follow(self, name: str, at: int, via: tuple[str, ...]) -> None:
        """Put every live global definition of a name on the list of what to search."""
        for cell, node in self.alive(name, at):
            if not isinstance(node, _Import) and id(node) not in self._followed:
                self._followed.add(id(node))
                self._waiting.append((node, _Scope(cell, cell, {}), via))

    def _parts(self, node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.AST, _Scope]]:
        """The parts of a piece of code, each with the scope it stands in."""
        inner = scope
        outside: list[ast.AST] = []
        if isinstance(node, ast.ClassDef):
            inner = replace(scope, owner=node, self_name=None)
        elif isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            inner = self._body_scope(node, scope)
            outside = [*node.args.defaults, *node.args.kw_defaults]
            outside += getattr(node, "decorator_list", [])
        elif isinstance(node, _COMPREHENSIONS):
            inner = scope.inside(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.arguments):
                continue
            if child not in outside:
                yield child, inner
        yield from ((part, scope) for part in outside if part is not None)

    def _body_scope(self, node: ast.AST, scope: _Scope) -> _Scope:
        inner = replace(scope.inside(node), at=self.start)
        method = scope.owner is not None and node in scope.owner.body
        names = _arguments(node.args)
        return replace(inner, self_name=names[0]) if method and names else inner

    def _check(self, node: ast.AST, scope: _Scope, via: tuple[str, ...]) -> None:
        for module in self._handed_on(node, scope):
            what = f"{ast.unparse(module)} as a value"
            for name in self.sets:
                if any(_is_part(SETS[name], path) for path in self.paths(module, scope)):
                    self._note(module, scope, via, what, name)
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            self._report(node, scope, via, lambda s: type(node.op).__name__ in s.operators)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self._check_name(node, scope, via)
        elif isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            self._check_access(node, scope, via)
        elif isinstance(node, ast.MatchClass):
            taken = frozenset(node.kwd_attrs)
            self._report(node, scope, via, lambda s: any(_any_name(s, name) for name in taken))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                path = f"{node.module or ''}.{alias.name}"
                self._report(node, scope, via, lambda s, p=path: _names_function(s, p))

    def _handed_on(self, node: ast.AST, scope: _Scope) -> Iterator[ast.expr]:
        """Parts of a node that may be a module and go where it is no longer followed.

        `m = np` is followed, so is one item of a literal; `g(np)` is not, nor what a function
        returns, a class keeps or a `match` takes apart.
        """
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.keyword)):
            values = [node.value]
        elif isinstance(node, ast.Call):
            asks = _ASKING & self.paths(node.func, scope)
            values = [] if asks else node.args
        elif isinstance(node, ast.Match):
            values = [node.subject]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            kept = scope.owner is not None and node in scope.owner.body
            stored = any(not isinstance(t, (ast.Name, ast.Tuple, ast.List)) for t in targets)
            values = [node.value] if kept or stored else []
        else:
            values = []
        yield from (v for v in values if v is not None and self.paths(v, scope))

    def _check_name(self, node: ast.Name, scope: _Scope, via: tuple[str, ...]) -> None:
        for path in self.paths(node, scope):
            self._report_path(node, path, scope, via)
        if node.id not in scope.local:
            self._check_global(node, node.id, scope, via)

    def _check_global(self, node: ast.AST, name: str, scope: _Scope, via: tuple[str, ...]) -> None:
        """A global name of the notebook: forbidden itself, or to be followed."""
        defined = self.alive(name, scope.at)
        if defined:
            named = name in self.specs
            self._report(
                node, scope, via, lambda s: bool(s.suffix) and (named or name.endswith(s.suffix))
            )
        function = any(isinstance(n, (*_FUNCTIONS, ast.ClassDef)) for _, n in defined)
        self.follow(name, scope.at, (*via, name) if function else via)

    def _check_access(self, node: ast.AST, scope: _Scope, via: tuple[str, ...]) -> None:
        """x.name, getattr(x, "name"), x.__dict__["name"]: a library's function or a method."""
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return
        for path in self.paths(node, scope):
            self._report_path(node, path, scope, via)
        if isinstance(node, ast.Subscript) and "sys.modules" in self.paths(node.value, scope):
            hidden = self._text(node.slice, scope) is None
            self._report(node, scope, via, lambda s: hidden)
        name = self._looked_up(node, scope)
        if name is not None:
            self._check_global(node, name, scope, via)
        if isinstance(node, ast.Call) and _GETTERS & self.paths(node.func, scope):
            self._check_getter(node, scope, via)
        base, name = self._member(node, scope)
        if base is None:
            return
        if name in _UNREADABLE_METHODS:
            self._report(node, scope, via, lambda s: True)
        modules = self.paths(base, scope)
        if name is None:
            hides = not modules and not self._is_asked_for(node, scope)
            self._report(
                node,
                scope,
                via,
                lambda s: any(_is_library(s, m) for m in modules) or (hides and bool(s.methods)),
            )
        elif not modules and not self._is_own_instance(base, name, scope):
            self._report(node, scope, via, lambda s: name in s.methods)

    def _is_asked_for(self, node: ast.AST, scope: _Scope) -> bool:
        """getattr(x, name, None) where the caller chooses the name; any other may hide a method."""
        name = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 3 else None
        return isinstance(name, ast.Name) and _PARAMETER in scope.local.get(name.id, ())

    def _check_getter(self, node: ast.Call, scope: _Scope, via: tuple[str, ...]) -> None:
        """operator.attrgetter("dot"): the name alone, of whatever it will be asked."""
        text = self._text(node.args[0], scope) if node.args else None
        name = text.split(".")[-1] if text else None
        self._report(node, scope, via, lambda s: name is None or _any_name(s, name))

    def _member(self, node: ast.AST, scope: _Scope) -> tuple[ast.AST | None, str | None]:
        """(base, name) of an access; the name is None where it is computed."""
        if isinstance(node, ast.Attribute):
            return node.value, node.attr
        if isinstance(node, ast.Call) and len(node.args) >= 2:
            named = "builtins.getattr" in self.paths(node.func, scope)
            return (node.args[0], self._text(node.args[1], scope)) if named else (None, None)
        if isinstance(node, ast.Subscript):
            holder = node.value
            if isinstance(holder, ast.Attribute) and holder.attr == "__dict__":
                return holder.value, self._text(node.slice, scope)
            one = isinstance(holder, ast.Call) and holder.args
            if one and "builtins.vars" in self.paths(holder.func, scope):
                return holder.args[0], self._text(node.slice, scope)
        return None, None

    def paths(self, node: ast.AST, scope: _Scope) -> set[str]:
        """The library paths that an expression may stand for: {"numpy.linalg"}; else empty."""
        if isinstance(node, ast.Name):
            return self._name_paths(node.id, scope)
        if isinstance(node, ast.Subscript):
            return self._subscript_paths(node, scope)
        if isinstance(node, ast.Call):
            called = self.paths(node.func, scope)
            if called & {"builtins.__import__", "importlib.import_module"} and node.args:
                text = self._text(node.args[0], scope)
                return {text} if text else {"builtins.eval"}
        choices = _choices(node)
        if choices:
            return set().union(*(self.paths(c, scope) for c in choices))
        base, name = self._member(node, scope)
        if base is None or name is None:
            return set()
        return {f"{path}.{name}" for path in self.paths(base, scope)}

    def _subscript_paths(self, node: ast.Subscript, scope: _Scope) -> set[str]:
        """sys.modules["numpy"], globals()["np"], np.__dict__["dot"], or one item of a literal."""
        holder = node.value
        table = self.paths(holder, scope)
        text = self._text(node.slice, scope)
        if "sys.modules" in table:
            return {text} if text else set()
        name = self._looked_up(node, scope)
        if name is not None:
            return self._name_paths(name, replace(scope, local={}))
        base, name = self._member(node, scope)
        if base is not None and name is not None:
            return {f"{path}.{name}" for path in self.paths(base, scope)}
        return table

    def _looked_up(self, node: ast.AST, scope: _Scope) -> str | None:
        """The global name in globals()["name"] or globals().get("name")."""
        key: ast.AST | None = None
        if isinstance(node, ast.Subscript):
            table, key = node.value, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            table, key = node.func.value, node.args[0]
        if not isinstance(key, ast.expr) or not isinstance(table, ast.Call) or table.args:
            return None
        called = self.paths(table.func, scope)
        tables = {"builtins.globals", "builtins.locals", "builtins.vars"}
        return self._text(key, scope) if called & tables else None

    def _name_paths(self, name: str, scope: _Scope) -> set[str]:
        """The same for a name, worked out once.

        Names may be made from each other in a circle, so the answer is a least fixed point: in a
        round each name is looked at once, with what is known of the others so far, and rounds are
        repeated until nothing is added.
        """
        table = scope.local if name in scope.local else None
        key = (name, id(table) if table is not None else scope.at)
        # The table is kept with the answer, so that its id is not given to another one.
        entry = self._known.setdefault(key, _Paths(table))
        if entry.settled or key in self._round:
            return entry.paths
        outermost = not self._round
        while True:
            self._round.add(key)
            entry.add(path for path in self._bound_paths(name, scope) if path.count(".") < 8)
            if not outermost:
                return entry.paths
            members = [self._known[k] for k in self._round]
            self._round.clear()
            if not any([member.take_change() for member in members]):
                break
        for member in members:
            member.settled = True
        return entry.paths

    def _bound_paths(self, name: str, scope: _Scope) -> set[str]:
        local = name in scope.local
        nodes = [(scope.cell, n) for n in scope.local[name]] if local else None
        if nodes is None:
            nodes = self.alive(name, scope.at)
            if not nodes and name == "get_ipython":
                return {"IPython.get_ipython"}
            if not nodes:
                found = {f"{star}.{name}" for star in self._stars}
                return found | ({f"builtins.{name}"} if hasattr(builtins, name) else set())
        paths: set[str] = set()
        for cell, node in nodes:
            if isinstance(node, _Import):
                paths.add(node.path)
            else:
                paths |= self.paths(node, scope if local else _Scope(cell, cell, {}))
        return paths

    def _text(self, node: ast.AST, scope: _Scope, depth: int = 0) -> str | None:
        """The string that an expression is, where it can be read; None otherwise."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if depth > 20:
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._text(side, scope, depth + 1) for side in (node.left, node.right)]
            return "".join(parts) if None not in parts else None
        if isinstance(node, ast.JoinedStr):
            parts = [self._text(part, scope, depth + 1) for part in node.values]
            return "".join(parts) if None not in parts else None
        if isinstance(node, ast.FormattedValue):
            return self._text(node.value, scope, depth + 1)
        if isinstance(node, ast.Name):
            bound = scope.local.get(node.id) or [n for _, n in self.alive(node.id, scope.at)]
            if len(bound) == 1 and isinstance(bound[0], ast.AST):
                return self._text(bound[0], scope, depth + 1)
        return None

    def _is_own_instance(self, base: ast.AST, name: str, scope: _Scope) -> bool:
        """Whether `base` is an object of a class of the notebook that itself defines `name`."""
        if isinstance(base, ast.Call):
            made = self._class_called(base, scope)
            return made is not None and _defines(made, name)
        if not isinstance(base, ast.Name):
            return False
        if base.id == scope.self_name and scope.owner is not None:
            return _defines(scope.owner, name)
        local = base.id in scope.local
        values = scope.local[base.id] if local else [n for _, n in self.alive(base.id, scope.at)]
        classes = [self._class_called(value, scope) for value in values]
        return bool(classes) and all(c is not None and _defines(c, name) for c in classes)

    def _class_called(self, value: ast.AST | _Import, scope: _Scope) -> ast.ClassDef | None:
        """The class of the notebook that `value` makes an instance of."""
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name)):
            return None
        name = value.func.id
        nodes = scope.local.get(name) or [n for _, n in self.alive(name, scope.at)]
        classes = [n for n in nodes if isinstance(n, ast.ClassDef)]
        return classes[0] if len(classes) == len(nodes) == 1 else None

    def _report_path(self, node: ast.AST, path: str, scope: _Scope, via: tuple[str, ...]) -> None:
        library = path.split(".")[0]
        unreadable = path in _UNREADABLE or library in _UNREADABLE_LIBRARIES
        if self._writes and not _is_installed(library):
            unreadable = True  # a module that a cell wrote itself
        self._report(node, scope, via, lambda s: unreadable or _names_function(s, path), path)

    def _report(self, node, scope: _Scope, via: tuple[str, ...], forbids, path: str = "") -> None:
        """Note the node for the first set that forbids it."""
        for name in self.sets:
            if forbids(SETS[name]):
                self._note(node, scope, via, _shown(node, path), name)
                return

    def _note(self, node, scope: _Scope, via: tuple[str, ...], route: str, name: str) -> None:
        label = self.cells[scope.cell].label
        key = (label, node.lineno, node.end_col_offset, name)
        self.findings.setdefault(key, Finding(label, node.lineno, route, name, via))


def _choices(node: ast.AST) -> list[ast.expr]:
    """The expressions of which one may be the value: of a condition, a list, a dict, a :=."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    return [node.value] if isinstance(node, (ast.NamedExpr, ast.Starred)) else []


@lru_cache(maxsize=256)
def _is_installed(library: str) -> bool:
    """Whether there is a library of this name."""
    if library in sys.stdlib_module_names or library in sys.builtin_module_names:
        return True
    try:
        return importlib.util.find_spec(library) is not None
    except (ImportError, ValueError):
        return library in sys.modules


def _is_library(forbidden: ForbidSet, path: str) -> bool:
    return path.split(".")[0] in forbidden.functions


def _is_part(forbidden: ForbidSet, path: str) -> bool:
    """Whether a path is a library, or a part of it, that has routes of the set in it."""
    library, *rest = path.split(".")
    return library in forbidden.functions and (not rest or rest[-1] in _PARTS)


def _names_function(forbidden: ForbidSet, path: str) -> bool:
    """Whether a library path ends in one of the set's names: numpy.linalg.matmul, numpy.dot."""
    library, *rest = path.split(".")
    names = forbidden.functions.get(library, frozenset())
    if library in _ARRAY_LIBRARIES:
        names |= forbidden.methods
    return bool(rest) and rest[-1] in names


def _any_name(forbidden: ForbidSet, name: str) -> bool:
    return name in forbidden.methods or any(name in n for n in forbidden.functions.values())


def _defines(owner: ast.ClassDef, name: str) -> bool:
    """Whether a class without bases defines a method or sets an attribute of this name."""
    if owner.bases or owner.keywords:
        return False
    for node in ast.walk(owner):
        if isinstance(node, _FUNCTIONS) and node.name == name:
            return True
        stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if stored and node.attr == name:
            return True
    return False


def _shown(node: ast.AST, path: str) -> str:
    """The route as written, with the library's name where an alias hides it."""
    try:
        text = ast.unparse(node).split("\n")[0]
    except RecursionError:
        text = path or type(node).__name__
    text = text if len(text) <= 60 else text[:57] + "..."
    hidden = path and path.split(".")[-1] not in text
    return f"{text} (that is {path})" if hidden else text
