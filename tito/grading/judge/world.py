"""The judge's only door to the student's process.

    world = World(SpawnEngine(), stage, limits, writable=contracts_of(sources))
    outcome = world.run_cell("relu_loops", source, role="solution", defines=["relu_loops"])
    world.test_begins("relu_loops-test")
    names = world.bind(["relu_loops"])            # proxies and plain values
    ... exec the test cell with `names`, under `use(JudgeRuntime(world, secret))` ...
    ended = world.test_ends()                     # ended.lost: why its points are gone
    world.close()

The process may die at any time. That costs the cell or the test that was running; the next use
starts a fresh process and runs the earlier cells again.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from tito.checks.rig import UNSEEN, Form, Window
from tito.checks.rig import Call as Timed
from tito.counted import CountedArray
from tito.forbid import python_source, reading
from tito.grading import wire
from tito.grading.engine.base import Engine
from tito.grading.judge import cpus
from tito.grading.judge.arena import Arena, Batch
from tito.grading.judge.contracts import Contract, arrays_of_call, contracts_of
from tito.grading.judge.cpus import SharedCpu
from tito.grading.judge.errors import InputChanged, StudentDied, StudentExit, StudentTimeout
from tito.grading.judge.memory import Call
from tito.grading.judge.meter import Meter
from tito.grading.judge.outcomes import CellOutcome, Ran, RunningTest, TestEnd
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.raised import warning_class
from tito.grading.judge.session import Answer, Session
from tito.grading.judge.values import Values
from tito.grading.judge.windows import odd_results, own_reading
from tito.grading.limits import Limits
from tito.grading.stage import Stage

__all__ = [
    "CellOutcome",
    "Contract",
    "InputChanged",
    "StudentDied",
    "StudentExit",
    "StudentTimeout",
    "TestEnd",
    "World",
    "contracts_of",
]

MOST_STARTS = 30  # of a fresh process, for one hand-in
KEPT_STARTS = 12  # of them, for solutions and tests
MOST_RENEWED = 10.0  # CPU seconds of a process that is started anew for a second opinion


class World:
    """All that the judge knows of the student's side.

    writable  : the master's `Contract` by function name ("matmul", "Packed.fill")
    layers    : what confines the process, as it said at its start; [] without any
    meter     : of the tests' own code; the judge sets one that it shares
    notes     : deviations to report, e.g. a cell that could not be repeated in a fresh process
    """

    def __init__(
        self,
        engine: Engine,
        stage: Stage,
        limits: Limits | None = None,
        writable: Mapping[str, Contract] | None = None,
        *,
        ahead: bool = False,
    ) -> None:
        """ahead : whether its process may go on starting while something else is done"""
        self._engine = engine
        self._stage = stage
        self._limits = limits or Limits()
        self._contracts = {} if writable is None else writable
        self._session: Session | None = None
        self._starts = 0
        self._spent = 0.0  # CPU seconds of processes that have ended
        self._cells: list[Ran] = []
        self._why: dict[str, str] = {}  # name -> why it is not there
        self._test: RunningTest | None = None
        self._values = Values(self)
        self._cpu = SharedCpu()
        self._arena = Arena.create()
        stage.arena = self._arena.descriptor if self._arena else None
        self._here = threading.local()
        self.meter = Meter()
        self.notes: list[str] = []
        self.layers: list[str] = []
        self._starting = Session(engine, stage, self._limits, self) if ahead else None
        if not ahead:
            self._ready()

    def begin(self, writable: Mapping[str, Contract]) -> None:
        """For one that was made ahead: what its functions may change, and wait for its process."""
        self._contracts = writable
        self._ready()

    # -- cells and names

    def run_cell(
        self, label: str, source: str, *, role: str = "solution", defines: Iterable[str] = ()
    ) -> CellOutcome:
        """Run a cell in the student's process; never raises for anything the cell does.

        label   : unique and as people find it; the cell's file and tracebacks carry it
        role    : "solution", "given" or "extra": which limit holds
        defines : names the master's cell defines; `missing` tells why one of them is not there
        """
        python, not_run = reading(source)
        cell = Ran(label, python, role, frozenset(defines))
        before = self.seconds
        try:
            outcome = self._run(self._ready(), cell)
        except StudentDied as death:
            status = "timeout" if isinstance(death, StudentTimeout) else "died"
            output = self._session.channel.take_output() if self._session else ""
            outcome = CellOutcome(status, str(death), output)
        else:
            if self._memory_is_full(outcome):
                outcome = CellOutcome("died", "used up its memory", outcome.output, outcome.line)
                self._session.close()
            else:
                self._cells.append(cell)  # one that raised too: its first half has run
        self._explain(cell, outcome)
        notices = (*not_run, *outcome.notices)
        seconds = self.seconds - before
        return CellOutcome(**{**vars(outcome), "notices": notices, "seconds": seconds})

    def run_given(self, cells: Sequence[tuple[str, str]]) -> None:
        """Run cells of the master, (label, source), in one request; nobody asks how they ended."""
        cells = [(label, python_source(source)) for label, source in cells]
        try:
            session = self._ready()
            with self._budget(session, self._limits.given * len(cells)):
                session.ask("cells", [list(map(list, cells))], None, None, lambda answer: None)
        except StudentDied:  # which of them it was shows when they run one by one
            for label, source in cells:
                self.run_cell(label, source, role="given")
        else:
            self._cells += [Ran(label, source, "given", frozenset()) for label, source in cells]

    def _memory_is_full(self, outcome: CellOutcome) -> bool:
        """Whether a cell ended for want of memory and still holds it: later cells would die.

        An array too large to be made leaves the memory as it was; that is an exception like others.
        """
        if outcome.status != "error" or not (outcome.message or "").startswith("MemoryError"):
            return False
        return _resident_bytes(self._session.channel.pid) > self._limits.memory / 2

    def bind(self, names: Iterable[str]) -> dict[str, Any]:
        """What a test cell finds under these names; those the student's side lacks are absent.

        Functions, classes and other things that cannot cross are proxies, bound by name: they
        follow a redefinition and survive a fresh process. Plain data is fetched anew each time.
        """
        wanted = list(names)
        if not wanted:
            return {}

        def decode(answer: Answer) -> dict[str, Any]:
            received = session.memory.receive(answer.frame, Call("", [], {}, set()))
            decoder = self._values.decoder(session, answer.frame, received.arrays)
            found = {}
            for name, how, *rest in answer.node:
                wire.require(name in wanted, "a name nobody asked for")
                found[name] = self._values.bound(name, how, rest, decoder)
            return found

        try:
            session = self._ready()
            with self._budget(session, self._limits.call):
                return session.ask("names", [wanted], None, None, decode)
        except StudentDied as death:
            self._note_death(death)
            return {}

    def missing(self, name: str) -> str | None:
        """Why a name is not there: "cell relu_loops took longer than 20 s"; None if not known."""
        return self._why.get(name)

    def _run(self, session: Session, cell: Ran) -> CellOutcome:
        with self._budget(session, self._limits.cell(cell.role)):
            return session.ask(
                "cell", [cell.label, cell.source], None, None, lambda a: self._outcome(session, a)
            )

    def _outcome(self, session: Session, answer: Answer) -> CellOutcome:
        warned = [f"{kind}: {text}\n" for kind, text in answer.warned]
        raw = session.channel.take_output()
        output = "".join([answer.printed[: 2 * self._limits.output], raw, *warned])
        if answer.worked:
            return CellOutcome("ok", None, output, notices=tuple(answer.notices))
        report = self._values.raised.report(answer.node)
        line = report.frames[-1].line if report.frames else None
        return CellOutcome("error", report.text, output, line, notices=tuple(answer.notices))

    def _explain(self, cell: Ran, outcome: CellOutcome) -> None:
        """Remember why names of the cell may be missing, and forget it when they come after all."""
        if outcome.status == "ok":
            why = f"{cell.label} does not define it"
        elif outcome.status == "error":
            place = f" at line {outcome.line}" if outcome.line else ""
            why = f"{cell.label} stopped{place}: {outcome.message}"
        else:
            why = f"{cell.label} {outcome.message}"
        self._why.update(dict.fromkeys(cell.defines, why))

    # -- tests

    def test_begins(self, label: str) -> None:
        """A test cell begins: its limits start, earlier results and callbacks are forgotten."""
        self._values.forget()
        self._test = RunningTest(label, self.seconds)

    def test_ends(self) -> TestEnd:
        """The test cell is over; callables it made can be called no more."""
        test, self._test = self._test, None
        self._values.forget()
        self._cpu.part(self._session)
        if test is None:
            return TestEnd()
        status = None
        if test.death is not None:
            status = "timeout" if isinstance(test.death, StudentTimeout) else "died"
        lost = str(test.death) if test.death is not None else None
        output = "".join(test.output)[: 2 * self._limits.output]
        return TestEnd(lost, status, test.calls, output, self.seconds - test.started)

    def own_seconds(self) -> float:
        """CPU seconds inside calls to the student's functions, as the living process counts."""
        try:
            return self._session.ask("spent", [], None, None, lambda answer: float(answer.node))
        except StudentDied:
            return 0.0

    def close(self) -> None:
        """End the student's process; may be repeated."""
        for session in filter(None, (self._session, self._starting)):
            session.close()
        if self._arena is not None:
            self._arena.close()

    @property
    def seconds(self) -> float:
        """CPU seconds that the student's processes have used so far."""
        return self._spent + (self._session.watch.cpu_seconds() if self._session else 0.0)

    @property
    def is_held_up(self) -> bool:
        """Whether the student's process has no CPU just now, though it wants one."""
        return self._session is not None and self._session.channel.is_held_up()

    @property
    def is_worn_out(self) -> bool:
        """Whether the fresh processes that are left are needed for solutions and tests."""
        return self._starts > MOST_STARTS - KEPT_STARTS

    def worker(self) -> int:
        """In a callback: the student's thread that called it; 0 is the main thread."""
        return getattr(self._here, "lane", 0)

    # -- requests (used by proxies)

    def call(self, target: Target, args: tuple, kwargs: dict) -> tuple[Any, tuple[str, ...]]:
        """Call something of the student's: its result, and what that shares memory with."""
        result, shared = self._do("call", target, args, kwargs)
        if target.kind == "c" and isinstance(result, Proxy):
            target_of(result).path = f"{target.path}()"
        return result, tuple(sorted(shared))

    def request(self, operation: str, target: Target, args: tuple, kwargs: dict) -> Any:
        """Any other operation on something of the student's."""
        return self._do(operation, target, args, kwargs)[0]

    def _do(
        self, operation: str, target: Target, args: tuple, kwargs: dict
    ) -> tuple[Any, set[str]]:
        with self.meter.border():
            return self._asked(operation, target, args, kwargs)

    def _asked(
        self, operation: str, target: Target, args: tuple, kwargs: dict
    ) -> tuple[Any, set[str]]:
        try:
            session = self._session_of(target)
            encoder = wire.Encoder(self.opaque)
            self._here.session = session
            parts = [target.node, encoder.value(args), encoder.value(kwargs)]
            call = self._call_record(target, args, kwargs, encoder)
            if self._test is not None:
                self._test.calls += 1
            with self._budget(session, self._limits.call), cpus.awake(session):
                answered = session.ask(
                    operation, parts, encoder, call, lambda a: self._decoded(session, a, call)
                )
        except StudentDied as death:
            self._note_death(death)
            raise
        return self._settle(session, call, *answered)

    # -- calls that are measured

    @property
    def is_measured_outside(self) -> bool:
        """Whether the process's clock can be read, and its arrays shared, with precision."""
        return self._arena is not None

    def pinned(self, cpu: int | None) -> AbstractContextManager[None]:
        """The process runs on one CPU in the block; None where a system cannot say which."""
        return cpus.pinned(self._ready(), cpu)

    def held(self) -> AbstractContextManager[None]:
        """The process stands still in the block, but while it answers a request."""
        return cpus.held(self._ready())

    def renew(self) -> bool:
        """A fresh process that has run the cells, in place of this one.

        False, and nothing done, where that could cost the test that runs its time.
        """
        spent = self._session.watch.cpu_seconds()
        test = self._limits.test - (self.seconds - self._test.started if self._test else 0.0)
        if spent > MOST_RENEWED or 3 * spent > min(test, self._limits.notebook - self.seconds):
            return False
        if self._starts >= MOST_STARTS - 5:
            return False
        self._session.end(StudentDied("a fresh process takes its place"))
        self._ready()
        return True

    def timed(self, target: Target, calls: Sequence[Timed], form: Form) -> Window:
        """Call something of a process that is held, once for each of the calls.

        All CPU time counts that the process has used since the window before ended: threads that
        go on working, or begin before they are asked to, make it longer.
        """
        session = self._session_of(target)
        batch = Batch(self._arena.memory, calls, form)
        with cpus.turn(session):
            odd = self._measured(session, "timed", target, batch.parts, odd_results)
        now = session.channel.cpu_seconds()
        seconds, session.charged = now - session.charged, now
        results = [odd.get(i, found) for i, found in enumerate(batch.results())]
        return Window(max(seconds, UNSEEN), results, batch.inside)

    def timed_by_itself(self, target: Target, calls: Sequence[Timed]) -> Window:
        """The same by a clock that the process itself reads, and could set."""
        session = self._session_of(target)
        own = [call.copy() for call in calls]
        parts = [(call.args, call.kwargs) for call in own]
        seconds, returned = self._measured(session, "timed by itself", target, parts, own_reading)
        return Window(seconds, [c.result(r) for c, r in zip(own, returned)], own)

    def _measured(
        self,
        session: Session,
        operation: str,
        target: Target,
        parts: list,
        read: Callable[[Any, int], Any],
    ) -> Any:
        """The answer to a request for many calls at once, as `read` makes it of what was told."""

        def decode(answer: Answer) -> tuple:
            worked, value, *rest = self._decoded(session, answer, call)
            return (worked, read(value, len(parts)) if worked else value, *rest)

        try:
            encoder = wire.Encoder(self.opaque)
            nodes = [target.node, encoder.value((parts,)), encoder.value({})]
            writable = {id(array) for array in encoder.arrays}
            call = Call(target.path, encoder.arrays, {}, writable)
            if self._test is not None:
                self._test.calls += 1
            with self._budget(session, self._limits.call * len(parts)):
                answered = session.ask(operation, nodes, encoder, call, decode)
        except StudentDied as death:
            self._note_death(death)
            raise
        return self._settle(session, call, *answered)[0]

    def _decoded(self, session: Session, answer: Answer, call: Call) -> tuple:
        """The answer as (worked, value or error report, shared, warnings); all that may be bad."""
        received = session.memory.receive(answer.frame, call)
        call.apply(answer.changed)
        decoder = self._values.decoder(session, answer.frame, received.arrays)
        if answer.worked:
            value = decoder.value(answer.node)
        else:
            value = self._values.exception(answer.node, session)
        if self._test is not None:
            self._test.output.append(answer.printed[: 2 * self._limits.output])
        return answer.worked, value, received.shared, answer.warned

    def _settle(
        self,
        session: Session,
        call: Call,
        worked: bool,
        value: Any,
        shared: set[str],
        warned: list[tuple[str, str]],
    ) -> tuple[Any, set[str]]:
        for kind, text in warned:
            warnings.warn(text, warning_class(kind), stacklevel=_test_level())
        if call.violation is not None:
            raise InputChanged(call.violation)
        if not worked:
            raise value
        return value, shared

    def _call_record(
        self, target: Target, args: tuple, kwargs: dict, encoder: wire.Encoder
    ) -> Call:
        """The arrays of a call, by the names that the master's contract gives them."""
        labels, writable = {}, set()
        if encoder.arrays:
            labels, writable = arrays_of_call(self._contract(target), args, kwargs)
        return Call(target.path or target.class_name, encoder.arrays, labels, writable)

    def _contract(self, target: Target) -> Contract:
        found = self._contracts.get(target.path)
        return found or self._contracts.get(target.path.replace("()", ""), Contract())

    def _session_of(self, target: Target) -> Session:
        if target.name is not None:
            return self._ready()
        if target.session is not self._session or self._session.ended is not None:
            raise StudentDied("this object was lost when the student's process ended")
        return self._session

    def _budget(self, session: Session, cpu: float) -> AbstractContextManager[None]:
        """The limits of a piece of work: its own, and what is left of the test and notebook."""
        limits, used = self._limits, self.seconds
        passed = f"took longer than {cpu:g} s of CPU time"
        if self._test is not None and limits.test - (used - self._test.started) < cpu:
            cpu = limits.test - (used - self._test.started)
            passed = f"the test took longer than {limits.test:g} s of CPU time"
        if limits.notebook - used < cpu:
            cpu = limits.notebook - used
            passed = f"the notebook took longer than {limits.notebook:g} s of CPU time"
        cpu = max(cpu, 0.05)
        return session.watch.allow(cpu, limits.wall(cpu), passed)

    def _note_death(self, death: StudentDied) -> None:
        if self._test is not None and self._test.death is None:
            self._test.death = death

    # -- the process

    def _ready(self) -> Session:
        """A living process that has run all cells so far."""
        while self._session is None or self._session.ended is not None:
            self._start()
        return self._session

    def _start(self) -> None:
        if self._session is not None:
            self._spent = self.seconds
            self._session.close()
            self._session = None
        if self._starts >= MOST_STARTS:
            raise StudentDied(f"the student's process was started {MOST_STARTS} times: no more")
        if self._spent > self._limits.notebook:
            raise StudentTimeout(f"the notebook took longer than {self._limits.notebook:g} s")
        session = self._new_session()
        session.proxies = weakref.WeakValueDictionary()
        self._session, self.layers = session, session.layers
        for cell in list(self._cells):
            try:
                self._run(session, cell)
            except StudentDied as death:
                self._cells.remove(cell)  # it ran before: a second loop would help nobody
                self.notes.append(f"{cell.label}: ran once, but not again ({death})")
                self._explain(cell, CellOutcome("died", str(death)))
                return

    def _new_session(self) -> Session:
        """A process that has run nothing of the student yet: if it fails, that is not theirs."""
        session, self._starting = self._starting, None
        try:
            return self._greeted(session)
        except StudentDied:
            return self._greeted(None)

    def _greeted(self, session: Session | None) -> Session:
        self._starts += 1
        session = session or Session(self._engine, self._stage, self._limits, self)
        session.greet()
        return session

    # -- what the student's side asks (called by the session)

    def serve_callback(self, session: Session, lane: int, frame: wire.Frame) -> None:
        """Run a callable of the test for a thread of the student."""
        try:
            _, _, number, args, kwargs = frame.body
            with session.lock:
                received = session.memory.receive(frame, None)
                decoder = self._values.decoder(session, frame, received.arrays)
                args, kwargs = decoder.value(args), decoder.value(kwargs)
                wire.require(type(args) is tuple and type(kwargs) is dict, "arguments")
                wire.require(all(type(name) is str for name in kwargs), "keywords")
            func = self._values.callback(number)
        except wire.BAD_DATA as error:
            raise session.broke_protocol(error) from None

        def run() -> Any:
            if func is None:
                raise RuntimeError("this function belongs to a test cell that is over")
            outer, self._here.lane = getattr(self._here, "lane", 0), lane
            try:
                with self.meter.own_code():
                    return func(*args, **kwargs)
            finally:
                self._here.lane = outer

        session.run_callback(
            lane, run, received.arrays, lambda e, v: e.value(v), self._values.raised.keep
        )

    def opaque(self, obj: Any, encoder: wire.Encoder) -> list:
        """The node of what is no plain data; TypeError for what cannot cross."""
        if isinstance(obj, CountedArray):
            self._cpu.come_close(self._session)
        return self._values.opaque(obj, encoder, self._session)

    def serve_element(self, kind: str, number: Any, rest: list) -> list:
        """Read or write an element of a counted array: [worked, bytes or error]."""
        return self._values.serve_element(kind, number, rest)


def _test_level() -> int:
    """The stack level of the first caller outside the judge: the line of the test."""
    frame, level = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(__package__):
        frame, level = frame.f_back, level + 1
    return level


def _resident_bytes(pid: int) -> int:
    """Memory that a process holds; 0 where /proc does not say."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
