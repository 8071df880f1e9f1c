"""Every name of an exported file exists there, once, and in time."""

from __future__ import annotations

import pytest

from tests.export.modules import cell, exported, notebook, warnings
from tito.errors import UserError
from tito.export import plan_each, plan_notebooks
from tito.notebook import Notebook


def refused(*cells):
    with pytest.raises(UserError) as caught:
        plan_notebooks([("02_loops", notebook(*cells))])
    return caught.value


def test_a_name_of_a_cell_that_is_not_exported_names_that_cell():
    error = refused("def f(x):\n    return helper(x)", cell("def helper(x): return x", "given"))
    assert "helper is not in the package: cell 3 (given) makes it" in error.message
    assert (error.cell, error.line) == ("cell 2", 3)
    assert error.text == "    return helper(x)"
    assert "#| export" in error.hint


def test_an_import_of_a_cell_that_is_not_exported_names_that_cell():
    error = refused(cell("import numpy as np"), "def f(x):\n    return np.sum(x)")
    assert "cell 2 imports it and is not exported" in error.message


def test_a_name_that_nobody_makes_is_named():
    assert "no cell, import or builtin makes nmupy" in refused("x = nmupy.ones(3)").message
    assert "display is there in notebooks only" in refused("display(1)").message


@pytest.mark.parametrize(
    "source",
    [
        "x = [i for i in range(3)]\ny = {k: v for k, v in zip(x, x)}",
        "def f():\n    def g():\n        return h\n    h = 1\n    return g",
        "def f():\n    global G\n    G = 1\ndef g():\n    return G",
        "def f(a, *b, c=1, **d):\n    return a, b, c, d, __name__, print",
        "class A:\n    x = 1\n    y = x\n    def m(self):\n        return __class__, super()",
        "try:\n    pass\nexcept OSError as error:\n    print(error)",
        "f = lambda a, b=len: a + b",
        "import os.path\nx = os.path.sep",
        "def f(a):\n    match a:\n        case {'k': v, **rest}: return v, rest\n"
        "        case [first, *more]: return first, more",
        "if (n := 3) > 2:\n    m = n",
        "def f(x: 'Later') -> 'Later | None':\n    return x",
        "from __future__ import annotations\ndef f(x: NotHere):\n    return x",
    ],
)
def test_names_are_found_by_scope(source):
    exported(source)


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    x = 1\n    def m(self):\n        return x",
        "y = [i for i in range(3)] + [i]",
        "def f(x: NotHere):\n    return x",
        "def f():\n    h = 1\ndef g():\n    return h",
        "x: int\ny = x",
    ],
)
def test_names_of_another_scope_do_not_count(source):
    refused(source)


def test_a_decorator_below_its_use_is_refused_with_both_cells():
    error = refused("@checked\ndef late(x):\n    return x", "def checked(f):\n    return f")
    assert "checked is needed here, but cell 3 makes it further down" in error.message
    assert (error.cell, error.line) == ("cell 2", 2)


@pytest.mark.parametrize(
    "source",
    ["x = later", "def f(a=later): pass", "class C(later): pass", "class C:\n    x = later"],
)
def test_what_import_runs_needs_its_names_above(source):
    refused(source, "def later(): pass")


@pytest.mark.parametrize(
    "source",
    ["def f():\n    return later()", "g = lambda: later", "class C:\n    def m(s): later()"],
)
def test_what_runs_when_called_may_use_names_below(source):
    exported(source, "def later(): pass")


def test_one_public_name_in_two_cells_is_refused_with_both():
    error = refused("def relu(x): pass", "x = 1", "relu = 3")
    assert error.message == "relu is a public name of 02_loops cell 2 too"
    assert (error.cell, error.line) == ("cell 4", 2)


def test_one_private_name_in_two_cells_is_a_warning():
    (warning,) = warnings("_clip = 1\ndef f(): return _clip", "x = 1\n_clip = 2")
    assert "cell 3:3: _clip is made by cell 2 too; the later counts" in warning


def test_hiding_a_builtin_is_allowed_with_a_warning():
    (warning,) = warnings("def sum(x):\n    return x")
    assert "sum hides Python's own sum in this file" in warning


def test_two_modules_with_one_public_name_are_refused_with_both():
    first = notebook("def relu(x): pass", target="ops.first", path="a.py")
    second = notebook("def relu(x): pass", target="ops.second", path="b.py")
    with pytest.raises(UserError, match="relu is a public name of 01_a cell 2 too") as caught:
        plan_notebooks([("01_a", first), ("02_b", second)])
    assert str(caught.value.path) == "b.py"
    with pytest.raises(UserError, match="relu is a public name of 01_a cell 2 too"):
        plan_notebooks([("02_b", second)], others=[("01_a", first)])


def test_two_modules_with_one_file_are_refused_with_both():
    first, second = notebook("a = 1", path="a.py"), notebook("b = 1", "c = 2", path="b.py")
    with pytest.raises(UserError) as caught:
        plan_notebooks([("01_a", first), ("02_b", second)])
    assert caught.value.message == "tinykernels.loops is the target of 01_a cell 2 too"
    assert (str(caught.value.path), caught.value.cell, caught.value.line) == ("b.py", "cell 2", 1)


def test_clashes_among_other_modules_are_not_ours():
    first, second = notebook("a = 1"), notebook("a = 1")
    third = notebook("c = 1", target="third")
    files, _, _ = plan_notebooks([("03_c", third)], others=[("01_a", first), ("02_b", second)])
    assert list(files) == ["third.py"]


def test_each_alone_is_what_it_is_among_the_others():
    named = [("01_a", notebook("a = 1", target="first")), ("02_b", notebook("b = 1"))]
    each = plan_each(named)
    assert each == {
        "01_a": plan_notebooks(named[:1], others=named[1:])[0],
        "02_b": plan_notebooks(named[1:], others=named[:1])[0],
    }
    assert [list(files) for files in each.values()] == [["first.py"], ["loops.py"]]
    named.append(("03_c", notebook("b = 2", target="third")))
    with pytest.raises(UserError, match="b is a public name of 03_c cell 2 too"):
        plan_each(named)


def test_a_file_that_must_be_a_folder_too_is_refused():
    with pytest.raises(UserError, match=r"simd cannot be a file: simd\.vec"):
        plan_notebooks(
            [("08", notebook(cell("#| export simd.vec\nx = 1"), "y = 1", target="simd"))]
        )


def routed(*cells):
    return plan_notebooks([("08_simd", Notebook([cell(c) for c in cells]))])


def test_a_name_of_another_file_of_the_module_is_imported_from_there():
    files, _, _ = routed(
        "#| export simd.vec\ndef load(x): return x",
        "#| export simd.gemm\ndef gemm(a):\n    return load(a)",
    )
    assert 'from tinykernels.simd.vec import load\n\n__all__ = ["gemm"]' in files["simd/gemm.py"]
    assert "import" not in files["simd/vec.py"].split("\n", 1)[1]
    assert files["simd/__init__.py"].endswith('"""The files of tinykernels.simd."""\n')


@pytest.mark.parametrize("length", [2, 3, 5])
def test_files_that_would_import_each_other_are_refused(length):
    cells = [
        f"#| export f{i}\ndef name{i}(): return name{(i + 1) % length}()" for i in range(length)
    ]
    with pytest.raises(UserError, match="would import each other") as caught:
        routed(*cells)
    assert all(f"tinykernels.f{i}" in caught.value.message for i in range(length))
    routed(*cells[:-1], f"#| export f{length - 1}\ndef name{length - 1}(): pass")


def test_an_import_goes_along_to_every_file_that_needs_it():
    files, _, _ = routed(
        "#| export a\n# for both\nimport numpy as np\nx = np",
        "#| export b\ndef f(): return np.sum(x)",
    )
    assert "import numpy as np\n\nfrom tinykernels.a import x\n" in files["b.py"]
