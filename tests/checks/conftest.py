"""Cells for tests: sources that run as a notebook's cells do, with their text in linecache."""

from __future__ import annotations

import itertools
import linecache

import pytest

_numbers = itertools.count(1)


@pytest.fixture
def run_cell():
    """Run a source as a cell in a namespace: `run_cell(source, namespace)`."""

    def run(source: str, namespace: dict) -> None:
        filename = f"<test cell {next(_numbers)}>"
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        exec(compile(source, filename, "exec"), namespace)

    return run
