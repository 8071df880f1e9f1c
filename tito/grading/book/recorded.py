"""What nbgrader's grade book records of a module's cells."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tito.notebook import Cell, Notebook, write_ipynb
from tito.release.version import checksum, locked
from tito.strip import clear_outputs, strip_solutions

GRADE_CELL, SOLUTION_CELL, TASK_CELL = "GradeCell", "SolutionCell", "TaskCell"


@dataclass(frozen=True)
class RecordedCell:
    """A cell of the master as nbgrader's tables hold it, named by its grade_id.

    source, checksum : with solutions stripped and hidden tests kept; a task that is not locked has
        no checksum
    """

    name: str
    cell_type: str
    graded: bool
    solution: bool
    task: bool
    locked: bool
    max_score: float
    source: str
    checksum: str | None

    @property
    def kinds(self) -> list[str]:
        """The tables it has a row in: an answer with points is both a grade and a solution cell."""
        kinds = ((GRADE_CELL, self.graded), (SOLUTION_CELL, self.solution), (TASK_CELL, self.task))
        return [kind for kind, holds in kinds if holds]


def recorded(master: Notebook) -> list[RecordedCell]:
    """The cells that `nbgrader generate_assignment` writes into the grade book, in order."""
    cells = clear_outputs(strip_solutions(master)).cells
    return [_recorded(c) for c in cells if c.grade_id and _has_a_row(c)]


def _has_a_row(cell: Cell) -> bool:
    return cell.graded or cell.solution or cell.task or locked(cell)


def _recorded(cell: Cell) -> RecordedCell:
    return RecordedCell(
        name=cell.grade_id or "",
        cell_type=cell.kind,
        graded=cell.graded,
        solution=cell.solution,
        task=cell.task,
        locked=locked(cell),
        max_score=float(cell.points or 0),
        source=cell.source,
        checksum=checksum(cell) if cell.graded or cell.solution or locked(cell) else None,
    )


def kernelspec(master: Notebook) -> str:
    """The kernel as nbgrader stores it: that of the notebook we build."""
    return json.dumps(
        json.loads(write_ipynb(Notebook([], master.metadata)))["metadata"]["kernelspec"]
    )
