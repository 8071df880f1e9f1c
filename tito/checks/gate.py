"""The gate in front of claims: which code may run where its assembly or its memory is read.

A claim ("this kernel uses packed instructions") is read in a process that also runs the code it is
about, so that code must not be able to write the reading. Of a cell only imports, functions,
classes and constants are kept that the function needs; the rest (a plot, a print, a call that
tries the kernel out) is left out and costs nothing. What is kept may not hold a trick: reaching
into Numba or NumPy, replacing what they define, running text as code. The look is at the syntax
alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tito.forbid import parsed, python_source
from tito.forbid.hiding import DECLARING, LLVM, UNREADABLE_PARTS
from tito.forbid.texts import called, constant_text
from tito.notebook.names import bound, used


@dataclass(frozen=True)
class Trick:
    """Something the gate does not let through: where it stands, what it is."""

    label: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.label}, line {self.line}: {self.what}"


@dataclass(frozen=True)
class Passed:
    """One cell behind the gate: the definitions that are left of it, and its tricks.

    binds, reads : names, of these definitions
    """

    source: str
    tricks: list[Trick] = field(default_factory=list)
    binds: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules that code behind the gate may import; with a star, also what lies below them.
_MODULES = {
    "__future__", "collections", "concurrent.futures", "dataclasses", "enum", "functools",
    "itertools", "math", "numba", "numba.extending", "numba.np.ufunc", "numba.typed",
    "numba.types", "numpy", "numpy.lib.stride_tricks", "numpy.linalg", "numpy.typing", "threading",
    "llvmlite", "llvmlite.ir", "tinykernels.*", "tito.checks", "tito.here",
    "tito.machine", "typing", "warnings",
}  # fmt: skip
_LIBRARIES = ("numba", "numpy")
# What it may import of others.
_FUNCTIONS = {"contextlib.contextmanager", "contextlib.nullcontext", "contextlib.suppress"}
# What an allowed module may carry along: dataclasses.sys, enum.bltns, numba.extending.os. NumPy has
# functions of such names, and Numba its types.
_CARRIED = (sys.stdlib_module_names | {"bltns"}) - {name.split(".")[0] for name in _MODULES}
_LIKE_MODULES = _names("array copy random select trace types")

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Decorators under whose function's own name it is called.
_COMPILING = _names("njit jit vectorize guvectorize kernel")

# Calls that make a constant, at the top of a cell and in decorators.
_MAKERS = _names(
    "abs bool bytes complex dict float frozenset int len list max min range round set slice str sum"
    " tuple"
)
_DECORATORS = frozenset({"staticmethod", "classmethod", "property"})
# Others of libraries that may stand there: what they make runs nothing by itself.
_MADE = frozenset({"collections.namedtuple", "functools.partial"})
_DECORATING = frozenset({"numpy.errstate"})
_REACH = _names(
    "exec eval compile __import__ open input breakpoint setattr delattr getattr globals locals vars"
    " memoryview objmode"
)
# What evaluates the text of a hint, reads pickles, or calls into the process by an address or by
# the name of a C function: PyRun_SimpleString is one. Instructions that are given as a text may
# stand where they are never reached.
_DETOURS = UNREADABLE_PARTS - {"ctypes", "cffi"} | _names(  # x.ctypes: an array's address
    "get_type_hints ForwardRef singledispatch singledispatchmethod read_array DataSource"
    " get_python_api inttoptr InlineAsm asm"
)
_DECLARES = {"llvmlite.ir.Function", "llvmlite.ir.values.Function"}
# Functions of allowed modules that write into what they are handed, or see other people's frames.
_COPYING = _names("wraps update_wrapper global_enum")
_TRACING = _names("excepthook setprofile setprofile_all_threads settrace settrace_all_threads")
# What a reading is made of, and the ways to other people's namespaces.
_ATTRIBUTES = _names(
    "add_overload cr_frame disable_compile enable_caching f_back f_builtins f_globals f_locals"
    " func_globals get_metadata gi_frame inspect_asm inspect_llvm inspect_types"
    " nopython_signatures objmode overloads recompile signatures targetctx targetdescr tb_frame"
)
# Parts of the libraries themselves.
_PARTS = _names(
    "builtins compiler config core ctypeslib f2py fromfile load memmap misc registry runtime sys"
    " testing"
)
_DUNDERS = _names(
    "__abs__ __add__ __bool__ __call__ __contains__ __doc__ __enter__ __eq__ __exit__ __float__"
    " __ge__ __getitem__ __gt__ __hash__ __index__ __init__ __int__ __iter__ __le__ __len__ __lt__"
    " __matmul__ __mul__ __name__ __ne__ __neg__ __next__ __post_init__ __radd__ __repr__ __rmul__"
    " __setitem__ __slots__ __str__ __sub__ __truediv__"
)
# Views whose elements may be assigned: out.flat[i] = 0.
_VIEWS = frozenset({"flat", "T", "real", "imag"})


def cells_behind(
    name: str, cells: Mapping[str, str], given: Iterable[str], own: Mapping[str, str] | None = None
) -> dict[str, Passed]:
    """The cells that a function needs, in their order, each as the gate lets it through.

    name  : the function
    cells : label -> source of the student's cells up to the test, in order
    given : sources that are trusted: given cells
    own   : label -> the master's source of such a cell: statements that stand in it, word for word,
            pass whatever they are
    """
    gate = _Gate(given)
    bodies = {label: _statements(source) for label, source in cells.items()}
    every = [part for body in bodies.values() for part in body]
    needed = _needed(name, every, _announced(every))
    # A decorator of any kind runs code, which may change what a name of options stands for.
    decorated = {id(part) for part in every if getattr(part.node, "decorator_list", ())}
    beside = _needed(name, every, decorated) - needed
    ahead = {}
    for label, body in bodies.items():
        if any(id(part) in needed for part in body):
            trusted = _dumps((own or {}).get(label, ""))
            kept = [p for p in body if id(p) in needed or ast.dump(p.node) in trusted]
            gate.expect(kept)
            gate.expect_options([part for part in body if id(part) in beside])
            ahead[label] = kept, trusted
    return {label: gate.look(label, *parts) for label, parts in ahead.items()}


@dataclass(frozen=True)
class _Statement:
    """A statement of a cell: its text, and the names that it binds and reads.

    others : names that it uses otherwise than as **options, or as the target of an assignment
    """

    node: ast.stmt
    text: str
    assigned: frozenset[str]
    imported: frozenset[str]
    reads: frozenset[str]
    others: frozenset[str]

    @classmethod
    def of(cls, node: ast.stmt) -> _Statement:
        text = ast.unparse(node)
        return cls(node, text, *map(frozenset, (*bound(text), used(text), _others(node))))


def _others(statement: ast.stmt) -> set[str]:
    nodes = list(ast.walk(statement))
    allowed = set(map(id, getattr(statement, "targets", ())))
    allowed |= {id(n.value) for n in nodes if isinstance(n, ast.keyword) and n.arg is None}
    named = {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in allowed}
    return named.union(*(n.names for n in nodes if isinstance(n, ast.Global)))


@lru_cache(maxsize=256)
def _statements(source: str) -> tuple[_Statement, ...]:
    """Those of a cell; a notebook's cells are asked about once for each claim."""
    return tuple(_Statement.of(part) for node in parsed(source).body for part in _apart(node))


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """import itertools, time: a kernel may need the first one alone."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)) or len(node.names) == 1:
        return [node]
    if isinstance(node, ast.Import):
        parts: list[ast.stmt] = [ast.Import([alias]) for alias in node.names]
    else:
        parts = [ast.ImportFrom(node.module, [alias], node.level) for alias in node.names]
    return [ast.copy_location(part, node) for part in parts]


@lru_cache(maxsize=64)
def _dumps(source: str) -> frozenset[str]:
    """The statements of a cell of the master, as text that can be compared."""
    return frozenset(ast.dump(part) for node in _parsed(source).body for part in _apart(node))


def _needed(name: str, statements: list[_Statement], announced: set[int]) -> set[int]:
    """The ids of those that define a function or are announced, or what these name in turn."""
    wanted, needed = {name}, set()
    while True:
        before = len(needed)
        for part in statements:
            named = id(part) in announced or part.assigned & wanted or part.imported & wanted
            if id(part) not in needed and named:
                needed.add(id(part))
                wanted |= part.reads
        if len(needed) == before:
            return needed


def _announced(statements: list[_Statement]) -> set[int]:
    """The ids of those that a decorator may make known under no name: @overload(np.exp)."""
    targets = {name: path for part in statements for name, path in _imported(part.node)}
    own = {part.node.name for part in statements if isinstance(part.node, _DEFINITIONS)}

    def may_announce(decorator: ast.expr) -> bool:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        root = _root(made)
        path = targets.get(root, "")
        if path and path.split(".")[0] not in ("numba", "llvmlite"):
            return False  # functools.wraps, contextlib.contextmanager
        last = getattr(made, "attr", path.split(".")[-1] or root)
        return root not in own and last not in _COMPILING | _DECORATORS

    return {
        id(part)
        for part in statements
        if any(map(may_announce, getattr(part.node, "decorator_list", ())))
    }


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for a in node.names:
            yield a.asname or a.name.split(".")[0], a.name if a.asname else a.name.split(".")[0]
    elif isinstance(node, ast.ImportFrom):
        for a in node.names:
            yield a.asname or a.name, f"{node.module or ''}.{a.name}"


def imports(source: str) -> list[tuple[str, str]]:
    """(name, what it stands for) of all that a cell imports: ("np", "numpy")."""
    return [found for node in ast.walk(parsed(source)) for found in _imported(node)]


def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


@lru_cache(maxsize=256)
def _given_names(source: str) -> tuple[dict[str, str], frozenset[str], tuple[ast.stmt, ...]]:
    """(name -> what a given cell imports it as: "np" -> "numpy", what else the cell binds, its
    statements)."""
    imports: dict[str, str] = {}
    for node in ast.walk(parsed(source)):
        imports.update(_imported(node))
    return imports, frozenset(bound(python_source(source))[0]), tuple(parsed(source).body)


def read_ahead(given: Iterable[str], own: Iterable[str]) -> None:
    """Work out now what the master's cells mean to the gate; forks of this process know it then."""
    for source in given:
        _given_names(source)
    for source in own:
        _dumps(source)


class _Gate:
    """The cells of one function on their way through, one after the other."""

    def __init__(self, given: Iterable[str]) -> None:
        # What makes other functions: names of given cells, and njit(...) under a name of its own.
        self._imports: dict[str, str] = {}
        self._makers: set[str] = set()
        # Those of them that are surely Numba's.
        self._compilers: set[str] = set()
        # The student's own: decorator -> the name, in its body, of what it hands a function to.
        self._own: dict[str, str] = {}
        # Options of Numba that have a name: name -> whether it is nothing else.
        self._options: dict[str, bool] = {}
        for source in given:
            imports, makers, statements = _given_names(source)
            self._imports.update(imports)
            self._makers |= makers
            for node in statements:
                if isinstance(node, ast.Assign) and self._makes_compiler(node):
                    self._compilers |= {t.id for t in node.targets if isinstance(t, ast.Name)}

    def expect(self, body: list[_Statement]) -> None:
        """Know what will be imported, in functions and below those that use it, and which names
        are options of Numba."""
        for part in body:
            for node in ast.walk(part.node):
                for name, target in _imported(node):
                    self._imports.setdefault(name, target)
        self.expect_options(body)

    def expect_options(self, body: list[_Statement]) -> None:
        """Names of {"fastmath": True} that are read as **options alone and changed nowhere."""
        for part in body:
            for name in part.assigned | part.imported:
                self._options[name] = name not in self._options and _are_options(part.node)
            self._options.update(dict.fromkeys(part.others, False))

    def look(self, label: str, body: list[_Statement], trusted: frozenset[str]) -> Passed:
        """The definitions among the statements, and the tricks in them.

        trusted : dumps of statements that pass as they are
        """
        kept, tricks = [], []
        for part in body:
            known = ast.dump(part.node) in trusted
            if not known and not self._is_definition(part.node):
                continue
            if not known:
                tricks += [Trick(label, line, what) for line, what in self._tricks(part)]
            self._remember(part)
            kept.append(part)
        return Passed(
            "\n".join(part.text for part in kept),
            sorted(tricks, key=lambda t: t.line),
            frozenset().union(*(part.assigned | part.imported for part in kept)),
            frozenset().union(*(part.reads for part in kept)),
        )

    def _remember(self, part: _Statement) -> None:
        node = part.node
        self._imports.update(_imported(node))
        bound = part.assigned | part.imported
        # A decorator finds the name in its body when it is used: who binds that anew changes both.
        while again := {own for own, behind in self._own.items() if behind in bound} - bound:
            bound |= again
        self._makers -= bound
        self._compilers -= bound
        self._own = {own: behind for own, behind in self._own.items() if own not in bound}
        if self._makes_compiler(node):
            self._makers |= part.assigned
            self._compilers |= part.assigned
            if isinstance(node, ast.FunctionDef):
                self._own[node.name] = _root(node.body[-1].value)

    def _makes_compiler(self, node: ast.stmt) -> bool:
        """fast = njit(fastmath=True), or a function that does nothing but to call that."""
        if isinstance(node, ast.FunctionDef):
            return self._hands_on(node)
        return isinstance(node, ast.Assign) and self._origin(node.value).startswith("numba")

    def _hands_on(self, node: ast.FunctionDef) -> bool:
        """def fast(f): return njit(fastmath=True)(f)"""
        name, call = _only_parameter(node), _only_result(node)
        if name is None or not isinstance(call, ast.Call) or call.keywords:
            return False
        handed = [a.id for a in call.args if isinstance(a, ast.Name)]
        used = [n for n in ast.walk(call) if isinstance(n, ast.Name) and n.id == name]
        alone = handed == [name] and len(call.args) == len(used) == 1
        # njit(g)(f) would run g.
        made = call.func if isinstance(call.func, ast.Call) else None
        named = made is None or (not made.args and not isinstance(made.func, ast.Call))
        return alone and named and self._compiles(call.func) and self._is_constant(call.func)

    # -- what is kept

    def _is_definition(self, node: ast.stmt) -> bool:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)):
            return True
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            plain = all(isinstance(t, (ast.Name, ast.Tuple, ast.List)) for t in targets)
            return plain and self._is_constant(node.value)
        return False

    def _is_constant(self, value: ast.expr) -> bool:
        """An expression that runs no code of the student's."""
        if isinstance(value, ast.Lambda):
            return True
        if isinstance(value, ast.Call) and self._compiles(value.func):
            given = (value.func, *value.args, *(k.value for k in value.keywords))
            return all(map(self._is_constant, given))
        parts = list(ast.walk(value))
        if any(isinstance(p, (ast.Await, ast.NamedExpr, ast.Lambda)) for p in parts):
            return False
        return all(self._is_maker(p.func) for p in parts if isinstance(p, ast.Call))

    def _is_maker(self, func: ast.expr) -> bool:
        """float, np.array, numba.njit, or what one of them returned: njit(fastmath=True)(f)."""
        library = self._origin(func).split(".")[0] in ("math", "tinykernels", *_LIBRARIES)
        named = isinstance(func, ast.Name) and func.id in _MAKERS | self._compilers
        return library or named or self._path(func) in _MADE

    def _compiles(self, func: ast.expr) -> bool:
        """njit or what it returned: it reads the function that it is given, and does not run it."""
        named = isinstance(func, ast.Name) and func.id in self._compilers
        return named or self._origin(func).startswith("numba")

    def _path(self, node: ast.expr) -> str:
        """What an expression stands for where it is a name or an attribute of an imported one."""
        origin = self._origin(node)
        return f"{origin}.{_path_in(node)}" if isinstance(node, ast.Attribute) else origin

    def _origin(self, node: ast.expr) -> str:
        """What the name that an expression begins with was imported as; "" if it was not."""
        return self._imports.get(_root(node), "")

    # -- what it may not hold

    def _tricks(self, part: _Statement) -> Iterator[tuple[int, str]]:
        """(line, what) of all that a definition may not hold."""
        top = part.node
        for name in sorted(part.assigned):
            if self._is_library_name(name):
                yield top.lineno, _rebinding(name)
        for name in sorted(part.reads):
            if name in _REACH or (name.startswith("__") and name not in _DUNDERS):
                yield top.lineno, name
        asked = {id(n.value) for n in ast.walk(top) if isinstance(n, ast.Attribute)}
        for node in ast.walk(top):
            for what in self._trick(node):
                yield getattr(node, "lineno", top.lineno), what
            if isinstance(node, ast.Name) and id(node) not in asked:
                yield from ((node.lineno, what) for what in self._bad_name(node))

    def _bad_name(self, node: ast.Name) -> Iterator[str]:
        """A module under another name, which would not be known again; a dunder that is set."""
        if not isinstance(node.ctx, ast.Load):
            if _is_dunder(node.id) and node.id not in _DUNDERS:
                yield f"assigning to {node.id}"
        elif self._imports.get(node.id) in _MODULES:
            yield f"{node.id} as a value"

    def _is_library_name(self, name: str) -> bool:
        return self._imports.get(name, "").split(".")[0] in _LIBRARIES

    def _trick(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from self._bad_import(node)
        elif isinstance(node, ast.Attribute):
            yield from self._bad_attribute(node)
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from self._bad_item(node)
        elif isinstance(node, ast.MatchClass):
            taken = (n for n in node.kwd_attrs if n in _ATTRIBUTES or n.startswith("_"))
            yield from (f".{name} in a pattern" for name in taken)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from (_rebinding(n) for n in node.names if self._is_library_name(n))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from self._bad_definition(node)
        elif isinstance(node, ast.Call) and _makes_class(node):
            yield "type(...) that makes a class"
        elif isinstance(node, ast.Call) and not self._options_can_be_read(node):
            yield "options of Numba that cannot be read"
        elif called(node) in DECLARING and not _declares_instruction(node):
            yield "a function of machine code declared by its name"

    def _options_can_be_read(self, call: ast.Call) -> bool:
        compiles = self._origin(call.func).startswith("numba")
        return not compiles or all(map(self._can_be_read, call.keywords))

    def _can_be_read(self, option: ast.keyword) -> bool:
        if option.arg is not None:
            return option.arg != "pipeline_class"
        return isinstance(option.value, ast.Name) and self._options.get(option.value.id, False)

    def _bad_import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        modules = (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or "."]
        )
        harmless = all(target in _FUNCTIONS for _, target in _imported(node))
        for module in [] if harmless else modules:
            if module not in _MODULES and f"{module.split('.')[0]}.*" not in _MODULES:
                yield f"import of {module}"
        for name, target in _imported(node):
            if self._is_library_name(name) and self._imports[name] != target:
                yield _rebinding(name)
            if name == "*" and not target.startswith("tinykernels"):
                yield "import of *"
            top, _, last = target.partition(".")
            carried = isinstance(node, ast.ImportFrom) and self._is_carried(target)
            detour = last.split(".")[-1] in _DETOURS or target in _DECLARES
            if (top in _LIBRARIES and last in _PARTS) or carried or detour:
                yield f"import of {target}"

    def _bad_attribute(self, node: ast.Attribute) -> Iterator[str]:
        name, own = node.attr, _is_own(node)
        # What a call gives is no module: np.zeros(3).ctypes is an address.
        origin = "" if _is_called(node.value) else self._origin(node)
        inside = name in _PARTS and (self._is_library_name(_root(node)) or _by_library(node))
        reading = name in _ATTRIBUTES | _TRACING | _DETOURS and not own
        reading = reading or (origin and self._path(node) in _DECLARES)
        carried = origin and self._is_carried(f"{origin}.{name}")
        if inside or reading or carried or (name.startswith("__") and name not in _DUNDERS):
            yield f".{name}"
        elif name.startswith("_") and name not in _DUNDERS and not own:
            yield f"the private .{name}"
        elif not isinstance(node.ctx, ast.Load) and not own:
            yield f"assigning to .{name} of something else"

    def _is_carried(self, path: str) -> bool:
        """Whether an imported path leads to what no module that is allowed is imported for."""
        top, last = path.split(".")[0], path.split(".")[-1]
        if last in _TRACING or last in _COPYING or path == "numba.objmode":
            return True
        return last in _CARRIED and not (top in _LIBRARIES and last in _LIKE_MODULES)

    def _bad_item(self, node: ast.Subscript) -> Iterator[str]:
        """ops["matmul"] = f is fine, kernel.table[key] = f is not."""
        base = node.value
        while isinstance(base, ast.Subscript):
            base = base.value
        if isinstance(base, ast.Attribute) and not _is_own(base) and base.attr not in _VIEWS:
            yield f"assigning to .{base.attr}[...] of something else"

    def _bad_definition(self, node: ast.stmt) -> Iterator[str]:
        if node.name in _ATTRIBUTES or (node.name.startswith("__") and node.name not in _DUNDERS):
            yield f"defining {node.name}"
        if isinstance(node, ast.ClassDef) and node.keywords:
            yield f"class {node.name} with a metaclass or keywords"
        for decorator in node.decorator_list:
            if not self._may_decorate(decorator):
                yield f"the decorator @{ast.unparse(decorator)}"

    def _may_decorate(self, decorator: ast.expr) -> bool:
        """Numba's, with constant arguments; a given or package's one; dataclass, property."""
        if isinstance(decorator, ast.Call):
            values = [*decorator.args, *(k.value for k in decorator.keywords)]
            if not all(self._is_constant(v) and not isinstance(v, ast.Lambda) for v in values):
                return False
        root = _root(decorator)
        trusted = ("numba", "tinykernels", "functools", "dataclasses")
        origin = self._origin(decorator)
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        known = origin.split(".")[0] in trusted or origin in _FUNCTIONS
        known = known or self._path(made) in _DECORATING
        return known or root in _DECORATORS or root in self._makers


def _are_options(node: ast.stmt) -> bool:
    """options = {"fastmath": True}: one name, and literals alone."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    if not isinstance(node.targets[0], ast.Name) or not isinstance(node.value, ast.Dict):
        return False
    literals = (ast.Constant, ast.Set, ast.Dict, ast.Tuple, ast.List, ast.Load)
    if not all(isinstance(part, literals) for part in ast.walk(node.value)):
        return False
    names = [getattr(key, "value", None) for key in node.value.keys]
    return all(isinstance(name, str) and name != "pipeline_class" for name in names)


def _only_parameter(node: ast.FunctionDef) -> str | None:
    """The name of f in `def fast(f)`: one parameter, without decorators, defaults, annotations."""
    args = node.args
    more = (args.vararg, args.kwarg, *args.kwonlyargs, *args.defaults, node.returns)
    takes = [*args.posonlyargs, *args.args]
    if any(more) or node.decorator_list or len(takes) != 1 or takes[0].annotation:
        return None
    return takes[0].arg


def _only_result(node: ast.FunctionDef) -> ast.expr | None:
    """What a function returns that has nothing but that statement, and words on top of it."""
    *above, last = node.body
    words = [isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in above]
    return last.value if isinstance(last, ast.Return) and all(words) else None


def _root(node: ast.expr) -> str:
    """The name that an expression begins with: np of np.add.at(x), or ""."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _path_in(node: ast.Attribute) -> str:
    """values.Function of ir.values.Function."""
    return ast.unparse(node).partition(".")[2]


def _declares_instruction(call: ast.Call) -> bool:
    """builder.module.declare_intrinsic("llvm.fma", ...)"""
    texts = map(constant_text, call.args)
    return any(text is not None and text.startswith(LLVM) for text in texts)


def _by_library(node: ast.Attribute) -> bool:
    """jit.np.core: a library that another module carries."""
    value = node.value
    while isinstance(value, ast.Attribute):
        if value.attr in ("np", *_LIBRARIES):
            return True
        value = value.value
    return False


def _is_called(node: ast.expr) -> bool:
    """Whether there is a call in f(x).a.b, left of its last attribute."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Call)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _makes_class(call: ast.Call) -> bool:
    of_type = isinstance(call.func, ast.Name) and call.func.id == "type"
    return of_type and (len(call.args) != 1 or bool(call.keywords))


def _is_own(node: ast.Attribute) -> bool:
    """self.x, cls.x: an attribute of the object that a method belongs to."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "other")


def _rebinding(name: str) -> str:
    return f"{name} is given another meaning"
