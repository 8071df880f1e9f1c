"""Two reports of `tito bench`: what changed between them, told from noise.

Two runs never read alike: the machine itself is faster or slower in one, and a process can be lucky
all its life. The peers tell how much. Nobody edited NumPy in between, so whatever its times did is
the machine's doing:

    drift   the median factor by which the peers' times changed; it is divided out of every row
    floor   the largest distance of a peer from that drift: changes up to it are noise

A row has changed when it moved by more than the floor, and the bands (10th to 90th percentile) of
both runs do not overlap once the drift is out. With fewer than two peers there is no floor, and the
text says so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tito.bench.export import VERSION
from tito.errors import UserError

FASTER, SLOWER, SAME, UNCLEAR = "faster", "slower", "same", "unclear"
LEAST_PEERS = 2
# Smaller changes are not worth a word, whatever the bands say.
LEAST_CHANGE = 1.02
# What a reader must know to be equal before two times mean the same.
FACTS = ("cpu", "cores", "system", "blas", "blas_core", "python", "numpy", "features")

Key = tuple[str, str, str]  # workload, size, rung


@dataclass(frozen=True)
class Change:
    """One row that was timed in both.

    ratio   : how many times as fast it is in the second, the drift divided out
    low     : the same from the ends of both bands that are nearest, high from the farthest
    verdict : "faster", "slower", "same" (the bands overlap or the floor is not passed) or
              "unclear" (no floor is known, and only the bands speak)
    """

    key: Key
    seconds: tuple[float, float]
    ratio: float
    low: float
    high: float
    verdict: str
    is_peer: bool


@dataclass(frozen=True)
class Comparison:
    """Everything that two reports say of one another.

    drift       : the factor by which the peers' times grew; None with too few of them
    floor       : the largest factor by which a peer left the drift; None with too few of them
    only        : for each of the two, rows that only it timed, with the reason of the other
    differences : facts that differ, as (what, in the first, in the second)
    """

    changes: tuple[Change, ...]
    drift: float | None
    floor: float | None
    only: tuple[tuple[tuple[Key, str], ...], tuple[tuple[Key, str], ...]]
    differences: tuple[tuple[str, Any, Any], ...]

    def those(self, verdict: str) -> list[Change]:
        return [c for c in self.changes if c.verdict == verdict and not c.is_peer]


def read(path: Path) -> dict[str, Any]:
    """A report that `tito bench --json` wrote; UserError for any other file."""
    hint = "tito bench --json FILE writes one"
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError("no such file", path=path, code=2, hint=hint) from None
    except (OSError, ValueError) as error:
        raise UserError(f"no report of tito bench: {error}", path=path, hint=hint) from None
    if not isinstance(document, dict) or "results" not in document:
        raise UserError("no report of tito bench: it has no results", path=path, hint=hint)
    if document.get("version") != VERSION:
        found = document.get("version")
        raise UserError(f"a report of version {found!r}, this tito reads {VERSION}", path=path)
    try:
        for _, row in _rows(document):
            _timed(row), row["library"]
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"a damaged report: {error!r}", path=path, hint=hint) from None
    return document


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """What changed from one report to the other, row by row."""
    old, new = dict(_rows(before)), dict(_rows(after))
    both = [key for key in new if key in old and _timed(old[key]) and _timed(new[key])]
    moved = {key: _median(new[key]) / _median(old[key]) for key in both if new[key]["library"]}
    drift = floor = None
    if len(moved) >= LEAST_PEERS:
        drift = math.exp(float(np.median(np.log(list(moved.values())))))
        floor = max(math.exp(abs(math.log(factor / drift))) for factor in moved.values())
    changes = [_change(key, old[key], new[key], drift or 1.0, floor) for key in both]
    only = (_only(old, new), _only(new, old))
    return Comparison(tuple(changes), drift, floor, only, tuple(_differences(before, after)))


def _rows(report: Mapping[str, Any]) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    for table in report["results"]:
        for row in table["rows"]:
            yield (table["workload"], table["size"], row["rung"]), row


def _timed(row: Mapping[str, Any]) -> bool:
    return bool(row.get("samples_s")) and row["left_out"] is None


def _median(row: Mapping[str, Any]) -> float:
    return float(np.median(row["samples_s"]))


def _change(
    key: Key,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    drift: float,
    floor: float | None,
) -> Change:
    before = np.percentile(old["samples_s"], (10, 50, 90)) * drift
    after = np.percentile(new["samples_s"], (10, 50, 90))
    ratio, low, high = before[1] / after[1], before[0] / after[2], before[2] / after[0]
    verdict = SAME
    if max(ratio, 1 / ratio) > max(floor or 1.0, LEAST_CHANGE) and not low <= 1 <= high:
        verdict = UNCLEAR if floor is None else FASTER if ratio > 1 else SLOWER
    seconds = (_median(old), _median(new))
    return Change(
        key, seconds, float(ratio), float(low), float(high), verdict, bool(new["library"])
    )


def _only(one: Mapping[Key, Any], other: Mapping[Key, Any]) -> tuple[tuple[Key, str], ...]:
    """Rows that one timed and the other did not, and what the other says of them."""
    found = []
    for key, row in one.items():
        if _timed(row) and not (key in other and _timed(other[key])):
            reason = other[key]["left_out"] if key in other else None
            found.append((key, reason or "it is not there"))
    return tuple(found)


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator:
    ours, theirs = _conditions(before), _conditions(after)
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield name, ours.get(name), theirs.get(name)


def _conditions(report: Mapping[str, Any]) -> dict[str, Any]:
    """What a report was measured with and on, by name."""
    machine = report.get("machine", {})
    return {
        **{name: report.get(name) for name in ("threads", "clock", "tito")},
        **{name: machine.get("facts", {}).get(name) for name in FACTS},
        "numba": machine.get("numba"),
        **machine.get("peers", {}),
    }
