"""Points, seeds, counted arrays, and the runtime behind them."""

import functools
import threading
from fractions import Fraction

import numpy as np
import pytest

from tito.checks import CheckFailed, counts, expect_fresh, points, remote_array, rng, worker
from tito.checks.notebook import NotebookRuntime
from tito.checks.runtime import current, use


class Recording(NotebookRuntime):
    """A runtime with a secret, that remembers what it was told."""

    def __init__(self, secret=b""):
        super().__init__()
        self.told = []
        self.asked = []
        self._secret = secret

    def secret(self):
        return self._secret

    def report_points(self, earned, message):
        self.told.append((earned, message))

    def before_check(self, names):
        self.asked.append(frozenset(names))


@pytest.mark.parametrize(
    ("earned", "shown"),
    [(2, 2), (0, 0), (1.5, 1.5), (2.0, 2), (Fraction(1, 2), 0.5), (Fraction(4, 2), 2)],
)
def test_points_are_a_plain_number_that_nbgrader_can_read(earned, shown):
    with use(Recording()) as runtime:
        got = points(earned, "half of it")
    assert repr(got) == repr(shown) and float(repr(got)) == float(earned)
    assert runtime.told == [(earned, "half of it")]


@pytest.mark.parametrize("earned", [True, None, "2", np.float64(1), np.int64(1), [1], 1j])
def test_points_take_nothing_else(earned):
    with pytest.raises(TypeError, match="a plain number"):
        points(earned)


@pytest.mark.parametrize("earned", [-1, -0.5, float("nan"), float("inf"), Fraction(-1, 3)])
def test_points_are_not_below_zero(earned):
    with pytest.raises(ValueError, match="from 0 on"):
        points(earned)


def test_what_is_missing_is_printed(capsys):
    points(1, "one read too many")
    points(2)
    assert capsys.readouterr().out == "one read too many\n"


def test_a_check_tells_the_runtime_which_names_its_cell_uses(run_cell):
    with use(Recording()) as runtime:
        run_cell("from tito.checks import *\nn = 2\nexpect_close(float(n), 2.0)", {})
    assert {"expect_close", "n", "float"} <= runtime.asked[0]


def test_random_numbers_depend_on_secret_and_grade_id():
    def first(secret, grade_id):
        with use(Recording(secret)):
            return rng(grade_id).integers(2**63)

    draws = [first(s, g) for s in (b"", b"course") for g in ("relu-test", "relu-hidden")]
    assert len(set(draws)) == 4
    assert first(b"course", "relu-test") == draws[2]


def test_the_notebook_has_no_secret():
    assert current().secret() == b""
    assert rng("a").integers(2**63) == rng("a").integers(2**63)


def test_counts_of_a_remote_array():
    x = remote_array(np.arange(4.0))
    assert counts(x) == (0, 0)
    assert float(x[1]) + float(x[3]) == 4.0
    assert counts(x) == (2, 0) and counts(x).reads == 2
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    out = remote_array(np.zeros(4), "out")
    out[0] = 1
    assert counts(out) == (0, 1)


def test_the_worker_is_the_thread():
    seen = []
    for _ in range(2):  # one after the other, so that the system's thread id may be the same
        thread = threading.Thread(target=lambda: seen.append((worker(), worker())))
        thread.start()
        thread.join()
    (first, again), (second, _) = seen
    assert first == again and len({first, second, worker()}) == 3 and worker() == 0


def test_the_innermost_runtime_is_current():
    outer, inner = Recording(), Recording()
    before = current()
    with use(outer):
        with use(inner):
            assert current() is inner
        assert current() is outer
    assert current() is before


def test_describe():
    def kernel():
        pass

    class Profiler:
        def run(self):
            pass

    runtime = NotebookRuntime()
    assert runtime.describe(kernel) == "kernel"
    assert runtime.describe(functools.partial(kernel, 1)) == "kernel"
    assert runtime.describe(Profiler) == "Profiler"
    assert runtime.describe(Profiler().run) == "run"


def fresh(func, *args, **kwargs):
    return expect_fresh(func, *args, **kwargs)


BASE = np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize(
    "aliased",
    [
        lambda x: x,
        lambda x: x[...],
        lambda x: x.T,
        lambda x: x[np.newaxis],
        lambda x: x.view(np.int64),
        lambda x: (np.zeros(2), x[:1]),
        lambda x: [x[:1]],
        lambda x: {"y": x[-1:]},
        lambda x: x.base if x.base is not None else x,
        lambda x: np.broadcast_to(x, (2, *x.shape)),
    ],
)
@pytest.mark.parametrize("argument", [BASE, BASE[1:, ::2], BASE[::-1], BASE[0]])
def test_every_kind_of_view_shares_memory(aliased, argument):
    with pytest.raises(CheckFailed, match="shares memory with argument x"):
        fresh(aliased, argument)


def test_an_array_in_a_list_or_keyword_is_an_argument_too():
    with pytest.raises(CheckFailed, match="shares memory with argument xs"):
        fresh(lambda xs: xs[1][:2], [np.ones(2), np.ones(3)])
    with pytest.raises(CheckFailed, match="shares memory with argument y"):
        fresh(lambda x, y: y, np.ones(2), y=np.ones(3))


def test_out_may_be_the_result():
    out = np.zeros(3)
    assert fresh(lambda x, out: np.add(x, 1, out=out), np.ones(3), out=out) is out
    assert fresh(lambda x, out: np.add(x, 2, out=out), np.ones(3), out) is out


def test_a_result_without_an_array_is_no_new_array():
    with pytest.raises(CheckFailed, match=r"returned 3\. float, expected a new array"):
        fresh(lambda x: 3.0, np.ones(2))


def first_of_all(array):
    """A function that returns this array once, and new ones from then on."""
    results = [array]
    return lambda: results.pop() if results else np.zeros(2)


def test_earlier_results_are_forgotten_when_a_cell_begins():
    buffer = np.zeros(2)
    with use(NotebookRuntime()) as runtime:
        fresh(first_of_all(buffer))
        runtime.forget()
        fresh(first_of_all(buffer))
        with pytest.raises(CheckFailed, match="shares memory with an earlier result"):
            fresh(first_of_all(buffer[:1]))


def test_an_array_that_is_handed_out_again_is_no_new_one():
    kept = {}

    def doubled(x):
        return np.multiply(x, 2, out=kept.setdefault(x.shape, np.empty_like(x)))

    with use(NotebookRuntime()):
        with pytest.raises(CheckFailed, match="shares memory with an earlier result"):
            fresh(doubled, np.ones(3))
        fresh(lambda x: doubled(x).copy(), np.ones(4))


def test_with_a_function_among_its_arguments_it_is_called_once():
    calls = []
    with use(NotebookRuntime()):
        fresh(lambda x, count: (count(1), x + 1)[1], np.ones(3), calls.append)
        fresh(lambda x, count: (count(2), x + 1)[1], np.ones(3), count=calls.append)
    assert calls == [1, 2]


def test_honest_new_results_are_never_taken_for_earlier_ones():
    with use(NotebookRuntime()):
        for n in range(200):
            fresh(lambda x: x + 1, np.ones(n % 7))


def test_an_earlier_result_may_be_an_argument():
    with use(NotebookRuntime()):
        first = fresh(lambda x: x + 1, np.ones(3))
        fresh(lambda x: x + 1, first)
