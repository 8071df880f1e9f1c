"""Measurements for programs: JSON with everything, CSV with one line for each rung and size."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from tito import __version__
from tito.bench.results import Machine, Report, Row, Table
from tito.bench.sizes import shown

VERSION = 1
_COLUMNS = (
    "workload",
    "size",
    "rung",
    "library",
    "threads",
    "clock",
    "median_s",
    "p50_s",
    "p95_s",
    "p99_s",
    "spread",
    "rate",
    "unit",
    "share_of_roof",
    "share_of_peer",
    "ratio_low",
    "ratio",
    "ratio_high",
    "baseline",
    "peer",
    "first_call_s",
    "blas_core",
    "left_out",
)


def to_json(report: Report) -> str:
    """The bench JSON, version 1."""
    machine = report.machine
    document = {
        "version": VERSION,
        "tito": __version__,
        "threads": machine.threads,
        "clock": machine.clock,
        "libraries": list(report.libraries),
        "machine": {k: v for k, v in machine.said.items() if k != "event"},
        "results": [_table(table, machine) for table in report.tables],
    }
    return json.dumps(document, indent=1) + "\n"


def _table(table: Table, machine: Machine) -> dict[str, Any]:
    work, peer, baseline = table.work, table.peer, table.baseline
    return {
        "workload": table.workload.name,
        "size": shown(table.dims),
        "dims": dict(zip(table.workload.axes, table.dims)),
        "dtype": table.workload.operand,
        "order": "C",
        "flops": work.flops,
        "bytes": work.nbytes,
        "roof": table.limit(machine),
        "level": table.level(machine),
        "unit": table.unit,
        "baseline": baseline.name if baseline else None,
        "peer": peer.name if peer else None,
        "above_the_roof": table.above(machine),
        "rows": [_row(table, row, machine) for row in table.rows],
    }


def _row(table: Table, row: Row, machine: Machine) -> dict[str, Any]:
    said = {"rung": row.name, "library": row.library, "first_call_s": row.first_call}
    if not row.timed:
        return {**said, "left_out": row.left_out}
    return {
        **said,
        "left_out": None,
        "median_s": row.seconds,
        **{f"p{percent}_s": row.percentile(percent) for percent in (10, 50, 90, 95, 99)},
        "spread": row.spread,
        "rate": table.rate(row),
        "share_of_roof": table.point(row, machine).share,
        "share_of_peer": _band(row, table.peer),
        "ratio": _band(row, table.baseline),
        "bytes_a_weight": table.bytes_a_weight(row),
        "calls_a_window": row.calls,
        "samples_s": list(row.samples),
    }


def _band(row: Row, other: Row | None) -> dict[str, float] | None:
    if other is None:
        return None
    return dict(zip(("low", "median", "high"), row.times_as_fast_as(other)))


def to_csv(report: Report) -> str:
    """One line for each rung and size; what is unknown is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for table in report.tables:
        for row in table.rows:
            writer.writerow(_fields(table, row, report.machine))
    return out.getvalue()


def _fields(table: Table, row: Row, machine: Machine) -> dict[str, Any]:
    """A row of the JSON, flat."""
    whole, found = _table(table, machine), _row(table, row, machine)
    ratio, peer = found.pop("ratio", None) or {}, found.pop("share_of_peer", None) or {}
    fields = {
        **{name: whole[name] for name in ("workload", "size", "unit", "baseline", "peer")},
        **found,
        "threads": machine.threads,
        "clock": machine.clock,
        "blas_core": machine.facts.get("blas_core"),
        "share_of_peer": peer.get("median"),
        "ratio_low": ratio.get("low"),
        "ratio": ratio.get("median"),
        "ratio_high": ratio.get("high"),
    }
    return {name: "" if fields.get(name) is None else fields[name] for name in _COLUMNS}
