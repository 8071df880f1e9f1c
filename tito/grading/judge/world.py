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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tito.checks.rig import Call as Timed
from tito.checks.rig import Form, Window
from tito.counted import CountedArray
from tito.grading import wire
from tito.grading.engine.base import Engine
from tito.grading.judge.arena import Arena, Batch, Placed
from tito.grading.judge.contracts import Contract, contracts_of
from tito.grading.judge.errors import InputChanged, StudentDied, StudentExit, StudentTimeout
from tito.grading.judge.memory import Call
from tito.grading.judge.meter import Meter
from tito.grading.judge.proxy import Proxy, Target, make_proxy, target_of
from tito.grading.judge.raised import Raised, warning_class
from tito.grading.judge.session import Answer, Session
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


@dataclass(frozen=True)
class CellOutcome:
    """How a cell ran in the student's process.

    status  : "ok", "error" (raised; what it did before stays), "died" or "timeout" (it is undone)
    message : None, or "ValueError: ...", or why it died
    output  : what it printed, warnings too; cut at the limit
    line    : the line of the cell that raised, from 1
    seconds : CPU time
    notices : magics and shell lines that were not run
    """

    status: str
    message: str | None = None
    output: str = ""
    line: int | None = None
    seconds: float = 0.0
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestEnd:
    """What happened at the border while a test cell ran.

    lost    : why the cell earns nothing whatever it said ("took longer than 10 s of CPU time"),
              with `status` "died" or "timeout"; None if the process lived
    calls   : requests that reached student code; a test that passed with none asked nothing
    output  : what the student's code printed meanwhile
    seconds : CPU time of the student's process
    """

    __test__ = False  # not a class of tests, whatever pytest thinks

    lost: str | None = None
    status: str | None = None
    calls: int = 0
    output: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class _Cell:
    label: str
    source: str
    role: str
    defines: frozenset[str]


class _Test:
    """What belongs to the test cell that runs: it is gone with it."""

    def __init__(self, label: str, seconds: float) -> None:
        self.label = label
        self.started = seconds  # CPU seconds used before it
        self.death: StudentDied | None = None
        self.calls = 0
        self.output: list[str] = []


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
        self._cells: list[_Cell] = []
        self._why: dict[str, str] = {}  # name -> why it is not there
        self._test: _Test | None = None
        self._raised = Raised()
        self._bound: dict[str, Proxy] = {}  # what tests know by name
        self._callbacks: dict[int, Any] = {}
        self._counted: dict[int, CountedArray] = {}
        self._numbers: dict[int, int] = {}  # id of a callback or counted array -> number
        self._last_number = 0
        self._apart: set[int] | None = None  # the CPUs there are, while two run on one
        self._arena = Arena.create()
        stage.arena = self._arena.descriptor if self._arena else None
        self._here = threading.local()
        self._lock = threading.RLock()
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
        cell = _Cell(label, source, role, frozenset(defines))
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
        return CellOutcome(**{**vars(outcome), "seconds": self.seconds - before})

    def run_given(self, cells: Sequence[tuple[str, str]]) -> None:
        """Run cells of the master, (label, source), in one request; nobody asks how they ended."""
        try:
            session = self._ready()
            with self._budget(session, self._limits.given * len(cells)):
                session.ask("cells", [list(map(list, cells))], None, None, lambda answer: None)
        except StudentDied:  # which of them it was shows when they run one by one
            for label, source in cells:
                self.run_cell(label, source, role="given")
        else:
            self._cells += [_Cell(label, source, "given", frozenset()) for label, source in cells]

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
            decoder = self._decoder(session, answer.frame, received.arrays)
            found = {}
            for name, how, *rest in answer.node:
                wire.require(name in wanted, "a name nobody asked for")
                found[name] = self._bind_one(name, how, rest, decoder)
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

    def _bind_one(self, name: str, how: Any, rest: list, decoder: wire.Decoder) -> Any:
        if how == "v":
            (node,) = rest
            return decoder.value(node)
        kind, class_name = rest
        wire.require(how == "p" and kind in ("c", "f", "o"), "proxy")
        wire.require(type(class_name) is str, "proxy")
        known = self._bound.get(name)
        if known is None or target_of(known).kind != kind:  # redefined as something else
            self._bound[name] = make_proxy(Target(self, kind, class_name[:80], name=name))
        return self._bound[name]

    def _run(self, session: Session, cell: _Cell) -> CellOutcome:
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
        report = self._raised.report(answer.node)
        line = report.frames[-1].line if report.frames else None
        return CellOutcome("error", report.text, output, line, notices=tuple(answer.notices))

    def _explain(self, cell: _Cell, outcome: CellOutcome) -> None:
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
        self._forget()
        self._test = _Test(label, self.seconds)

    def test_ends(self) -> TestEnd:
        """The test cell is over; callables it made can be called no more."""
        test, self._test = self._test, None
        self._forget()
        self._part()
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
        return self._spent + (self._session.channel.cpu_seconds() if self._session else 0.0)

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

    def _forget(self) -> None:
        with self._lock:
            self._callbacks.clear()
            self._counted.clear()
            self._numbers.clear()
            self._raised.forget()

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
            with self._budget(session, self._limits.call), self._awake(session):
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

    @contextmanager
    def pinned(self, cpu: int | None) -> Iterator[None]:
        """The process runs on one CPU in the block; None where a system cannot say which.

        Two CPUs of one machine are not equally fast: each shares a core or a cache with somebody.
        So what is to be compared runs on the same.
        """
        session = self._ready()
        if cpu is not None:
            session.channel.pin({cpu})
        try:
            yield
        finally:
            if cpu is not None and session.ended is None:
                session.channel.pin(os.sched_getaffinity(0))

    @contextmanager
    def held(self) -> Iterator[None]:
        """The process stands still in the block, but while it answers a request."""
        session = self._ready()
        session.held = True
        self._hold(session)
        try:
            yield
        finally:
            session.held = False
            if session.ended is None:
                session.channel.resume()

    def renew(self) -> bool:
        """A fresh process that has run the cells, in place of this one.

        False, and nothing done, where that could cost the test that runs its time.
        """
        spent = self._session.channel.cpu_seconds()
        test = self._limits.test - (self.seconds - self._test.started if self._test else 0.0)
        if spent > MOST_RENEWED or 3 * spent > min(test, self._limits.notebook - self.seconds):
            return False
        if self._starts >= MOST_STARTS - 5:
            return False
        self._session.end(StudentDied("a fresh process takes its place"))
        self._ready()
        return True

    @contextmanager
    def _awake(self, session: Session) -> Iterator[None]:
        """The process runs in the block. If it was held, no window pays for what it does there."""
        if not session.held:
            yield
            return
        session.channel.resume()
        try:
            yield
        finally:
            self._hold(session)

    def timed(self, target: Target, calls: Sequence[Timed], form: Form) -> Window:
        """Call something of a process that is held, once for each of the calls.

        All CPU time counts that the process has used since the window before ended: threads that
        go on working, or begin before they are asked to, make it longer.
        """
        session = self._session_of(target)
        batch = Batch(self._arena.memory, calls, form)
        with self._turn(session):
            odd = self._measured(session, "timed", target, batch.parts, _odd_results)
        now = session.channel.cpu_seconds()
        seconds, session.charged = now - session.charged, now
        results = [odd.get(i, found) for i, found in enumerate(batch.results())]
        return Window(max(seconds, 1e-9), results, batch.inside)

    def timed_by_itself(self, target: Target, calls: Sequence[Timed]) -> Window:
        """The same by a clock that the process itself reads, and could set."""
        session = self._session_of(target)
        own = [call.copy() for call in calls]
        parts = [(call.args, call.kwargs) for call in own]
        seconds, returned = self._measured(session, "timed by itself", target, parts, _own_reading)
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

    @contextmanager
    def _turn(self, session: Session) -> Iterator[None]:
        """The process, held until now, runs for one answer."""
        session.channel.resume()
        try:
            yield
        finally:
            if session.ended is None:
                session.channel.pause()

    def _hold(self, session: Session) -> None:
        if session.ended is None:
            session.channel.pause()
            session.charged = session.channel.cpu_seconds()

    def _decoded(self, session: Session, answer: Answer, call: Call) -> tuple:
        """The answer as (worked, value or error report, shared, warnings); all that may be bad."""
        received = session.memory.receive(answer.frame, call)
        call.apply(answer.changed)
        decoder = self._decoder(session, answer.frame, received.arrays)
        if answer.worked:
            value = decoder.value(answer.node)
        else:
            value = self._raised.exception(answer.node, session, self)
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
        contract = self._contract(target)
        labels: dict[int, str] = {}
        writable: set[int] = set()
        if encoder.arrays:
            unnamed = map(str, range(len(contract.parameters) + 1, len(args) + 1))
            names = [*contract.parameters, *unnamed]
            for name, value in [*zip(names, args), *kwargs.items()]:
                found = dict(_arrays_in(value, name))
                labels = {**found, **labels}
                if contract.may_write(name):
                    writable |= set(found)
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

    # -- values

    def opaque(self, obj: Any, encoder: wire.Encoder) -> list:
        """The node of what is no plain data; TypeError for what cannot cross."""
        if isinstance(obj, Proxy):
            target = target_of(obj)
            if target.session is not None and target.session is not self._session:
                raise TypeError("this object was lost when the student's process ended")
            return target.node
        if isinstance(obj, CountedArray):
            return self._counted_node(obj)
        if isinstance(obj, Placed):
            return obj.node
        number = self._class_number(obj)
        if number is not None:
            return ["h", number]
        random = _random_node(obj, encoder)
        if random is not None:
            return random
        library = wire.library_name(obj)
        if library is not None:
            return ["lib", library]
        if callable(obj):
            name = getattr(obj, "__name__", type(obj).__name__)
            return ["cb", self._numbered(obj, self._callbacks), str(name)[:80]]
        raise TypeError(
            f"a {type(obj).__name__} cannot be passed to student code: plain data, arrays, "
            "functions and the student's own objects can"
        )

    def _come_close(self) -> None:
        """Run the student's process on this thread's CPU until the test cell ends.

        Each access to a counted array wakes one process and puts the other to sleep. From one CPU
        to another that can take twenty times as long.
        """
        if self._apart is not None or self._session is None or not hasattr(os, "sched_setaffinity"):
            return
        with suppress(OSError, ValueError, IndexError):
            here = {_current_cpu()}
            self._apart = os.sched_getaffinity(0)
            os.sched_setaffinity(0, here)
            self._session.channel.pin(here)

    def _part(self) -> None:
        cpus, self._apart = self._apart, None
        if cpus is not None:
            with suppress(OSError):
                os.sched_setaffinity(0, cpus)
            if self._session is not None and self._session.ended is None:
                self._session.channel.pin(cpus)

    def _class_number(self, obj: Any) -> int | None:
        return self._raised.number_of(obj, self._session) if isinstance(obj, type) else None

    def _numbered(self, obj: Any, table: dict[int, Any]) -> int:
        with self._lock:
            number = self._numbers.get(id(obj))
            if number is None:
                self._last_number += 1
                number = self._numbers[id(obj)] = self._last_number
                table[number] = obj
            return number

    def _counted_node(self, array: CountedArray) -> list:
        self._come_close()
        number = self._numbered(array, self._counted)
        layout = [list(array.shape), list(array.strides), list(array._steps), array._start]
        dtype = wire.encode_dtype(array.dtype)
        return ["counted", number, dtype, *layout, array.flags.writeable]

    def _decoder(self, session: Session, frame: wire.Frame, arrays: list) -> wire.Decoder:
        return wire.Decoder(arrays, frame.buffers, lambda n, _: self._special(n, session))

    def _special(self, node: list, session: Session) -> Any:
        """What a node of the student's side stands for that is no plain data."""
        kind, number = node[0], node[1]
        if kind == "n":
            return self._bound[number]
        wire.require(type(number) is int, "number")
        if kind == "h":
            return self._handle(number, node[2], node[3], session)
        if kind == "x":
            return self._raised.exception_class(node, session)
        if kind == "cb":
            return self._callbacks[number]
        if kind == "counted":
            return self._counted[number]
        raise wire.WireError("node")

    def handle(self, number: int, session: Session) -> Proxy:
        """A proxy for an object that is only known by its number: an exception."""
        return self._handle(number, "o", "exception", session)

    def _handle(self, number: int, kind: Any, class_name: Any, session: Session) -> Proxy:
        wire.require(kind in ("c", "f", "o") and type(class_name) is str, "handle")
        proxy = session.proxies.get(number)
        if proxy is None:
            target = Target(self, kind, class_name[:80], session=session, number=number)
            proxy = session.proxies[number] = make_proxy(target)
        else:
            target_of(proxy).mentions += 1
        return proxy

    # -- what the student's side asks (called by the session)

    def serve_callback(self, session: Session, lane: int, frame: wire.Frame) -> None:
        """Run a callable of the test for a thread of the student."""
        try:
            _, _, number, args, kwargs = frame.body
            with session.lock:
                received = session.memory.receive(frame, None)
                decoder = self._decoder(session, frame, received.arrays)
                args, kwargs = decoder.value(args), decoder.value(kwargs)
                wire.require(type(args) is tuple and type(kwargs) is dict, "arguments")
                wire.require(all(type(name) is str for name in kwargs), "keywords")
            func = self._callbacks.get(number) if type(number) is int else None
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

        session.run_callback(lane, run, received.arrays, lambda e, v: e.value(v), self._raised.keep)

    def serve_element(self, kind: str, number: Any, rest: list) -> list:
        """Read or write an element of a counted array: [worked, bytes or error]."""
        wire.require(type(number) is int and type(rest[0]) is int, "element")
        array = self._counted.get(number)
        if array is None:
            return [False, ["RuntimeError", ["this array belongs to a test cell that is over"], 0]]
        position = rest[0]
        backend = array._backend
        size = getattr(backend, "array", array).size
        wire.require(0 <= position < size, "position")
        try:
            if kind == "rd":
                return [True, np.asarray(backend.read(position), array.dtype).tobytes()]
            wire.require(array.flags.writeable and type(rest[1]) is bytes, "a write to an input")
            wire.require(len(rest[1]) == array.dtype.itemsize, "element")
            backend.write(position, np.frombuffer(rest[1], array.dtype, 1)[0])
            return [True, b""]
        except wire.WireError:
            raise
        except Exception as error:
            return [False, self._raised.keep(error)]


def _odd_results(told: Any, n: int) -> dict[int, Any]:
    """For each result that was not the array asked for something of its type or form."""
    wire.require(type(told) is list and len(told) == n, "results")
    return {i: _other_result(what) for i, what in enumerate(told) if what is not None}


def _own_reading(told: Any, n: int) -> tuple[float, list]:
    """(seconds, results) as the process itself says."""
    wire.require(type(told) is list and len(told) == 2, "a reading")
    seconds, returned = told
    wire.require(type(seconds) is float and 0 <= seconds < 1e6, "seconds")
    wire.require(type(returned) is list and len(returned) == n, "results")
    return max(seconds, 1e-9), returned


def _other_result(what: Any) -> Any:
    wire.require(type(what) is list and len(what) == 3, "a result")
    name, dtype, shape = what
    wire.require(type(name) is str and (shape is None or type(shape) is list), "a result")
    if name == "NoneType":
        return None
    if shape is None:
        return stand_in(name)
    wire.require(len(shape) <= 32 and all(wire.is_count(n, 1 << 30) for n in shape), "a result")
    return np.broadcast_to(np.zeros((), wire.decode_dtype(dtype)), shape)


def stand_in(name: str) -> Any:
    """Something of a type of this name, for messages about a result that does not cross."""
    return type(name[:80], (), {})()


def _arrays_in(value: Any, label: str, depth: int = 0) -> list[tuple[int, str]]:
    """(id, label) of the arrays in an argument: "x", "batch[2]"."""
    if isinstance(value, np.ndarray):
        return [(id(value), label)]
    if depth > 3 or type(value) not in (list, tuple, dict):
        return []
    items = value.items() if type(value) is dict else enumerate(value)
    return [pair for k, v in items for pair in _arrays_in(v, f"{label}[{k!r}]", depth + 1)]


def _random_node(obj: Any, encoder: wire.Encoder) -> list | None:
    """A NumPy generator by its state, as plain data; None for anything else."""
    random = sys.modules.get("numpy.random")
    if random is None or not isinstance(obj, random.Generator | random.RandomState):
        return None
    legacy = isinstance(obj, random.RandomState)
    bits = obj._bit_generator if legacy else obj.bit_generator
    kind = type(bits).__name__
    if getattr(random, kind, None) is not type(bits):
        raise TypeError(f"a generator of kind {kind} cannot be passed to student code")
    return ["random", kind, encoder.value(bits.state), legacy]


def _test_level() -> int:
    """The stack level of the first caller outside the judge: the line of the test."""
    frame, level = sys._getframe(1), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith(__package__):
        frame, level = frame.f_back, level + 1
    return level


def _current_cpu() -> int:
    """The CPU that this thread runs on; Linux."""
    fields = Path("/proc/thread-self/stat").read_text().rpartition(")")[2].split()
    return int(fields[36])


def _resident_bytes(pid: int) -> int:
    """Memory that a process holds; 0 where /proc does not say."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
