"""Code of given and test cells, compiled once: a warm judge does it for all its forks."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from tito.grading.judge.score import Origin, last_expression, last_value_of

KEPT = 512


@dataclass(frozen=True)
class TestCode:
    """A test cell: its statements, and its last expression where that may be a score."""

    __test__ = False  # not a class of tests, whatever pytest thinks

    tree: ast.Module
    body: CodeType
    last: CodeType | None


def show(source: str, name: str) -> None:
    """Let tracebacks and `linecache` show the text of code that is called `name`."""
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[name] = (len(source), None, lines, name)


@lru_cache(maxsize=KEPT)
def given_code(source: str, name: str) -> CodeType:
    return _compile(source, name, "exec")


@lru_cache(maxsize=KEPT)
def test_code(source: str, name: str, scored: bool) -> TestCode:
    """scored : whether the value of the last expression counts"""
    tree = ast.parse(source)
    last = last_expression(tree, source) if scored else None
    if last is None:
        return TestCode(tree, _compile(source, name, "exec"), None)
    body = ast.Module(tree.body[:-1], tree.type_ignores)
    value = _compile(ast.Expression(last.value), name, "eval")
    return TestCode(tree, _compile(body, name, "exec"), value)


test_code.__test__ = False


@lru_cache(maxsize=KEPT)
def origin(source: str, name: str, students: frozenset[str], checks: frozenset[str]) -> Origin:
    """Whose word the last value of a test cell is; see `last_value_of`."""
    return last_value_of(test_code(source, name, True).tree, set(students), checks)


def _compile(source: str | ast.AST, name: str, mode: str) -> CodeType:
    """A cell may await at its top level, as in a notebook."""
    return compile(source, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
