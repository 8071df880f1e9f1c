"""`tito roofline`: the roofs that were measured, and where each kernel stands below them."""

from __future__ import annotations

import json
from typing import Any

from tito.bench.export import VERSION
from tito.bench.results import Machine, Report, Row, Table
from tito.bench.roofline import Point, quantity
from tito.bench.sizes import shown
from tito.bench.table import core_warning, machine_line
from tito.bench.workload import DTYPE
from tito.machine.caches import size_text


def text(report: Report) -> str:
    """Both tables, and the machine's line."""
    parts = [roofs_text(report.machine), points_text(report), machine_line(report.machine)]
    warning = core_warning(report.machine)
    return "\n\n".join([*parts, *([warning] if warning else [])])


def roofs_text(machine: Machine) -> str:
    """Peaks by the width of the vectors, bandwidths by level, and where they meet."""
    peaks = machine.peaks
    if peaks.missing or not peaks.by_width:
        return peaks.missing or "no roof was measured"
    cores = f" of {machine.threads} cores" if machine.threads > 1 else " of one core"
    lines = [f"roofs{cores}, measured now"]
    for width, rate in peaks.by_width.items():
        lines.append(
            f"  {int(width):4d} bit vectors  {quantity(machine.times(rate), 'FLOP/s'):>12s}"
        )
    peak = peaks.flops(DTYPE)
    lines.append("  level     holds       read        copy        meets the peak at")
    for level, rate in peaks.bandwidth.items():
        holds = size_text(peaks.holds[level]) if level in peaks.holds else "more"
        read = quantity(machine.times(rate), "B/s")
        copied = quantity(machine.times(peaks.copying[level]), "B/s")
        ridge = f"{peak / max(rate, peaks.copying[level]):.3g} FLOP a byte"
        lines.append(f"  {level:8s}  {holds:>6s}  {read:>10s}  {copied:>10s}  {ridge}")
    return "\n".join(lines)


def points_text(report: Report) -> str:
    """A line for each rung and size: its place under the roof, and what holds it there."""
    rows = [(t, r, t.point(r, report.machine)) for t in report.tables for r in t.timed]
    if not rows:
        return "nothing was timed"
    names = [f"{t.workload.name} {shown(t.dims)} {r.name}" for t, r, _ in rows]
    wide = max(map(len, names))
    lines = [f"  {'':{wide}s}  FLOP/byte          rate          roof   % roof  below"]
    for name, (table, row, point) in zip(names, rows):
        lines.append(f"  {name:{wide}s}  {_cells(table, row, point, report.machine)}")
    left_out = [
        f"  {t.workload.name} {shown(t.dims)} {r.name}: {r.left_out}"
        for t in report.tables
        for r in t.rows
        if not r.timed
    ]
    return "\n".join([*lines, *(["left out:", *left_out] if left_out else [])])


def _cells(table: Table, row: Row, point: Point, machine: Machine) -> str:
    limit = table.limit(machine)
    intensity = "-" if not table.work.flops else f"{point.intensity:.3g}"
    roof = quantity(limit, table.unit) if limit else "-"
    share = "-" if point.share is None else f"{100 * point.share:.2g}" + "!" * point.above
    rate = quantity(table.rate(row), table.unit)
    return (
        f"{intensity:>9s}  {rate:>12s}  {roof:>12s}  {share:>7s}  {_below(table, point, machine)}"
    )


def _below(table: Table, point: Point, machine: Machine) -> str:
    """The name of the roof: a level of memory, or the peak."""
    if point.bound == "compute":
        return "the peak"
    return table.level(machine) or "-"


def to_json(report: Report) -> str:
    """Roofs and points for programs."""
    peaks, machine = report.machine.peaks, report.machine
    document: dict[str, Any] = {
        "version": VERSION,
        "threads": machine.threads,
        "machine": {k: v for k, v in machine.said.items() if k != "event"},
        "peak_flops": machine.times(peaks.flops(DTYPE)),
        "bandwidth": {name: machine.times(rate) for name, rate in peaks.bandwidth.items()},
        "points": [_point(table, row, machine) for table in report.tables for row in table.timed],
    }
    return json.dumps(document, indent=1) + "\n"


def _point(table: Table, row: Row, machine: Machine) -> dict[str, Any]:
    point = table.point(row, machine)
    return {
        "workload": table.workload.name,
        "size": shown(table.dims),
        "rung": row.name,
        "library": row.library,
        "seconds": row.seconds,
        "flops": table.work.flops,
        "bytes": table.work.nbytes,
        "intensity": point.intensity,
        "rate": point.rate,
        "traffic": point.traffic,
        "bound": point.bound,
        "level": table.level(machine),
        "roof": point.roof,
        "share": point.share,
        "note": point.note,
    }
