"""What the master says about parameters."""

from tito.grading.judge.contracts import Contract, contracts_of

SOURCE = """
import numpy as np

@decorated
def matmul(a, b, /, block=3, *, out=None): ...

class Packed:
    def __init__(self, b, width): ...
    def fill(self, y): ...
    @staticmethod
    def make(x): ...
    def __call__(self, a): ...

async def later(z): ...
"""


def test_functions_and_methods_have_their_parameters_in_order():
    found = contracts_of(SOURCE, ["y", "c"])
    assert {name: contract.parameters for name, contract in found.items()} == {
        "matmul": ("a", "b", "block"),
        "Packed": ("b", "width"),
        "Packed.fill": ("y",),
        "Packed.make": ("x",),
        "Packed()": ("a",),
        "later": ("z",),
    }


def test_out_and_listed_names_may_be_written():
    contract = contracts_of(SOURCE, ["y"])["Packed.fill"]
    assert contract.may_write("y")
    assert contract.may_write("out")
    assert not contract.may_write("x")
    assert not Contract().may_write("y")


def test_a_cell_that_does_not_parse_has_no_contracts():
    assert contracts_of("def f(:") == {}
    assert contracts_of("%%time\nx = 1") == {}


def test_the_contract_of_a_method_holds_through_a_proxy(fresh):
    source = """
class Packed:
    def __init__(self, n): self.n = n
    def fill(self, y): y[...] = self.n
    def spoil(self, x): x[...] = 0
    def __call__(self, x, y): y[...] = x
def plain(x, y): y[...] = x
class Jit:
    py_func = staticmethod(plain)
"""
    import numpy as np
    import pytest

    with fresh(source, writes="y") as student:
        with student.test("Packed", "plain") as (Packed, plain):
            one, y = Packed(3), np.ones(2)
            one.fill(y)
            assert y.tolist() == [3, 3]
            one(5.0, y)
            assert y.tolist() == [5, 5]
            plain(6.0, y)
            assert y.tolist() == [6, 6]
            with pytest.raises(AssertionError, match=r"Packed\(\)\.spoil changed its input x"):
                one.spoil(y)
