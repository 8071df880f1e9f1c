"""Each rule goes red for the one thing it is about, at the right cell and line, and no other does.

The base is the template, which passes; every case changes one thing in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tito import template
from tito.lint import RULES, lint
from tito.notebook import read_py

BASE = template.text("07_numba")
TEST = 'nbgrader={"grade": true, "grade_id": "axpy_loops-test"'
HIDDEN_TAGS = 'tags=["hidden-tests", "raises-exception"]'
LAST_CHECK = "expect_raises(ValueError, axpy_loops, 1.0, ramp(3), ramp(2))\n"
SPECIFICATION = "def axpy_specification(a, x, y):\n"
HIDDEN_POINTS = '-hidden", "locked": true, "points": 1'
LAST_LINE = "points(1 if read == 9 else 0, None if read == 9 else wasteful)\n"
CLAIM = "from tito.checks import claim"
COUNT = BASE[BASE.index('"grade_id": "axpy_loops-count"') : BASE.index("watched = remote_array(")]
MEASURE = 'tags=["raises-exception"]\n#| measure'
IN_SOLUTION = "    result = np.empty(x.shape, x.dtype)\n"
IMPORTS = "#| export\nimport numpy as np\n"
OWN_NAME = "from tinykernels.numba_kernels import other"
OWN_FILE = "from tinykernels import numba_kernels"
OWN_DOTTED = "import tinykernels.numba_kernels as own"


def findings(text):
    return lint(read_py(text, Path("07_numba.py")), text)


def errors(text):
    return [f for f in findings(text) if f.is_error]


def change(old, new, text=BASE):
    assert old in text, f"the template no longer holds {old!r}"
    return text.replace(old, new, 1)


def in_test(line):
    """The base with one more line at the end of the visible test."""
    return LAST_CHECK, LAST_CHECK + line + "\n"


def test_the_template_is_clean():
    assert errors(BASE) == []


CASES = [
    # rule, what is replaced, by what, part of the cell's label, the line that is named
    ("metadata-json", TEST, TEST.replace('"grade_id"', "'grade_id'"), None, "file"),
    ("metadata-json", MEASURE, "tags=[x]\n#| measure", None, "file"),
    ("metadata-place", MEASURE, MEASURE.replace("]", "] [markdown]"), None, "file"),
    ("grade-id-missing", '"axpy_loops-test"', '""', "cell 11", None),
    ("grade-id-invalid", '"axpy_loops-test"', '"axpy loops"', "(axpy loops)", None),
    ("grade-id-duplicate", '"axpy_loops-count"', '"axpy_loops-test"', "cell 13", None),
    ("points", '"points": 2,', '"points": 0.5,', "axpy_loops-test", None),
    ("points", '"points": 2,', '"points": 101,', "axpy_loops-test", None),
    ("points", '"points": 2,', '"points": -1,', "axpy_loops-test", None),
    ("points", '"points": 2,', '"points": "2",', "axpy_loops-test", None),
    ("points", '"points": 2,', '"points": true,', "axpy_loops-test", None),
    ("points", '"points": 2, ', "", "axpy_loops-test", None),
    (
        "points-ungraded",
        '"grade_id": "axpy_loops",',
        '"grade_id": "axpy_loops", "points": 3,',
        "(axpy_loops)",
        None,
    ),
    ("flags", '-test", "locked": true', '-test", "locked": false', "axpy_loops-test", None),
    ("flags", 'loops", "locked": false', 'loops", "locked": true', "(axpy_loops)", None),
    ("flags", '"schema_version": 3', '"schema_version": 2', "(axpy_loops)", None),
    (
        "manual-code",
        '{"grade": false, "grade_id": "axpy_loops"',
        '{"grade": true, "points": 1, "grade_id": "axpy_loops"',
        "(axpy_loops)",
        None,
    ),
    ("tag-raises-exception", HIDDEN_TAGS, 'tags=["hidden-tests"]', "axpy_loops-hidden", None),
    ("tag-raises-exception", MEASURE, "\n#| measure", "cell 7", None),
    ("tag-hidden-tests", HIDDEN_TAGS, 'tags=["raises-exception"]', "axpy_loops-hidden", None),
    (
        "syntax",
        IN_SOLUTION,
        IN_SOLUTION.replace(")\n", "\n"),
        "(axpy_loops)",
        "result = np.empty(x.shape, x.dtype",
    ),
    (
        "magic",
        "from tito.checks",
        "%matplotlib inline\nfrom tito.checks",
        "cell 5",
        "%matplotlib inline",
    ),
    ("magic", "from tito.checks", "!ls\nfrom tito.checks", "cell 5", "!ls"),
    ("magic-comment", SPECIFICATION, SPECIFICATION + "    # copy of x\n", "cell 9", "# copy of x"),
    ("magic-comment", SPECIFICATION, SPECIFICATION + "    # %timeit\n", "cell 9", "# %timeit"),
    (
        "magic-comment",
        SPECIFICATION,
        SPECIFICATION + "    # !important\n",
        "cell 9",
        "# !important",
    ),
    ("directive", "#| export\nimport", "# | export\nimport", "cell 4", "# | export"),
    (
        "directive",
        "#| export\nimport numpy as np",
        "import numpy as np\n#| export",
        "cell 4",
        "#| export",
    ),
    ("directive", "#| export\nimport", "#| exprot\nimport", "cell 4", "#| exprot"),
    ("directive", "## Scoreboard\n", "## Scoreboard\n#| export\n", "cell 17", "#| export"),
    (
        "directive-place",
        "for n in (0, 1, 2, 7):",
        "#| export\nfor n in (0, 1, 2, 7):",
        "-test)",
        "#| export",
    ),
    (
        "directive-place",
        "#| export\nimport",
        "#| forbid: blas\nimport",
        "cell 4",
        "#| forbid: blas",
    ),
    (
        "directive-value",
        "#| export\ndef",
        "#| forbid: nothing\n#| export\ndef",
        "(axpy_loops)",
        "#| forbid: nothing",
    ),
    (
        "directive-value",
        "#| export\ndef",
        "#| writes: z\n#| export\ndef",
        "(axpy_loops)",
        "#| writes: z",
    ),
    (
        "directive-value",
        "#| default_exp numba_kernels",
        "#| default_exp a-b",
        "cell 3",
        "#| default_exp a-b",
    ),
    (
        "directive-value",
        "#| export\nimport",
        "#| default_exp two\nimport",
        "cell 4",
        "#| default_exp two",
    ),
    ("marker", "    ### END SOLUTION\n\n", "\n", "(axpy_loops)", "### BEGIN SOLUTION"),
    (
        "marker",
        IN_SOLUTION,
        "    ### BEGIN SOLUTION\n" + IN_SOLUTION,
        "(axpy_loops)",
        "### BEGIN SOLUTION",
    ),
    ("marker", "    ### BEGIN SOLUTION\n", "", "(axpy_loops)", "### END SOLUTION"),
    (
        "marker-spelling",
        "### END SOLUTION\n\n",
        "### END SOLUTON\n    ### END SOLUTION\n\n",
        "(axpy_loops)",
        "### END SOLUTON",
    ),
    (
        "marker-spelling",
        IN_SOLUTION,
        IN_SOLUTION + "    # begin solution\n",
        "(axpy_loops)",
        "# begin solution",
    ),
    (
        "marker-spelling",
        IN_SOLUTION,
        IN_SOLUTION + "    ###BEGIN HIDDEN TESTS\n",
        "(axpy_loops)",
        "###BEGIN HIDDEN TESTS",
    ),
    (
        "marker-place",
        SPECIFICATION,
        "### BEGIN SOLUTION\n### END SOLUTION\n" + SPECIFICATION,
        "cell 9",
        "### BEGIN SOLUTION",
    ),
    (
        "hidden-region",
        "### END HIDDEN TESTS\n",
        "### END HIDDEN TESTS\nleft = 1\n",
        "-hidden",
        None,
    ),
    (
        "docstring-cell",
        '# %% [markdown]\nr"""\n## Exercise 1',
        '# %% [markdown]\n"""\n## Exercise 1',
        "cell 8",
        "$$ r_i = a \\, x_i + y_i $$",
    ),
    ("alt-text", "## Scoreboard\n", "## Scoreboard\n![](a.png)\n", "cell 17", "![](a.png)"),
    (
        "alt-text",
        "## Scoreboard\n",
        "## Scoreboard\n<img src='a.png'>\n",
        "cell 17",
        "<img src='a.png'>",
    ),
    (
        "star-import",
        "import numpy as np\n",
        "import numpy as np\nfrom math import *\n",
        "cell 4",
        "from math import *",
    ),
    ("own-package", IMPORTS, IMPORTS + OWN_NAME + "\n", "cell 4", OWN_NAME),
    ("own-package", IMPORTS, IMPORTS + OWN_FILE + "\n", "cell 4", OWN_FILE),
    ("own-package", *in_test(OWN_FILE), "-test)", OWN_FILE),
    ("own-package", *in_test(OWN_DOTTED), "-test)", OWN_DOTTED),
    ("own-package", MEASURE, MEASURE + "\n" + OWN_NAME, "cell 7", OWN_NAME),
    ("test-unknown-name", *in_test("print(nothing)"), "-test)", "print(nothing)"),
    ("test-unknown-name", *in_test("print(numpy_time)"), "-test)", "print(numpy_time)"),
    ("test-unknown-name", *in_test("print(generator)"), "-test)", "print(generator)"),
    (
        "test-rebinds-solution",
        *in_test("axpy_loops = axpy_specification"),
        "-test)",
        "axpy_loops = axpy_specification",
    ),
    (
        "given-rebinds-solution",
        SPECIFICATION,
        "axpy_loops = 1\n\n\n" + SPECIFICATION,
        "cell 9",
        "axpy_loops = 1",
    ),
    (
        "solution-rebinds-given",
        "#| export\ndef",
        "#| export\nramp = 1\n\n\ndef",
        "(axpy_loops)",
        None,
    ),
    (
        "given-uses-solution",
        SPECIFICATION,
        SPECIFICATION + "    axpy_loops(a, x, y)\n",
        "cell 9",
        "axpy_loops(a, x, y)",
    ),
    (
        "uses-measure-name",
        SPECIFICATION,
        SPECIFICATION + "    one_by_one(x, y)\n",
        "cell 9",
        "one_by_one(x, y)",
    ),
    (
        "uses-test-name",
        IN_SOLUTION,
        IN_SOLUTION + "    print(watched)\n",
        "(axpy_loops)",
        "print(watched)",
    ),
    ("undefined-name", IN_SOLUTION, IN_SOLUTION + "    nothing()\n", "(axpy_loops)", "nothing()"),
    ("assert-message", *in_test("assert want.size"), "-test)", "assert want.size"),
    ("assert-message", *in_test('assert want.size, ""'), "-test)", 'assert want.size, ""'),
    (
        "bare-allclose",
        *in_test("assert np.allclose(axpy_loops(1.0, x, y), x), 'no'"),
        "-test)",
        "assert np.allclose(axpy_loops(1.0, x, y), x), 'no'",
    ),
    (
        "bare-allclose",
        *in_test("g = axpy_loops(1.0, x, y)\nassert np.isclose(g, 1).all(), 'no'"),
        "-test)",
        "assert np.isclose(g, 1).all(), 'no'",
    ),
    ("np-empty", *in_test("z = np.empty(3)"), "-test)", "z = np.empty(3)"),
    ("judge-only", *in_test("np.random.seed(0)\nz = 1"), "-test)", "np.random.seed(0)"),
    (
        "judge-only",
        *in_test("with np.errstate(all='ignore'):\n    z = 1"),
        "-test)",
        "with np.errstate(all='ignore'):",
    ),
    ("monkeypatch", *in_test("np.add = None"), "-test)", "np.add = None"),
    (
        "assert-in-with",
        *in_test("with axpy_loops(1.0, x, y) as q:\n    assert x.size, 'no'"),
        "-test)",
        "assert x.size, 'no'",
    ),
    (
        "loop-length",
        *in_test("for v in axpy_loops(1.0, x, y):\n    z = v"),
        "-test)",
        "for v in axpy_loops(1.0, x, y):",
    ),
    (
        "loop-length",
        *in_test("g = axpy_loops(1.0, x, y)\nz = [v for v in g]"),
        "-test)",
        "z = [v for v in g]",
    ),
    (
        "loop-length",
        *in_test("g = axpy_loops(1.0, x, y)\nz = [v for v in zip(g, x)]"),
        "-test)",
        "z = [v for v in zip(g, x)]",
    ),
    ("last-expression", *in_test("axpy_loops(1.0, x, y)"), "-test)", "axpy_loops(1.0, x, y)"),
    ("last-expression", *in_test("1"), "-test)", "1"),
    (
        "runs-student-code",
        *in_test("z = eval(axpy_loops(1.0, x, y))"),
        "-test)",
        "z = eval(axpy_loops(1.0, x, y))",
    ),
    (
        "expect-unchanged",
        "expect_unchanged(axpy_loops, 0.5, x, y)",
        "axpy_loops(0.5, x, y)",
        "-test)",
        None,
    ),
    (
        "want-after-call",
        *in_test("expect_close(axpy_loops(1.0, x, y), axpy_specification(1.0, x, y))"),
        "-test)",
        "expect_close(axpy_loops(1.0, x, y), axpy_specification(1.0, x, y))",
    ),
    (
        "count-values",
        "expect_close(axpy_loops(3.0, watched, right), want)",
        "axpy_loops(3.0, watched, right)",
        "-count",
        'watched = remote_array(left, "x")',
    ),
    (
        "count-values",
        LAST_LINE,
        'result = (1 if read == 9 else 0, "each once")\n',
        "-count",
        'result = (1 if read == 9 else 0, "each once")',
    ),
    (
        "count-values",
        LAST_LINE,
        "from tito.checks import speed\nresult = speed(axpy_loops, min, left, points=1, full=2)\n",
        "-count",
        "result = speed(axpy_loops, min, left, points=1, full=2)",
    ),
    (
        "claims-half",
        COUNT,
        COUNT.replace('"points": 1', '"points": 5').replace(
            "\nleft", "\nfrom tito.checks import claim\nleft"
        )
        + 'claim("parfors", axpy_loops, left)\n',
        "-count",
        'claim("parfors", axpy_loops, left)',
    ),
]


@pytest.mark.parametrize(("rule", "old", "new", "cell", "line"), CASES)
def test_the_rule_names_cell_and_line(rule, old, new, cell, line):
    text = change(old, new)
    found = [f for f in errors(text) if f.rule == rule]
    assert found, f"not found; found were {[str(f) for f in errors(text)]}"
    assert len(found) == 1
    if line == "file":
        assert new.split("\n")[0].strip() in found[0].text
        assert found[0].text == text.split("\n")[found[0].line - 1]
        return
    assert cell in found[0].cell
    if line is not None:
        assert found[0].text.strip() == line
        assert text.split("\n")[found[0].file_line - 1].strip() == line


ALONE = [c for c in CASES if c[0] not in ("syntax", "star-import", "grade-id-missing")]
# What else has to be said when one thing is wrong: the same mistake seen from two sides.
WITH = {
    "metadata-json": None,
    "metadata-place": None,
    "tag-hidden-tests": {"anatomy-tests"},
    "manual-code": set(),
    "directive": {"undefined-name", "anatomy-default-exp"},
    "directive-value": {"anatomy-default-exp"},
    "marker": {"solution-region", "hidden-region", "anatomy-docstring"},
    "marker-spelling": {"marker"},
    "given-rebinds-solution": {"solution-rebinds-given"},
    "solution-rebinds-given": {"test-rebinds-given", "given-rebinds-solution"},
    "points": {"anatomy-tests"},
    "magic": {"undefined-name", "test-unknown-name", "count-values"},
    "runs-student-code": set(),
    "monkeypatch": set(),
}


@pytest.mark.parametrize(("rule", "old", "new", "cell", "line"), ALONE)
def test_no_other_rule_joins_in(rule, old, new, cell, line):
    also = WITH.get(rule, set())
    if also is None:
        return
    assert {f.rule for f in errors(change(old, new))} - also == {rule}


FINE = [
    in_test("g = axpy_loops(1.0, x, y)\nexpect_close(len(g), 3)\nz = [v for v in g]"),
    in_test("g = axpy_loops(1.0, x, y)\nz = [v for v in zip(g, x, strict=True)]"),
    in_test("z = np.allclose(x, y)"),
    in_test("assert axpy_loops(1.0, x, y).shape == (3,), 'the shape is wrong'"),
    in_test("def inner(axpy_loops):\n    return axpy_loops"),
    in_test("z = eval('1 + 1')"),
    in_test("z = np.random.default_rng(7)"),
    (SPECIFICATION, SPECIFICATION + "    # copies are slow\n"),
    (SPECIFICATION, SPECIFICATION + "    # the solution begins here\n"),
    (SPECIFICATION, SPECIFICATION + '    text = "# %timeit"\n'),
    (SPECIFICATION, SPECIFICATION + "    b = [c for c in range(3)]\n"),
    ("## Scoreboard\n", "## Scoreboard\n![a chain of boxes](a.png)\n"),
    (IN_SOLUTION, IN_SOLUTION + "    nan = float('nan')\n"),
    (IMPORTS, IMPORTS + "from tinykernels import loops\nfrom tinykernels.loops import other\n"),
    (IMPORTS, IMPORTS + "from tinykernels.numba_kernels_of_others import other\n"),
]


@pytest.mark.parametrize(("old", "new"), FINE)
def test_what_is_right_raises_no_alarm(old, new):
    assert [str(f) for f in errors(change(old, new))] == []


PARTS = [
    ("anatomy-default-exp", "#| default_exp numba_kernels", "# no target"),
    ("anatomy-facts", "| hours | 2 |\n", ""),
    ("anatomy-facts", "| difficulty | 1 of 5 |\n", ""),
    ("anatomy-facts", "| code goes to | `tinykernels/numba_kernels.py` |\n", ""),
    ("anatomy-facts", "# 07 Numba\n", ""),
    ("anatomy-first-cell", "    import tito.here\n", "    import tito\n"),
    ("anatomy-gap", "## The gap", "## A number"),
    ("anatomy-predict", "**Predict.**", "**Guess.**"),
    ("anatomy-use-it", "## Use it", "## Apply it"),
    ("anatomy-scoreboard", "## Scoreboard", "## Table"),
    ("anatomy-closing", "## What usually goes wrong", "## Notes"),
    ("anatomy-closing", "## You are done when", "## Notes"),
    ("anatomy-closing", "## In production", "## Notes"),
    ("anatomy-closing", "## References", "## Notes"),
    ("anatomy-closing", "then `tito export 07`", "then rest"),
    ("anatomy-reflection", "### BEGIN SOLUTION\n1 point", "1 point"),
    ("anatomy-tests", HIDDEN_POINTS, HIDDEN_POINTS.replace("1", "0")),
    ("anatomy-docstring", '    """A scaled sum of two vectors', '    "" + """A scaled sum'),
]


@pytest.mark.parametrize(("rule", "old", "new"), PARTS)
def test_a_missing_part_is_named(rule, old, new):
    assert rule in {f.rule for f in errors(change(old, new))}


def _without_cell(text, start):
    """The text without the cell whose cell line holds `start`."""
    cells = text.split("\n# %%")
    kept = [c for c in cells if start not in c.split("\n")[0] + c[:400]]
    assert len(kept) == len(cells) - 1
    return "\n# %%".join(kept)


@pytest.mark.parametrize(
    ("start", "rule", "says"),
    [
        ('"axpy_loops-hidden"', "anatomy-tests", "no hidden test"),
        ('"reflect-1"', "anatomy-reflection", "no reflection"),
        ("for n in (10, 100, 1000)", "anatomy-measure", "no measure cell"),
    ],
)
def test_a_missing_cell_is_named(start, rule, says):
    text = _without_cell(BASE, start)
    if rule == "anatomy-measure":  # what follows the last exercise measures too
        text = text.split("\n## Use it")[0] + '\n"""\n'
    found = [f for f in errors(text) if f.rule == rule]
    assert found and says in found[0].message


def test_a_file_beside_the_modules_own_one_is_its_own_as_well():
    """It may stand in a folder of the package that holds other modules' files too."""
    routed = change(IMPORTS, IMPORTS.replace("export", "export simd.vec"))
    fine = "from tinykernels.simd.ints import other"
    assert errors(change(*in_test(fine), routed)) == []
    for own in ("from tinykernels.simd.vec import other", "from tinykernels.simd import vec"):
        found = errors(change(*in_test(f"{fine}\n{own}"), routed))
        assert [(f.rule, f.text.strip()) for f in found] == [("own-package", own)]


def test_a_given_cell_that_holds_the_solution_is_a_warning():
    copied = "\n".join(
        [
            "def other(a, x, y):",
            "    result = np.empty(x.shape, x.dtype)",
            "    for i in range(x.shape[0]):",
            "        result[i] = float(a) * float(x[i]) + float(y[i])",
            "    return result",
            "",
            "",
        ]
    )
    found = [f for f in findings(change(SPECIFICATION, copied + SPECIFICATION))]
    assert ("given-like-solution", "warning") in {(f.rule, f.level) for f in found}


def test_every_rule_has_a_name_of_its_own_and_a_case():
    names = [r.name for r in RULES]
    assert len(set(names)) == len(names)
    tried = {c[0] for c in CASES} | {c[0] for c in PARTS}
    elsewhere = {
        "anatomy-measure",
        "anatomy-exercises",
        "anatomy-exercise-count",
        "alt-text-figure",
        "anatomy-figure",
        "measure-clock",
        "given-like-solution",
        "isinstance-given",
        "metadata-dropped",
        "solution-region",
        "solution-rebinds-solution",
        "test-rebinds-given",
        "test-without-solution",
    }
    assert set(names) == tried | elsewhere
