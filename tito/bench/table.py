"""The tables that `tito bench` prints: plain ASCII, at most as wide as the terminal allows."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tito.bench.results import Band, Machine, Report, Row, Table
from tito.bench.roofline import ABOVE, COMPUTE, quantity
from tito.machine.timer import seconds_text

NARROWEST, WIDEST = 100, 120
BUSY = 0.5  # a spread by the wall clock that says more of other programs than of the rung
_HEADS = ("p50", "p95", "p99")


def text(report: Report, width: int = 110) -> str:
    """All tables, below them the machine's line and what the columns mean."""
    width = min(max(width, NARROWEST), WIDEST)
    layout = Layout.of(report, width)
    parts = [table_text(table, report.machine, layout) for table in report.tables]
    parts.append(wrapped(machine_line(report.machine), width))
    parts.append(wrapped(legend(report), width))
    warning = core_warning(report.machine)
    return "\n\n".join([*parts, *([wrapped(warning, width)] if warning else [])])


@dataclass(frozen=True)
class Layout:
    """Widths that all tables of a report share: of the names, of each column, of the page."""

    names: int
    columns: tuple[int, ...]
    page: int
    gap: str = "  "

    @classmethod
    def of(cls, report: Report, page: int) -> Layout:
        lines = [
            cells
            for table in report.tables
            for cells in (heads(table), *(_cells(table, r, report.machine) for r in table.timed))
        ]
        names = max((len(row.name) for table in report.tables for row in table.rows), default=0)
        wide = cls(names, tuple(max(map(len, column)) for column in zip(*lines)), page)
        fits = 2 + names + sum(len(wide.gap) + column for column in wide.columns) <= page
        return wide if fits else replace(wide, gap=" ")

    def line(self, name: str, cells: list[str]) -> str:
        padded = [f"{cell:>{wide}}" for cell, wide in zip(cells, self.columns)]
        return self.gap.join([f"  {name:<{self.names}}", *padded])


def heads(table: Table) -> list[str]:
    """The columns' names."""
    rate = f"G{table.unit}"
    return [*_HEADS, rate, "% roof", "% peer", "x base", "spread", "thr"]


def table_text(table: Table, machine: Machine, layout: Layout) -> str:
    """One workload at one size."""
    lines = [wrapped(title(table, machine), layout.page)]
    if table.timed:
        lines.append(layout.line("", heads(table)))
    for row in table.rows:
        if row.timed:
            lines.append(layout.line(row.name, _cells(table, row, machine)))
        else:
            lines.append(_left_out(row, layout))
    return "\n".join([*lines, *(wrapped(note, layout.page) for note in notes(table, machine))])


def title(table: Table, machine: Machine) -> str:
    """How much work this is, and which roof it stands under."""
    work, limit = table.work, table.limit(machine)
    parts = [f"{table.workload.name} {' x '.join(map(str, table.dims))}"]
    if table.workload.detail:
        parts.append(table.workload.detail)
    if work.flops:
        parts.append(quantity(work.flops, table.counted))
    parts.append(quantity(work.nbytes, "B"))
    if work.flops:
        parts.append(f"{work.flops / work.nbytes:.3g} {table.counted} a byte")
    if table.workload.count:
        parts.append("from main memory" if table.cold else "from the caches")
    line = ", ".join(parts)
    if limit is None:
        return line
    return f"{line}; roof {quantity(limit, table.unit)}, {_roof_words(table, machine)}"


def _roof_words(table: Table, machine: Machine) -> str:
    """Which limit the roof is."""
    cores = f" of {machine.threads} cores" if machine.threads > 1 else ""
    roof = table.roofs(machine).of(table.workload.operand)
    bound = roof.bound(table.work.flops / table.work.nbytes)
    return f"the peak{cores}" if bound == COMPUTE else f"{table.level(machine)} bandwidth{cores}"


def _cells(table: Table, row: Row, machine: Machine) -> list[str]:
    point, peer = table.point(row, machine), table.peer
    return [
        *(seconds_text(row.percentile(percent)) for percent in (50, 95, 99)),
        f"{table.rate(row) / 1e9:.3g}",
        "-" if point.share is None else _percent(point.share) + "!" * point.above,
        "-" if peer is None else _percent(row.times_as_fast_as(peer)[1]),
        "base" if row is table.baseline else ratio_text(row.times_as_fast_as(table.baseline)),
        f"{row.spread:.0%}",
        str(machine.threads),
    ]


def _percent(share: float) -> str:
    """Two digits at least, so that a slow loop does not read as nothing."""
    return f"{share * 100:.2g}" if share < 0.1 else f"{share * 100:.0f}"


def ratio_text(band: Band) -> str:
    """A ratio and the band that its rounds lie in: "2.54 (2.52-2.57)"."""
    low, median, high = map(_three_digits, band)
    return f"{median} ({low}-{high})"


def _three_digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.3g}"


def _left_out(row: Row, layout: Layout) -> str:
    head = f"  {row.name:<{layout.names}}  "
    words = f"left out: {row.left_out}"
    return textwrap.fill(words, layout.page, initial_indent=head, subsequent_indent=" " * len(head))


def notes(table: Table, machine: Machine) -> list[str]:
    """What the reader should know of this table."""
    found = []
    if peer := table.peer:
        found.append(f"  peer: {peer.name}")
    if table.workload.count:
        found.append(f"  bytes a weight, and those a second: {_weights(table)}")
    if first := [row for row in table.timed if row.compiles]:
        words = ", ".join(f"{row.name} {seconds_text(row.first_call)}" for row in first)
        found.append(f"  first call, apart from the times (it compiles or loads): {words}")
    if over := table.above(machine):
        found.append(f"  ! {', '.join(over)}: {ABOVE}")
    if machine.threads > 1 and any(row.spread > BUSY for row in table.timed):
        found.append(
            "  the spread is large: other programs had the cores, which the wall clock counts; "
            "measure again when the machine is quiet"
        )
    if not [row for row in table.rows if not row.library]:
        found.append("  the package of this course folder has no kernel for it yet")
    return found


def _weights(table: Table) -> str:
    """What the weights of each row take, and how fast they were read."""
    count = table.workload.count(*table.dims)
    sizes = [(row, table.bytes_a_weight(row)) for row in table.timed]
    return ", ".join(
        f"{row.name} {size:.3g} at {quantity(size * count / row.seconds, 'B/s')}"
        for row, size in sizes
        if size is not None
    )


def machine_line(machine: Machine) -> str:
    """Where this was measured."""
    facts, said = machine.facts, machine.said
    parts = [
        facts.get("cpu") or "unknown CPU",
        f"{facts.get('cores') or '?'} cores",
        *([_caches(facts["caches"])] if facts.get("caches") else []),
        _blas(facts),
        f"Python {facts.get('python')}",
        f"NumPy {facts.get('numpy')}",
        f"Numba {said['numba']}" if said.get("numba") else "no Numba: no peak was measured",
        *(f"{n} {v}" for n, v in said.get("peers", {}).items() if n != "numpy"),
        f"clock: {machine.clock}",
    ]
    return "machine: " + ", ".join(parts)


def _blas(facts: Mapping[str, Any]) -> str:
    name, core = facts.get("blas") or "unknown BLAS", facts.get("blas_core")
    return f"{name} with {core} kernels" if core else name


def _caches(caches: list[Mapping[str, Any]]) -> str:
    return " ".join(f"L{c['level']} {_size(c['size'])}" for c in caches if c.get("size"))


def _size(nbytes: int) -> str:
    return f"{nbytes >> 20}M" if nbytes >= 1 << 20 else f"{nbytes >> 10}K"


def legend(report: Report) -> str:
    """What the columns mean."""
    rounds = max((len(r.samples) for t in report.tables for r in t.timed), default=0)
    text = (
        "Every result was checked first. p50 (the median), p95, p99: time of a call, over "
        f"{rounds} rounds in which all take turns. x base: how many times as fast as the base, "
        "its median and the 10th to 90th percentile of the rounds. spread: the distance of those "
        "percentiles of the times, over the median. thr: threads. All get the same float32 arrays "
        "in C order; each call allocates its result."
    )
    if any(table.workload.base for table in report.tables):
        text += (
            " But int8: arrays of bytes, which NumPy gets as float32; q4: weights that are packed "
            "as 4 bits each. That is done before the timing, and NumPy's product is the base."
        )
    if report.machine.threads > 1:
        text += (
            " Several threads are timed by the wall clock, which other programs disturb; "
            "the roof is that of one core times the threads."
        )
    return text


def core_warning(machine: Machine) -> str | None:
    """What to say where the environment keeps NumPy from its best kernels."""
    best, used = machine.hidden_core, machine.facts.get("blas_core")
    if best is None:
        return None
    return (
        f"WARNING: OPENBLAS_CORETYPE makes NumPy use the kernels {used}; this machine's best are "
        f"{best}, so NumPy looks slower here than it is. To measure against those: unset "
        "OPENBLAS_CORETYPE (PowerShell: Remove-Item Env:OPENBLAS_CORETYPE)"
    )


def wrapped(text: str, width: int) -> str:
    """In lines that are no longer, the second on further in than the first."""
    indent = len(text) - len(text.lstrip())
    return textwrap.fill(
        text,
        width,
        subsequent_indent=" " * max(indent + 2, 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
