"""The student version of a module, the same for the kit and for nbgrader's `release/` tree."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tito import strip
from tito.notebook import Cell, Notebook, write_ipynb


def student_ipynb(master: Notebook) -> str:
    """The notebook that students get, as text: no answers, locked where nbgrader locks.

    It is what `nbgrader generate_assignment` makes of the master, checksums included, without
    the pairing with the author's source.
    """
    return as_released(strip.student_version(master))


def as_released(student: Notebook) -> str:
    """A stripped notebook as text, with nbgrader's checksums and locks."""
    cells = [
        Cell(
            c.kind, c.source, {**c.metadata, "nbgrader": _stamped(c)} if c.nbgrader else c.metadata
        )
        for c in student.cells
    ]
    document = json.loads(write_ipynb(Notebook(cells)))
    for entry, cell in zip(document["cells"], cells):
        entry["metadata"].update(locks(cell))
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def locks(cell: Cell) -> dict[str, bool]:
    """What Jupyter lets students do with a cell, by nbgrader's rule."""
    if cell.solution:
        return {"deletable": False}
    if locked(cell):
        return {"deletable": False, "editable": False}
    return {}


def locked(cell: Cell) -> bool:
    """Whether nbgrader puts its own text of the cell back when it grades."""
    return not cell.solution and (cell.graded or cell.nbgrader.get("locked") is True)


def _stamped(cell: Cell) -> dict[str, Any]:
    """The nbgrader metadata with the checksum by which `nbgrader validate` sees an edit."""
    if not (cell.solution or locked(cell)) or not cell.grade_id:
        return cell.nbgrader
    return {**cell.nbgrader, "checksum": checksum(cell), "cell_type": cell.kind}


def checksum(cell: Cell) -> str:
    """nbgrader's checksum of a cell: its text, type, place in the scheme and points."""
    parts = [
        cell.source,
        cell.kind,
        str(cell.graded),
        str(cell.solution),
        str(locked(cell)),
        str(cell.grade_id),
    ]
    if cell.graded:
        parts.append(str(float(cell.nbgrader["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()
