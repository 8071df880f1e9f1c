"""B, the student's twin: a process under the same engine and limits that runs trusted code only.

It holds the master's given cells and the package of the modules before, so that a baseline runs
as the student's kernel does: same Python, same memory, same border, same clock. There can be two of
it, since a process can be slow all its life (see `tito.grading.judge.rig`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tito.grading import wire
from tito.grading.judge.contracts import Contract, Trusted
from tito.grading.judge.plan import GradedTest, Step
from tito.grading.judge.proxy import Proxy, Target, target_of
from tito.grading.judge.world import World

PACKAGE = "tinykernels"


class Baseline(NamedTuple):
    """A trusted function in a twin's process, and in another that starts when it is asked for."""

    first: Target
    second: Callable[[], Target]


class Twin:
    """The twin of one hand-in; each of its processes starts when it is first needed.

    steps : of the plan; given cells run in the twin, up to the test that asks
    start : makes its world, with contracts of functions that are still to be named
    """

    def __init__(
        self, steps: Sequence[Step | GradedTest], start: Callable[[dict[str, Contract]], World]
    ) -> None:
        self._twins = [_OneTwin(steps, start) for _ in range(2)]

    def baseline(self, func: Callable, given: Mapping[str, Any], position: int) -> Baseline:
        """What `func` of a test is in the first process, and how to get it in the second.

        given : the names of the given cells, for a function of one
        position : of the test's cell in the master
        """
        first, second = self._twins
        return Baseline(
            first.baseline(func, given, position), lambda: second.baseline(func, given, position)
        )


class _OneTwin:
    """One of the processes."""

    def __init__(
        self, steps: Sequence[Step | GradedTest], start: Callable[[dict[str, Contract]], World]
    ) -> None:
        self._given = [s for s in steps if isinstance(s, Step) and s.in_g]
        self._start = start
        self._contracts: dict[str, Contract] = {}
        self._world: World | None = None
        self._ran = 0
        self._names = 0

    def baseline(self, func: Callable, given: Mapping[str, Any], position: int) -> Target:
        name, source = self._source(func, given)
        self._run_given(position)
        world = self._world
        if source:
            self._run(name, source)
        self._contracts[name] = Trusted()
        found = world.bind([name]).get(name)
        if not isinstance(found, Proxy):
            why = world.missing(name) or "no given cell defines it"
            raise ValueError(f"the baseline {_name(func)} of speed() cannot be had: {why}")
        return target_of(found)

    def _source(self, func: Callable, given: Mapping[str, Any]) -> tuple[str, str]:
        """A name for it in the twin, and the code that binds the name ("" for a given one)."""
        for name, value in given.items():
            if value is func:
                return name, ""
        self._names += 1
        name = f"_baseline_{self._names}"
        library = wire.library_name(func)
        if library is not None:
            module, _, attribute = library.partition(" ")
            return name, f"import {module}\n{name} = {module}.{attribute}"
        module = getattr(func, "__module__", None) or ""
        if module.split(".")[0] == PACKAGE:
            return name, f"from {module} import {_name(func)} as {name}"
        raise ValueError(
            f"the baseline {_name(func)} of speed() is a function of the test cell: take one of a"
            f" given cell, of {PACKAGE} or of NumPy"
        )

    def _run_given(self, position: int) -> None:
        """The given cells above the test that have not run yet."""
        if self._world is None:
            self._world = self._start(self._contracts)
        cells = []
        while self._ran < len(self._given) and self._given[self._ran].position <= position:
            step = self._given[self._ran]
            self._ran += 1
            cells.append((f"{step.label} ({self._ran})", step.source))
        if cells:
            self._world.run_given(cells)

    def _run(self, name: str, source: str) -> None:
        self._world.run_cell(f"baseline {name}", source, role="given", defines=[name])


def _name(func: Callable) -> str:
    return getattr(func, "__name__", type(func).__name__)
