"""The checks: each asks for one property, and its message says what to do about it.

Every check asks the runtime first whether the exercise went a forbidden way (in plain Jupyter the
checks are the only place where that can be seen).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tito.checks import compare, show
from tito.checks.case import arguments_line, calling_names, case_line, subject_of
from tito.checks.compare import Bound, Difference
from tito.checks.failure import CheckFailed, Failure
from tito.checks.memory import Snapshot, arrays_in, named_arguments
from tito.checks.runtime import current

# A cause, and what it would give: the answer itself, made only after a failure. A pair adds what
# to try against it.
Likely = Mapping[str, Callable[[], Any] | tuple[Callable[[], Any], str]]


def expect_close(
    got: Any,
    want: Any,
    *,
    inner: float = 1,
    scale: Any = None,
    dtype: Any = None,
    likely: Likely | None = None,
    hint: str | None = None,
    case: str | None = None,
    allow_empty: bool = False,
    allow_nan: bool = False,
) -> None:
    """`got` is the array or number `want`, up to rounding.

    In this order: type, dtype, exact shape, NaN and infinities at the same places, then the values
    within a rounding bound that follows from dtype, `inner` and the data (see
    `tito.checks.compare`). -0.0 equals 0.0; integers and bools must be equal.

    got    : what the student's function returned
    want   : the expected value; NumPy array, NumPy scalar or Python number
    inner  : how many terms each element adds up: n for a sum of n, k for a product over k
    scale  : magnitude of what is added up, a number or an array that broadcasts to want's shape,
             e.g. `np.abs(a) @ np.abs(b)`; needed where terms cancel in *every* element
    dtype  : the dtype asked for, where `want` is a float64 specification
    likely : causes, see EXERCISE.md: {"what the student did": lambda: what that would give}, or
             {"...": (lambda: ..., "what to try")}; asked after a failure, the first match is shown
    hint   : what to try
    case   : words for the case instead of those read from the calling statement
    allow_empty : `want` may have no element. Without it comparing nothing is an error, unless the
             test says by inner=0 that it knows
    allow_nan : `want` may be NaN throughout, which otherwise is taken for an accident
    """
    current().before_check(calling_names())
    compare.check_expected(want)
    want = _rounded(want, dtype)
    _refuse_nothing(np.asarray(want), allow_empty or inner == 0, allow_nan)
    bound = Bound(_checked_inner(inner), _checked_scale(scale))
    difference = compare.close(got, want, bound)
    if difference is None:
        return
    failure = _comparison_failure(got, want, difference, case, hint)
    _add_likely(failure, got, want, likely, lambda answer: _matches(got, answer, bound))
    raise CheckFailed.of(failure)


def expect_equal(
    got: Any,
    want: Any,
    *,
    likely: Likely | None = None,
    hint: str | None = None,
    case: str | None = None,
    allow_empty: bool = False,
) -> None:
    """`got` is exactly `want`: type, dtype, shape and every value.

    For plain data: numbers, strings, None, arrays, and lists, tuples and dicts of them. An `int`
    is not a `bool` nor an `np.int64`. NaN equals NaN, -0.0 equals 0.0.
    """
    current().before_check(calling_names())
    if isinstance(want, np.ndarray):
        _refuse_nothing(want, allow_empty, allow_nan=True)
    difference = compare.equal(got, want)
    if difference is None:
        return
    failure = _comparison_failure(got, want, difference, case, hint)
    _add_likely(failure, got, want, likely, lambda answer: _matches(got, answer, None))
    raise CheckFailed.of(failure)


def expect_raises(
    exc: type[Exception] | tuple[type[Exception], ...],
    func: Callable,
    *args: Any,
    match: str | None = None,
    hint: str | None = None,
    **kwargs: Any,
) -> None:
    """`func(*args, **kwargs)` raises `exc`, with a message.

    exc   : the exception asked for; a subclass will do, `Exception` itself is too wide
    match : a regular expression that the message must contain
    """
    wanted = exc if isinstance(exc, tuple) else (exc,)
    if {Exception, BaseException} & set(wanted):
        raise ValueError("expect_raises(Exception, ...) is true of any crash: name the exception")
    current().before_check(calling_names())
    try:
        result = current().call(func, args, kwargs).result
    except Exception as error:
        if isinstance(error, CheckFailed) or _is_stub(error, wanted):
            raise
        difference = _exception_difference(error, wanted, match)
        got = _exception_text(error)
    else:
        names = _names(wanted)
        difference = Difference(f"did not raise {names}", f"{names} is not raised")
        got = show.value(result)
    if difference:
        subject = subject_of(func)
        failure = Failure(subject.function, difference.problem, difference.kind, case_line(subject))
        failure.rows = [("got", got)]
        failure.words = _list(hint)
        failure.tries = difference.tries + failure.words
        raise CheckFailed.of(failure)


def expect_unchanged(func: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call `func`; no array among its arguments may change, but one named `out`. Its result."""
    current().before_check(calling_names())
    return _called_and_watched(func, args, kwargs, (*args, *kwargs.values()))


def expect_written(func: Callable, *args: Any, place: int) -> Any:
    """Call `func`, which writes into args[place]; no other array may change. That array."""
    current().before_check(calling_names())
    watched = [None if i == place else value for i, value in enumerate(args)]
    _called_and_watched(func, args, {}, watched)
    return args[place]


def expect_fresh(func: Callable, *args: Any, **kwargs: Any) -> Any:
    """Call `func`; its result shares memory with no argument and no earlier result. Its result.

    An argument that is a slice counts with the whole array it was taken from, and an argument
    named `out` does not count. Earlier results are those of the same test cell. It is called twice,
    unless a function is among its arguments: an array that is kept for results of its shape, and
    handed out again, is none of one's own.
    """
    current().before_check(calling_names())
    called = current().call(func, args, kwargs)
    if not any(True for _ in arrays_in(called.result)):
        problem = f"returned {show.value(called.result)}, expected a new array"
        kind, advice = "a wrong type", []
    elif shared := called.shared or _shared_by_the_next(func, args, kwargs):
        problem = f"its result shares memory with {' and '.join(shared)}"
        kind = problem
        advice = ["return a new array: np.empty_like(x), np.zeros(shape, x.dtype), x.copy()"]
    else:
        return called.result
    case = arguments_line(func, args, kwargs)
    function = current().describe(func)
    raise CheckFailed.of(Failure(function, problem, kind, case, tries=advice))


def expect_returns(
    func: Callable, *args: Any, seconds: float = 10, hint: str | None = None, **kwargs: Any
) -> Any:
    """Call `func`, which might wait for ever (threads that wait for each other); its result.

    In a notebook it runs in a thread of its own, and the check fails when it does not come back in
    so many seconds; the judge ends whatever waits for nothing.
    """
    current().before_check(calling_names())
    called = current().call_in_time(func, args, kwargs, seconds)
    if called is not None:
        return called.result
    kind = "it does not come back"
    problem = f"it did not come back within {seconds:g} s: threads wait for each other"
    failure = Failure(current().describe(func), problem, kind, arguments_line(func, args, kwargs))
    failure.words = failure.tries = _list(hint)
    raise CheckFailed.of(failure)


def changed_input(function: str, parameter: str, snapshot: Snapshot) -> Failure:
    """The failure of a call that changed one of its inputs; the judge's border says the same."""
    change = snapshot.first_change() or ()
    index = f" at {show.index_text(change)}" if change else ""
    after = np.asarray(snapshot.array)
    failure = Failure(
        function,
        f"{function} changed its input {parameter}{index}",
        f"changed its input {parameter}",
        tries=["write the result into a new array: np.empty_like(x), np.zeros(shape, x.dtype)"],
    )
    rows = show.pair(after, snapshot.before, change or None)
    failure.rows = [(label, text) for label, (_, text) in zip(("after", "before"), rows)][::-1]
    return failure


def _shared_by_the_next(func: Callable, args: tuple, kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """What the result of the same call shares memory with when it is made once more."""
    if any(map(callable, (*args, *kwargs.values()))):
        return ()
    return current().call(func, args, kwargs).shared


def _called_and_watched(func: Callable, args: tuple, kwargs: dict, values: Sequence[Any]) -> Any:
    """The result of a call; none of the arrays in `values`, its arguments, may change."""
    watched = [
        (i, path, Snapshot.of(array))
        for i, value in enumerate(values)
        for path, array in arrays_in(value)
    ]
    if not watched:
        raise ValueError("there is no array to watch for changes")
    result = current().call(func, args, kwargs).result
    changes = [(i, path, s, s.first_change()) for i, path, s in watched]
    changes = [change for change in changes if change[3] is not None]
    if changes:
        _refuse_changes(func, args, kwargs, changes)
    return result


def _refuse_changes(func: Callable, args: tuple, kwargs: dict, changes: list) -> None:
    """Raise for the first changed argument that is not named `out`."""
    names = _argument_names(func, args, kwargs)
    for i, path, snapshot, _ in changes:
        if names[i] != "out":
            function = current().describe(func)
            raise CheckFailed.of(changed_input(function, f"{names[i]}{path}", snapshot))


def _argument_names(func: Callable, args: tuple, kwargs: dict) -> list[str]:
    """A name for each of args and kwargs, in their order."""
    named = named_arguments(func, args, kwargs)
    by_identity = {id(value): name for name, value in reversed(named)}
    values = (*args, *kwargs.values())
    return [by_identity.get(id(value), str(i + 1)) for i, value in enumerate(values)]


def _refuse_nothing(want: np.ndarray, allow_empty: bool, allow_nan: bool) -> None:
    """A comparison that can only be true proves nothing."""
    if want.size == 0 and not allow_empty:
        raise ValueError(
            f"nothing is compared: the expected value has shape {want.shape};"
            " say allow_empty=True if that is meant"
        )
    if want.size and want.dtype.kind == "f" and np.isnan(want).all() and not allow_nan:
        raise ValueError(
            "every expected value is NaN, which looks like an accident;"
            " say allow_nan=True if that is meant"
        )


def _checked_inner(inner: float) -> float:
    if isinstance(inner, (bool, np.bool_)) or not np.isscalar(inner) or not inner >= 0:
        raise ValueError(f"inner is the number of terms that are added up, not {inner!r}")
    return float(inner)


def _checked_scale(scale: Any) -> Any:
    if scale is not None and np.size(scale) and np.isnan(np.asarray(scale, np.float64)).all():
        raise ValueError("scale is a number, or an array of numbers")
    return scale


def _rounded(want: Any, dtype: Any) -> Any:
    """The expected value in the dtype that the result must have."""
    if dtype is None:
        return want
    with np.errstate(over="ignore"):
        rounded = np.asarray(want).astype(dtype)
    return rounded if isinstance(want, np.ndarray) else rounded[()]


def _comparison_failure(
    got: Any, want: Any, difference: Difference, case: str | None, hint: str | None
) -> Failure:
    subject = subject_of()
    return Failure(
        function=subject.function,
        problem=difference.problem,
        kind=difference.kind,
        case=case_line(subject, want, case),
        rows=show.pair(got, want, difference.focus),
        tries=difference.tries + _list(hint),
        words=_list(hint),
    )


def _add_likely(
    failure: Failure, got: Any, want: Any, likely: Likely | None, matches: Callable[[Any], bool]
) -> None:
    """Find the first cause whose answer is the one that came out."""
    for cause, thunk in (likely or {}).items():
        thunk, advice = thunk if isinstance(thunk, tuple) else (thunk, None)
        answer = _answer(thunk)
        if answer is not None and matches(answer) and not _same(answer, want):
            failure.likely = cause
            failure.tries = _list(advice) + failure.tries
            failure.words = [cause, *_list(advice), *failure.words]
            return


def _answer(thunk: Callable[[], Any]) -> Any:
    """What a mistake would give; a mistake that raises gives nothing."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return thunk()
    except Exception:
        return None


def _matches(got: Any, answer: Any, bound: Bound | None) -> bool:
    """Whether the wrong answer is what this mistake gives, whatever its dtype.

    Without a bound it must be exactly that.
    """
    try:
        if isinstance(answer, np.ndarray) and type(got) is np.ndarray:
            answer = answer.astype(got.dtype)
        if bound is None:
            return compare.equal(got, answer) is None
        return compare.close(got, answer, bound) is None
    except (TypeError, ValueError):
        return False


def _same(answer: Any, want: Any) -> bool:
    """A mistake that would give the right answer here explains nothing."""
    return compare.equal(answer, want) is None


def _exception_difference(
    error: Exception, wanted: tuple[type[Exception], ...], match: str | None
) -> Difference | None:
    """How an exception differs from the one asked for."""
    if not isinstance(error, wanted):
        asserted = isinstance(error, AssertionError)
        return Difference(
            f"raised {type(error).__name__}, expected {_names(wanted)}",
            "a wrong exception",
            tries=["asserts vanish under python -O: raise the exception"] if asserted else [],
        )
    message = str(error)
    if not message.strip():
        advice = "say in it which argument is wrong, what it is and what would be right"
        return Difference("its exception has no message", "an empty message", tries=[advice])
    if match is not None and not re.search(match, message):
        return Difference(f"its message does not say {match!r}", "an unclear message")
    return None


def _exception_text(error: Exception) -> str:
    message = str(error)
    name = type(error).__name__
    return f"{name}: {message[:300]}" if message else name


def _is_stub(error: Exception, wanted: tuple[type[Exception], ...]) -> bool:
    """The function is not written yet, which no test may take for the exception it asks for."""
    asked_for = any(issubclass(w, NotImplementedError) for w in wanted)
    return isinstance(error, NotImplementedError) and not asked_for


def _names(wanted: tuple[type[Exception], ...]) -> str:
    return " or ".join(w.__name__ for w in wanted)


def _list(text: str | None) -> list[str]:
    return [text] if text else []
