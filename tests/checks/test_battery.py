"""Each pair of the battery in the notebook's runtime."""

import pytest

from tests.checks.battery import GIVEN, PAIRS
from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import use


@pytest.fixture(params=PAIRS, ids=lambda pair: pair.name)
def pair(request):
    return request.param


@pytest.fixture
def run_pair(run_cell):
    def run(solution, test):
        namespace = {"__name__": "__main__"}
        with use(NotebookRuntime()):
            for source in (GIVEN, solution, test):
                run_cell(source, namespace)

    return run


def test_the_right_kernel_passes(pair, run_pair):
    run_pair(pair.right, pair.test)


def test_the_wrong_kernel_loses(pair, run_pair):
    with pytest.raises(Exception) as caught:
        run_pair(pair.wrong, pair.test)
    names = [kind.__name__ for kind in type(caught.value).__mro__]
    assert pair.raises in names, f"{names[0]}: {caught.value}"
    assert pair.says in str(caught.value)


def test_no_two_pairs_have_one_name():
    names = [pair.name for pair in PAIRS]
    assert len(set(names)) == len(names)
