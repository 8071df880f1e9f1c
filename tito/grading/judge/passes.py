"""One walk through a notebook: the student's cells in S, given and test cells here in G.

There are two walks. The first runs what students can see, and its messages say everything. The
second, in a fresh student process, runs the hidden tests; nothing the student's code says during
it is shown. A process that has met hidden inputs never gets to write a message.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from tito.checks.runtime import use
from tito.forbid import python_source
from tito.grading.judge.clean import Clean
from tito.grading.judge.code import given_code, origin, show, test_code
from tito.grading.judge.messages import Context, filename, lost, tells, tidy, verdict, words_of
from tito.grading.judge.plan import GradedTest, Plan, Step
from tito.grading.judge.proxy import Proxy, Target
from tito.grading.judge.result import DIED, FAILED, MISSING, PARTIAL, PASSED, TIMEOUT
from tito.grading.judge.runtime import JudgeRuntime
from tito.grading.judge.score import (
    HAND_ON,
    BadScore,
    Origin,
    score,
)
from tito.grading.judge.twin import Baseline, Twin
from tito.grading.judge.world import CellOutcome, StudentDied, World
from tito.notebook.names import bound, used
from tito.notebook.points import display

MOST_SOURCE = 4 << 20  # characters of a cell
NOT_DEFINED = "no cell of the notebook defines it"


@dataclass
class Outcome:
    """A test that has run.

    asked : whether the student's code was called at all
    doubt : whether a measurement could not tell which step it is
    ratio : how many times as fast as its baseline the kernel was, in an open test of speed
    """

    status: str
    points: Fraction
    message: str | None
    seconds: float
    asked: bool
    doubt: bool = False
    claimed: bool = False
    ratio: float | None = None


@dataclass
class Book:
    """What the walks know together.

    remarks : deviations found while running; raised : cells that ended with an exception
    undone : labels of student cells that ended their process; the second walk leaves them out
    stopped : why there is no name of a cell that did not come to its end
    spent : CPU seconds of the student's process so far
    clean : where claims are read
    """

    context: Context
    remarks: list[str] = field(default_factory=list)
    raised: list[str] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    stopped: dict[str, str] = field(default_factory=dict)
    spent: float = 0.0
    clean: Clean | None = None


class Walk:
    """The state of one walk: the given names, and which of the student's are there by now."""

    def __init__(
        self,
        plan: Plan,
        world: World,
        twin: Twin,
        secret: bytes,
        book: Book,
        *,
        hide: bool,
        cells_ran: bool = False,
    ) -> None:
        self.twin = twin
        self.plan = plan
        self.world = world
        self.secret = secret
        self.book = book
        self.hide = hide
        self.cells_ran = cells_ran  # all of the student's process has run already
        self.given: dict[str, Any] = {"__name__": "__main__", "display": _show_nothing}
        self.left_over: dict[str, Any] = {}
        self.students: set[str] = set()

    # -- cells that are no tests

    def step(self, step: Step) -> None:
        """Run a cell on the sides it belongs to."""
        if step.in_s and not self.cells_ran:
            # Whether the cell runs or is left out: the search takes them for dead.
            if step.replaces:
                self.world.run_cell(f"before {step.label}", _without(step.replaces), role="given")
            if step.label in self.book.undone:
                self._left_out(step)
            else:
                self._in_s(step)
        self.students |= step.defines
        if step.in_g:
            self._in_g(step)

    def _in_s(self, step: Step) -> None:
        role = step.kind if step.kind in ("solution", "extra") else "given"
        if role == "extra" and self.world.is_worn_out:
            self.book.raised.append(f"{step.label}: left out, too many cells ended their process")
            self.book.undone.add(step.label)
            return
        outcome = self._ran(step, role)
        self.book.spent += outcome.seconds
        if role == "given":
            self.world.meter.add(outcome.seconds)
        if outcome.status in ("died", "timeout"):
            self.book.undone.add(step.label)
        if self.hide:
            return
        if outcome.notices:
            self.book.remarks.append(tidy(f"{step.label}: {', '.join(outcome.notices)}"))
        if outcome.status != "ok" and step.kind != "imports":
            place = f"{step.label}, line {outcome.line}" if outcome.line else step.label
            self.book.raised.append(tidy(f"{place}: {outcome.message}"))
            why = tidy(f"{place}, which makes it, stopped: {outcome.message}")
            self.book.stopped |= dict.fromkeys(set().union(*bound(python_source(step.source))), why)
        self._remember_missing(step, outcome.status)

    def _ran(self, step: Step, role: str) -> CellOutcome:
        if len(step.source) > MOST_SOURCE:
            return CellOutcome("error", "it is larger than 4 MB and was not run")
        return self.world.run_cell(step.label, step.source, role=role, defines=step.defines)

    def _left_out(self, step: Step) -> None:
        """A cell that ended its process before is not run again; the first reason stays."""
        for name in step.defines:
            why = f"{step.label} was left out: it ended the grading"
            self.book.context.missing.setdefault(name, (DIED, why))

    def _remember_missing(self, step: Step, status: str) -> None:
        """Why a name will not be there, told now: later the process may have seen too much."""
        kind = {"timeout": TIMEOUT, "died": DIED}.get(status, MISSING)
        for name in step.defines:
            if status == "ok":
                self.book.context.missing.pop(name, None)
            else:
                why = self.world.missing(name) or f"{step.label} failed"
                self.book.context.missing[name] = (kind, why)

    def _in_g(self, step: Step) -> None:
        """A given cell here, with the student's functions as proxies where it uses any."""
        label = given_filename(step)
        source = step.source
        self.given.update(self.world.bind(used(source) & self.students))
        for piece in pieces(step):
            try:
                with _quiet(), self.world.meter.own_code():
                    show(piece, label)
                    _execute(given_code(piece, label), self.given)
            except (Exception, StudentDied, SystemExit) as error:
                # What failed on the student's side as well has been told.
                told = any(r.startswith(step.label + ",") for r in self.book.raised)
                if step.kind != "imports" and not self.hide and not told:
                    text = f"{step.label}: this given cell failed in the judge: "
                    self.book.remarks.append(
                        tidy(f"{text}{type(error).__name__}: {words_of(error)}")
                    )

    # -- tests

    def test(self, test: GradedTest, source: str, *, scored: bool) -> Outcome:
        """Run a test cell in a fresh copy of the given names."""
        started = time.process_time()
        names = self._names(source)
        runtime = self._runtime(test)
        self.world.test_begins(test.label)
        value, error, asked = None, None, False
        try:
            own = self.world.bind(used(source) & self.students)
            asked = not all(isinstance(v, Proxy) for v in own.values())
            names.update(own)
            self._note_absent(source, names)
            with use(runtime), _quiet(), _steady(self.secret, test.id):
                value = self._run(source, test, names, scored)
        except BaseException as caught:  # SystemExit and StudentDied are answers too
            error = caught
        ended = self.world.test_ends()
        self._keep(source, names)
        self.book.spent += ended.seconds
        seconds = time.process_time() - started + ended.seconds
        if ended.lost and (error is None or isinstance(error, NameError)):
            found = lost(ended.status or DIED, ended.lost, hide=self.hide)
        elif error is not None:
            found = verdict(error, test, self.book.context, hide=self.hide)
        else:
            return self._passed(test, value, runtime, seconds, asked or ended.calls > 0)
        return Outcome(found.status, Fraction(0), found.message, seconds, True)

    def _runtime(self, test: GradedTest) -> JudgeRuntime:
        def baseline(func: Callable) -> Baseline:
            return self.twin.baseline(func, self.given, test.position)

        def claims(kind: str, student: Target, args: tuple, kwargs: dict) -> Any:
            return self.book.clean.claim(kind, student, args, kwargs, test.position)

        own = self.book.context.own_before
        clean = claims if self.book.clean else None
        return JudgeRuntime(self.world, self.secret, baseline, own=own, claims=clean)

    def _passed(
        self, test: GradedTest, value: Any, runtime: JudgeRuntime, seconds: float, asked: bool
    ) -> Outcome:
        try:
            points = score(value, test.points)
        except BadScore as error:
            found = verdict(error, test, self.book.context, hide=self.hide)
            return Outcome(found.status, Fraction(0), found.message, seconds, asked)
        message = _said(runtime)
        if message and self.hide and not self._is_the_authors(message, test):
            message = runtime.measured
        marks = runtime.doubt, runtime.claimed, None if self.hide else runtime.ratio
        if points == test.points:
            return Outcome(PASSED, points, message, seconds, asked, *marks)
        message = message or f"the test gave {display(points)} of {display(test.points)} points"
        status = PARTIAL if points else FAILED
        return Outcome(status, points, message, seconds, asked, *marks)

    def _is_the_authors(self, message: str, test: GradedTest) -> bool:
        """Whether the words stand in the test as they are, with nothing that was worked out."""
        return message in _texts(test.source) and not tells(message, self.book.context.open_text)

    def _run(self, source: str, test: GradedTest, names: dict[str, Any], scored: bool) -> Any:
        """Execute the cell; the value of its last expression where that may be a score."""
        name = filename(test)
        show(source, name)
        code = test_code(source, name, scored)
        checks = checks_among(names)  # now: the cell itself may bind such a name
        self._execute(code.body, names)
        if code.last is None:
            return None
        value = self._execute(code.last, names)
        whose = origin(source, name, frozenset(self.students), checks)
        if whose is Origin.STUDENT or (whose is Origin.MIXED and value is not None):
            raise BadScore(
                "the last value of this test comes from the student's code; "
                "a score has to be worked out by the test"
            )
        return value

    def _execute(self, code: CodeType, names: dict[str, Any]) -> Any:
        with self.world.meter.own_code():
            return _execute(code, names)

    def _names(self, source: str) -> dict[str, Any]:
        """The given names; of earlier tests only what this one uses and nothing else defines."""
        wanted = used(source)
        names = dict(self.given)
        names.update({k: v for k, v in self.left_over.items() if k in wanted and k not in names})
        return names

    def _keep(self, source: str, names: dict[str, Any]) -> None:
        for name in bound(source)[0] - self.students:
            if name in names:
                self.left_over[name] = names[name]

    def _note_absent(self, source: str, names: dict[str, Any]) -> None:
        missing = self.book.context.missing
        for name in (used(source) & self.students) - set(names):
            why = None if self.hide else self.world.missing(name)
            missing.setdefault(name, (MISSING, why or NOT_DEFINED))


def _show_nothing(*things: Any, **options: Any) -> None:
    """IPython's `display`: there is nobody to look."""


def given_filename(step: Step) -> str:
    """The name under which a given cell is compiled."""
    return f"<given {step.position + 1}>"


def pieces(step: Step) -> list[str]:
    """What of a given cell runs by itself: of imports each line, since one may fail."""
    return step.source.split("\n") if step.kind == "imports" else [step.source]


def checks_among(names: dict[str, Any]) -> frozenset[str]:
    """Names of functions of tito.checks, but those that hand on what a student's returns."""
    own = {n: v for n, v in names.items() if isinstance(v, FunctionType)}
    return frozenset(
        n
        for n, v in own.items()
        if v.__module__.startswith("tito.checks") and v.__name__ not in HAND_ON
    )


def _texts(source: str) -> set[str]:
    """The strings that are written in a cell."""
    nodes = ast.walk(ast.parse(source))
    return {tidy(n.value) for n in nodes if isinstance(n, ast.Constant) and type(n.value) is str}


def _said(runtime: JudgeRuntime) -> str | None:
    """The message of the last `points(...)`."""
    message = runtime.reported[-1][1] if runtime.reported else None
    return tidy(message) if isinstance(message, str) and message else None


def _without(names: Iterable[str]) -> str:
    """A cell after which there are no such names."""
    return "".join(f"try:\n    del {name}\nexcept:\n    pass\n" for name in sorted(names))


def _execute(code: CodeType, names: dict[str, Any]) -> Any:
    value = eval(code, names)
    if not code.co_flags & inspect.CO_COROUTINE:
        return value
    import asyncio  # a tenth of what a judge loads that no other was forked from

    return asyncio.run(value)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Prints and warnings of a cell go nowhere: they are no verdict."""
    sink = io.StringIO()
    with (
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
        warnings.catch_warnings(),
        np.errstate(),
    ):
        warnings.simplefilter("default")
        yield


@contextlib.contextmanager
def _steady(secret: bytes, grade_id: str) -> Iterator[None]:
    """Global generators start alike in every run, so that points never flip."""
    seed = int.from_bytes(secret[:8] + grade_id.encode("utf-8", "replace"), "little")
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    yield
