"""The same hand-ins on one worker, on two, and on a Dask cluster; and with a worker killed."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tito.grading.batch import Batch, Row
from tito.grading.bench.processes import cpu_seconds
from tito.grading.bench.synthetic import Synthetic
from tito.grading.executors import Workers, cluster, processes
from tito.grading.handins import HandIn

Outcome = dict[str, tuple]


@dataclass
class Spread:
    """One run. share : hand-ins that each worker graded; lost : students without a right row."""

    name: str
    count: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    share: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def each(self) -> float:
        return self.cpu / self.count

    def line(self) -> str:
        shares = " + ".join(str(n) for n in self.share.values())
        # What a killed worker had used is counted nowhere.
        each = "        -" if self.killed else f"{self.each:7.3f} s"
        text = f"  {self.name:<30}{self.wall:7.2f} s  {each}  {shares}"
        return f"{text}; rows lost or changed: {len(self.wrong)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "hand_ins": self.count,
            "wall": round(self.wall, 3),
            "cpu_each": None if self.killed else round(self.each, 4),
            "share": list(self.share.values()),
            "killed": self.killed,
            "wrong": self.wrong,
        }


def head(count: int) -> str:
    return f"{f'{count} hand-ins, warm':<32}   wall   CPU each  graded by each worker"


def spread(batch: Batch, hand_ins: list[Synthetic], say: Callable[[str], None]) -> Iterator[Spread]:
    """One, two, two with one of them killed; then Dask, where it is installed."""
    own = [HandIn(h.student, read=lambda h=h: h.data) for h in hand_ins]
    expected: Outcome | None = None
    for name, make, kill in (
        ("1 local worker", lambda: processes(1), False),
        ("2 local workers", lambda: processes(2), False),
        ("2 local workers, one killed", lambda: processes(2), True),
        ("Dask, 2 worker processes", None, False),
        ("Dask, one of them killed", None, True),
    ):
        if make is None and not has_dask():
            continue
        say(name)
        if make is not None:
            found, outcome = _run(name, batch, own, make(), kill)
        else:
            with dask_here(2) as address:
                found, outcome = _run(name, batch, own, cluster(address), kill)
        expected = outcome if expected is None else expected
        students = [h.student for h in own]
        found.wrong = [s for s in students if outcome.get(s) != expected.get(s)]
        yield found


def _run(
    name: str, batch: Batch, handins: list[HandIn], workers: Workers, kill: bool
) -> tuple[Spread, Outcome]:
    found = Spread(name, len(handins))
    outcome: Outcome = {}
    assignment = batch.assignment()
    with workers:
        for _ in batch.stream(handins[: 4 * workers.width], workers, assignment):
            pass  # warm
        cpu, wall = cpu_seconds(), time.perf_counter()
        for _, row in batch.stream(handins, workers, assignment):
            outcome[row.student] = _what_counts(row)
            found.share[row.cost.worker] += 1
            if kill and len(outcome) == len(handins) // 3:
                os.kill(int(row.cost.worker.rpartition(":")[2]), signal.SIGKILL)
                found.killed += 1
        found.wall = time.perf_counter() - wall
        found.cpu = cpu_seconds() - cpu
    return found, outcome


def _what_counts(row: Row) -> tuple:
    """All of a row but how long it took."""
    cells = tuple((c.id, c.status, c.points, c.message) for c in row.result.cells)
    return row.result.status, row.result.reason, cells


def has_dask() -> bool:
    import importlib.util

    return importlib.util.find_spec("distributed") is not None


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
