"""What a warm judge finds out about a module, so that its forks know it from the start.

Nothing is decided here and no cell is run: the functions that the forks will call remember what
they worked out about a text.
"""

from __future__ import annotations

import ast
import sys
import warnings

import tito.checks
from tito.checks import case, gate
from tito.forbid import tree_of
from tito.grading.judge import clean, run
from tito.grading.judge.code import given_code, origin, test_code
from tito.grading.judge.job import Job, as_bytes
from tito.grading.judge.messages import filename
from tito.grading.judge.passes import checks_among, given_filename, pieces
from tito.grading.judge.plan import GradedTest, Plan, Step, make_plan
from tito.grading.judge.rebuild import handed_out, rebuild
from tito.grading.judge.submission import read_submission
from tito.grading.judge.text import no_code
from tito.grading.judge.world import contracts_of
from tito.notebook.names import used

# They show something when they are imported.
_NOT_AHEAD = {"antigravity", "idlelib", "this", "tkinter", "turtle", "turtledemo"}


def read_ahead(job: Job) -> Plan:
    """Look at the module as if its reference were handed in; its plan."""
    job.handed_out = handed_out(job.master, job.release)
    submission = read_submission(as_bytes(job.master))
    plan = make_plan(job.master, rebuild(job.master, submission, job.release, job.handed_out))
    run.forbidden(plan, run.package_sources(job))
    for source, writes in plan.contracts:
        contracts_of(source, writes)
    if any("claim" in test.source for test in plan.tests):
        given = [step.source for step in plan.steps if _runs_for_all(step)]
        clean.read_ahead(given)
        gate.read_ahead(given, [job.master.cells[e.position].source for e in plan.exercises])
    students: set[str] = set()
    checks: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the module's business
        for step in plan.steps:
            used(step.source)
            if isinstance(step, GradedTest):
                _test(step, frozenset(students), frozenset(checks))
            elif step.in_g:
                _given(step)
                checks |= _checks_imported(step.source)
            students |= getattr(step, "defines", frozenset())
    return plan


def for_students(plan: Plan) -> dict[str, list[str]]:
    """What warm student processes read ahead: cells that are no student's, what those import."""
    cells = [s.source for s in plan.steps if _runs_for_all(s)]
    trees = filter(None, map(tree_of, cells))
    names = {name for tree in trees for node in tree.body for name in _modules(node)}
    return {"cells": cells, "modules": sorted(filter(_is_harmless, names))}


def _runs_for_all(step: Step | GradedTest) -> bool:
    return isinstance(step, Step) and step.in_s and step.kind in ("given", "imports")


def _modules(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def _is_harmless(name: str) -> bool:
    """Whether a module can be imported before anything is known of who uses it."""
    top = name.partition(".")[0]
    return name in ("tito.checks", "tito.machine", "tito.here") or (
        top == "numpy" or (top in sys.stdlib_module_names and top not in _NOT_AHEAD)
    )


def _given(step: Step) -> None:
    for piece in pieces(step):
        given_code(piece, given_filename(step))


def _test(test: GradedTest, students: frozenset[str], checks: frozenset[str]) -> None:
    no_code(test.source)
    name = filename(test)
    case.read_ahead(test.source)
    if test_code(test.source, name, True).last is not None:
        origin(test.source, name, students, checks)
    if test.has_secret and test.shown.strip():
        used(test.shown)
        case.read_ahead(test.shown)
        test_code(test.shown, name, False)


def _checks_imported(source: str) -> set[str]:
    """Names of checks that a cell imports."""
    tree = tree_of(source)
    found = {}
    for node in tree.body if tree else []:
        if isinstance(node, ast.ImportFrom) and node.module == "tito.checks":
            known = [a for a in node.names if hasattr(tito.checks, a.name)]
            found |= {a.asname or a.name: getattr(tito.checks, a.name) for a in known}
    return set(checks_among(found))
