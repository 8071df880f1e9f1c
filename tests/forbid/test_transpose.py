"""The library's ways to exchange two axes."""

import pytest

from tito.forbid import find

NP = "import numpy as np\n"


@pytest.mark.parametrize(
    "route",
    [
        "x.T",
        "x.mT",
        "x.transpose()",
        "x.swapaxes(0, 1)",
        "np.transpose(x)",
        "np.swapaxes(x, 0, 1)",
        "np.moveaxis(x, 0, 1)",
        "np.rot90(x)[::-1]",
        "np.einsum('ij->ji', x)",
        "getattr(x, 'T')",
    ],
)
def test_each_route_is_found(route):
    found = find({"1": NP + f"def f(x): return {route}"}, ["f"], ["transpose"])
    assert [finding.set for finding in found][:1] == ["transpose"]


def test_loops_that_exchange_two_indices_are_no_route():
    source = (
        "def f(x, out, T):\n    for i in range(T):\n        out[i, 0] = x[0, i]\n    return out"
    )
    assert find({"1": source}, ["f"], ["transpose"]) == []
