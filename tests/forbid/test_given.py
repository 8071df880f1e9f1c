"""The course's own cells may make kernels out of texts, nobody else's; and a route stays one."""

from textwrap import dedent

import pytest

from tito.forbid import find

MAKES = dedent("""
    from types import FunctionType

    def compiled(text, name):
        space = {}
        exec(text, space)
        return space[name]

    def copied(function):
        return FunctionType(function.__code__, dict(function.__globals__))
""")
OWN = "def f(a, b):\n    return compiled('...', 'g')(a, b) + copied(compiled)(a, b)"
SETS = ["blas", "spec"]


def routes(cells, given=(), **options):
    found = find(cells, ["f"], SETS, "own", given=given, **options)
    return [(finding.label, finding.route) for finding in found]


def test_what_hides_code_is_allowed_in_a_given_cell_alone():
    cells = {"given cell 1": MAKES, "own": OWN}
    assert routes(cells, {"given cell 1"}) == []
    said = " ".join(route for _, route in routes(cells))
    assert "exec(text, space)" in said and "__globals__" in said and "FunctionType" in said


@pytest.mark.parametrize("line", ["exec('x = 1')", "compiled.__globals__", "eval('1')"])
def test_an_own_cell_may_not_do_what_a_given_one_may(line):
    cells = {"given cell 1": MAKES, "own": f"{OWN}\ndef g(a):\n    {line}\nf.g = g"}
    cells["own"] = cells["own"].replace("return ", "g(a)\n    return ", 1)
    assert [label for label, _ in routes(cells, {"given cell 1"})] == ["own"]


def test_a_helper_written_anew_is_no_given_one():
    again = {"given cell 1": MAKES, "cell 2": MAKES, "own": OWN}
    assert {label for label, _ in routes(again, {"given cell 1"})} == {"cell 2"}


def test_a_route_in_a_given_cell_stays_one():
    cells = {"given cell 1": MAKES.replace("space[name]", "a @ space[name]"), "own": OWN}
    assert routes(cells, {"given cell 1"}) == [("given cell 1", "a @ space[name]")]
    cells = {"given cell 1": "def g_spec(a): return a", "own": "def f(a): return g_spec(a)"}
    assert routes(cells, {"given cell 1"}) == [("own", "g_spec")]


def test_what_is_handed_to_a_given_helper_is_still_read():
    cells = {
        "given cell 1": MAKES,
        "own": "import numpy as np\ndef f(a, b):\n    return copied(np.dot)(a, b)",
    }
    assert routes(cells, {"given cell 1"}) == [("own", "np.dot")]


def test_the_package_may_make_kernels_out_of_texts_too():
    own = "from tinykernels.texts import compiled, copied, product\n"
    package = {"tinykernels.texts": MAKES + "\ndef product(a, b):\n    return a @ b\n"}
    assert routes({"own": own + OWN}, package=package) == []
    cells = {"own": own + "def f(a, b):\n    return product(a, b)"}
    assert routes(cells, package=package) == [("own", "product of tinykernels.texts uses @")]


def test_a_given_helper_may_read_what_a_function_knows_and_write_a_file():
    helper = (
        "def known(inner):\n    open('own.py', 'w').close()\n"
        "    return dict(inner.__globals__), sorted(inner.__globals__.items())\n"
    )
    own = "def f(a, b):\n    return known(f)"
    assert routes({"given cell 1": helper, "own": own}, {"given cell 1"}) == []
    assert routes({"cell 1": helper, "own": own})
