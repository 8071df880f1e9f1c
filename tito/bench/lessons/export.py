"""Lessons for programs: JSON with every sample, CSV with one line a lesson."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

from tito import __version__
from tito.bench.lessons.lesson import Outcome
from tito.bench.lessons.table import Found
from tito.bench.results import Machine

VERSION = 1
_COLUMNS = (
    "set",
    "lesson",
    "compared",
    "ratio",
    "spread",
    "lowest",
    "highest",
    "band_low",
    "band_high",
    "holds",
    "left_out",
)


def to_json(found: Found, machine: Machine) -> str:
    """Version 1 of the lessons' JSON."""
    document = {
        "version": VERSION,
        "tito": __version__,
        "clock": machine.clock,
        "machine": dict(machine.said),
        "holds": not any(o.outside for outcomes in found.values() for o in outcomes),
        "lessons": [_row(name, o) for name, outcomes in found.items() for o in outcomes],
    }
    return json.dumps(document, indent=1) + "\n"


def to_csv(found: Found) -> str:
    """What is unknown, or has no end, is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, _COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for name, outcomes in found.items():
        for outcome in outcomes:
            row = {k: "" if v is None else v for k, v in _row(name, outcome).items()}
            writer.writerow(row)
    return out.getvalue()


def _row(name: str, outcome: Outcome) -> dict[str, Any]:
    lesson, measured = outcome.lesson, outcome.measured
    high = lesson.band.high
    return {
        "set": name,
        "lesson": lesson.name,
        "compared": lesson.compared,
        "ratio": outcome.median if measured else None,
        "spread": outcome.spread if measured else None,
        "lowest": min(outcome.ratios, default=None),
        "highest": max(outcome.ratios, default=None),
        "ratios": list(outcome.ratios),
        "samples": [list(samples) for samples in outcome.samples],
        "band_low": lesson.band.low,
        "band_high": None if math.isinf(high) else high,
        "band_why": lesson.band.why,
        "holds": not outcome.outside if measured else None,
        "left_out": lesson.left_out,
    }
