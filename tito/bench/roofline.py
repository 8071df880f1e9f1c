"""The roofline: how fast a machine lets a kernel be, given its operations per byte.

Inside, every quantity is in SI units: operations, bytes, seconds, and their quotients (1 GB is
1e9 bytes). Prefixes appear in texts only. Operations on floats are FLOP; those on integers are
counted and bounded apart, by a peak of their own.

S. Williams, A. Waterman, D. Patterson, Roofline: An Insightful Visual Performance Model for
Multicore Architectures, CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

COMPUTE, MEMORY = "compute", "memory"
# A rate may lie this far above a roof that was itself measured before it is called wrong.
SLACK = 1.05
ABOVE = "above the roof: operations or bytes are counted wrong, or the roof was measured too low"


@dataclass(frozen=True)
class Roof:
    """The two limits of one kind of operand.

    peak      : operations a second; None where it was not measured
    bandwidth : bytes a second; None where it was not measured
    unit      : what is counted, "FLOP" or "op"
    """

    peak: float | None
    bandwidth: float | None
    unit: str = "FLOP"

    @property
    def ridge(self) -> float | None:
        """Operations a byte from which on the peak is the limit, not the memory."""
        return self.peak / self.bandwidth if self.peak and self.bandwidth else None

    def bound(self, intensity: float) -> str | None:
        """Which of the two limits a kernel of this intensity meets."""
        if self.ridge is None:
            return None
        return MEMORY if intensity < self.ridge else COMPUTE

    def height(self, intensity: float) -> float | None:
        """The most operations a second at this intensity; None where a limit is unknown."""
        side = self.bound(intensity)
        if side is None:
            return None
        return self.peak if side == COMPUTE else self.bandwidth * intensity


@dataclass(frozen=True)
class Roofs:
    """A machine's roofs: one bandwidth, a peak for each type of operand.

    peaks : type of operand -> operations a second, e.g. {"float32": 2.7e11, "int8": 1.1e12}
    """

    bandwidth: float | None
    peaks: Mapping[str, float | None] = field(default_factory=dict)

    def of(self, operand: str) -> Roof:
        unit = "FLOP" if operand.startswith(("float", "bfloat")) else "op"
        return Roof(self.peaks.get(operand), self.bandwidth, unit)


@dataclass(frozen=True)
class Kernel:
    """What one call does: operations of one type of operand, bytes that move, seconds."""

    name: str
    operations: float
    nbytes: float
    seconds: float
    operand: str = "float32"


@dataclass(frozen=True)
class Point:
    """Where a kernel stands under its roof.

    intensity : operations a byte; None where no byte moves
    rate      : operations a second, of `unit`
    traffic   : bytes a second
    bound     : "compute" or "memory"; None where that cannot be said
    roof      : the most operations a second at this intensity, or None
    share     : the part of the roof that is reached; of the bandwidth where nothing is computed
    note      : why the point is not like the others; empty otherwise
    """

    name: str
    unit: str
    intensity: float | None
    rate: float
    traffic: float
    bound: str | None = None
    roof: float | None = None
    share: float | None = None
    note: str = ""

    @property
    def drawable(self) -> bool:
        """Whether both logarithmic axes have a place for it."""
        return bool(self.intensity) and self.rate > 0

    @property
    def above(self) -> bool:
        """Whether it is faster than can be: something is counted or measured wrong."""
        return self.share is not None and self.share > SLACK


@dataclass(frozen=True)
class Refused:
    """A kernel that has no place, and the reason."""

    name: str
    reason: str


def place(kernel: Kernel, roofs: Roofs) -> Point | Refused:
    """The kernel's point; a measurement that can be none is refused, never dropped."""
    reason = _unusable(kernel)
    if reason:
        return Refused(kernel.name, reason)
    roof = roofs.of(kernel.operand)
    rate, traffic = kernel.operations / kernel.seconds, kernel.nbytes / kernel.seconds
    if not kernel.nbytes:
        note = "no byte moves: its intensity is undefined"
        return Point(kernel.name, roof.unit, None, rate, traffic, note=note)
    intensity = kernel.operations / kernel.nbytes
    bound, height = roof.bound(intensity), roof.height(intensity)
    share = rate / height if height else None
    if not kernel.operations:
        bound, share = MEMORY, traffic / roof.bandwidth if roof.bandwidth else None
    point = Point(kernel.name, roof.unit, intensity, rate, traffic, bound, height, share)
    return replace(point, note=_note(point, kernel, roof))


def _unusable(kernel: Kernel) -> str:
    """Why this is no measurement; empty when it is one."""
    for what in ("operations", "nbytes", "seconds"):
        value = getattr(kernel, what)
        if not math.isfinite(value) or value < 0:
            return f"{what.replace('nbytes', 'bytes')} is {value}"
    if not kernel.seconds:
        return "it took no time at all: too short for the clock"
    return "" if kernel.operations or kernel.nbytes else "it does nothing: no operation, no byte"


def _note(point: Point, kernel: Kernel, roof: Roof) -> str:
    if point.above:
        return ABOVE
    if not kernel.operations:
        return f"no {roof.unit}: it only moves bytes, {quantity(point.traffic, 'B/s')}"
    missing = f"{kernel.operand} has no peak here" if roof.peak is None else "no bandwidth is known"
    return "" if point.roof is not None else f"no roof: {missing}"


def limits(points: Iterable[Point], roofs: Iterable[Roof]) -> tuple[float, float]:
    """The intensities from which to which a roof is drawn: past each point and each ridge."""
    at = [p.intensity for p in points if p.drawable] + [r.ridge for r in roofs if r.ridge]
    if not at:
        return 0.1, 100.0
    return min(at) / 4, max(at) * 4


_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def quantity(value: float, unit: str) -> str:
    """A quantity with three digits and a decimal prefix.

    >>> quantity(20e9, "B/s")
    '20 GB/s'
    """
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor * 0.9995:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"
