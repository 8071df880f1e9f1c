"""What was measured, as values: rates, shares of the roof and of the peer, ratios.

All ratios are taken round by round, of windows that ran one after the other, and then summed up
as their 10th percentile, median and 90th percentile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tito.bench.roofline import Kernel, Point, Roofs, place
from tito.bench.workload import DTYPE, Dims, Work, Workload
from tito.machine import Peaks

# A first call that took this much longer than the others, and this long, did something else.
FIRST_TIMES, FIRST_SECONDS = 20, 0.02

Band = tuple[float, float, float]


@dataclass(frozen=True)
class Row:
    """One rung or peer at one size.

    library    : the peer's library, None for a rung of the package
    left_out   : why there are no times; None where there are
    samples    : seconds a call, one window each
    calls      : calls in a window
    first_call : seconds of the first call of all, by the clock on the wall
    arguments  : bytes of the arrays that a call is given
    """

    name: str
    library: str | None = None
    left_out: str | None = None
    samples: tuple[float, ...] = ()
    calls: int = 0
    first_call: float | None = None
    arguments: int | None = None

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Row:
        """The row that the measuring process sent."""
        return cls(
            said["name"],
            said["library"],
            said["left_out"],
            tuple(said.get("samples", ())),
            said.get("calls", 0),
            said["first_call"],
            said.get("arguments"),
        )

    @property
    def timed(self) -> bool:
        return bool(self.samples) and self.left_out is None

    def percentile(self, percent: float) -> float:
        return float(np.percentile(self.samples, percent))

    @property
    def seconds(self) -> float:
        """The median."""
        return self.percentile(50)

    @property
    def spread(self) -> float:
        """(90th - 10th percentile) / median."""
        return (self.percentile(90) - self.percentile(10)) / self.seconds

    @property
    def compiles(self) -> bool:
        """Whether the first call did what later ones need not do again."""
        if not self.timed or self.first_call is None:
            return False
        return self.first_call > max(FIRST_SECONDS, FIRST_TIMES * self.seconds)

    def times_as_fast_as(self, other: Row) -> Band:
        """(low, median, high) over the rounds of how many times as fast as `other` this is."""
        ratios = np.divide(other.samples, self.samples)
        low, median, high = np.percentile(ratios, (10, 50, 90))
        return float(low), float(median), float(high)


@dataclass(frozen=True)
class Table:
    """One workload at one size."""

    workload: Workload
    dims: Dims
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, workload: Workload, dims: Dims, said: Mapping[str, Any]) -> Table:
        return cls(workload, dims, tuple(map(Row.of, said["rows"])))

    @property
    def work(self) -> Work:
        return self.workload.work(*self.dims)

    @property
    def timed(self) -> list[Row]:
        return [row for row in self.rows if row.timed]

    @property
    def baseline(self) -> Row | None:
        """The row that the workload names, or the first that was timed: a peer if no rung was."""
        named = (row for row in self.timed if row.name == self.workload.base)
        return next(named, next(iter(self.timed), None))

    @property
    def peer(self) -> Row | None:
        """The fastest peer whose result was right."""
        return min((r for r in self.timed if r.library), key=lambda r: r.seconds, default=None)

    @property
    def unit(self) -> str:
        return f"{self.counted}/s" if self.work.flops else "B/s"

    @property
    def counted(self) -> str:
        """What an operation is called: "FLOP", or "op" for those on whole numbers."""
        return Roofs(None).of(self.workload.operand).unit

    @property
    def cold(self) -> bool:
        """Whether the weights came from main memory."""
        return self.workload.cold(*self.dims)

    def level(self, machine: Machine) -> str | None:
        """Where the arrays lay: the smallest level of memory that holds them."""
        return machine.peaks.level_for(math.inf if self.cold else self.work.nbytes)

    def bytes_a_weight(self, row: Row) -> float | None:
        """What the weights of a row take, in its own form; None where that is the same for all."""
        if self.workload.count is None or row.arguments is None:
            return None
        *others, _ = self.workload.pieces(*self.dims)
        others.pop(self.workload.weights)
        count = self.workload.count(*self.dims)
        return (row.arguments - DTYPE.itemsize * sum(others)) / count

    def rate(self, row: Row) -> float:
        """Work a second, in `unit`."""
        return (self.work.flops or self.work.nbytes) / row.seconds

    def roofs(self, machine: Machine) -> Roofs:
        """The peak, and the bandwidth of the level of memory that holds the arrays."""
        bandwidth = machine.peaks.bandwidth_for(math.inf if self.cold else self.work.nbytes)
        return Roofs(machine.times(bandwidth), {self.workload.operand: self.peak(machine)})

    def peak(self, machine: Machine) -> float | None:
        """Operations a second at most; None where that was not measured.

        Weights of a few bits are multiplied as floats by one kernel and as bytes by another, so
        only memory is a roof for all of them.
        """
        if self.workload.count:
            return math.inf
        return machine.times(machine.peaks.flops(self.workload.operand))

    def limit(self, machine: Machine) -> float | None:
        """The most that this machine's roof allows, in `unit`."""
        roof = self.roofs(machine).of(self.workload.operand)
        if not self.work.flops:
            return roof.bandwidth
        return roof.height(self.work.flops / self.work.nbytes)

    def point(self, row: Row, machine: Machine) -> Point:
        """Where a row stands under that roof."""
        work, operand = self.work, self.workload.operand
        kernel = Kernel(row.name, work.flops, work.nbytes, row.seconds, operand)
        point = place(kernel, self.roofs(machine))
        assert isinstance(point, Point), point  # it has a time, and every workload has its work
        return point

    def above(self, machine: Machine) -> list[str]:
        """Names of the rows that are faster than the roof allows."""
        return [row.name for row in self.timed if self.point(row, machine).above]


@dataclass(frozen=True)
class Machine:
    """What the measuring process said of the machine and of itself.

    said : facts, numba, peaks, hidden_core, peers, environment
    """

    threads: int
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.said.get("facts", {})

    @property
    def hidden_core(self) -> str | None:
        """The better BLAS kernels that OPENBLAS_CORETYPE hides."""
        return self.said.get("hidden_core")

    @cached_property
    def peaks(self) -> Peaks:
        """What one core can do at most."""
        return Peaks(**self.said.get("peaks", {}))

    def times(self, of_one_core: float | None) -> float | None:
        """A limit of one core for as many as there are threads: no more can be reached."""
        return of_one_core * self.threads if of_one_core else None

    @property
    def clock(self) -> str:
        return "CPU time of the thread" if self.threads == 1 else "wall clock"


@dataclass(frozen=True)
class Report:
    """Everything that one call of `tito bench` measured."""

    machine: Machine
    libraries: tuple[str, ...]
    tables: tuple[Table, ...]

    @classmethod
    def of(
        cls,
        said: Mapping[str, Any],
        threads: int,
        libraries: Sequence[str],
        tables: Sequence[Table],
    ) -> Report:
        return cls(Machine(threads, said), tuple(libraries), tuple(tables))
