"""The same hand-ins on one worker, on two, and on a Dask cluster; and with a worker killed.

What is compared runs in turn, some hand-ins each time, so that whatever else the machine does
slows all alike.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tito.grading.batch import Batch, Row
from tito.grading.bench.processes import tree_seconds
from tito.grading.bench.synthetic import SHARES, Synthetic
from tito.grading.executors import Workers, cluster, processes
from tito.grading.handins import HandIn
from tito.grading.task import Assignment

Outcome = dict[str, tuple]
IN_TURN = sum(SHARES.values())  # hand-ins at a time: so many hold every kind in its share


@dataclass
class Spread:
    """One way to grade. share : hand-ins that each worker graded; lost : students without a right
    row; ratio : CPU a hand-in, times the first way's"""

    name: str
    count: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    share: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    wrong: list[str] = field(default_factory=list)
    ratio: float = 1.0

    @property
    def each(self) -> float:
        return self.cpu / self.count

    def line(self) -> str:
        shares = " + ".join(str(n) for n in self.share.values())
        # What a killed worker had used is counted nowhere.
        each = f"{'-':>9}  {'-':>6}" if self.killed else f"{self.each:7.3f} s  {self.ratio:6.3f}"
        text = f"  {self.name:<30}{self.wall:7.2f} s  {each}  {shares}"
        return f"{text}; rows lost or changed: {len(self.wrong)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "hand_ins": self.count,
            "wall": round(self.wall, 3),
            "cpu_each": None if self.killed else round(self.each, 4),
            "cpu_ratio": None if self.killed else round(self.ratio, 3),
            "share": list(self.share.values()),
            "killed": self.killed,
            "wrong": self.wrong,
        }


def head(count: int) -> str:
    title = f"{count} hand-ins, warm, in turn"
    return f"{title:<32}   wall   CPU each   times  graded by each worker"


def spread(batch: Batch, hand_ins: list[Synthetic], say: Callable[[str], None]) -> Iterator[Spread]:
    """One, two, Dask where it is installed; then two and Dask with one of them killed."""
    own = [HandIn(h.student, read=lambda h=h: h.data) for h in hand_ins]
    with ExitStack() as stack:
        lanes = [_Lane("1 local worker", batch, stack.enter_context(processes(1)))]
        lanes.append(_Lane("2 local workers", batch, stack.enter_context(processes(2))))
        if has_dask():
            workers = stack.enter_context(_dask_workers())
            lanes.append(_Lane("Dask, 2 worker processes", batch, workers))
        _in_turn(lanes, own, say)
        expected = lanes[0].outcome
        for lane in lanes:
            lane.found.ratio = lane.found.each / lanes[0].found.each
            yield lane.compared(own, expected)
    for name, make in (
        ("2 local workers, one killed", lambda: processes(2)),
        ("Dask, one of them killed", _dask_workers if has_dask() else None),
    ):
        if make is None:
            continue
        say(name)
        with make() as workers:
            lane = _Lane(name, batch, workers)
            lane.warm_up(own)
            lane.grade(own, kill_after=len(own) // 3)
            yield lane.compared(own, expected)


def _in_turn(lanes: list[_Lane], own: list[HandIn], say: Callable[[str], None]) -> None:
    for lane in lanes:
        say(f"{lane.found.name}: warming up")
        lane.warm_up(own)
    parts = [own[start : start + IN_TURN] for start in range(0, len(own), IN_TURN)]
    for number, part in enumerate(parts):
        say(f"hand-ins in turn, part {number + 1} of {len(parts)}")
        first = number % len(lanes)
        for lane in lanes[first:] + lanes[:first]:
            lane.grade(part)


class _Lane:
    """One way to grade, whose workers wait while others have their turn."""

    def __init__(self, name: str, batch: Batch, workers: Workers) -> None:
        self.found = Spread(name)
        self.outcome: Outcome = {}
        self._batch = batch
        self._workers = workers
        self._assignment: Assignment = batch.assignment()
        self._processes: set[int] = set()

    def warm_up(self, handins: list[HandIn]) -> None:
        for _, row in self._stream(handins[: 4 * self._workers.width]):
            if row.cost.worker:
                self._processes.add(_pid(row))

    def grade(self, handins: list[HandIn], kill_after: int | None = None) -> None:
        cpu, wall = self._cpu_seconds(), time.perf_counter()
        for _, row in self._stream(handins):
            self.outcome[row.student] = _what_counts(row)
            self.found.share[row.cost.worker] += 1
            self.found.count += 1
            if kill_after == self.found.count:
                os.kill(_pid(row), signal.SIGKILL)
                self.found.killed += 1
        self.found.wall += time.perf_counter() - wall
        self.found.cpu += self._cpu_seconds() - cpu

    def _stream(self, handins: list[HandIn]) -> Iterator[tuple[HandIn, Row]]:
        return self._batch.stream(handins, self._workers, self._assignment)

    def _cpu_seconds(self) -> float:
        """Of this process and this way's workers; the others' do some things while they wait."""
        return time.process_time() + sum(map(tree_seconds, self._processes))

    def compared(self, handins: list[HandIn], expected: Outcome) -> Spread:
        wrong = [h.student for h in handins if self.outcome.get(h.student) != expected[h.student]]
        self.found.wrong = wrong
        return self.found


def _pid(row: Row) -> int:
    return int(row.cost.worker.rpartition(":")[2])


def _what_counts(row: Row) -> tuple:
    """What must not depend on who graded: not times, nor the words of a test of speed, which
    measures anew and on inputs of its own."""
    cells = tuple((c.id, c.status, c.points) for c in row.result.cells)
    return row.result.status, row.result.reason, cells


def has_dask() -> bool:
    import importlib.util

    return importlib.util.find_spec("distributed") is not None


@contextmanager
def _dask_workers() -> Iterator[Workers]:
    with dask_here(2) as address, cluster(address) as workers:
        yield workers


@contextmanager
def dask_here(workers: int) -> Iterator[str]:
    """The address of a Dask scheduler on the loopback device, with so many worker processes."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        yield cluster.scheduler_address
