"""Rules about what stands in a test cell: checks that a wrong answer could pass or a right fail."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tito.lint.finding import WARNING, Hit, rule
from tito.lint.module import Module, called_name, names_in, public_functions
from tito.notebook import Cell, Role

COMPARING = ("expect_close", "expect_equal")
CHECKS_WITHOUT_RESULT = (*COMPARING, "expect_raises", "points", "report", "print")
# What a check returns when it hands on the result of the student's function.
CALLING = ("expect_unchanged", "expect_fresh", "expect_written")
WATCHING = ("expect_unchanged", "expect_written")  # of these, those that see changed inputs
LOOSE = (
    "allclose", "isclose", "array_equal", "array_equiv", "assert_allclose", "assert_array_equal",
    "assert_almost_equal", "assert_array_almost_equal",
)  # fmt: skip
UNFILLED = ("empty", "empty_like")
JUDGE_ONLY = ("seed", "errstate", "seterr", "set_num_threads", "setenv", "putenv", "simplefilter")
# Calls that give as many items as what they are given.
PASSING_ON = ("enumerate", "zip", "reversed", "iter", "sorted", "list", "tuple", "range", "len")
# Checks whose outcome is a number of points; `speed` looks at every value itself.
MEASURING = ("remote_array", "counts", "speed", "claim")
PLAIN = ("int", "float", "bool", "str")
RUNS_CODE = ("exec", "eval", "compile", "njit", "jit", "vectorize", "guvectorize", "prange")


def _walk(module: Module, cell: Cell) -> list[ast.AST]:
    return module.nodes(cell)


def _above_solutions(module: Module, cell: Cell) -> set[str]:
    return module.assigned(module.above(cell, Role.SOLUTION))


def student_names(module: Module, cell: Cell) -> set[str]:
    """Solution names above the cell, and the cell's own names for values made by them.

    Names given to what a comparison or a given helper of plain values returns are not followed.
    """
    known = _above_solutions(module, cell)
    grew = True
    while grew:
        grew = False
        for node in _walk(module, cell):
            for target, value in _bindings(node):
                new = names_in(target) - known
                if new and _holds_student_value(value, known):
                    known |= new
                    grew = True
    return known


def _bindings(node: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    if isinstance(node, ast.Assign):
        return [(t, node.value) for t in node.targets if not isinstance(t, ast.Subscript)]
    if isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        return [(node.target, node.value)]
    if isinstance(node, ast.With):
        return [(i.optional_vars, i.context_expr) for i in node.items if i.optional_vars]
    return []


def _holds_student_value(node: ast.AST, known: set[str]) -> bool:
    """Whether the expression's value may be what the student's code made.

    `len(x)`, `x.shape` and comparisons give plain values of which a test may say anything.
    """
    if isinstance(node, ast.Compare | ast.Constant | ast.Lambda):
        return False
    if isinstance(node, ast.Call) and called_name(node) in ("len", "isinstance", "type", "str"):
        return False
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype", "size", "ndim"):
        return False
    if isinstance(node, ast.Name):
        return node.id in known
    return any(_holds_student_value(child, known) for child in ast.iter_child_nodes(node))


@rule("assert-message")
def assert_message(module: Module) -> Iterator[Hit]:
    """A bare AssertionError tells a student nothing."""
    for cell in module.of(Role.TEST, Role.GIVEN):
        for node in _walk(module, cell):
            if isinstance(node, ast.Assert) and _empty(node.msg):
                yield Hit(
                    "an assert without a message",
                    cell,
                    node.lineno,
                    "expect_close, expect_equal, or: assert ..., f'got {got}, expected {want}'",
                )


def _empty(message: ast.expr | None) -> bool:
    return message is None or (isinstance(message, ast.Constant) and not message.value)


@rule("bare-allclose")
def bare_allclose(module: Module) -> Iterator[Hit]:
    """allclose broadcasts: an empty array or one number passes for anything."""
    for cell in module.tests:
        known = student_names(module, cell)
        for node in _walk(module, cell):
            if called_name(node) in LOOSE and _holds_any(node.args, known):
                yield Hit(
                    f"{called_name(node)} on a student's value checks neither shape nor dtype, and "
                    "an empty array passes",
                    cell,
                    node.lineno,
                    "expect_close(got, want)",
                )


def _holds_any(nodes: list[ast.expr], known: set[str]) -> bool:
    return any(_holds_student_value(n, known) for n in nodes)


@rule("np-empty")
def np_empty(module: Module) -> Iterator[Hit]:
    """Memory that is not filled may hold the answer of an earlier computation."""
    for cell in module.tests:
        for node in _walk(module, cell):
            if called_name(node) in UNFILLED:
                yield Hit(
                    f"np.{called_name(node)} in a test: old memory may hold the answer",
                    cell,
                    node.lineno,
                    "np.full(shape, np.nan)",
                )


@rule("judge-only")
def judge_only(module: Module) -> Iterator[Hit]:
    """Settings made in a test act on the judge's side; the student's code does not see them."""
    for cell in module.tests:
        for node in _walk(module, cell):
            name = called_name(node)
            if name in JUDGE_ONLY or _sets_environment(node):
                what = name if name in JUDGE_ONLY else "os.environ"
                yield Hit(
                    f"{what} in a test does not reach the student's side",
                    cell,
                    node.lineno,
                    "pass a generator or the number as an argument",
                )


def _sets_environment(node: ast.AST) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(
        isinstance(t, ast.Subscript)
        and isinstance(t.value, ast.Attribute)
        and t.value.attr == "environ"
        for t in targets
    )


@rule("monkeypatch")
def monkeypatch(module: Module) -> Iterator[Hit]:
    """Setting an attribute of a module or a solution changes the judge's copy only."""
    for cell in module.tests:
        imported = module.defined(module.above(cell, Role.GIVEN)) - module.assigned(module.cells)
        known = imported | set(module.names(cell).imported) | _above_solutions(module, cell)
        for node in _walk(module, cell):
            for target in node.targets if isinstance(node, ast.Assign) else []:
                if isinstance(target, ast.Attribute) and names_in(target) & known:
                    yield Hit(
                        f"replaces {ast.unparse(target)}: the student's side does not see it",
                        cell,
                        node.lineno,
                        "pass the function as an argument",
                    )


@rule("assert-in-with")
def assert_in_with(module: Module) -> Iterator[Hit]:
    """The student's __exit__ is told of an error inside the block."""
    for cell in module.tests:
        known = student_names(module, cell)
        for node in _walk(module, cell):
            if isinstance(node, ast.With) and any(
                _holds_student_value(i.context_expr, known) for i in node.items
            ):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Assert) or called_name(inner) in COMPARING:
                        yield Hit(
                            "a check inside a with block of a student's object",
                            cell,
                            inner.lineno,
                            "keep the value and check it after the block",
                        )


@rule("loop-length")
def loop_length(module: Module) -> Iterator[Hit]:
    """A loop over a student's result checks nothing when the result is empty."""
    for cell in module.tests:
        known = student_names(module, cell)
        checked = _checked_lengths(module, cell)
        for node in _walk(module, cell):
            if not isinstance(node, ast.For | ast.comprehension):
                continue
            results = _looped(node.iter, known)
            if results is None or (results and results <= checked):
                continue
            yield Hit(
                f"loops over a student's result ({ast.unparse(node.iter)}): an empty one passes",
                cell,
                node.iter.lineno,
                "keep it in a name and check its length first",
            )


def _looped(node: ast.expr, known: set[str]) -> set[str] | None:
    """Names of student values that the loop runs over; empty for a call made in place, None for
    a loop over something else."""
    if isinstance(node, ast.Call) and called_name(node) in PASSING_ON:
        if any(k.arg == "strict" for k in node.keywords):
            return None
        parts = [_looped(a, known) for a in node.args]
        found = [p for p in parts if p is not None]
        return set().union(*found) if found and all(found) else (set() if found else None)
    if called_name(node) in ("items", "values", "keys") and isinstance(node.func, ast.Attribute):
        return _looped(node.func.value, known)
    if isinstance(node, ast.Name):
        return {node.id} if node.id in known else None
    if isinstance(node, ast.Call) and called_name(node) in {*known, *CALLING}:
        return set() if _holds_student_value(node, known) else None
    return None


def _checked_lengths(module: Module, cell: Cell) -> set[str]:
    """Names whose length, shape or whole value the cell checks."""
    found: set[str] = set()
    counting = {
        id(argument)
        for node in _walk(module, cell)
        if isinstance(node, ast.Call) and called_name(node) == "range"
        for argument in node.args
    }
    for node in _walk(module, cell):
        if called_name(node) == "len" and id(node) not in counting:
            found |= names_in(node) - {"len"}
        elif isinstance(node, ast.Attribute) and node.attr in ("shape", "size"):
            found |= names_in(node.value)
        elif called_name(node) in COMPARING and isinstance(node, ast.Call) and node.args:
            found |= names_in(node.args[0])
    return found


@rule("test-without-solution", grading=True)
def test_without_solution(module: Module) -> Iterator[Hit]:
    """A test that names no solution gives its points to everybody."""
    for cell in module.tests:
        used = module.names(cell).used & _above_solutions(module, cell)
        if not used and not _is_stub(cell):
            yield Hit("this test never uses a name that a solution cell above defines", cell)


def _is_stub(cell: Cell) -> bool:
    """A hidden test as students have it: comments only."""
    return all(s.lstrip().startswith("#") or not s.strip() for s in cell.source.split("\n"))


@rule("last-expression")
def last_expression(module: Module) -> Iterator[Hit]:
    """nbgrader takes the value of a test's last expression for partial credit."""
    silent = {*CHECKS_WITHOUT_RESULT, *_silent_helpers(module)}
    for cell in module.tests:
        body = module.tree(cell).body
        last = body[-1] if body else None
        if isinstance(last, ast.Expr) and called_name(last.value) not in silent:
            yield Hit(
                "the last expression of a graded cell is taken for its score",
                cell,
                last.lineno,
                "end with points(...), or give the value a name",
            )


def _silent_helpers(module: Module) -> set[str]:
    """Given functions that return nothing."""
    return {name for name, node in module.given_functions.items() if not _returns_value(node)}


def _returns_value(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(n, ast.Yield | ast.YieldFrom) or (isinstance(n, ast.Return) and n.value)
        for n in ast.walk(node)
    )


@rule("runs-student-code")
def runs_student_code(module: Module) -> Iterator[Hit]:
    """Code made from a student's value would run with the judge's rights."""
    for cell in module.of(Role.TEST, Role.GIVEN):
        known = student_names(module, cell)
        for node in _walk(module, cell):
            if called_name(node) in (*RUNS_CODE, "loads") and _holds_any(node.args, known):
                yield Hit(
                    f"{called_name(node)} on a student's value runs it on the judge's side",
                    cell,
                    node.lineno,
                    "compile in the solution cell, outside its markers",
                )


@rule("expect-unchanged")
def expect_unchanged(module: Module) -> Iterator[Hit]:
    """In plain Jupyter nobody but the test sees that a kernel changes its input."""
    for exercise in module.exercises:
        visible = [t for t in exercise.tests if not t.hidden]
        if not visible:
            continue
        checked = {n for t in visible for n in _checked_unchanged(module, t)}
        for function in public_functions(module.tree(exercise.solution)):
            takes = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
            used = any(function.name in module.names(t).used for t in visible)
            if used and takes and _may_take_arrays(function) and function.name not in checked:
                yield Hit(
                    f"no expect_unchanged for {function.name}: in a notebook a kernel that writes "
                    "into its input would pass",
                    visible[0],
                    hint=f"expect_unchanged({function.name}, ...)",
                )


def _may_take_arrays(function: ast.FunctionDef) -> bool:
    """Whether its contract speaks of an array, by name or by a shape such as (n,) or (m, k)."""
    contract = ast.get_docstring(function)
    if contract is None:
        return True
    # A number may be called `arrays`, and an example may hold pairs of numbers.
    named = "|".join(arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg))
    words = re.sub(rf"\b({named})\b", "", contract.partition(">>>")[0])
    return bool(re.search(r"array|matri|vector|\(\w+, *\w*\)", words))


def _checked_unchanged(module: Module, cell: Cell) -> set[str]:
    """Functions given to one of WATCHING, directly or by a given helper that does so."""
    helpers = {
        name
        for name, node in module.given_functions.items()
        if any(called_name(n) in WATCHING for n in ast.walk(node))
    }
    own = {n.name for n in _walk(module, cell) if isinstance(n, ast.FunctionDef)}
    found: set[str] = set()
    for node in _walk(module, cell):
        if called_name(node) in {*WATCHING, *(helpers - own)}:
            found |= {a.id for a in node.args if isinstance(a, ast.Name)}
    return found | _looped_functions(module, cell, found)


def _looped_functions(module: Module, cell: Cell, loop_names: set[str]) -> set[str]:
    """Functions that a loop over a tuple of them hands to the check under the loop's name."""
    found: set[str] = set()
    for node in _walk(module, cell):
        if isinstance(node, ast.For) and names_in(node.target) & loop_names:
            found |= names_in(node.iter)
    return found


@rule("want-after-call")
def want_after_call(module: Module) -> Iterator[Hit]:
    """An expected value computed after the call sees an input that the call has changed."""
    for cell in module.tests:
        known = _above_solutions(module, cell)
        for node in _walk(module, cell):
            if called_name(node) not in COMPARING or len(node.args) < 2:
                continue
            got, want = node.args[:2]
            calls = [n for n in ast.walk(got) if called_name(n) in known]
            shared = names_in(got) & names_in(want)
            computed = [n for n in ast.walk(want) if called_name(n) not in (None, *PLAIN)]
            if calls and shared and computed:
                yield Hit(
                    "the expected value is computed after the call, from an input that the call "
                    "may have changed",
                    cell,
                    node.lineno,
                    "want = ... on a line above",
                )


@rule("count-values")
def count_values(module: Module) -> Iterator[Hit]:
    """Points for a count, a speed or a claim need the right values first, and end in points()."""
    comparing = {*COMPARING, *_comparing_helpers(module)}
    for cell in module.tests:
        called = [(n.lineno, called_name(n)) for n in _walk(module, cell) if called_name(n)]
        measuring = [line for line, name in called if name in MEASURING]
        if not measuring:
            continue
        counting = [line for line, name in called if name in MEASURING and name != "speed"]
        compared = any(n in comparing for _, n in called)
        if counting and not compared:
            yield Hit(
                "counts without checking the values that were computed: doing nothing is cheap",
                cell,
                counting[0],
                "expect_close(got, want) before points(...)",
            )
        last = module.tree(cell).body[-1]
        if not (isinstance(last, ast.Expr) and called_name(last.value) == "points"):
            yield Hit(
                "a cell that counts or measures ends in points(...)",
                cell,
                last.lineno,
                "points(earned)",
            )


def _comparing_helpers(module: Module) -> set[str]:
    return {
        name
        for name, node in module.given_functions.items()
        if any(called_name(n) in COMPARING for n in ast.walk(node))
    }


@rule("isinstance-given", level=WARNING)
def isinstance_given(module: Module) -> Iterator[Hit]:
    """A class of a given cell exists once on each side of the border."""
    classes = {
        node.name
        for cell in module.of(Role.GIVEN)
        for node in module.tree(cell).body
        if isinstance(node, ast.ClassDef)
    }
    for cell in module.tests:
        for node in _walk(module, cell):
            if called_name(node) == "isinstance" and names_in(node) & classes:
                yield Hit(
                    "isinstance against a given class fails across the border (two copies)",
                    cell,
                    node.lineno,
                    "test its attributes",
                )


@rule("claims-half", grading=True)
def claims_half(module: Module) -> Iterator[Hit]:
    """What is read inside the student's process is worth half of an exercise at most.

    The judge holds to that whatever the points say, so more would be lost by everybody.
    """
    helpers = {n for n, node in module.given_functions.items() if _calls(node, {"claim"})}
    for exercise in module.exercises:
        cells = [t for t in exercise.tests if _calls(module.tree(t), {"claim", *helpers})]
        claimed = sum((c.points or 0) for c in cells)
        total = sum((c.points or 0) for c in exercise.tests)
        if 2 * claimed > total:
            line = min(
                n.lineno for n in _walk(module, cells[-1]) if called_name(n) in {"claim", *helpers}
            )
            yield Hit(
                f"{claimed} of the {total} points of exercise {exercise.number} stand in cells with"
                " claims: half of them at most count",
                cells[-1],
                line,
                "more points for the values, or a count that the test itself makes",
            )


def _calls(tree: ast.AST, names: set[str]) -> bool:
    return any(called_name(node) in names for node in ast.walk(tree))
