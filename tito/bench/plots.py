"""Pictures of what was measured: a ladder, a sweep of sizes and a roofline for each workload.

matplotlib is imported when something is drawn, never before.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tito.bench.results import Machine, Report, Row, Table
from tito.bench.roofline import Point, Roof, limits
from tito.bench.sizes import shown
from tito.bench.table import machine_line
from tito.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
DEFAULT = "bench.png"
# Okabe and Ito's colours, which colour-blind readers tell apart; every series has its own mark too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = "osD^vP*X"
PEER_LINE = "--"
ROOF_COLOUR = "#666666"


def plot(report: Report, path: Path) -> bytes:
    """The pictures of a report, in the format that the file's name asks for."""
    check_name(path)
    picture = draw(report)
    out = io.BytesIO()
    # A picture of the same numbers is the same file.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    picture.savefig(out, format=path.suffix[1:].lower(), dpi=110, metadata=metadata)
    return out.getvalue()


def check_name(path: Path) -> None:
    """UserError for a format that is none; asked before anything is measured."""
    if path.suffix.lower() not in FORMATS:
        raise UserError(
            f"a picture ends in {', '.join(FORMATS)}", path=path, code=2, hint=f"--plot {DEFAULT}"
        )
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise UserError(
            "pictures are drawn by matplotlib, which this Python does not have",
            hint="pip install matplotlib, or take --csv",
        ) from None


def draw(report: Report) -> Figure:
    """A row of three pictures for each workload that was timed."""
    from matplotlib.figure import Figure

    groups = _by_workload(report)
    figure = Figure(figsize=(16, 1 + 4.2 * max(len(groups), 1)), layout="constrained")
    axes = figure.subplots(max(len(groups), 1), 3, squeeze=False)
    for (ladder, sweep, roofline), tables in zip(axes, groups):
        styles = _styles(tables)
        # The size at which most rungs are there: the slow ones leave the large sizes out.
        fullest = max(tables, key=lambda t: (len(t.timed), t.work.nbytes))
        draw_ladder(ladder, fullest, styles, report.machine)
        draw_sweep(sweep, tables, styles)
        draw_roofline(roofline, tables, styles, report.machine)
    if not groups:
        axes[0][1].set_title("nothing was timed")
    figure.supxlabel(machine_line(report.machine), fontsize=8)
    return figure


def _by_workload(report: Report) -> list[list[Table]]:
    """The tables with a time, by workload, the smaller work first."""
    found: dict[str, list[Table]] = {}
    for table in report.tables:
        if table.timed:
            found.setdefault(table.workload.name, []).append(table)
    return [sorted(tables, key=lambda t: t.work.nbytes) for tables in found.values()]


def _styles(tables: Sequence[Table]) -> dict[str, dict]:
    """Colour, mark and line of each rung, the same in all pictures of a workload."""
    rows = {row.name: row for table in tables for row in table.timed}
    return {
        name: {
            "color": COLOURS[i % len(COLOURS)],
            "marker": MARKS[i % len(MARKS)],
            "linestyle": PEER_LINE if row.library else "-",
            "label": name,
        }
        for i, (name, row) in enumerate(rows.items())
    }


def draw_ladder(axes: Axes, table: Table, styles: dict[str, dict], machine: Machine) -> None:
    """The rates of one size, slowest first as the course climbs, under the roof."""
    rows = table.timed
    for place, row in enumerate(rows):
        rate = table.rate(row) / 1e9
        style = {k: v for k, v in styles[row.name].items() if k in ("color", "marker")}
        axes.hlines(place, 0, rate, color=style["color"], linewidth=1, alpha=0.5)
        axes.errorbar(rate, place, xerr=_errors(table, row), capsize=2, **style)
        axes.annotate(f"{rate:.3g}", (rate, place), (0, 6), textcoords="offset points", fontsize=8)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.7)
    axes.set_xscale("log")
    limit = table.limit(machine)
    if limit:
        axes.axvline(limit / 1e9, color=ROOF_COLOUR, linestyle=":")
        axes.annotate("roof ", (limit / 1e9, -0.5), ha="right", fontsize=8, color=ROOF_COLOUR)
    slowest = min(table.rate(row) for row in rows) / 1e9
    fastest = max([*(table.rate(row) for row in rows), limit or 0.0]) / 1e9
    axes.set_xlim(slowest / 3, fastest * 3)
    axes.set_xlabel(f"G{table.unit}, with the 10th to 90th percentile")
    axes.set_title(f"{table.workload.name} {shown(table.dims)}: the ladder")


def _errors(table: Table, row: Row) -> np.ndarray:
    """Distances of the 10th and the 90th percentile from the median rate, (2, 1)."""
    work = (table.work.flops or table.work.nbytes) / 1e9
    low, middle, high = (work / row.percentile(p) for p in (90, 50, 10))
    return np.array([[middle - low], [high - middle]])


def draw_sweep(axes: Axes, tables: Sequence[Table], styles: dict[str, dict]) -> None:
    """Rate against size: a line for each rung."""
    for name, style in styles.items():
        points = [(t, row) for t in tables for row in t.timed if row.name == name]
        across = [t.work.nbytes for t, _ in points]
        axes.plot(across, [t.rate(row) / 1e9 for t, row in points], **style)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    named = _apart(tables)
    axes.set_xticks([t.work.nbytes for t in named], [shown(t.dims) for t in named], fontsize=7)
    axes.tick_params("x", rotation=20)
    axes.minorticks_off()
    axes.set_xlabel("size, by the bytes of inputs and result")
    axes.set_ylabel(f"G{tables[0].unit}")
    axes.set_title("by size (dashed: peers)")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.3)


def _apart(tables: Sequence[Table]) -> list[Table]:
    """Those whose names, written below an axis of sizes, do not cover one another."""
    found = [tables[0]]
    for table in tables[1:]:
        if table.work.nbytes > 1.3 * found[-1].work.nbytes:
            found.append(table)
    return found


def draw_roofline(
    axes: Axes, tables: Sequence[Table], styles: dict[str, dict], machine: Machine
) -> None:
    """The measured roofs of this machine, and where each rung stands below them."""
    drawn = [(row.name, table.point(row, machine)) for table in tables for row in table.timed]
    drawn = [(name, point) for name, point in drawn if point.drawable]
    if not drawn:
        _draw_bandwidths(axes, tables, styles, machine)
        return
    peak = tables[0].peak(machine)
    if peak:
        _draw_roofs(axes, [point for _, point in drawn], machine, peak)
    for name in dict.fromkeys(name for name, _ in drawn):
        points = [point for other, point in drawn if other == name]
        style = {**styles[name], "linestyle": "none"}
        axes.plot([p.intensity for p in points], [p.rate / 1e9 for p in points], **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"{tables[0].counted} a byte, each array moved once")
    axes.set_ylabel(f"G{tables[0].unit}")
    axes.set_title(
        "under this machine's roofs"
        if peak
        else f"no peak of {tables[0].workload.operand} is known"
    )
    axes.grid(alpha=0.3)


def _draw_roofs(axes: Axes, points: Sequence[Point], machine: Machine, peak: float) -> None:
    """The slopes of all levels of memory, up to the peak; an infinite one is not drawn."""
    slopes = [(name, rate) for name, rate in _bandwidths(machine) if rate]
    finite = math.isfinite(peak)
    left, right = limits(points, [Roof(peak if finite else None, rate) for _, rate in slopes])
    across = np.geomspace(left, right, 60)
    for number, (name, rate) in enumerate(slopes):
        heights = np.minimum(peak, rate * across) / 1e9
        axes.plot(across, heights, color=ROOF_COLOUR, linewidth=1)
        at = 2 * number  # one beside the other, or their names would cover each other
        axes.annotate(name, (across[at], heights[at]), fontsize=7, color=ROOF_COLOUR)
    for words, rate in _told_apart(machine.peaks.by_width) if finite else ():
        height = machine.times(rate) / 1e9
        axes.plot(across[-15:], [height] * 15, color=ROOF_COLOUR, linestyle=":")
        axes.annotate(words, (right, height), ha="right", va="bottom", fontsize=7)


def _bandwidths(machine: Machine) -> list[tuple[str, float]]:
    """Of each level the better one of reading and copying, as the points' roofs are."""
    peaks = machine.peaks
    both = [(name, max(rate, peaks.copying[name])) for name, rate in peaks.bandwidth.items()]
    return [(name, machine.times(rate)) for name, rate in both]


def _told_apart(by_width: Mapping[Any, float]) -> list[tuple[str, float]]:
    """The peaks by vector width, those that are one line in a picture as one."""
    found: list[tuple[list[int], float]] = []
    for width, rate in sorted((int(w), rate) for w, rate in by_width.items()):
        if found and rate < 1.1 * found[-1][1]:
            found[-1][0].append(width)
        else:
            found.append(([width], rate))
    return [(f"{', '.join(map(str, widths))} bit", rate) for widths, rate in found]


def _draw_bandwidths(
    axes: Axes, tables: Sequence[Table], styles: dict[str, dict], machine: Machine
) -> None:
    """For a workload without arithmetic: bytes a second against the bandwidth of each level."""
    for name, style in styles.items():
        points = [
            (t.work.nbytes, t.rate(r) / 1e9) for t in tables for r in t.timed if r.name == name
        ]
        axes.plot(*zip(*points), **style)
    for number, (level, rate) in enumerate(_bandwidths(machine)):
        height = rate / 1e9
        axes.axhline(height, color=ROOF_COLOUR, linestyle=":")
        at = (0.01 + 0.06 * number, height)
        axes.annotate(level, at, xycoords=("axes fraction", "data"), fontsize=7, va="bottom")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("bytes of input and result")
    axes.set_ylabel("GB/s")
    axes.set_title("no arithmetic counted: under the bandwidths")
    axes.grid(alpha=0.3)
