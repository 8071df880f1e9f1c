"""How many times as fast as a baseline a kernel is, in CPU time, and the points for that.

    def inputs(rng):
        return rng.standard_normal((192, 192)), rng.standard_normal((192, 192))

    points(speed(matmul_ikj, matmul_ijk, inputs, inner=192, points=2, full=5, half=2))

A round draws new inputs, runs the kernel on all of them and the baseline on all of them, and
divides the two CPU times; who goes first changes from round to round (A B B A). A machine that is
busy, or slow for a while, slows both. Every result of every round is checked: a kernel that is
fast and wrong has failed. No input comes twice, so what was remembered is of no use.
"""

from __future__ import annotations

import hashlib
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import numpy as np

from tito.checks import compare, show
from tito.checks.case import calling_names
from tito.checks.compare import Bound, Difference
from tito.checks.failure import CheckFailed, Failure
from tito.checks.memory import arrays_in
from tito.checks.rig import BASELINE, STUDENT, Call, Form, Patience, Rig, Window, are_seen
from tito.checks.runtime import current
from tito.checks.steps import FULL, HALF, STRETCH, Measured, Steps, Threshold, steps_for
from tito.machine import instruction_set

# After the fewest rounds a kernel has the highest step if its every ratio is clearly beyond it, and
# one so slow that the seconds are used up is judged; others take some more, in doubt the most.
FEWEST_ROUNDS, SOME_ROUNDS, MOST_ROUNDS = 3, 7, 31
# CPU seconds: of all rounds; of one window of the baseline.
MOST_SECONDS, LONGEST_WINDOW = 6.0, 0.25
# Whose CPU seconds count with those of the two.
JUDGE = "judge"
# So many times as long while a threshold lies in the interval: of few rounds an odd one decides.
LONGER_IN_DOUBT = 3
# A process was slow by 2.4 at most (tito.grading.judge.rig). Who is so many times beyond a step in
# spite of that is within the width of an interval (STRETCH) of it, where doubt is the student's.
SLOWEST = 2.0
# One fresh process may miss the step by itself too; a third is for whom a slow one kept from it.
MOST_RACES, CERTAIN_RACES = 3, 2
# Several different inputs in each window, so that none is a question asked alone.
FEWEST_CALLS = 2
# By so much too few calls in each window are measured once more.
TOO_FEW = 4
# A kernel that takes less a call drowns in what surrounds it.
SHORTEST_CALL = 1e-4

Inputs = Callable[[np.random.Generator], tuple | dict[str, Any]]


@dataclass(frozen=True)
class Speed:
    """The verdict of `speed`, which `points(...)` takes.

    earned   : points
    message  : for the student; says what was measured also when nothing is missing
    measured : the ratio baseline/kernel and its interval; None where only values were graded
    doubt    : the measurement does not tell which step it is, so the better one counts
    public   : the message without any number that the student's code had a hand in
    """

    earned: int | float | Fraction
    message: str
    measured: Measured | None = None
    doubt: bool = False
    public: str = ""


def speed(
    func: Callable,
    baseline: Callable,
    inputs: Inputs,
    *,
    points: int | float | Fraction,
    full: Threshold,
    half: Threshold | None = None,
    writes: int | str | None = None,
    prepare: Callable[..., tuple] | None = None,
    expected: Callable[..., np.ndarray] | None = None,
    inner: float = 1,
    hint: str | None = None,
) -> Speed:
    """Check the values of a kernel, then how many times as fast as a baseline it is.

    func     : the student's function; returns an array, or changes one (`writes`)
    baseline : a function of a given cell, of an earlier module's package or of NumPy that takes
               the same arguments; never one that calls a BLAS, whose speed is the machine's
    inputs   : inputs(rng) -> the arguments of one call, a tuple (or a dict of keywords) with
               contiguous arrays drawn from `rng`; always of the same shapes. Make them so large
               that a kernel at the threshold takes at least 0.1 ms.
    points   : for a ratio of at least `full`; half of them for at least `half`
    full, half : thresholds, each a number or {"avx512": ..., "avx2": ..., "generic": ...}. A CPU
               that is not named is graded by the values alone.
    writes   : position or keyword of the argument that both functions change in place
    prepare  : prepare(*args) -> what `func` gets instead, where it takes another form than the
               baseline; not measured, and it may call functions of the student's
    expected : expected(*args) -> the right result, where the baseline's is not the one to compare
               with, or where the baseline is so slow that it shall not run on every input
    inner    : as for `expect_close`
    hint     : what to try

    Raises CheckFailed for a wrong value. Returns what `points(...)` takes.
    """
    current().before_check(calling_names())
    steps = steps_for(full, half, instruction_set())
    names = tuple(current().describe(f) for f in (func, baseline))
    verdict, patience = _Verdict(names, points, hint), Patience()

    def race() -> _Race:
        drawn = _Drawn(inputs, writes)
        return _Race(names, drawn, prepare, expected, Bound(float(inner)), patience)

    with current().rig(func, baseline) as rig:
        if steps is not None and rig.reading is not None:
            result = _measured(race, rig, steps, verdict)
        else:
            race().warm_up(rig)
            result = verdict.by_values(*_why_not(steps))
    current().report_speed(result)
    return result


def _measured(race: Callable[[], _Race], rig: Rig, steps: Steps, verdict: _Verdict) -> Speed:
    """The verdict of a race, or of another one in a fresh process if that is better."""
    results: list[Speed] = []
    while not results or (_may_be_bad_luck(results, steps) and rig.renew()):
        one = _raced(race, rig, steps)
        if one.may_be_luck(steps) and one.doubts(rig):
            one = _raced(race, rig, steps)
        results.append(verdict.by_ratio(one, steps, rig.reading))
    return max(results, key=lambda result: result.earned)


def _may_be_bad_luck(results: list[Speed], steps: Steps) -> bool:
    """Whether all that was measured misses the full step, and a slow process could be why."""
    found = [result.measured for result in results]
    if None in found or any(each.share(steps) == FULL for each in found):
        return False
    nearly = max(each.high for each in found) * SLOWEST >= steps.full
    return len(found) < (MOST_RACES if nearly else CERTAIN_RACES)


def _raced(race: Callable[[], _Race], rig: Rig, steps: Steps) -> _Race:
    one = race()
    one.warm_up(rig)
    one.run(rig, steps)
    return one


def _why_not(steps: Steps | None) -> tuple[str, bool]:
    """Why speed is not measured, and whether that is a doubt."""
    if steps is None:
        return f"no threshold was measured for {instruction_set()} CPUs", False
    return "CPU time cannot be read here", True


class _Race:
    """The measurement: rounds of both functions, until the step is known."""

    def __init__(
        self,
        names: tuple[str, ...],
        drawn: _Drawn,
        prepare: Callable[..., tuple] | None,
        expected: Callable[..., np.ndarray] | None,
        bound: Bound,
        patience: Patience,
    ) -> None:
        self.names = names
        self.ratios: list[float] = []
        self.calls = self.base_calls = FEWEST_CALLS
        self._draw = drawn
        self._prepare = prepare
        self._expected = expected
        self._bound = bound
        self._patience = patience
        self._forms: dict[str, Form] = {}
        self._seconds: dict[str, list[float]] = {}

    def warm_up(self, rig: Rig) -> None:
        """One ordinary call of each, whose values must be right."""
        call = self._draw.one()
        result = rig.call(BASELINE, call)
        if type(result) is not np.ndarray:
            raise TypeError(
                f"the baseline of speed() gives {show.kind_of(result) or 'None'}, not an array"
                " (if it changes an argument, name that one: writes=...)"
            )
        want = self._want(call, result)
        self._forms = {BASELINE: Form.of(result), STUDENT: Form.of(want)}
        self._check(rig.call(STUDENT, self._prepared(call)), want)

    def run(self, rig: Rig, steps: Steps) -> None:
        """Rounds until the interval lies on one side of each threshold."""
        most = min(rig.room // self._draw.one_size(self._forms), rig.most_calls)
        times = self._first_times(rig, most)
        if times is None:
            return
        self.calls, self.base_calls = self._calls_by(times, rig.shortest, most)
        self._rounds(rig, steps)
        if not self.was_seen():
            return
        # A machine that stood still in that one round: windows were too short by far.
        calls = self._calls_by(self.seconds_a_call(), rig.shortest, most)
        if calls[0] > TOO_FEW * self.calls:
            self.calls, self.base_calls = calls
            self._rounds(rig, steps)

    def _first_times(self, rig: Rig, most: int) -> dict[str, float] | None:
        """Seconds a call of each, from one round; None if the clock sees no window at all."""
        windows = self._round(rig, students_first=True)
        while not are_seen(windows.values()):
            if self.calls >= most:
                return None
            self.calls = min(TOO_FEW * self.calls, most)
            if self._expected is None or not windows[BASELINE].is_seen:
                self.base_calls = self.calls
            windows = self._round(rig, students_first=True)
        return self._a_call({who: window.seconds for who, window in windows.items()})

    def _rounds(self, rig: Rig, steps: Steps) -> None:
        """Rounds; one with a window that the clock did not see tells no ratio."""
        self.ratios, self._seconds = [], {STUDENT: [], BASELINE: [], JUDGE: []}
        self._touch(rig)
        for turn in range(MOST_ROUNDS):
            if self._is_enough(steps):
                return
            start = time.thread_time()
            windows = self._round(rig, students_first=turn % 2 == 0)
            if are_seen(windows.values()):
                for who, window in windows.items():
                    self._seconds[who].append(window.seconds)
                self.ratios.append(self._ratio(windows))
                self._seconds[JUDGE].append(time.thread_time() - start)

    def _is_enough(self, steps: Steps) -> bool:
        n, spent = len(self.ratios), self._spent()
        if n < FEWEST_ROUNDS:
            return False
        if min(self.ratios) >= STRETCH * steps.full:
            return True
        if Measured.of(self.ratios).in_doubt(steps):
            return spent > LONGER_IN_DOUBT * MOST_SECONDS
        return n >= SOME_ROUNDS or spent > MOST_SECONDS

    def may_be_luck(self, steps: Steps) -> bool:
        """Whether a baseline that was slow by itself could have made the step."""
        if not self.was_seen():
            return False
        slowest = min(self.ratios) / SLOWEST
        return steps.reached(slowest) < Measured.of(self.ratios).share(steps)

    def doubts(self, rig: Rig) -> bool:
        """Whether it was slow by itself, and another takes its place."""

        def draw() -> list[Call]:
            return self._calls()[: self.base_calls]

        return rig.doubts(draw, self._forms[BASELINE], self._patience)

    def _touch(self, rig: Rig) -> None:
        """Let all memory of a window be touched once before; that of few calls was by now.

        What comes out of it is not measured, and not looked at.
        """
        if self.calls > FEWEST_CALLS:
            calls = self._calls()
            if self._expected is None or self.base_calls > FEWEST_CALLS:
                rig.run(BASELINE, calls[: self.base_calls], self._forms[BASELINE])
            rig.run(STUDENT, [self._prepared(call) for call in calls], self._forms[STUDENT])

    def was_seen(self) -> bool:
        """Whether the clock moved in the windows of as many rounds as it takes."""
        return len(self.ratios) >= FEWEST_ROUNDS

    def seconds_a_call(self) -> dict[str, float]:
        return self._a_call({who: statistics.median(each) for who, each in self._seconds.items()})

    def _a_call(self, seconds: dict[str, float]) -> dict[str, float]:
        """The seconds of one call, of those of a window."""
        calls = {STUDENT: self.calls, BASELINE: self.base_calls}
        return {who: seconds[who] / n for who, n in calls.items()}

    def _ratio(self, windows: dict[str, Window]) -> float:
        """Of the seconds a call."""
        times = self._a_call({who: window.seconds for who, window in windows.items()})
        return times[BASELINE] / times[STUDENT]

    def _spent(self) -> float:
        """Seconds, without what a machine that stood still charged to single rounds."""
        return sum(len(each) * statistics.median(each) for each in self._seconds.values() if each)

    def _calls_by(self, times: dict[str, float], shortest: float, most: int) -> tuple[int, int]:
        """So many that the faster of the two fills a window, and the baseline no long one.

        A baseline that is not needed for the results to expect has as few as fill its own.

        times : seconds a call
        """

        def filling(seconds: float, slower: float) -> int:
            fitting = min(int(LONGEST_WINDOW / slower), most)
            return max(FEWEST_CALLS, min(math.ceil(shortest / seconds), fitting))

        if self._expected is None:
            calls = filling(min(times.values()), times[BASELINE])
            return calls, calls
        calls = filling(times[STUDENT], times[STUDENT])
        return calls, min(filling(times[BASELINE], times[BASELINE]), calls)

    def _round(self, rig: Rig, students_first: bool) -> dict[str, Window]:
        """Both on the same new inputs, as the clock saw them; every result is checked."""
        return self._patience.until_seen(lambda: self._windows(rig, students_first))

    def _windows(self, rig: Rig, students_first: bool) -> dict[str, Window]:
        calls = self._calls()
        asked = {
            BASELINE: calls[: self.base_calls],
            STUDENT: [self._prepared(call) for call in calls],
        }
        order = (STUDENT, BASELINE) if students_first else (BASELINE, STUDENT)
        windows = {who: rig.run(who, asked[who], self._forms[who]) for who in order}
        theirs = windows[STUDENT]
        for call, got, base in zip_longest(calls, theirs.results, windows[BASELINE].results):
            self._check(got, self._want(call, base))
        for call, after in zip(asked[STUDENT], theirs.after):
            self._check_inputs(call, after)
        return windows

    def _prepared(self, call: Call) -> Call:
        """The call in the form that the student's function takes."""
        if self._prepare is None:
            return call
        own = call.copy()
        args = self._prepare(*own.args, **own.kwargs)
        if type(args) is not tuple:
            raise TypeError(
                f"prepare() of speed() gives the arguments as a tuple, not {type(args).__name__}"
            )
        return Call(args, {}, call.writes)

    def _calls(self) -> list[Call]:
        """New inputs for a window."""
        return [self._draw.one() for _ in range(self.calls)]

    def _want(self, call: Call, base: np.ndarray | None) -> np.ndarray:
        """The right result; `base` is the baseline's, which is there unless one is expected."""
        if self._expected is None:
            return base
        own = call.copy()
        want = self._expected(*own.args, **own.kwargs)
        compare.check_expected(want)
        return want

    def _check(self, got: Any, want: np.ndarray) -> None:
        """Raise CheckFailed unless the result is the right one."""
        if type(got) is np.ndarray and got.dtype == want.dtype and np.array_equal(got, want):
            return
        difference = compare.close(got, want, self._bound)
        if difference is not None:
            rows = show.pair(got, want, difference.focus)
            raise CheckFailed.of(self._failure(difference, rows))

    def _check_inputs(self, call: Call, after: Call) -> None:
        before = _inputs_of(call)
        for (path, array), (_, now) in zip(before, _inputs_of(after)):
            if not compare.arrays_equal(array, now).all():
                what = f"changed its input {path}"
                raise CheckFailed.of(self._failure(Difference(what, "changed its input"), []))

    def _failure(self, difference: Difference, rows: list[tuple[str, str]]) -> Failure:
        return Failure(
            self.names[0],
            f"in a speed check: {difference.problem}",
            difference.kind,
            case=self.names[0],
            rows=rows,
            tries=difference.tries,
        )


class _Drawn:
    """Draws inputs, none of them twice.

    The generator is seeded by the system: inputs that can be foretold could be answered in
    advance.
    """

    def __init__(self, inputs: Inputs, writes: int | str | None) -> None:
        self._inputs = inputs
        self._writes = writes
        self._rng = np.random.default_rng()
        self._seen: set[bytes] = set()

    def one(self) -> Call:
        drawn = self._inputs(self._rng)
        if type(drawn) not in (tuple, dict):
            raise TypeError(
                f"inputs(rng) of speed() gives the arguments as a tuple, not {type(drawn).__name__}"
            )
        args, kwargs = ((), drawn) if type(drawn) is dict else (drawn, {})
        call = Call(args, kwargs, self._writes)
        self._check(call)
        return call

    def one_size(self, forms: dict[str, Form]) -> int:
        """Bytes of the arrays of one call, its result too."""
        arrays = [array.nbytes for _, array in _arrays_of(self.one())]
        return 1 + sum(arrays) + max(form.nbytes for form in forms.values())

    def _check(self, call: Call) -> None:
        mark = hashlib.blake2b(digest_size=16)
        arrays = _arrays_of(call)
        if not arrays:
            raise ValueError("inputs(rng) of speed() has no array in it")
        for path, array in arrays:
            if array.dtype.hasobject or not (array.flags.c_contiguous or array.flags.f_contiguous):
                raise ValueError(f"input {path} of speed() is no contiguous array of numbers")
            mark.update(np.ravel(array, order="K").view(np.uint8))
        if mark.digest() in self._seen:
            raise ValueError("inputs(rng) of speed() gave the same arrays again: draw from rng")
        self._seen.add(mark.digest())


@dataclass(frozen=True)
class _Verdict:
    """Puts a measurement into points and words."""

    names: tuple[str, ...]
    points: int | float | Fraction
    hint: str | None

    def by_values(self, reason: str, doubt: bool) -> Speed:
        """Right values, and a speed that nobody could measure: all points."""
        message = f"{self.names[0]}: graded by its values, which are right: {reason}"
        return Speed(self.points, message, None, doubt, message)

    def by_ratio(self, race: _Race, steps: Steps, reading: str) -> Speed:
        if not race.was_seen():
            return self.by_values("this machine's clock stands still", doubt=True)
        seconds = race.seconds_a_call()[BASELINE]
        if seconds < SHORTEST_CALL * steps.full:
            return self.by_values(
                f"the baseline takes {seconds * 1e3:.2g} ms a call, too little to measure. For"
                f" the author: larger inputs; at {steps.full:g} times it needs"
                f" {SHORTEST_CALL * steps.full * 1e3:.2g} ms",
                doubt=True,
            )
        measured = Measured.of(race.ratios)
        share = measured.share(steps)
        doubt = measured.in_doubt(steps)
        earned = self.points if share == FULL else self._half() if share == HALF else 0
        failure = self._failure(measured, steps, share, doubt, reading)
        return Speed(earned, failure.text(), measured, doubt, failure.public())

    def _half(self) -> Fraction:
        return Fraction(str(self.points)) / 2

    def _failure(
        self, measured: Measured, steps: Steps, share: Fraction, doubt: bool, reading: str
    ) -> Failure:
        kernel, baseline = self.names
        said = f"{kernel}: {measured.median:.3g} times as fast as {baseline}"
        rows = [("measured", f"{measured} times in {measured.rounds} rounds, {reading}")]
        rows.append(("full", f"from {steps.full:g} times"))
        if steps.half is not None:
            rows.append(("half", f"from {steps.half:g} times"))
        if doubt:
            rows.append(("in doubt", "a threshold lies in that interval: the better step counts"))
        words = [self.hint] if self.hint and share != FULL else []
        kind = "fast enough" if share == FULL else "too slow"
        return Failure(kernel, said, kind, rows=rows, tries=words, words=words)


def _arrays_of(call: Call) -> list[tuple[str, np.ndarray]]:
    """The arrays of the arguments, with their place: "2", "b", "1[0]"."""
    named = [*((str(i + 1), v) for i, v in enumerate(call.args)), *call.kwargs.items()]
    return [(f"{name}{path}", array) for name, v in named for path, array in arrays_in(v)]


def _inputs_of(call: Call) -> list[tuple[str, np.ndarray]]:
    """Those that the function may only read."""
    written = call.writes + 1 if type(call.writes) is int else call.writes
    return [(path, array) for path, array in _arrays_of(call) if path != str(written)]
