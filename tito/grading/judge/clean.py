"""C, the clean child: a fresh process for claims, which runs little more than one function.

It gets the given cells, the package of the modules before, the student's cell that defines the
function and those above that it names; of the student's cells only what the gate lets through
(`tito.checks.gate`). Nothing else of the hand-in runs there, so nothing else can have changed what
is read.

Several functions may share a process, where what is read is not what was compiled so far. Nobody
gains by that. Of another function only what passed the gate has run there, and that could run in
this function's own process as well: its cell need only name the other. For who means no harm
nothing changes either: the cells of the two have no name in common, and what could not be read in a
shared process, or from another function than the graded one, is read in one of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from tito.checks.claims import alike, another, refused, unreadable
from tito.checks.failure import CheckFailed
from tito.checks.gate import Passed, cells_behind, imports
from tito.grading.judge.contracts import Contract, Trusted
from tito.grading.judge.errors import StudentDied
from tito.grading.judge.plan import GradedTest, Step
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.world import World
from tito.inside import copied
from tito.notebook.names import bound, used

STUDENTS = ("solution", "extra")
# Readings that have nothing to do with what ran before in the process.
SHARED = ("peak_bytes", "products")
# CPU seconds; a process that has used more may be short of time, or of memory, for the next.
MOST_SHARED = 5.0


class _Cell(NamedTuple):
    """What of a cell runs in a clean child.

    binds : (name, what it is imported as; "" for anything else) of the names that it binds
    reads : names
    """

    label: str
    source: str
    is_own: bool
    binds: frozenset[tuple[str, str]]
    reads: frozenset[str]


class _Process:
    """A clean child, and the cells that it has run."""

    def __init__(self, world: World, contracts: dict[str, Contract]) -> None:
        self.world = world
        self.failed = False
        self._contracts = contracts
        self._ran: list[_Cell] = []

    def has_run_just(self, cells: Sequence[_Cell]) -> bool:
        return self._ran == list(cells)

    def suits(self, cells: Sequence[_Cell]) -> bool:
        """Whether these may run, or have run, in it beside what else has."""
        if self.failed or self.world.seconds > MOST_SHARED:
            return False
        known = [cell for cell in cells if cell in self._ran]
        others = [cell for cell in self._ran if cell not in cells]
        return known == list(cells[: len(known)]) and _are_strangers(cells, others)

    def run(self, name: str, cells: Sequence[_Cell]) -> None:
        """Those of the cells that have not run yet; `name` is to be read."""
        self._contracts[name] = Trusted()
        new = [cell for cell in cells if cell not in self._ran]
        for own, group in groupby(new, key=attrgetter("is_own")):
            told = []
            for cell in group:
                self._ran.append(cell)
                told.append((f"{cell.label} ({len(self._ran)})", cell.source))
            if not own:
                self.world.run_given(told)
                continue
            for label, source in told:
                self.world.run_cell(label, source, defines=[name])


def _are_strangers(cells: Iterable[_Cell], others: Iterable[_Cell]) -> bool:
    """Whether the others bind no name that the cells know, nor know one that is theirs alone.

    What both import, and nobody binds to anything else, is as it was.
    """
    ours, theirs = _union(c.binds for c in cells), _union(c.binds for c in others)
    times = Counter(name for name, _ in ours | theirs)
    same = {name for name, origin in ours & theirs if origin and times[name] == 1}
    new = {name for name, _ in theirs} - same
    known = {name for name, _ in ours} | _union(c.reads for c in cells)
    own = {name for name, _ in _union(c.binds for c in cells if c.is_own)}
    return not (new & known or own & _union(c.reads for c in others))


def _union(sets: Iterable[frozenset]) -> frozenset:
    return frozenset().union(*sets)


class Clean:
    """Claims of one hand-in; its processes start when they are first asked for.

    steps : of the plan
    own   : position -> the master's source of a solution cell
    start : makes a world, with the contracts of functions, some of which are still to be named
    """

    def __init__(
        self,
        steps: Sequence[Step | GradedTest],
        own: Mapping[int, str],
        start: Callable[[Mapping[str, Contract]], World],
    ) -> None:
        self._steps = [s for s in steps if isinstance(s, Step) and s.in_s]
        self._own = own
        self._start = start
        self._processes: list[_Process] = []

    def claim(
        self, kind: str, student: Target, args: tuple, kwargs: dict[str, Any], position: int
    ) -> Any:
        """The reading of a student's function; CheckFailed where there is none.

        student  : the function as it is graded; it is called too, and has to answer alike
        position : of the test's cell in the master
        """
        name = student.name
        if name is None:
            raise TypeError("claim() reads a function that a solution cell defines by name")
        steps = [s for s in self._steps if s.position <= position]
        passed = self._passed(name, steps)
        tricks = [trick for cell in passed.values() for trick in cell.tricks]
        if tricks:
            raise refused(name, tricks)
        cells = [cell for step in steps if (cell := _behind(step, passed)) is not None]
        shared = self._first(lambda p: p.suits(cells)) if kind in SHARED else None
        if shared is not None and not shared.has_run_just(cells):
            try:
                return self._agreed(kind, student, args, kwargs, shared, cells)
            except CheckFailed:
                if not shared.failed and _raises(student, args, kwargs):
                    raise
        alone = self._first(lambda p: p.has_run_just(cells)) or self._new()
        reading = self._agreed(kind, student, args, kwargs, alone, cells)
        if shared is not None and shared is not alone:
            shared.failed = True
        return reading

    def _passed(self, name: str, steps: Sequence[Step]) -> dict[str, Passed]:
        cells = {s.label: s.source for s in steps if s.kind in STUDENTS}
        given = [s.source for s in steps if s.kind not in STUDENTS]
        own = {s.label: self._own.get(s.position, "") for s in steps if s.kind == "solution"}
        return cells_behind(name, cells, given, own)

    def _first(self, suits: Callable[[_Process], bool]) -> _Process | None:
        return next(filter(suits, self._processes), None)

    def _new(self) -> _Process:
        contracts: dict[str, Contract] = {}
        self._processes.append(_Process(self._start(contracts), contracts))
        return self._processes[-1]

    def _agreed(
        self,
        kind: str,
        student: Target,
        args: tuple,
        kwargs: dict[str, Any],
        process: _Process,
        cells: Sequence[_Cell],
    ) -> Any:
        """The reading in this process, of a function that answers as the graded one."""
        process.run(student.name, cells)
        there, here = copied((args, kwargs)), copied((args, kwargs))
        reading, result = _read(kind, student.name, there, process)
        mine = student.world.call(student, *here)[0]
        if not alike((mine, here), (result, there)):
            raise another(student.name)
        return reading


def _behind(step: Step, passed: Mapping[str, Passed]) -> _Cell | None:
    """What of a step runs in a clean child, if anything does."""
    if step.kind not in STUDENTS:
        return _Cell(step.label, step.source, False, *_names_of(step.source))
    if step.label not in passed:
        return None
    own = passed[step.label]
    return _Cell(step.label, own.source, True, frozenset((n, "") for n in own.binds), own.reads)


@lru_cache(maxsize=256)
def _names_of(source: str) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """What a cell of the master binds and reads, as a `_Cell` has it."""
    assigned, imported = bound(source)
    origins = {(name, target) for name, target in imports(source) if name in imported}
    return frozenset(origins | {(name, "") for name in assigned}), frozenset(used(source))


def read_ahead(given: Iterable[str]) -> None:
    """Work out now what the master's cells bind and read; forks of this process know it then."""
    for source in given:
        _names_of(source)


def _raises(student: Target, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether the graded function itself raises something: no wonder that the clean one does."""
    own_args, own_kwargs = copied((args, kwargs))
    try:
        student.world.call(student, own_args, own_kwargs)
    except StudentDied:
        raise
    except Exception:
        return True
    return False


def _read(
    kind: str, name: str, arguments: tuple[tuple, dict], process: _Process
) -> tuple[Any, Any]:
    """(the reading, the result of the call) in the clean child."""
    world = process.world
    try:
        found = world.bind([name]).get(name)
        if not isinstance(found, Proxy):
            raise unreadable(name, world.missing(name) or "none of its cells defines it")
        worked, *said = world.request("claim", target_of(found), (kind, *arguments), {})
    except CheckFailed:
        raise
    except StudentDied as death:
        process.failed = True
        raise unreadable(name, str(death)) from None
    except Exception as error:  # whatever the function raises in there
        raise unreadable(name, f"{type(error).__name__}: {error}") from None
    if worked is not True:
        raise unreadable(name, str(said[0]))
    return said[0], said[1]
