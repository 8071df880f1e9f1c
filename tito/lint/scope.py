"""Rules about names: which cell may use what which other cell defines.

When a hand-in is graded, the student's side runs every cell but tests and measures, the judge's
side every cell but solutions and measures, and each test cell runs alone on a fresh copy of the
given names. A name that crosses these lines is missing there, or is another one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tito.lint.finding import Hit, rule
from tito.lint.module import Module
from tito.notebook import Cell, Role

PACKAGE = "tinykernels"


def _hits(module: Module, cell: Cell, names: set[str], say, hint: str | None = None):
    """One hit a name, where the cell first uses it."""
    for name in sorted(names):
        yield Hit(say(name), cell, module.line_of(cell, name), hint)


def _bindings(module: Module, cell: Cell, names: set[str], say, hint: str | None = None):
    """One hit a name, where the cell first gives it a value (def and import: the whole cell)."""
    for name in sorted(names):
        yield Hit(say(name), cell, module.line_of(cell, name, binding=True), hint)


def _stars_above(module: Module, cell: Cell) -> bool:
    return any(_star(module, c) for c in module.code if c.index <= cell.index)


def _star(module: Module, cell: Cell) -> int | None:
    for node in module.nodes(cell):
        if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            return node.lineno
    return None


@rule("star-import")
def star_import(module: Module) -> Iterator[Hit]:
    for cell in module.code:
        if line := _star(module, cell):
            yield Hit("'import *' hides which names a cell needs", cell, line, "name them")


@rule("own-package", grading=True)
def own_package(module: Module) -> Iterator[Hit]:
    """What its own cells write into the package is not there when the module is tested or graded,
    or is what an older export left."""
    own = _own_files(module)
    for cell in module.code:
        for node in module.nodes(cell):
            if found := own & _imported_files(node):
                name = f"{PACKAGE}.{max(found, key=len)}"
                why = f"imports {name}, which this module's own cells write"
                hint = "what the cells above define is there without an import"
                yield Hit(why, cell, node.lineno, hint)


def _own_files(module: Module) -> set[str]:
    """What its cells are exported to, as in "simd.gemm" and "simd.vec", and its folder "simd"."""
    own = module.notebook.default_exp or ""
    routed = {d.value for c in module.code if (d := c.directive("export"))}
    return (routed | {own, own.rpartition(".")[0]}) - {""}


def _imported_files(node: ast.AST) -> set[str]:
    """Which modules of the package a statement may import."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return {n.removeprefix(f"{PACKAGE}.") for n in names if n.startswith(f"{PACKAGE}.")}


@rule("test-unknown-name", grading=True)
def test_unknown_name(module: Module) -> Iterator[Hit]:
    """A test cell stands alone: given names and solution names above it, and its own."""
    for cell in module.tests:
        if _stars_above(module, cell):
            continue
        have = module.defined(module.above(cell, Role.GIVEN))
        have |= module.assigned(module.above(cell, Role.SOLUTION))
        missing = set(module.names(cell).needed) - have
        yield from _hits(module, cell, missing, lambda name, cell=cell: _where(module, cell, name))


def _where(module: Module, cell: Cell, name: str) -> str:
    """Why a test cell cannot have `name`."""
    others = [c for c in module.tests if c is not cell]
    if found := module.first_with(name, others):
        return f"uses {name!r} of test cell {found.label}: each test stands alone"
    if found := module.first_with(name, module.of(Role.MEASURE)):
        return f"uses {name!r} of measure cell {found.label}, which does not run in grading"
    if found := module.first_with(name, module.solutions, imported=True):
        return f"uses {name!r}, which only solution cell {found.label} imports"
    if found := module.first_with(name, [*module.solutions, *module.of(Role.GIVEN)]):
        return f"uses {name!r}, which {found.label} defines further down"
    return f"uses {name!r}, which no cell above defines"


@rule("test-rebinds-solution", grading=True)
def test_rebinds_solution(module: Module) -> Iterator[Hit]:
    for cell in module.tests:
        own = set(module.names(cell).defined) & module.solution_names
        yield from _bindings(
            module, cell, own, lambda n: f"binds {n!r}, a solution's name: it would test itself"
        )


@rule("test-rebinds-given")
def test_rebinds_given(module: Module) -> Iterator[Hit]:
    """What a test assigns stays with the judge; a solution that reads it sees the given value."""
    read = {n: c for c in module.solutions for n in module.names(c).needed}
    given = module.assigned(module.of(Role.GIVEN))
    for cell in module.tests:
        own = set(module.names(cell).assigned) & given & set(read)
        yield from _bindings(
            module,
            cell,
            own,
            lambda n: (
                f"assigns {n!r}, which {read[n].label} reads: the student's side never sees it"
            ),
            "pass it as an argument",
        )


@rule("given-rebinds-solution", grading=True)
def given_rebinds_solution(module: Module) -> Iterator[Hit]:
    for cell in module.of(Role.GIVEN):
        own = set(module.names(cell).defined) & module.solution_names
        yield from _bindings(
            module, cell, own, lambda n: f"a given cell binds {n!r}, which a solution cell defines"
        )


@rule("solution-rebinds-given")
def solution_rebinds_given(module: Module) -> Iterator[Hit]:
    for cell in module.solutions:
        given = module.defined(module.above(cell, Role.GIVEN))
        own = set(module.names(cell).assigned) & given
        yield from _bindings(
            module, cell, own, lambda n: f"a solution cell binds {n!r}, which a given cell defines"
        )


@rule("solution-rebinds-solution", grading=True)
def solution_rebinds_solution(module: Module) -> Iterator[Hit]:
    for cell in module.solutions:
        others = [c for c in module.solutions if c.index < cell.index]
        for name in sorted(set(module.names(cell).assigned) & module.assigned(others)):
            first = module.first_with(name, others)
            yield Hit(
                f"defines {name!r} again, which {first.label} defines",
                cell,
                module.line_of(cell, name),
            )


@rule("given-uses-solution", grading=True)
def given_uses_solution(module: Module) -> Iterator[Hit]:
    """Given cells run on the judge's side too; one that stands on a solution cannot."""
    for cell in module.of(Role.GIVEN):
        given = module.defined(module.above(cell, Role.GIVEN))
        names = set(module.names(cell).needed) & module.solution_names - given
        yield from _hits(
            module,
            cell,
            names,
            lambda n: f"a given cell uses {n!r}, which a solution cell defines",
            "put the helper into that solution cell, outside its markers, or make this a measure "
            "cell (#| measure)",
        )


@rule("uses-test-name")
def uses_test_name(module: Module) -> Iterator[Hit]:
    """Nothing but the test itself sees what a test cell defines."""
    for cell in module.of(Role.GIVEN, Role.SOLUTION, Role.MEASURE):
        have = module.defined(module.above(cell, Role.GIVEN, Role.SOLUTION, Role.MEASURE))
        names = set(module.names(cell).needed) & module.defined(module.tests) - have
        yield from _hits(
            module,
            cell,
            names,
            lambda n, role=cell.role: f"a {role} cell uses {n!r}, which only a test cell defines",
            "define it in a given cell",
        )


@rule("uses-measure-name")
def uses_measure_name(module: Module) -> Iterator[Hit]:
    """Measure cells do not run in grading, so nothing later may need what they define."""
    for cell in module.of(Role.GIVEN, Role.SOLUTION, Role.MEASURE):
        roles = (Role.GIVEN, Role.SOLUTION)
        have = module.defined(module.above(cell, *roles))
        measures = module.above(cell, Role.MEASURE)
        theirs = module.assigned(measures)
        if cell.role is not Role.MEASURE:
            theirs = module.defined(measures)
        names = set(module.names(cell).needed) & theirs - have
        yield from _hits(
            module,
            cell,
            names,
            lambda n, cells=measures: _only_measured(n, module.first_with(n, cells)),
            "define it in a given cell",
        )


def _only_measured(name: str, cell: Cell) -> str:
    return f"uses {name!r}, which only measure cell {cell.label} defines"


@rule("undefined-name")
def undefined_name(module: Module) -> Iterator[Hit]:
    """A name that no cell above defines, in a cell that is no test."""
    for cell in module.of(Role.GIVEN, Role.SOLUTION, Role.MEASURE):
        if _stars_above(module, cell):
            continue
        above = [c for c in module.code if c.index < cell.index]
        missing = set(module.names(cell).needed) - module.defined(above)
        missing -= module.defined(module.tests)  # a rule of its own
        if cell.role is not Role.MEASURE:
            # A function may name what a cell further down defines, so long as it is called later.
            missing -= module.defined(module.of(Role.GIVEN, Role.SOLUTION)) - _now(module, cell)
        yield from _hits(
            module, cell, missing, lambda n: f"uses {n!r}, which no cell above defines"
        )


def _now(module: Module, cell: Cell) -> set[str]:
    """Names that the cell needs while it runs, outside the bodies of its functions."""
    found: set[str] = set()
    pending: list[ast.AST] = list(module.tree(cell).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            pending += [*node.decorator_list, *node.args.defaults]
        elif not isinstance(node, ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return found
