"""The search itself: from the functions of an exercise to everything they reach."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from . import hiding
from .bindings import (
    COMPREHENSIONS,
    FUNCTIONS,
    PARAMETER,
    Import,
    argument_names,
    bindings,
    declared_global,
)
from .cells import Cell, read_cell, start_index
from .findings import Finding
from .loops import is_written_out
from .names import LOOKING_UP, Names, Scope, is_own, is_table
from .package import Package
from .sets import (
    MATRIX_MAKERS,
    ORDERED,
    SETS,
    ForbidSet,
    any_name,
    is_library,
    is_part,
    names_function,
)
from .stored import Stored
from .texts import called
from .trees import children
from .unknown import Unknown

_TABLE = ".__dict__"


def find(
    sources: Mapping[str, str],
    roots: Iterable[str],
    sets: Iterable[str],
    start: str | None = None,
    specs: Iterable[str] = (),
    package: Mapping[str, str] | None = None,
    given: Iterable[str] = (),
    all_given: bool = False,
) -> list[Finding]:
    """The forbidden routes that the functions named in `roots` reach.

    Those in the exercise's own cell come first, then the others in the order of the cells.

    sources : label -> source of the code cells that ran before the exercise's last test, in order;
              given cells as well, for a given helper may hold the route
    roots   : the names that the exercise's solution cell defines in the master
    sets    : keys of SETS; an unknown one is a ValueError
    start   : label of the exercise's cell; the last cell that defines a root if not given
    specs   : names that the set "spec" forbids beside those with its suffix
    package : the modules that cells import from, by dotted name (read_package); what is imported
              from them is followed like a helper
    given   : labels of the master's own cells: one that uses what hides code (exec, FunctionType)
              hides nothing; what it is handed must be readable there or looked at by itself
    all_given : whether `given` has all of the master's own cells: then a name of another one is
              no specification, however it ends

    >>> find({"cell 1": "def f(a, b):\\n    return a @ b"}, ["f"], ["blas"])
    [Finding(label='cell 1', line=2, route='a @ b', set='blas', via=('f',))]
    """
    sets = list(sets)
    unknown = [name for name in sets if name not in SETS]
    if unknown:
        raise ValueError(f"no forbid set is called {unknown[0]!r}; there are {', '.join(SETS)}")
    cells = [read_cell(label, source) for label, source in sources.items()]
    names = Names(cells, _package(tuple(sorted((package or {}).items()))))
    given = frozenset(given)
    at = start_index(cells, set(roots), start)
    search = _Search(names, sets, at, frozenset(specs), given, all_given)
    search.look_at_patches()
    search.look_at_overloads()
    search.run(roots)
    search.look_at_what_is_stored()
    theirs = [cell for cell in cells if cell.label not in given]
    found = [*search.findings.values(), *_unreadable_cells(theirs, sets)]
    order = {cell.label: i for i, cell in enumerate(cells)}
    home = cells[search.start].label if cells else None
    return sorted(found, key=lambda f: (f.label != home, order[f.label], f.line, f.route))


@lru_cache(maxsize=16)
def _package(sources: tuple[tuple[str, str], ...]) -> Package:
    """The package of earlier modules: the same one for every exercise and hand-in."""
    return Package(dict(sources))


# The same one for every exercise and hand-in, like the package itself.
@lru_cache(maxsize=1024)
def _reached_in(
    package: Package, sets: tuple[str, ...], module: str, name: str
) -> tuple[Finding, ...]:
    """The first route of each set that a definition of the package reaches."""
    search = _PackageSearch(package.names(module), list(sets), {})
    return tuple(search._of_package(module, name))


def _unreadable_cells(cells: list[Cell], sets: list[str]) -> Iterator[Finding]:
    """Code that Python can run and `ast` cannot show is only written to hide something."""
    for cell in cells:
        if cell.too_deep and sets:
            yield Finding(cell.label, 1, "a cell nested too deeply", sets[0], hidden=True)
        for call in cell.texts if sets else ():
            yield Finding(cell.label, call.lineno, _shown(call, ""), sets[0], hidden=True)
        for node in cell.exchanged if sets else ():
            yield Finding(cell.label, node.lineno, _shown(node, ""), sets[0], hidden=True)


@lru_cache(maxsize=256)
def unreadable(source: str) -> Finding | None:
    """What a cell has in it that may bind or change anything, as no text shows; None for most.

    >>> unreadable("exec(input())").route
    'exec(input())'
    """
    return next(_unreadable_cells([read_cell("", source)], list(SETS)), None)


class _Search:
    """One walk from the roots through everything they reach."""

    def __init__(
        self,
        names: Names,
        sets: list[str],
        start: int,
        specs: frozenset[str] = frozenset(),
        given: frozenset[str] = frozenset(),
        all_given: bool = False,
    ) -> None:
        self.specs = specs
        self._all_given = all_given
        self._given = given
        self.cells = cells = names.cells
        self.sets = sets
        self.start = start
        self.findings: dict[tuple, Finding] = {}
        self._names = names
        self._package = names.package
        self._followed: set[int] = set()
        self._facts: set[int] = set()  # ids of f.__code__ in f.__code__.co_name
        self._waiting: list[tuple[ast.AST, Scope, tuple[str, ...]]] = []
        self._writes = any(cell.writes for cell in cells if cell.label not in given)
        self._theirs = [i for i, cell in enumerate(cells) if cell.label not in given]
        self._unknown = Unknown(names, self._theirs)

    def run(self, roots: Iterable[str]) -> None:
        """Search everything that the roots reach."""
        for root in roots:
            self._look_at_import(root)
            self._unknown.look_at_root(root, self.start)
            self.follow(root, self.start, (root,))
        while self._waiting:
            node, scope, via = self._waiting.pop()
            try:
                self._check(node, scope, via)
            except RecursionError:
                self._names.give_up()
                self._note(node, scope, via, "names behind names, too many to follow", self.sets[0])
            self._waiting += [(child, inner, via) for child, inner in self._parts(node, scope)]

    def _look_at_import(self, root: str) -> None:
        """from numpy import dot as f: what is asked for is a library's function itself."""
        for cell, node in self._names.alive(root, self.start):
            if isinstance(node, Import):
                place = ast.Name(root, lineno=node.line, end_col_offset=0)
                for path in self._package.expand(node.path):
                    self._report_path(place, path, Scope(cell, cell, {}), (root,))

    def look_at_patches(self) -> None:
        """np.add = np.dot: whoever adds may mean it. globals()[name] = np.dot may be any name."""
        for index, cell in enumerate(self.cells):
            for around, target, value in cell.patched:
                scope = Scope(index, index, {})
                for function in around:
                    scope = scope.inside(function)
                if not self._names.paths(target, scope):
                    continue
                if any(self._hands(name, target, scope) for name in self.sets):
                    self._waiting.append((value, scope, ()))

    def look_at_what_is_stored(self) -> None:
        """ops.append(np.dot), and ops[0](a, b) where it matters: what is stored may be meant."""
        unknown = self._unknown
        if (unknown.found is None and unknown.module is None) or self.findings:
            return
        found = list(Stored(self._names, self._theirs).functions())
        via = unknown.via or unknown.module_via
        for node, scope in found:
            self._check_handed_on(node, scope, via)
        if unknown.found is not None:
            self._waiting += [(node, scope, via) for node, scope in found]
            self.run(())
        what = _shown(unknown.found or unknown.module, "")
        self.findings = {
            key: replace(finding, route=f"{finding.route}, which {what} may be")
            for key, finding in self.findings.items()
            if not finding.hidden
        }

    def look_at_overloads(self) -> None:
        """@overload(g) def _(...): compiled code that calls g runs this, and nothing names it."""
        for index, cell in enumerate(self.cells):
            for around, decorator, function in [] if cell.label in self._given else cell.announced:
                scope = Scope(index, index, {})
                for outer in around:
                    scope = scope.inside(outer)
                if any(map(hiding.announces, self._names.paths(decorator, scope))):
                    self._waiting.append((function, scope, ()))

    def _hands(self, name: str, module: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a module, or a table of one, with routes of a set in it."""
        forbidden = SETS[name]
        return any(
            is_part(forbidden, path)
            or path == "sys.modules"
            or (is_own(path) and not self._is_ours(scope))
            or self._may_hold(forbidden, path)
            for path in self._names.paths(module, scope)
        )

    def _may_hold(self, forbidden: ForbidSet, path: str) -> bool:
        """Whether a path is a module of the package: it imports libraries itself."""
        return bool(forbidden.functions) and self._package.is_module(path.removesuffix(_TABLE))

    def follow(self, name: str, at: int, via: tuple[str, ...]) -> None:
        """Put every live global definition of a name on the list of what to search."""
        for cell, node in self._names.alive(name, at):
            if not isinstance(node, Import) and id(node) not in self._followed:
                self._followed.add(id(node))
                self._waiting.append((node, Scope(cell, cell, {}), via))

    def _parts(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        """The parts of a piece of code, each with the scope it stands in."""
        inner = scope
        outside: list[ast.AST] = []
        if isinstance(node, ast.ClassDef):
            own = declared_global(node)
            local = {name: bound for name, bound in scope.local.items() if name not in own}
            inner = replace(scope, owner=node, self_name=None, local=local if own else scope.local)
        elif isinstance(node, (*FUNCTIONS, ast.Lambda)):
            inner = self._body_scope(node, scope)
            outside = [*node.args.defaults, *node.args.kw_defaults]
            outside += getattr(node, "decorator_list", [])
            outside += [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
        elif isinstance(node, COMPREHENSIONS):
            inner = scope.inside(node)
            outside = [node.generators[0].iter]
        for child in children(node):
            if isinstance(child, ast.arguments):
                continue
            if child not in outside:
                yield child, inner
        yield from ((part, scope) for part in outside if part is not None)

    def _body_scope(self, node: ast.AST, scope: Scope) -> Scope:
        inner = replace(scope.inside(node), at=self.start)
        method = scope.owner is not None and node in scope.owner.body
        names = argument_names(node.args)
        return replace(inner, self_name=names[0]) if method and names else inner

    def _check(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        inside = self._body_scope(node, scope) if isinstance(node, ast.Lambda) else scope
        for module in self._handed_on(node, inside):
            self._check_handed_on(module, inside, via)
        self._check_statement(node, scope, via)
        if not self._is_ours(scope):
            self._unknown.look_at(node, scope, via)
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            self._report(node, scope, via, lambda s: type(node.op).__name__ in s.operators)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self._check_name(node, scope, via)
        elif isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            self._check_access(node, scope, via)
        elif isinstance(node, ast.MatchClass):
            self._check_taken(node, node.kwd_attrs, scope, via)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                for path in self._package.expand(f"{node.module or ''}.{alias.name}"):
                    self._report_path(node, path, scope, via)

    def _check_statement(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        kind = type(node).__name__
        if not is_written_out(node):
            self._report(node, scope, via, lambda s: kind in s.statements)

    def _check_handed_on(self, module: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        finds = hiding.FINDING & self._names.paths(module, scope) and not self._is_ours(scope)
        for name in self.sets:
            if finds or self._hands(name, module, scope):
                self._note(module, scope, via, f"{ast.unparse(module)} as a value", name)

    def _handed_on(self, node: ast.AST, scope: Scope) -> Iterator[ast.expr]:
        """Parts of a node that may be a module and go where it is no longer followed.

        `m = np` is followed, so is one item of a literal; `g(np)` is not, nor what a function
        returns, a class keeps or a `match` takes apart.
        """
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.keyword)):
            values = [node.value]
        elif isinstance(node, ast.Lambda):
            values = [node.body]
        elif isinstance(node, ast.Attribute):
            values = [node.value] if self._takes_out(node, scope) else []
        elif isinstance(node, ast.Call):
            asks = hiding.ASKING & self._names.paths(node.func, scope)
            values = [] if asks else node.args
        elif isinstance(node, ast.Match):
            values = [node.subject]
        elif isinstance(node, ast.BinOp):
            values = [node.left, node.right]
        elif isinstance(node, ast.Dict):
            values = [value for key, value in zip(node.keys, node.values) if key is None]
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            gone = isinstance(node, ast.comprehension) or not _are_names([node.target])
            gone = gone or any(map(is_table, self._names.paths(node.iter, scope)))
            values = [node.iter] if gone else []
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values = [node.value] if not _are_names(targets) else []
        elif isinstance(node, ast.ClassDef):
            values = [_as_expression(bound, node) for _, bound in bindings(node.body)]
        else:
            values = []
        yield from (v for v in values if v is not None and self._names.paths(v, scope))

    def _takes_out(self, node: ast.Attribute, scope: Scope) -> bool:
        """[np].pop and {1: np}.values: a container's method, of one that holds a module."""
        if node.attr not in hiding.TAKING:
            return False
        paths = self._names.paths(node.value, scope)
        return any(not is_table(path) for path in paths)

    def _check_name(self, node: ast.Name, scope: Scope, via: tuple[str, ...]) -> None:
        for path in self._names.paths(node, scope):
            self._report_path(node, path, scope, via)
        if node.id == "__annotations__" and not self._is_ours(scope):
            self._report_hidden(node, scope, via)
        if node.id not in scope.local:
            self._check_global(node, node.id, scope, via)

    def _check_global(self, node: ast.AST, name: str, scope: Scope, via: tuple[str, ...]) -> None:
        """A global name of the notebook: forbidden itself, or to be followed."""
        defined = self._names.alive(name, scope.at)
        if defined:
            own = self._all_given and all(i in self._theirs for i, _ in defined)
            named = name in self.specs
            self._report(
                node,
                scope,
                via,
                lambda s: bool(s.suffix) and (named or (name.endswith(s.suffix) and not own)),
            )
        function = any(isinstance(n, (*FUNCTIONS, ast.ClassDef)) for _, n in defined)
        self.follow(name, scope.at, (*via, name) if function else via)

    def _check_access(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        """x.name, getattr(x, "name"), x.__dict__["name"]: a library's function or a method."""
        if isinstance(getattr(node, "ctx", None), ast.Store):
            return
        for path in self._names.paths(node, scope):
            self._report_path(node, path, scope, via)
        self._check_table(node, scope, via)
        name = self._names.looked_up(node, scope)
        if name is not None:
            self._check_global(node, name, scope, via)
        if isinstance(node, ast.Call) and hiding.GETTERS & self._names.paths(node.func, scope):
            self._check_getter(node, scope, via)
        self._check_form(node, scope, via)
        if isinstance(node, ast.Call) and not self._is_ours(scope):
            self._check_declared(node, scope, via)
            if _has_star(node) and hiding.BY_NAME & self._names.paths(node.func, scope):
                self._report_hidden(node, scope, via)
            if any(keyword.arg == "eval_str" for keyword in node.keywords):
                self._report_hidden(node, scope, via)
        base, name = self._names.member(node, scope)
        if base is None:
            return
        if _is_fact_of_code(node):
            self._facts.add(id(base))
        exchanged = name == "__code__" and id(node) not in self._facts
        if (exchanged or name in hiding.UNREADABLE_METHODS) and not self._is_ours(scope):
            self._report_hidden(node, scope, via)
        modules = self._names.paths(base, scope)
        if name is None:
            hides = not modules and not self._is_asked_for(node, scope)
            self._report(
                node,
                scope,
                via,
                lambda s: (
                    any(is_library(s, m) or self._may_hold(s, m) for m in modules)
                    or (hides and bool(s.methods))
                ),
                hidden=True,
            )
        elif not modules and not self._names.is_own_instance(base, name, scope):
            self._report(node, scope, via, lambda s: name in s.methods)
            named = any(any_name(SETS[s], name) for s in self.sets)
            if named and isinstance(node, ast.Attribute) and not self._is_ours(scope):
                self._unknown.look_at_module(node, scope, via)

    def _check_form(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        """np.r_["c", a] makes a matrix, a.ravel("F") a transpose: the text decides."""
        if isinstance(node, ast.Subscript):
            first = node.slice.elts[0] if getattr(node.slice, "elts", None) else node.slice
            told = self._names.text(first, scope) in ("r", "c")
            if told and MATRIX_MAKERS & self._names.paths(node.value, scope):
                self._report(node, scope, via, lambda s: bool(s.operators))
        elif isinstance(node, ast.Call):
            by_place = called(node) in ORDERED
            given = [k.value for k in node.keywords if k.arg == "order"]
            given += node.args if by_place else []
            orders = ("F", "A", "K") if by_place else ("F",)
            if any(self._names.text(part, scope) in orders for part in given):
                self._report(node, scope, via, lambda s: s.by_order)

    def _check_declared(self, node: ast.Call, scope: Scope, via: tuple[str, ...]) -> None:
        """A function declared by its name in machine code: only LLVM's own are known."""
        if called(node) in hiding.DECLARING:
            texts = [self._names.text(argument, scope) for argument in node.args]
            if not any(text and text.startswith(hiding.LLVM) for text in texts):
                self._report_hidden(node, scope, via)

    def _check_table(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        """sys.modules, np.__dict__: what is taken out of them must be readable."""
        table, key = self._names.entry(node)
        if table is None and isinstance(node, ast.Attribute) and node.attr not in LOOKING_UP:
            table = node.value
        paths = self._names.paths(table, scope) if table is not None else set()
        tables = {path for path in paths if is_table(path)}
        if tables and (key is None or self._names.text(key, scope) is None):
            own = any(map(is_own, tables)) and not self._is_ours(scope)
            everything = "sys.modules" in tables or own
            self._report(
                node,
                scope,
                via,
                lambda s: (
                    everything or any(is_library(s, t) or self._may_hold(s, t) for t in tables)
                ),
                hidden=True,
            )

    def _is_asked_for(self, node: ast.AST, scope: Scope) -> bool:
        """getattr(x, name, None) where the caller chooses the name; any other may hide a method."""
        name = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 3 else None
        return isinstance(name, ast.Name) and PARAMETER in scope.local.get(name.id, ())

    def _check_getter(self, node: ast.Call, scope: Scope, via: tuple[str, ...]) -> None:
        """operator.attrgetter("dot"): the name alone, of whatever it will be asked."""
        texts = [self._names.text(argument, scope) or "" for argument in node.args]
        if hiding.GETTERS_OF_ONE & self._names.paths(node.func, scope):
            texts = texts[:1]
        self._check_taken(node, [word for text in texts for word in text.split(".")], scope, via)

    def _check_taken(
        self, node: ast.AST, names: list[str], scope: Scope, via: tuple[str, ...]
    ) -> None:
        """Attributes that are taken by their names; "" is a name that cannot be read."""
        hides = "" in names or not hiding.UNREADABLE_METHODS.isdisjoint(names)
        if hides and not self._is_ours(scope):
            self._report_hidden(node, scope, via)
        self._report(node, scope, via, lambda s: any(any_name(s, n) for n in names))

    def _report_path(self, node: ast.AST, path: str, scope: Scope, via: tuple[str, ...]) -> None:
        library = path.split(".")[0]
        unreadable = hiding.is_unreadable(path) and not self._is_ours(scope)
        if self._writes and library != hiding.NOTEBOOK and not hiding.is_installed(library):
            unreadable = True  # a module that a cell wrote itself
        if unreadable:
            self._report_hidden(node, scope, via, path)
        self._report(node, scope, via, lambda s: names_function(s, path), path)
        place = self._package.definition(path)
        if place is not None:
            for found in self._of_package(*place):
                module, name = place
                self._note(node, scope, via, f"{name} of {module} uses {found.route}", found.set)

    def _is_ours(self, scope: Scope) -> bool:
        """Whether the code there is the course's: it may use what hides code, and hides none."""
        return self.cells[scope.cell].label in self._given

    def _of_package(self, module: str, name: str) -> list[Finding]:
        """The first route of each set that a definition of the package reaches."""
        return list(_reached_in(self._package, tuple(self.sets), module, name))

    def _report(
        self,
        node,
        scope: Scope,
        via: tuple[str, ...],
        forbids,
        path: str = "",
        hidden: bool = False,
    ) -> None:
        """Note the node for the first set that forbids it."""
        for name in self.sets:
            if forbids(SETS[name]):
                self._note(node, scope, via, self._shown(node, path), name, hidden)
                return

    def _report_hidden(self, node, scope: Scope, via: tuple[str, ...], path: str = "") -> None:
        """Note what may be anything."""
        self._report(node, scope, via, lambda s: True, path, hidden=True)

    def _shown(self, node: ast.AST, path: str) -> str:
        return _shown(node, path)

    def _note(
        self, node, scope: Scope, via: tuple[str, ...], route: str, name: str, hidden: bool = False
    ) -> None:
        label = self.cells[scope.cell].label
        key = (label, node.lineno, node.end_col_offset, name)
        self.findings.setdefault(key, Finding(label, node.lineno, route, name, via, hidden))


class _PackageSearch(_Search):
    """A search in a file of the package, of which students read a route's name, not the code.

    imported : what is known of definitions of the package
    """

    def __init__(
        self, names: Names, sets: list[str], imported: dict[tuple[str, str], list[Finding]]
    ) -> None:
        super().__init__(names, sets, 0)
        self._imported = imported

    def _of_package(self, module: str, name: str) -> list[Finding]:
        place = (module, name)
        if place not in self._imported:
            self._imported[place] = []  # who comes back here on the way finds nothing new
            search = _PackageSearch(self._package.names(module), self.sets, self._imported)
            search.run([name])
            firsts = {f.set: f for f in sorted(search.findings.values(), reverse=True)}
            self._imported[place] = list(firsts.values())
        return self._imported[place]

    def _check_statement(self, node: ast.AST, scope: Scope, via: tuple[str, ...]) -> None:
        """An earlier module's helper may loop: a door joins the words of its message."""

    def _is_ours(self, scope: Scope) -> bool:
        """The package that grading imports from is the course's own."""
        return True

    def _shown(self, node: ast.AST, path: str) -> str:
        if isinstance(node, (ast.BinOp, ast.AugAssign)):
            return "@" if isinstance(node.op, ast.MatMult) else type(node.op).__name__
        if path:
            return path
        return f".{node.attr}" if isinstance(node, ast.Attribute) else "what cannot be read"


def _as_expression(bound: ast.AST | Import, owner: ast.ClassDef) -> ast.expr | None:
    """What a class keeps under a name, an import too, as an expression; None for a function."""
    if isinstance(bound, Import):
        call = ast.Call(ast.Name("__import__", ast.Load()), [ast.Constant(bound.path)], [])
        return ast.fix_missing_locations(ast.copy_location(call, owner))
    return bound if isinstance(bound, ast.expr) else None


def _are_names(targets: list[ast.expr]) -> bool:
    """Whether all that is assigned to are names, which are followed."""
    parts = [p for t in targets for p in (t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t])]
    return all(isinstance(part, (ast.Name, ast.Starred)) for part in parts)


def _has_star(call: ast.Call) -> bool:
    """f(*x) or f(**x): what it is given cannot be read."""
    starred = any(isinstance(part, ast.Starred) for part in call.args)
    return starred or any(keyword.arg is None for keyword in call.keywords)


def _is_fact_of_code(node: ast.AST) -> bool:
    """f.__code__.co_name: whoever reads it changes nothing."""
    return isinstance(node, ast.Attribute) and node.attr.startswith("co_")


def _shown(node: ast.AST, path: str) -> str:
    """The route as written, with the library's name where an alias hides it."""
    try:
        text = ast.unparse(node).split("\n")[0]
    except RecursionError:
        text = path or type(node).__name__
    text = text if len(text) <= 60 else text[:57] + "..."
    hidden = path and path.split(".")[-1] not in text
    return f"{text} (that is {path})" if hidden else text
