"""What was collected, for people and for programs."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tito.grading.collect.dividing import other_module
from tito.grading.collect.rows import NEW, NEWER, UNCHANGED, UNMATCHED, Collection, Row
from tito.grading.judge.result import AMBIGUOUS, MISSING
from tito.grading.wording import counted, hanging

VERSION = 1
MOST_PASSED = 8
NARROWEST = 60


def table(collection: Collection, width: int | None = None) -> str:
    """A row for each student and module, then for each hand-in of nobody."""
    width = max(width or shutil.get_terminal_size((110, 24)).columns, NARROWEST)
    heads = [("student", "module", "state", "late")]
    heads += [(_who(r), r.module, r.state, _late(r)) for r in collection.rows]
    heads = [tuple(_cut(cell, 32) for cell in head) for head in heads]
    widths = [max(len(head[i]) for head in heads) for i in range(4)]
    texts = ["what to know", *(_text(r) for r in collection.rows)]
    lines = []
    for head, text in zip(heads, texts):
        start = "  ".join(f"{cell:<{w}}" for cell, w in zip(head, widths)) + "  "
        lines += hanging(start, text, width)
    return "\n".join(lines)


def _who(row: Row) -> str:
    return row.student.given_id if row.student else row.found


def _late(row: Row) -> str:
    return row.late if row.late != "in time" else ""


def _text(row: Row) -> str:
    return "; ".join(_one_line(t) for t in (row.why, *row.remarks) if t)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 1)] + "..."


def closing(collection: Collection, dry_run: bool = False, words: str = "") -> str:
    """The sums, what waits for a person with all there is to say, and what was passed over.

    words : the options that this call had, for the commands that are named
    """
    lines = [_sums(collection.rows)]
    if dry_run:
        lines.append("nothing was written (--dry-run)")
    lines += _waiting(collection, words)
    litter = sum(p.litter for p in collection.passed)
    telling = [p for p in collection.passed if not p.litter]
    if telling:
        lines.append("passed over:")
        lines += [f"  {p.path}: {p.why}" for p in telling[:MOST_PASSED]]
        more = len(telling) - MOST_PASSED
        lines += [f"  and {more} more: --json names them all"] if more > 0 else []
    if litter:
        lines.append(f"not taken, left behind by editors or systems: {counted(litter, 'file')}")
    return "\n".join(lines)


def _sums(rows: Iterable[Row]) -> str:
    counts = Counter(row.state for row in rows)
    first = [NEW, NEWER, UNCHANGED, MISSING]
    states = [s for s in first if counts[s]] + sorted(s for s in counts if s not in first)
    return ", ".join(f"{counts[s]} {s}" for s in states) or "nobody handed in"


def _waiting(collection: Collection, words: str) -> list[str]:
    rows = [row for row in collection.rows if row.waits]
    if not rows:
        return []
    lines = ["for you to settle:"]
    for row in rows:
        module = f" ({row.module})" if row.module else ""
        lines.append(f"  {_who(row)}{module}: {row.state}, {_text(row)}")
    return lines + _how_to_settle(rows, words)


def _how_to_settle(rows: list[Row], words: str) -> list[str]:
    """What to type for each kind of open question."""
    lines = []
    nobodys = [row for row in rows if row.state == UNMATCHED and row.student is None]
    if nobodys:
        name = nobodys[0].found
        lines.append(f'  whose: tito grade collect --as "{name}=ID"{words} (ID - sets it aside)')
    of_no_module = [row for row in rows if row.state == UNMATCHED and row.student]
    others = [row for row in of_no_module if other_module(row.why)]
    if len(others) < len(of_no_module):
        lines.append(f"  which module: tito grade collect --module NN{words}")
    if others:
        module = other_module(others[0].why)
        call = f"tito grade collect --module {module}{words}"
        lines.append(f"  of another module: {call} counts it there;")
        lines.append(
            f'    tito grade collect --as "{others[0].found}=-"{words} sets this one aside'
        )
    if any(row.state == AMBIGUOUS for row in rows):
        lines.append(f"  which notebook: tito grade collect THE_FILE --module NN --as ID{words}")
    if newer := next((row for row in rows if row.newer_broken), None):
        place = f"inbox/{newer.module}/{newer.student.id}"
        lines.append(f"  which hand-in counts: to begin with _, rename what should not in {place},")
        lines.append(f"    then tito grade collect --module {newer.module}{words}")
    return lines


def to_json(collection: Collection, dry_run: bool = False) -> str:
    """Everything: rows, hand-ins of nobody, what was passed over."""
    known = [row for row in collection.rows if row.student and row.state != UNMATCHED]
    others = [row for row in collection.rows if not row.student or row.state == UNMATCHED]
    document = {
        "version": VERSION,
        "dry_run": dry_run,
        "modules": collection.modules,
        "rows": [_row(row) for row in known],
        "unmatched": [_row(row) for row in others],
        "passed_over": [{"path": p.path, "why": p.why} for p in collection.passed],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        "student": row.student.id if row.student else None,
        "id": row.student.given_id if row.student else None,
        "name": row.student.name if row.student else None,
        "module": row.module or None,
        "state": row.state,
        "found": row.found or None,
        "platform": row.platform or None,
        "handed_in": row.handed_in.isoformat() if row.handed_in else None,
        "time_from": row.time_from or None,
        "late": row.late or None,
        "why": row.why or None,
        "remarks": row.remarks,
    }
