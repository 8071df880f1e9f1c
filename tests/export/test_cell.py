"""One cell on its way into the package: what goes, what stays, what is refused."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.export.modules import body, cell, exported, notebook, warnings
from tito.errors import UserError
from tito.export import plan_notebooks
from tito.notebook import Cell, Notebook


def refused(*cells, **kwargs):
    with pytest.raises(UserError) as caught:
        plan_notebooks([("02_loops", notebook(*cells, **kwargs))])
    return caught.value


def test_a_block_is_the_cell_without_the_notebook_s_notes():
    source = '''\
#| export
#| forbid: blas
def f(x):
    """Doc.

    # Hint: this one is text
    """
    # Hint: one loop
    #   over all elements
    # why this way
    ### BEGIN SOLUTION
    y = "# YOUR CODE HERE"
    # YOUR CODE HERE
    return y  # beside
    ### END SOLUTION'''
    assert (
        body(cell(source, "f_loops"))
        == '''\
# 02_loops: f_loops
def f(x):
    """Doc.

    # Hint: this one is text
    """
    # why this way
    y = "# YOUR CODE HERE"
    return y  # beside
'''
    )


def test_a_comment_below_a_hint_is_kept():
    assert "# mine" in body("def f():\n    # Hint: a loop\n    # mine\n    return 1")


def test_no_gap_is_left_where_lines_were_dropped():
    text = body("def f():\n    # Hint: a\n\n    return 1\n\n    # Hint: b\n\n\n# Hint: c\n\nx = 1")
    assert text.endswith("def f():\n    return 1\n\n\nx = 1\n")


def test_a_block_is_named_by_its_grade_id_else_by_what_it_makes_else_by_its_place():
    assert body(cell("#| export\nx = 1", "door")).startswith("# 02_loops: door\n")
    assert body("def f(): pass\ny = 1").startswith("# 02_loops: f, y\n")
    assert body("a, b, c, d = 1, 2, 3, 4").startswith("# 02_loops: a, b, c\n")
    assert body("_x = 1").startswith("# 02_loops: cell 2\n")
    long = body(f"{'a' * 60} = {'b' * 60} = 1").split("\n")[0]
    assert len(long) == 100 and long.endswith("b...")


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("def f(x):\n    return (x +", 3, "does not parse"),
        ("def f(x):\n  if x:\n      return 1\n   return 2", 5, "does not parse"),
        ("if 1:\n        x = 1\n\ty = 2", 4, "does not parse"),
        ("x = 1\nreturn x", 3, "does not parse"),
        ("y = 'a\0b'", 2, "null byte"),
        ("y = '\ud800'", 2, "half a character"),
        ("x = 1\n%timeit x", 3, "magic"),
        ("x = 1\n!ls", 3, "magic"),
        ("x = !ls", 2, "magic"),
        ("%%time\nx = 1", 2, "magic"),
        ("from . import sibling", 2, "relative import"),
        ("from ..first import relu", 2, "relative import"),
        ("from numpy import *", 2, "import \\*"),
        ("import tinykernels.loops", 2, "import itself"),
        ("from tinykernels.loops import f", 2, "import itself"),
        ("from tinykernels import loops", 2, "import itself"),
        ("def f():\n    import tito.here", 3, "never imports tito"),
        ("x = 1\n__all__ = ['x']", 3, "writes __all__ itself"),
    ],
)
def test_a_cell_that_cannot_go_into_the_package_is_named_with_its_line(source, line, words):
    error = refused("a = 1", source)
    assert words.replace("\\", "") in error.message
    assert (str(error.path), error.cell, error.line) == ("m.py", "cell 3", line)
    assert error.text == f"#| export\n{source}".split("\n")[line - 1].replace("\0", "\\x00")


def test_other_parts_of_the_package_may_be_imported():
    text = exported("import tinykernels.measure as m\nfrom tinykernels import simd\nx = m, simd")
    assert "import tinykernels.measure as m\nfrom tinykernels import simd\n" in text


@pytest.mark.parametrize(
    ("source", "public"),
    [
        ('TEXT = """\na = 1\ndef b(): pass\n#| export\n"""', ["TEXT"]),
        ("(a, [b, *c]) = 1, [2, 3]", ["a", "b", "c"]),
        ("a: int = 1\nb: int", ["a"]),
        ("if True:\n    a = 1\nelse:\n    a = 2\n    b = 3", ["a", "b"]),
        ("try: a = 1\nexcept OSError: b = 2\nelse: c = 3\nfinally: d = 4", "abcd"),
        ("with open as f:\n    a = 1", ["a"]),
        ("a = []\nfor i in range(3):\n    last = i", ["a"]),
        ("def a():\n    inner = 1\nclass B:\n    field = 1\nasync def c(): pass", ["B", "a", "c"]),
        ("_hidden = 1\na = 2", ["a"]),
        ("a = b = 1\nc = 2\ndel c", ["a", "b"]),
        ("try:\n    import numba\nexcept ImportError:\n    numba = None\nok = numba", ["ok"]),
        ("def run(): pass\nif __name__ == '__main__':\n    main = run()", ["run"]),
        ("a = [k for k in 'xy']\nb = (n := 3)", ["a", "b"]),
    ],
)  # fmt: skip
def test_public_names_come_from_the_syntax_tree(source, public):
    names = ", ".join(f'"{n}"' for n in public)
    assert f"__all__ = [{names}]\n" in exported(source)


def test_all_is_always_there_and_breaks_into_lines_where_it_is_long():
    assert "\n__all__ = []\n" in exported("_x = 1")
    text = exported("\n".join(f"def a_rather_long_name_{n}(): pass" for n in (10, 9, 2, 1)))
    assert (
        "__all__ = [\n"
        '    "a_rather_long_name_1",\n'
        '    "a_rather_long_name_2",\n'
        '    "a_rather_long_name_9",\n'
        '    "a_rather_long_name_10",\n'
        "]\n"
    ) in text


def test_a_main_guard_stays_and_does_not_run_on_import():
    text = exported("def run():\n    raise SystemExit\n\n\nif __name__ == '__main__':\n    run()")
    assert "if __name__ == '__main__':\n    run()\n" in text
    exec(compile(text, "loops.py", "exec"), {"__name__": "tinykernels.loops"})


STUB = "#| export\ndef f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


def test_an_unwritten_exercise_says_which_it_is():
    files, _, missing = plan_notebooks(
        [("02_loops", notebook(cell("#| export\na = 1", "one"), cell(STUB, "f_loops")))]
    )
    assert files["loops.py"].endswith(
        'def f(x):\n    raise NotImplementedError("f is exercise 2 of 02_loops: tito start 02")\n'
    )
    assert [(m.module, m.exercise, m.name) for m in missing] == [("02_loops", 2, "f")]


def test_a_written_exercise_is_not_missing_and_a_given_cell_never_is():
    done = cell("#| export\ndef f(x):\n    # YOUR CODE HERE\n    return x", "f")
    kept = "def g(x):\n    raise NotImplementedError()"
    with_words = cell("#| export\ndef h(x):\n    raise NotImplementedError('no GPU')", "h")
    files, _, missing = plan_notebooks([("02_loops", notebook(done, kept, with_words))])
    assert missing == []
    assert "raise NotImplementedError()\n" in files["loops.py"]
    assert "raise NotImplementedError('no GPU')\n" in files["loops.py"]


@pytest.mark.parametrize(
    "source",
    [
        "# YOUR CODE HERE\nraise NotImplementedError()",
        "a = 1\nif a:\n    raise NotImplementedError",
        "class K:\n    raise NotImplementedError()",
        "a = 1; raise NotImplementedError()",
        "é = 1\nif é: raise NotImplementedError()",
        "def f():\n    é = 'é'; raise NotImplementedError()",
    ],
)
def test_an_unwritten_cell_never_makes_the_file_unimportable(source):
    text = exported(cell(f"#| export\n{source}", "k"), "b = 2")
    namespace = {}
    exec(compile(text, "loops.py", "exec"), namespace)
    assert namespace["b"] == 2


def test_calls_at_the_top_of_a_cell_are_kept_and_warned_of():
    (warning,) = warnings("def f(): pass\nprint(f())")
    assert warning.startswith("m.py:cell 2:3: this runs whenever the package is imported")
    assert "print(f())" in body("def f(): pass\nprint(f())")


def test_directives_count_in_the_leading_comments_of_code_cells_only():
    cells = [
        Cell("markdown", "text\n#| export\nnot_code = 1"),
        Cell("raw", "#| export\nraw = 1"),
        cell('s = """\n#| export\nin_string = 1\n"""'),
        cell("\n\n# first a comment\n#| export\ndef kept(): pass"),
        cell("x = 0\n#| export\ndef after_code(): pass"),
        cell("# | export\ndef blank(): pass"),
        cell("#|exprt\ndef typo(): pass"),
        cell("#| export\n# no code"),
    ]
    files, told, _ = plan_notebooks([("02_loops", notebook(*cells))])
    assert '__all__ = ["kept"]' in files["loops.py"]
    places = [w.split(": ")[0] for w in told]
    assert places == [f"m.py:cell {c}" for c in ("2:2", "3:1", "6:2", "7:1", "8:1", "9:1")]


def test_a_file_s_docstring_is_the_module_s_title_or_its_own():
    title = Cell("markdown", 'text\n\n# 02 · Loops: a \\ and """')
    assert '\n"""Loops: a \\\\ and \'\'\'."""\n' in exported(title, "x = 1")
    assert '\n"""Mine."""\n\n__all__' in exported(title, '"""Mine."""\nx = 1')
    assert '"""What module 02_loops builds."""' in exported("x = 1")


def test_a_long_title_breaks_into_lines():
    text = exported(Cell("markdown", "# " + "a long title " * 12), "x = 1")
    docstring = ast.get_docstring(ast.parse(text))
    assert " ".join(docstring.split()) == "a long title " * 11 + "a long title."
    assert max(map(len, text.split("\n"))) <= 100


@pytest.mark.skipif(sys.version_info < (3, 12), reason="a statement of Python 3.12")
def test_a_type_alias_is_public():
    assert '__all__ = ["Row"]' in exported("type Row[T] = list[T]")


def test_a_string_further_down_is_not_taken_for_the_docstring():
    assert '"""later"""\ny = 2\n' in exported("x = 1", '"""later"""\ny = 2')


def test_all_problems_are_named_at_once():
    message = str(refused("x = (", "!ls"))
    assert "cell 2:2" in message and "cell 3:2" in message


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell("#| export\n#| export simd.vec\nx = 1")], "two export directives"),
        ([cell("#| default_exp other")], "a second default_exp"),
        ([cell("#| export\n#| measure\nx = 1")], "a measure cell cannot be exported"),
        ([Cell("code", "#| export\nx = 1", {"nbgrader": {"grade": True}})], "a test cell cannot"),
    ],
)
def test_directives_that_contradict_each_other_are_refused(cells, words):
    assert words in refused(*cells).message


def test_export_without_a_file_to_go_to_is_refused():
    error = refused("x = 1", target=None)
    assert "names no file of the package" in error.message
    files, _, _ = plan_notebooks([("08_simd", Notebook([cell("#| export simd.vec\nx = 1")]))])
    assert sorted(files) == ["simd/__init__.py", "simd/vec.py"]
