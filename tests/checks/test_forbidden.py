"""Forbidden routes in a notebook, where checks read what was run."""

import sys
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest

from tito.checks import CheckFailed, expect_close, forbidden


@pytest.fixture
def history(monkeypatch):
    """The history of IPython stands for the notebook: a fake one here, a real one in test_here."""

    def pretend(*cells):
        raw = ["", *map(dedent, cells)]
        shell = SimpleNamespace(
            execution_count=len(raw) - 1, history_manager=SimpleNamespace(input_hist_raw=raw)
        )
        monkeypatch.setattr(forbidden, "running_shell", lambda: shell)
        forbidden._decided_in.clear()

    return pretend


def test_in_a_notebook_the_directive_of_the_cell_decides(history):
    def product(a, b):
        return a @ b

    a = np.eye(2)
    solution = "#| forbid: blas\ndef product(a, b):\n    return a @ b\n"
    test = "expect_close(product(a, a), a)"
    history("x = 1", solution, test)
    with pytest.raises(CheckFailed) as caught:
        expect_close(product(a, a), a)
    assert str(caught.value) == (
        "product uses a library's matrix product, which this exercise forbids\n"
        "  where     cell [2], line 3: a @ b\n"
        "  try       write the sum over the inner index yourself"
    )
    # The check may stand in a given helper that the test cell calls.
    history(solution.replace("product", "only_there"), "check(only_there, a)")
    with pytest.raises(CheckFailed, match="this exercise forbids"):
        expect_close(1.0, 1.0)
    # Without the directive, after a rewrite, or in another exercise: nothing to say.
    history("x = 1", solution.replace("#| forbid: blas\n", ""), test)
    expect_close(product(a, a), a)
    history(solution, "#| forbid: blas\ndef product(a, b):\n    return 0\n", test)
    expect_close(product(a, a), a)
    history(solution.replace("product", "other"), test)
    expect_close(product(a, a), a)


def test_what_is_imported_from_the_package_is_followed(history, monkeypatch, tmp_path):
    folder = tmp_path / "tinykernels"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "vectorized.py").write_text("def baseline(a, b):\n    return a @ b\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "tinykernels", raising=False)
    cell = "#| forbid: blas\nfrom tinykernels.vectorized import {} as g\ndef product(a, b):\n"
    cell += "    return g(a, b)\n"
    history(cell.format("baseline"), "expect_close(product(1.0, 1.0), 1.0)")
    with pytest.raises(CheckFailed, match=r"line 4: baseline of tinykernels\.vectorized uses @"):
        expect_close(1.0, 1.0)
    history(cell.format("gone"), "expect_close(product(1.0, 1.0), 1.0)")
    expect_close(1.0, 1.0)


def test_a_measure_cell_may_compare_what_a_library_computed(history):
    """Its names reach the library on purpose; nothing is earned there."""
    a = np.eye(2)
    solution = "#| forbid: blas\ndef product(a, b):\n    return a @ b\n"
    history(solution, "#| measure\nexpect_close(product(a, a), a)")
    expect_close(a, a)
    history(solution, "expect_close(product(a, a), a)")
    with pytest.raises(CheckFailed, match="library's matrix product"):
        expect_close(a, a)


def test_a_cell_of_the_course_may_make_functions_out_of_texts(history):
    makes = "{}\nwide = 4\ndef made(text):\n    exec(text)\n    return f\n"
    own = "#| forbid: blas\ndef product(a, b):\n    return made('...')(a, b) * wide\n"
    test = "expect_close(product(1.0, 1.0), wide)"
    for directive in ("#| export simd.vec", "#| measure"):
        history(makes.format(directive), own, test)
        expect_close(1.0, 1.0)
    for directive in ("# mine", "#| forbid: blas"):
        history(makes.format(directive), own, test)
        with pytest.raises(CheckFailed, match=r"exec\(text\)"):
            expect_close(1.0, 1.0)


def test_of_a_cell_that_ran_again_and_again_the_last_run_is_read(history, monkeypatch):
    given, test = "a = np.eye(2)", "expect_close(product(a, a), a)"
    attempts = [f"#| forbid: blas\ndef product(a, b):\n    return {n}\n" for n in range(3)]
    history(given, attempts[0], test, attempts[1], given, test, attempts[2], test, test)
    read = []
    monkeypatch.setattr(forbidden, "_search", lambda cells, running, names: read.append(cells))
    forbidden.refuse_forbidden(["product"])
    assert read == [
        {
            "cell [2]": attempts[0],
            "cell [4]": attempts[1],
            "cell [5]": given,
            "cell [7]": attempts[2],
        }
    ]


def test_a_cell_that_ran_again_answers_again(history):
    good, bad = (f"#| forbid: blas\ndef product(a, b):\n    return {r}\n" for r in ("0", "a @ b"))
    history(good, bad, good, "expect_close(a, a)")
    forbidden.refuse_forbidden(["product"])
    history(bad, good, bad, "expect_close(a, a)")
    with pytest.raises(CheckFailed, match=r"cell \[3\], line 3: a @ b"):
        forbidden.refuse_forbidden(["product"])
