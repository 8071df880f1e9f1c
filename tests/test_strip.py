"""What students get holds no answer, and is what nbgrader itself would hand out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tito.errors import Problems, UserError
from tito.notebook import Cell, Notebook
from tito.strip import (
    HIDDEN_TESTS,
    MARK_SCHEME,
    SOLUTION,
    Region,
    clear_outputs,
    later,
    regions,
    strip_hidden_tests,
    strip_marks,
    strip_solutions,
    student_version,
)


def solution(source, kind="code", **extra):
    data = {"grade_id": "s", "solution": True, "grade": False, "locked": False, "task": False}
    return Cell(kind, source, {"nbgrader": {"schema_version": 3, **data, **extra}})


def graded(source, points=3, tags=(), **extra):
    data = {"grade_id": "t", "solution": False, "grade": True, "locked": True, "task": False}
    nbgrader = {"schema_version": 3, **data, "points": points, **extra}
    return Cell("code", source, {"nbgrader": nbgrader, "tags": list(tags)})


def task(source):
    data = {"grade_id": "k", "solution": False, "grade": False, "locked": False, "task": True}
    return Cell("markdown", source, {"nbgrader": {"schema_version": 3, **data, "points": 2}})


def only(strip, cell):
    return strip(Notebook([cell])).cells[0].source


def refused(strip, *cells):
    with pytest.raises(UserError) as caught:
        strip(Notebook(list(cells)))
    return str(caught.value)


def test_a_region_becomes_the_stub_with_the_marker_s_indentation():
    cell = solution(
        "def f(x):\n"
        '    """Doc."""\n'
        "    for v in x:\n"
        "        ### BEGIN SOLUTION\n"
        "        secret(v)\n"
        "        ### END SOLUTION\n"
        "    return x"
    )
    assert only(strip_solutions, cell) == (
        "def f(x):\n"
        '    """Doc."""\n'
        "    for v in x:\n"
        "        # YOUR CODE HERE\n"
        "        raise NotImplementedError()\n"
        "    return x"
    )


def test_every_region_of_a_cell_becomes_a_stub():
    cell = solution(
        "### BEGIN SOLUTION\na = 1\n### END SOLUTION\nb = 2\n"
        "### BEGIN SOLUTION\nc = 3\n### END SOLUTION"
    )
    stub = "# YOUR CODE HERE\nraise NotImplementedError()"
    assert only(strip_solutions, cell) == f"{stub}\nb = 2\n{stub}"


def test_a_solution_cell_without_markers_is_replaced_as_a_whole():
    assert only(strip_solutions, solution("x = 42  # the answer")) == (
        "# YOUR CODE HERE\nraise NotImplementedError()"
    )
    assert only(strip_solutions, solution("The answer.", "markdown")) == "YOUR ANSWER HERE"


def test_a_rubric_in_a_reflection_becomes_your_answer_here():
    cell = solution(
        "## Why?\n\n### BEGIN SOLUTION\nThe rubric.\n### END SOLUTION\n", "markdown", grade=True
    )
    assert only(strip_solutions, cell) == "## Why?\n\nYOUR ANSWER HERE\n"


def test_hidden_regions_and_marks_schemes_go():
    cell = graded("assert a\n### BEGIN HIDDEN TESTS\nassert b\n### END HIDDEN TESTS\nassert c")
    assert only(strip_hidden_tests, cell) == "assert a\nassert c"
    cell = task("Draw it.\n### BEGIN MARK SCHEME\n2 points\n### END MARK SCHEME")
    assert only(strip_marks, cell) == "Draw it."


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("assert secret", "# 3 points, checked after hand-in"),
        ("x = secret\n### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS", None),
        ("### BEGIN HIDDEN TESTS\nsecret\n### END HIDDEN TESTS", None),
        ("# later\n### BEGIN HIDDEN TESTS\nsecret\n### END HIDDEN TESTS", "# later"),
        ("# a comment about the secret", None),
    ],
)
def test_a_hidden_test_cell_keeps_comments_only(source, left):
    cell = graded(source, tags=["hidden-tests"])
    assert only(strip_hidden_tests, cell) == (left or later(cell))
    assert "secret" not in only(strip_hidden_tests, cell)


def test_what_a_hidden_cell_says_counts_its_points():
    assert later(graded("", points=1)) == "# 1 point, checked after hand-in"
    assert later(graded("", points=0.5)) == "# 0.5 points, checked after hand-in"


def test_text_in_a_string_is_no_marker():
    source = 'a = "### BEGIN SOLUTION"\nb = """\n### BEGIN SOLUTION\n### BEGIN HIDDEN TESTS\n"""'
    assert only(student_version, Cell("code", source)) == source


def test_nbgrader_s_other_spelling_of_the_marker_is_one():
    cell = solution("def f():\n    # BEGIN SOLUTION\n    secret()\n    # END SOLUTION")
    assert "secret" not in only(strip_solutions, cell)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("### begin solution", SOLUTION),
        ("###BEGIN  SOLUTION", SOLUTION),
        ("# Begin Solution:", SOLUTION),
        ("x = 1  ### END_SOLUTION", SOLUTION),
        ("### BEGIN HIDDEN TEST", HIDDEN_TESTS),
        ("# begin hidden-tests", HIDDEN_TESTS),
        ("### BEGIN MARKING SCHEME", MARK_SCHEME),
    ],
)
def test_a_marker_that_nbgrader_would_overlook_is_refused(line, kind):
    with pytest.raises(UserError, match="nbgrader would not know this marker") as caught:
        regions(Cell("code", f"y = 2\n{line}"), kind)
    assert caught.value.line == 2
    assert kind in caught.value.hint


@pytest.mark.parametrize(
    "line",
    ["# begin solution of the linear system", "# the solution ends here", "# legend solution"],
)
def test_a_comment_about_a_solution_is_no_marker(line):
    assert regions(Cell("code", line)) == []


def test_an_unclosed_a_nested_and_a_stray_marker_are_refused_by_cell():
    unclosed = solution("def f():\n    ### BEGIN SOLUTION\n    return 1")
    nested = solution("### BEGIN SOLUTION\n1\n### BEGIN SOLUTION\n### END SOLUTION", grade_id="n")
    stray = solution("1\n### END SOLUTION", grade_id="e")
    message = refused(strip_solutions, unclosed, nested, stray)
    assert "cell 1 (s):2: BEGIN SOLUTION without an END" in message
    assert "cell 2 (n):3: BEGIN SOLUTION inside the region that line 1 opens" in message
    assert "cell 3 (e):2: END SOLUTION without a BEGIN" in message
    with pytest.raises(Problems):
        strip_solutions(Notebook([unclosed, nested]))


def test_a_region_outside_of_its_kind_of_cell_is_refused():
    region = "### BEGIN {0}\n1\n### END {0}"
    assert "outside of a solution cell" in refused(
        strip_solutions, Cell("code", region.format(SOLUTION))
    )
    assert "outside of a graded cell" in refused(
        strip_hidden_tests, Cell("code", region.format(HIDDEN_TESTS))
    )
    assert "outside of a task cell" in refused(
        strip_marks, Cell("markdown", region.format(MARK_SCHEME))
    )


def test_an_attachment_in_a_marks_scheme_is_refused():
    picture = "![a](attachment:a.png)"
    cell = task(f"{picture}\n### BEGIN MARK SCHEME\n{picture}\n### END MARK SCHEME")
    assert "cell 1 (k):3: an attachment in a marks scheme" in refused(strip_marks, cell)
    assert only(strip_marks, task(picture)) == picture


def test_a_cell_that_is_no_python_still_leaks_nothing():
    cell = solution("%%time\nx = (\n### BEGIN SOLUTION\nsecret\n### END SOLUTION")
    assert "secret" not in only(strip_solutions, cell)


def test_outputs_go_and_the_master_stays_as_it_was():
    master = Notebook([Cell("code", "1", {"tags": ["a"]}, outputs=[{"text": "secret"}])])
    version = clear_outputs(master)
    assert version.cells[0].outputs == []
    assert master.cells[0].outputs == [{"text": "secret"}]
    version.cells[0].metadata["tags"].append("b")
    assert master.cells[0].tags == ["a"]


def test_regions_name_their_lines():
    cell = Cell("code", "a\n### BEGIN SOLUTION\nb\n### END SOLUTION\nc")
    assert regions(cell) == [Region(2, 4)]
    assert [n for n in range(1, 6) if n in regions(cell)[0]] == [2, 3, 4]


words = st.sampled_from(
    [
        "x = 1",
        "    return x",
        "",
        "# note",
        "### BEGIN SOLUTION",
        "### END SOLUTION",
        "y = '''",
        "%%",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(words, max_size=9), st.sampled_from(["code", "markdown"]))
def test_no_line_of_a_region_survives_or_the_cell_is_refused(lines, kind):
    marked, inside = [], False
    for number, line in enumerate(lines):
        inside = "BEGIN" in line or (inside and "END" not in line)
        marked.append(f"{line}  # SECRET{number}" if inside and "BEGIN" not in line else line)
    try:
        found = only(strip_solutions, solution("\n".join(marked), kind))
    except UserError:
        return
    if "'''" not in "".join(lines):  # else a marker may stand in a string
        assert "SECRET" not in found


def test_nbgrader_makes_the_same_sources():
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
    from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions

    cells = [
        Cell("markdown", "# Title\n"),
        solution("def f():\n\t### BEGIN SOLUTION\n\treturn 1\n\t### END SOLUTION\n\n\nf()\n"),
        solution("x = 1 # BEGIN SOLUTION\ny = 2\nz = 3 # END SOLUTION\nw = 4"),
        solution("no markers", "markdown"),
        solution("Why?\n\n  ### BEGIN SOLUTION\nr\n  ### END SOLUTION", "markdown", grade=True),
        solution("unmarked = 1"),
        graded("assert f()\n\n### BEGIN HIDDEN TESTS\nassert f() == 1\n### END HIDDEN TESTS\n"),
        graded(
            "# 3 points\n### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS", tags=["hidden-tests"]
        ),
        task("Draw.\n\n### BEGIN MARK SCHEME\n2\n### END MARK SCHEME\nEnd."),
    ]
    make = {"code": new_code_cell, "markdown": new_markdown_cell}
    theirs = new_notebook(cells=[make[c.kind](c.source, metadata=c.metadata) for c in cells])
    for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme):
        theirs, _ = step().preprocess(theirs, {})
    ours = student_version(Notebook(cells))
    assert [c.source for c in ours.cells] == [c.source for c in theirs.cells]
