"""C, the clean child: a fresh process for claims, which runs little more than one function.

It gets the given cells, the package of the modules before, the student's cell that defines the
function and those above that it names; of the student's cells only what the gate lets through
(`tito.checks.gate`). Nothing else of the hand-in runs there, so nothing else can have changed what
is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from tito.checks.claims import alike, another, refused, unreadable
from tito.checks.failure import CheckFailed
from tito.checks.gate import Passed, cells_behind
from tito.grading.judge.contracts import Contract, Trusted
from tito.grading.judge.errors import StudentDied
from tito.grading.judge.plan import GradedTest, Step
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.world import World
from tito.inside import copied

Arguments = tuple[tuple, dict[str, Any]]
STUDENTS = ("solution", "extra")


class Clean:
    """Claims of one hand-in; each set of cells gets one process, when it is first asked for.

    steps : of the plan
    own   : position -> the master's source of a solution cell
    start : makes a world, with the contracts of functions
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
        self._worlds: dict[tuple, World] = {}

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
        there, here = copied((args, kwargs)), copied((args, kwargs))
        reading, result = self._read(kind, name, there, self._world(name, steps, passed))
        mine = student.world.call(student, *here)[0]
        if not alike((mine, here), (result, there)):
            raise another(name)
        return reading

    def _passed(self, name: str, steps: Sequence[Step]) -> dict[str, Passed]:
        cells = {s.label: s.source for s in steps if s.kind in STUDENTS}
        given = [s.source for s in steps if s.kind not in STUDENTS]
        own = {s.label: self._own.get(s.position, "") for s in steps if s.kind == "solution"}
        return cells_behind(name, cells, given, own)

    def _world(self, name: str, steps: Sequence[Step], passed: Mapping[str, Passed]) -> World:
        """The process that has run these cells; the tests of a function may share it."""
        run = tuple(
            (step, passed[step.label].source if step.label in passed else step.source)
            for step in steps
            if step.label in passed or step.kind not in STUDENTS
        )
        key = (name, tuple((step.label, source) for step, source in run))
        if key not in self._worlds:
            world = self._worlds[key] = self._start({name: Trusted()})
            cells = [(f"{step.label} ({n})", source) for n, (step, source) in enumerate(run, 1)]
            is_own = [step.label in passed for step, _ in run]
            for own, group in groupby(zip(is_own, cells), key=itemgetter(0)):
                if not own:
                    world.run_given([cell for _, cell in group])
                    continue
                for _, (label, source) in group:
                    world.run_cell(label, source, defines=[name])
        return self._worlds[key]

    def _read(self, kind: str, name: str, arguments: Arguments, world: World) -> tuple[Any, Any]:
        """(the reading, the result of the call) in the clean child."""
        try:
            found = world.bind([name]).get(name)
            if not isinstance(found, Proxy):
                raise unreadable(name, world.missing(name) or "none of its cells defines it")
            worked, *said = world.request("claim", target_of(found), (kind, *arguments), {})
        except CheckFailed:
            raise
        except StudentDied as death:
            raise unreadable(name, str(death)) from None
        except Exception as error:  # whatever the function raises in there
            raise unreadable(name, f"{type(error).__name__}: {error}") from None
        if worked is not True:
            raise unreadable(name, str(said[0]))
        return said[0], said[1]
