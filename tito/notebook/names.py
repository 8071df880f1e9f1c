"""Names that a cell binds and uses at module level, by scope from the syntax tree, not by text.

`symtable` is not asked: since Python 3.12 it shows the variable of a comprehension at module level
as a name of the module, so that the answer would depend on the Python that runs.
"""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSION = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Names:
    """What a piece of code has to do with the module's names.

    assigned  : bound by running it (not by an import)
    imported  : bound by an import
    used      : read, in functions, classes and comprehensions too: name -> first line
    annotated : read in an annotation: name -> first line
    quoted    : read in an annotation that is a string: name -> first line
    """

    assigned: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    used: dict[str, int] = field(default_factory=dict)
    annotated: dict[str, int] = field(default_factory=dict)
    quoted: dict[str, int] = field(default_factory=dict)


def bound(source: str) -> tuple[set[str], set[str]]:
    """(assigned, imported): names that running the cell makes; both empty if it does not parse."""
    found = of_source(source)
    return found.assigned, found.imported


def used(source: str) -> set[str]:
    """Global names that the cell reads, in functions, classes and comprehensions too."""
    found = of_source(source)
    return {*found.used, *found.annotated, *found.quoted}


def of_source(source: str) -> Names:
    """The names of a cell; none at all if it does not parse."""
    found = _of_source(source)
    return Names(*(copy.copy(getattr(found, part.name)) for part in fields(found)))


@lru_cache(maxsize=1024)
def _of_source(source: str) -> Names:
    """The same, worked out once: grading asks many times about each cell of a master."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is not this function's business
            tree = ast.parse(source)
        return of_tree(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names()


def of_tree(tree: ast.Module) -> Names:
    """The names of a parsed module or of some of its statements."""
    found = _bound(tree)
    _Reader(found).visit(tree)
    return found


def bound_by(statement: ast.stmt) -> set[str]:
    """Global names that are there once the statement has run, where its functions are called too.

    As `of_tree` finds them, which reads all that they hang on as well.
    """
    found = _bound(ast.Module([statement], []))
    return found.assigned | found.imported


def _bound(tree: ast.Module) -> Names:
    """What the statements bind; nothing is said of what they use."""
    found = Names()
    for statement in tree.body:
        bindings = _Bindings([statement])
        made = bindings.names - bindings.imported
        # The last statement that binds a name says what it is.
        # In place: a cell may have a hundred thousand statements.
        found.imported -= made
        found.imported |= bindings.imported
        found.assigned -= bindings.imported
        found.assigned |= made
        if isinstance(statement, ast.Delete):
            gone = {t.id for t in statement.targets if isinstance(t, ast.Name)}
            found.assigned -= gone
            found.imported -= gone
    found.assigned |= _declared_global(tree)
    return found


def at_import(statement: ast.stmt) -> dict[str, int]:
    """Global names that running the statement reads at once: decorators, defaults and the bodies
    of classes, but not those of functions; name -> first line."""
    found = Names()
    _Reader(found, at_import=True).visit(statement)
    return found.used


def _declared_global(tree: ast.Module) -> set[str]:
    """Names that some function both declares global and binds."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTION, ast.ClassDef)):
            bindings = _Bindings(node.body)
            names |= bindings.names & bindings.declared_global
    return names


class _Bindings(ast.NodeVisitor):
    """The names that statements bind in their own scope; what nested scopes bind is theirs."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.names: set[str] = set()
        self.imported: set[str] = set()
        self.declared_global: set[str] = set()
        self.declared_nonlocal: set[str] = set()
        for node in nodes:
            self.visit(node)

    @property
    def local(self) -> set[str]:
        return self.names - self.declared_global - self.declared_nonlocal

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.names.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.names.add(node.name)
        for part in _outer_parts(node):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.add(node.name)
        for part in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.visit(part)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)

    def _comprehension(self, node: ast.AST) -> None:
        # Its variables are its own, but `:=` in it binds outside.
        for part in ast.walk(node):
            if isinstance(part, ast.NamedExpr):
                self.names.add(part.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:  # `x: int` alone binds nothing
            self.visit(node.target)
            self.visit(node.value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name != "*":
                name = alias.asname or alias.name
                name = name if isinstance(node, ast.ImportFrom) else name.split(".")[0]
                self.names.add(name)
                self.imported.add(name)

    visit_Import = visit_ImportFrom = _import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.generic_visit(node)  # its name is gone again after the block

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.names.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.declared_global.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.declared_nonlocal.update(node.names)


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]


def _outer_parts(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """What of a function runs where the function is defined; annotations aside."""
    return [*node.decorator_list, *_defaults(node.args)]


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (a for a in (arguments.vararg, arguments.kwarg) if a is not None)


@dataclass
class _Scope:
    """Names that a block adds; `closed` ones hide the names of a class around them."""

    names: set[str]
    declared_global: set[str] = field(default_factory=set)
    of_class: bool = False
    closed: bool = False


class _Reader(ast.NodeVisitor):
    """Notes each name that is read and belongs to the module."""

    def __init__(self, found: Names, at_import: bool = False) -> None:
        self.found = found
        self.at_import = at_import
        self.scopes: list[_Scope] = []
        self.in_annotation = False

    def _is_global(self, name: str) -> bool:
        from_class = True  # a class's names are seen in its body, not in its methods
        for scope in reversed(self.scopes):
            if not scope.of_class or from_class:
                if name in scope.declared_global:
                    return True
                if name in scope.names:
                    return False
            from_class = from_class and not scope.closed
        return True

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and self._is_global(node.id):
            self._kind(node).setdefault(node.id, node.lineno)

    def _kind(self, node: ast.Name) -> dict[str, int]:
        if not self.in_annotation:
            return self.found.used
        return self.found.quoted if hasattr(node, "quoted") else self.found.annotated

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and self._is_global(node.target.id):
            self.found.used.setdefault(node.target.id, node.lineno)

    def _inside(self, scope: _Scope, nodes: Iterable[ast.AST]) -> None:
        self.scopes.append(scope)
        for node in nodes:
            self.visit(node)
        self.scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in _outer_parts(node):
            self.visit(part)
        parameters = list(_parameters(node.args))
        types = _Scope({p.name for p in getattr(node, "type_params", [])})
        annotations = [p.annotation for p in parameters] + [node.returns]
        self._annotations(types, [a for a in annotations if a is not None])
        if self.at_import:
            return
        bindings = _Bindings(node.body)
        handlers = _handler_names(node.body)
        local = bindings.local | {p.arg for p in parameters} | types.names | handlers
        self._inside(_Scope(local, bindings.declared_global, closed=True), node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)
        if self.at_import:
            return
        self._inside(_Scope({p.arg for p in _parameters(node.args)}, closed=True), [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.decorator_list:
            self.visit(part)
        types = _Scope({p.name for p in getattr(node, "type_params", [])})
        self._inside(types, [*node.bases, *(k.value for k in node.keywords)])
        bindings = _Bindings(node.body)
        # `__class__` is a name that methods may read, though nobody writes it.
        self.scopes.append(_Scope(types.names | {"__class__"}))
        self._inside(
            _Scope(bindings.local, bindings.declared_global, of_class=True, closed=True),
            node.body,
        )
        self.scopes.pop()

    def _comprehension(self, node) -> None:
        self.visit(node.generators[0].iter)  # runs outside
        targets = _Bindings([g.target for g in node.generators]).names
        parts = [g.target for g in node.generators]
        parts += [g.iter for g in node.generators[1:]]
        parts += [test for g in node.generators for test in g.ifs]
        values = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self._inside(_Scope(targets, closed=True), [*parts, *values])

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        self._inside(_Scope({node.name} if node.name else set()), node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._annotations(_Scope(set()), [node.annotation])
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def visit_TypeAlias(self, node) -> None:
        types = _Scope({p.name for p in node.type_params})
        self._annotations(types, [node.value])

    def _annotations(self, types: _Scope, nodes: list[ast.expr]) -> None:
        before, self.in_annotation = self.in_annotation, True
        self._inside(types, [_unquoted(n) for n in nodes])
        self.in_annotation = before


def _handler_names(body: list[ast.stmt]) -> set[str]:
    """Names of `except ... as name` in a function: local to it."""
    walk = (n for statement in body for n in ast.walk(statement))
    return {n.name for n in walk if isinstance(n, ast.ExceptHandler) and n.name}


class _Unquote(ast.NodeTransformer):
    """An annotation with its quoted parts read as code; `Literal["a"]` stays a string."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = getattr(node.value, "id", getattr(node.value, "attr", ""))
        return node if name == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str):
            return node
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return node
        for part in ast.walk(inner):
            if hasattr(part, "lineno"):
                part.lineno, part.quoted = node.lineno, True
        return inner


def _unquoted(node: ast.expr) -> ast.expr:
    return _Unquote().visit(copy.deepcopy(node))
