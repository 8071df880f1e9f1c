"""A large class graded into its folder: does the last hand-in cost more than the first?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tito.grading.batch import Row
from tito.grading.bench import processes
from tito.grading.bench.synthetic import SHARES
from tito.grading.collected import Collected
from tito.grading.executors import Workers
from tito.grading.handins import HandIn

PART = 100  # hand-ins that are compared with as many others
SAME_KINDS = sum(SHARES.values())  # so many, from the start on, hold all kinds in their shares
LOOK_EVERY = 50


@dataclass
class Growth:
    """first, last : CPU seconds a hand-in, in the first and the last `part` of them
    peak : bytes of this process; peak_all : of all processes together, looked at now and then
    overhead : CPU seconds of this process alone, a hand-in
    """

    count: int = 0
    part: int = 0
    wall: float = 0.0
    first: float = 0.0
    last: float = 0.0
    overhead: float = 0.0
    peak: int = 0
    peak_all: int = 0
    workers: int = 1

    @property
    def ratio(self) -> float:
        return self.last / self.first

    def lines(self) -> Iterator[str]:
        yield f"{self.count} hand-ins into a class folder, {self.workers} at once"
        yield f"  CPU a hand-in, first {self.part}   {self.first:8.3f} s"
        yield f"  CPU a hand-in, last {self.part}    {self.last:8.3f} s, {self.ratio:.3f} times it"
        yield f"  of that in this process      {self.overhead:8.4f} s"
        yield f"  peak memory, this process    {self.peak / 1e6:8.1f} MB"
        yield f"  peak memory, all processes   {self.peak_all / 1e6:8.1f} MB"
        yield f"  wall                         {self.wall:8.1f} s"

    def to_json(self) -> dict[str, Any]:
        return {
            "hand_ins": self.count,
            "compared": self.part,
            "workers": self.workers,
            "cpu_first": round(self.first, 4),
            "cpu_last": round(self.last, 4),
            "cpu_ratio": round(self.ratio, 4),
            "cpu_parent": round(self.overhead, 5),
            "peak_memory": self.peak,
            "peak_memory_all": self.peak_all,
            "wall": round(self.wall, 2),
        }


def growth(
    run: Collected, workers: Workers, progress: Callable[[Row], None] = lambda row: None
) -> Growth:
    """Grade all that was collected; the workers have been warmed up."""
    waiting = run.waiting()
    found = Growth(len(waiting), _part(len(waiting)), workers=workers.width)
    watch = _Watch(found, progress)
    wall, own = time.perf_counter(), time.process_time()
    run.grade(waiting, workers, watch)
    found.wall = time.perf_counter() - wall
    found.overhead = (time.process_time() - own) / found.count
    found.peak = processes.peak_here()
    return found


def _part(count: int) -> int:
    """How many of the first and the last can be compared: as many of each kind in both."""
    half = min(PART, count // 2)
    return half // SAME_KINDS * SAME_KINDS or max(half, 1)


def warm_up(run: Collected, workers: Workers) -> None:
    """Every worker grades something, of which nothing is kept."""
    handins: list[HandIn] = list(run.handins())[: 2 * workers.width]
    for _ in run.batch.stream(handins, workers, run.assignment):
        pass


class _Watch:
    """Looks at clocks and memory when so many hand-ins are done."""

    def __init__(self, found: Growth, progress: Callable[[Row], None]) -> None:
        self._found = found
        self._progress = progress
        self._done = 0
        self._marks = {0: processes.cpu_seconds()}

    def __call__(self, row: Row) -> None:
        self._progress(row)
        self._done += 1
        found = self._found
        if self._done in (found.part, found.count - found.part, found.count):
            self._marks[self._done] = processes.cpu_seconds()
        if self._done % LOOK_EVERY == 0 or self._done == found.count:
            found.peak_all = max(found.peak_all, processes.memory())
        if self._done == found.count:
            found.first = self._part_until(found.part)
            found.last = self._part_until(found.count)

    def _part_until(self, end: int) -> float:
        part = self._found.part
        return (self._marks[end] - self._marks[end - part]) / part
