"""Directives count in the leading comments of a code cell, and nowhere else."""

from __future__ import annotations

import pytest

from tito.notebook import Cell, directives, stray_directives
from tito.notebook.directives import without_directives


def read(source):
    return [(d.name, d.value, d.line) for d in directives(source)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("#| export\nx = 1", [("export", "", 1)]),
        ("#| export simd.vec", [("export", "simd.vec", 1)]),
        ("#|export", [("export", "", 1)]),
        ("#|  default_exp  loops  ", [("default_exp", "loops", 1)]),
        ("#| forbid: blas, scan", [("forbid", "blas, scan", 1)]),
        ("#| writes:y", [("writes", "y", 1)]),
        ("\n\n# why\n#| export\n\n#| measure\nx", [("export", "", 4), ("measure", "", 6)]),
        ("x = 1\n#| export", []),
        ("'''\n#| export\n'''", []),
        ("  #| export", []),
        ("# | export", []),
        ("#| exprt", []),
        ("## export", []),
        ("", []),
    ],
)
def test_directives_are_found(source, found):
    assert read(source) == found


def test_words_of_a_directive():
    assert directives("#| forbid: blas,scan  loops")[0].words == ["blas", "scan", "loops"]


def test_only_code_cells_have_directives():
    assert Cell("code", "#| export").directive("export").line == 1
    assert Cell("markdown", "#| export").directives == []
    assert Cell("code", "x = 1").directive("export") is None


@pytest.mark.parametrize(
    ("source", "line", "why"),
    [
        ("x = 0\n#| export\ny = 1", 2, "above the first line of code"),
        ("def f():\n    #| export\n    pass", 2, "above the first line of code"),
        ("x = 1  #| export", 1, "above the first line of code"),
        ("# | export", 1, "no blank between"),
        ("##| export", 1, "with one #"),
        ("# export", 1, "is written '#| name'"),
        ("#default_exp simd.vec", 1, "is written '#| name'"),
        ("#|exprt", 1, "no directive is called 'exprt'"),
        ("#| Export", 1, "no directive is called 'Export'"),
        ("  #| export", 1, "at the start of its line"),
        ("#| export\nx = (\n#| measure", 3, "above the first line of code"),
    ],
)
def test_a_line_that_only_looks_like_one_is_reported(source, line, why):
    ((number, text, reason),) = stray_directives(source)
    assert number == line and why in reason and text in source


@pytest.mark.parametrize(
    "source",
    [
        "#| export\n#| forbid: blas\nx = 1",
        's = """\n#| export\n"""',
        "x = '#| export'",
        "# a table | with bars",
        "# export the table below",
        "#|---|",
        "y = '\ud800'",
    ],
)
def test_nothing_else_is_reported(source):
    assert stray_directives(source) == []


def test_in_text_a_known_directive_on_its_own_line_is_reported():
    assert [n for n, _, _ in stray_directives("see\n#| export\n`#| export`\n#| x", False)] == [2]


def test_a_cell_without_its_directives():
    assert without_directives("#| export\n\n# a\n#| measure\nx = 1\n#| export") == (
        "# a\nx = 1\n#| export"
    )
