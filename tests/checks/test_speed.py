"""Speed in a notebook: by this thread's clock, with the verdict that the judge would give."""

from fractions import Fraction

import numpy as np
import pytest

from tito.checks import CheckFailed, points, speed
from tito.checks.notebook import NotebookRuntime
from tito.checks.rig import BASELINE, STUDENT, Window
from tito.checks.runtime import use
from tito.machine import INSTRUCTION_SETS


def work(x, passes):
    for _ in range(passes):
        y = np.exp(-x)
    return y


def baseline(x):
    return work(x, 120)


def fast(x):
    return work(x, 12)


def same(x):
    return work(x, 120)


def draw(rng):
    return (rng.standard_normal(4000),)


def test_a_fast_kernel_earns_all_and_says_how_fast(capsys):
    assert points(speed(fast, baseline, draw, points=2, full=2, half=1.3)) == 2
    shown = capsys.readouterr().out
    assert shown.startswith("fast: ") and "times as fast as baseline" in shown
    assert "read in this notebook" in shown


def test_a_slow_one_is_told_what_to_try(capsys):
    found = speed(same, baseline, draw, points=2, full=2, half=1.5, hint="fewer passes")
    assert points(found) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("same: ") and lines[0].endswith("times as fast as baseline")
    assert [line.split()[0] for line in lines[1:]] == ["measured", "full", "half", "try"]
    assert "fewer passes" in found.public and not any(c.isdigit() for c in found.public)


def test_one_point_has_a_half():
    found = speed(same, baseline, draw, points=1, full=2, half=0.5)
    assert found.earned == Fraction(1, 2)
    assert points(found) == 0.5


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda x: x, "wrong in all 4000 elements"),
        (lambda x: None, "returned None, expected an array"),
        (lambda x: np.exp(-x).astype(np.float32), "its dtype is float32"),
        (lambda x: np.exp(-x)[:-1], "its shape is"),
        (lambda x: np.exp(-x).tolist(), "returned a list"),
        (lambda x: np.exp(-x).view(np.matrix), "returned a matrix"),
    ],
)
def test_values_come_first(kernel, words):
    with pytest.raises(CheckFailed, match=words):
        speed(kernel, baseline, draw, points=2, full=2)


def test_values_are_checked_in_every_round():
    calls = []

    def later_wrong(x):
        calls.append(None)
        return work(x, 1) + (len(calls) > 15)

    with pytest.raises(CheckFailed, match="in a speed check: wrong in all"):
        speed(later_wrong, baseline, draw, points=2, full=2)


def test_an_input_that_was_changed_fails():
    def in_place(x):
        np.negative(x, out=x)
        return np.exp(x)

    with pytest.raises(CheckFailed, match="changed its input 1"):
        speed(in_place, baseline, draw, points=2, full=2)


def test_functions_that_change_an_argument():
    def add(y, x):
        y += work(x, 12)

    def add_slowly(y, x):
        y += work(x, 120)

    def two(rng):
        return {"y": rng.standard_normal(4000), "x": rng.standard_normal(4000)}

    assert speed(add, add_slowly, two, writes="y", points=2, full=2).earned == 2
    with pytest.raises(TypeError, match="writes="):
        speed(add, add_slowly, two, points=2, full=2)


def test_an_expected_value_of_ones_own():
    def rounded(x):
        return work(x, 12).astype(np.float32).astype(np.float64)

    with pytest.raises(CheckFailed):
        speed(rounded, baseline, draw, points=2, full=2)
    expected = {"expected": lambda x: np.exp(-x).astype(np.float32).astype(np.float64)}
    assert speed(rounded, baseline, draw, points=2, full=2, **expected).earned == 2


def test_no_memo_helps():
    memo = {}

    def remembering(x):
        key = x.tobytes()
        if key not in memo:
            memo[key] = work(x, 120)
        return memo[key]

    assert speed(remembering, baseline, draw, points=2, full=2, half=1.5).earned == 0


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        (lambda rng: (np.ones(4000),), ValueError, "the same arrays again"),
        (lambda rng: (3,), ValueError, "has no array"),
        (lambda rng: [rng.standard_normal(4)], TypeError, "as a tuple"),
        (lambda rng: (rng.standard_normal(8000)[::2],), ValueError, "contiguous"),
        (lambda rng: (np.array([object()]),), ValueError, "contiguous array of numbers"),
    ],
)
def test_mistakes_of_the_author(inputs, error, words):
    with pytest.raises(error, match=words):
        speed(fast, baseline, inputs, points=2, full=2)


def test_a_kernel_too_small_to_measure_costs_nobody_points():
    def once(x):
        return work(x, 1)

    found = speed(once, once, lambda rng: (rng.standard_normal(5),), points=2, full=2)
    assert (found.earned, found.doubt) == (2, True)
    assert "larger inputs" in found.message


def test_a_cpu_without_thresholds_is_graded_by_values(monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules["tito.checks.speed"], "instruction_set", lambda: "generic")
    thresholds = {name: 50 for name in INSTRUCTION_SETS if name != "generic"}
    found = speed(same, baseline, draw, points=2, full=thresholds)
    assert (found.earned, found.doubt, found.measured) == (2, False, None)
    with pytest.raises(CheckFailed):
        speed(lambda x: x, baseline, draw, points=2, full=thresholds)


def test_a_slow_baseline_runs_on_few_inputs_where_another_result_is_expected():
    runtime = Scripted([50.0], call=1e-4)
    own = {"expected": lambda x: np.exp(-x)}
    with use(runtime):
        found = speed(fast, baseline, small, points=2, full=2.0, **own)
        assert runtime.most == {STUDENT: 20, BASELINE: 2}
        assert found.measured.median == pytest.approx(50)
        speed(fast, baseline, small, points=2, full=2.0)
    assert runtime.most == {STUDENT: 20, BASELINE: 20}


def test_each_result_is_checked_where_the_baseline_ran_on_few():
    class Late(Scripted):
        """Right on the inputs that the baseline runs on, wrong on the others."""

        def results(self, who, calls):
            right = [np.exp(-c.args[0]) for c in calls]
            return right[:2] + [r + 1 for r in right[2:]] if who == STUDENT else right

    with use(Late([50.0], call=1e-4)), pytest.raises(CheckFailed, match="wrong"):
        speed(fast, baseline, small, points=2, full=2.0, expected=lambda x: np.exp(-x))


class Scripted(NotebookRuntime):
    """A rig whose clocks say what they are told; one entry a round, the last one for ever."""

    def __init__(self, ratios, call=0.01, touched=0, slow=None):
        """touched : windows that come after the first two of a race, and count as little

        slow : ratios against another baseline, where the first is a slow process
        """
        super().__init__()
        self.ratios, self.seconds, self.order, self.renewed = list(ratios), call, [], 0
        self.most = {}
        self.doubts, self.slow, self.uncounted = 0, slow, 2 + touched
        self.before = self.uncounted  # windows until the last race's first that counts

    def results(self, who, calls):
        return [np.exp(-c.args[0]) for c in calls]

    def rig(self, func, baseline):
        outer = self

        class Rig:
            reading, shortest, most_calls, room = "scripted", 0.002, 64, 1 << 28

            def __enter__(self):
                return self

            def __exit__(self, *exc):
                pass

            def call(self, who, call):
                return np.exp(-call.args[0])

            def run(self, who, calls, form):
                outer.order.append(who)
                outer.most[who] = max(len(calls), outer.most.get(who, 0))
                rounds = (len(outer.order) - 1 - outer.before) // 2
                ratio = outer.ratios[max(0, min(rounds, len(outer.ratios) - 1))]
                seconds = outer.seconds * (1 if who == STUDENT else ratio) * len(calls)
                return Window(seconds, outer.results(who, calls), list(calls))

            def doubts(self, draw, form, patience):
                outer.doubts += 1
                assert len(draw()) > 1
                if outer.slow is None:
                    return False
                outer.ratios, outer.slow = outer.slow, None
                outer.before = len(outer.order) + outer.uncounted
                return True

            def renew(self):
                outer.renewed += 1
                return False

        return Rig()


def small(rng):
    return (rng.standard_normal(3),)


def scripted(ratios, full=2.0, half=1.5, **clock):
    runtime = Scripted(ratios, **clock)
    with use(runtime):
        return speed(fast, baseline, small, points=2, full=full, half=half), runtime.order


def test_clear_measurements_end_soon():
    found, _ = scripted([2.4, 2.3, 2.35])
    assert (found.measured.rounds, found.earned, found.doubt) == (7, 2, False)


def test_far_beyond_the_highest_step_three_rounds_are_enough():
    found, _ = scripted([5.0, 5.1, 4.9])
    assert (found.measured.rounds, found.earned, found.doubt) == (3, 2, False)
    found, _ = scripted([5.0, 2.4, 4.9])
    assert found.measured.rounds == 7, "one of them is not far enough"


@pytest.mark.parametrize("ratio", [0.1, 1.7])
def test_nobody_loses_points_in_three_rounds(ratio):
    found, _ = scripted([ratio] * 3)
    assert found.measured.rounds == 7


def test_unclear_ones_go_on_until_they_are_clear():
    found, _ = scripted([3, 1, *[2.4] * 20])
    assert 7 < found.measured.rounds < 20
    assert (found.earned, found.doubt) == (2, False)


def test_or_until_the_last_round_and_then_the_better_step_counts():
    found, _ = scripted([1.9, 2.1] * 20)
    assert (found.measured.rounds, found.earned, found.doubt) == (31, 2, True)
    assert "the better step counts" in found.message


def test_a_very_slow_kernel_is_not_measured_for_ever():
    found, _ = scripted([0.1], call=5.0)
    assert (found.measured.rounds, found.earned, found.doubt) == (3, 0, False)


def test_only_what_missed_the_full_step_asks_for_a_second_measurement():
    for ratio, times in ((5.0, 0), (1.7, 1), (0.5, 1)):
        runtime = Scripted([ratio])
        with use(runtime):
            speed(fast, baseline, small, points=2, full=2, half=1.5)
        assert runtime.renewed == times


@pytest.mark.parametrize(
    "ratio, doubts", [(5.0, 0), (4.1, 0), (3.9, 1), (1.7, 1), (3.2, 1), (1.2, 0), (0.5, 0)]
)
def test_the_baseline_is_doubted_where_a_slow_one_could_have_made_the_step(ratio, doubts):
    runtime = Scripted([ratio])
    with use(runtime):
        speed(fast, baseline, small, points=2, full=2, half=1.5)
    assert runtime.doubts == doubts


@pytest.mark.parametrize(("ratio", "earned"), [(2.5, 2), (1.7, 1), (1.2, 0)])
def test_a_kernel_that_had_a_slow_baseline_is_measured_against_the_other(ratio, earned):
    runtime = Scripted([3.0], slow=[ratio])
    with use(runtime):
        found = speed(fast, baseline, small, points=2, full=2, half=1.5)
    assert found.earned == earned and found.measured.median == pytest.approx(ratio)


def test_arguments_may_be_prepared_for_the_kernel():
    def negative(x):
        return np.exp(x)

    found = speed(negative, baseline, draw, points=2, full=2, prepare=lambda x: (-x,))
    assert found.earned == 2


def test_who_goes_first_changes_from_round_to_round():
    runtime = Scripted([2.4])
    with use(runtime):
        speed(fast, baseline, small, points=2, full=2.0, half=1.5)
    measured = runtime.order[runtime.before :]
    assert measured[:8] == [STUDENT, BASELINE, BASELINE, STUDENT] * 2


@pytest.mark.parametrize(
    "call, expected, touched",
    [
        (0.01, None, []),
        (1e-4, None, [BASELINE, STUDENT]),
        (1e-4, lambda x: np.exp(-x), [STUDENT]),
    ],
)
def test_memory_that_the_first_windows_left_out_is_touched_before_a_window_counts(
    call, expected, touched
):
    runtime = Scripted([50.0], call=call)
    with use(runtime):
        speed(fast, baseline, small, points=2, full=2.0, expected=expected)
    assert runtime.order[2:-6] == touched, "three rounds come after it"


@pytest.mark.parametrize("call", [0.3, 1.0])
@pytest.mark.parametrize("ratios, most", [([0.5], 6), ([1.9, 2.1] * 20, 18)])
def test_a_check_costs_a_few_seconds_and_some_more_where_it_is_in_doubt(ratios, most, call):
    runtime = Scripted(ratios, call=call)
    with use(runtime):
        speed(fast, baseline, small, points=2, full=2, half=1.5)
    rounds = (len(runtime.order) - runtime.before) // 2
    a_round = 2 * call * (1 + max(ratios))
    assert (rounds - 1) * a_round <= max(most, 3 * a_round)
    assert rounds * a_round > most / 2
