"""A module of every kind of cell, hand-ins for it, and class folders that hold them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tito.grading.classroom import Classroom, write_timestamp
from tito.grading.store import Store
from tito.grading.times import parse_time
from tito.notebook import Notebook, read_ipynb, read_py, write_ipynb
from tito.notebook.points import as_number
from tito.release.version import student_ipynb

NAME = "07_sums"


def _cell_line(grade_id: str, kind: str, points: float | None = None, hidden: bool = False) -> str:
    """What follows `# %%`: nbgrader's metadata, and the tags of a test."""
    own = {
        "grade": kind in ("test", "answer"),
        "grade_id": grade_id,
        "locked": kind not in ("solution", "answer"),
        **({} if points is None else {"points": points}),
        "schema_version": 3,
        "solution": kind in ("solution", "answer"),
        "task": kind == "task",
    }
    tags = [
        *(["hidden-tests"] if hidden else []),
        *(["raises-exception"] if kind == "test" else []),
    ]
    return f"nbgrader={json.dumps(own)}" + (f" tags={json.dumps(tags)}" if tags else "")


MASTER = f'''\
# %% [markdown]
"""
# 07 Sums
"""

# %% {_cell_line("given", "given")}
three = 3

# %% {_cell_line("total", "solution")}
def total(values):
    """The sum of the values."""
    ### BEGIN SOLUTION
    return sum(values)
    ### END SOLUTION

# %% {_cell_line("total-test", "test", 2)}
assert total([1, 2]) == three, "total([1, 2]) is not 3"

# %% {_cell_line("total-hidden", "test", 0.5, hidden=True)}
### BEGIN HIDDEN TESTS
assert total([]) == 0
### END HIDDEN TESTS

# %% {_cell_line("mean", "solution")}
def mean(values):
    """The mean of the values."""
    ### BEGIN SOLUTION
    return sum(values) / len(values)
    ### END SOLUTION

# %% {_cell_line("mean-test", "test", 1)}
assert mean([1, 3]) == 2
0.25 if mean([0, 1]) == 0 else 1

# %% {_cell_line("own", "answer", 1)}
# A program of your own.
### BEGIN SOLUTION
print(total([1]))
### END SOLUTION

# %% [markdown] {_cell_line("reflect-1", "answer", 2)}
"""
Why is a sum slow?

### BEGIN SOLUTION
Each step waits for the one before.
### END SOLUTION
"""

# %% [markdown] {_cell_line("draw", "task", 3)}
"""
Draw the tree of a pairwise sum.
"""
'''

RIGHT = {
    "total": "def total(values):\n    return sum(values)",
    "mean": "def mean(values):\n    return sum(values) / len(values)",
    "own": "print(total([1, 2]))",
    "reflect-1": "Each step waits, a < b & c.",
}
WRONG = {**RIGHT, "total": "def total(values):\n    return 3"}
del WRONG["reflect-1"]
PARTIAL = {**RIGHT, "mean": "def mean(values):\n    return sum(values) // len(values)"}

# Points of the cells that tests decide, as nbgrader gives them too.
POINTS = {
    "ann": {"total-test": 2, "total-hidden": 0.5, "mean-test": 1},
    "ben": {"total-test": 2, "total-hidden": 0, "mean-test": 1},
    "cem": {"total-test": 2, "total-hidden": 0.5, "mean-test": 0.25},
}
HANDINS = {"ann": RIGHT, "ben": WRONG, "cem": PARTIAL}
TIMES = {
    "ann": "2026-11-30 10:00:00.000000 UTC",
    "ben": "2026-12-02 10:00:00.000000 UTC",  # late
    "cem": "2026-12-02 10:00:00.000000 UTC",  # with an extension
}

COURSE = """\
course_id = "kernels"
secret = "00112233445566778899aabbccddeeff"
[late]
rule = "zero"
[module."07_sums"]
due = 2026-12-01T12:00:00+01:00
[extensions."cem"]
"07_sums" = 2026-12-03T12:00:00+01:00
"""
CONFIG = """\
c = get_config()
c.CourseDirectory.course_id = "kernels"
c.LateSubmissionPlugin.penalty_method = "zero"
c.Exchange.root = "exchange"
"""
ROSTER = """\
id,name,email,group,canvas_id,moodle_id
ann,"Arendt, Ann",ann@example.org,A,101,2001
ben,Ben Bloch,ben@example.org,A,102,2002
cem,Cem Öz,cem@example.org,B,103,2003
dua,=Dua(),dua@example.org,B,104,2004
"""


def master(text: str = MASTER) -> Notebook:
    notebook = read_py(text, Path(f"{NAME}.py"))
    notebook.path = Path(f"{NAME}.py")
    return notebook


def hand_in(answers: dict[str, str], own: Notebook | None = None) -> bytes:
    """The notebook as handed out, filled in."""
    document = json.loads(student_ipynb(own or master()))
    for cell in document["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            cell["source"] = answers[grade_id]
    return json.dumps(document).encode()


def row(student: str, points: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    """The row of the grading JSON."""
    points = POINTS[student] if points is None else points
    cells = []
    for cell in master().cells:
        if cell.manual:
            cells.append(_cell(cell, "manual", None))
        elif cell.graded:
            earned = points.get(cell.grade_id, 0)
            full = earned == float(cell.points)
            message = None if full else f"{cell.grade_id}: got 3, wanted 0\n    return <3>"
            cells.append(_cell(cell, "passed" if full else "failed", earned, message))
    return {
        "student": student,
        "module": NAME,
        "status": "graded",
        "reason": None,
        "points": sum(points.values()),
        "cells": cells,
        "deviations": [],
        "raised": [],
        "isolation": ["landlock", "seccomp"],
        "before": "reference",
        **more,
    }


def _cell(cell, status, points, message=None):
    most = as_number(cell.points)
    return {
        "id": cell.grade_id,
        "status": status,
        "points": points,
        "max_points": most,
        "message": message,
        "seconds": 0.0,
    }


class Class:
    """A class folder in which three have handed in and one has not."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        for name, text in (("course.toml", COURSE), ("roster.csv", ROSTER)):
            (root / name).write_text(text, encoding="utf-8")
        (root / "nbgrader_config.py").write_text(CONFIG)
        self._look(root)
        for student, answers in HANDINS.items():
            self.collect(student, hand_in(answers), TIMES[student])

    @classmethod
    def at(cls, root: Path) -> Class:
        """The class folder that is there."""
        own = cls.__new__(cls)
        own._look(root)
        return own

    def _look(self, root: Path) -> None:
        self.root = root
        self.room = Classroom.open(root)
        self.store = Store(self.room.results(NAME))

    def collect(self, student: str, data: bytes, time: str) -> None:
        path = self.room.submitted(student, NAME)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        stamp = write_timestamp(parse_time(time))
        (path.parent / "timestamp.txt").write_text(stamp)

    def grade(self, student: str, document: dict[str, Any] | None = None, key: str = "m") -> None:
        """Store a result as `grade run` does."""
        path = self.room.submitted(student, NAME)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        text = json.dumps(
            {
                "version": 1,
                "student": student,
                "module": NAME,
                "key": {"master": key, "handin": digest, "judge": "j"},
                "graded_at": "2026-12-04T00:00:00+00:00",
                "submission": document or row(student),
            }
        )
        path = self.store.path(student)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def grade_all(self) -> None:
        for student in HANDINS:
            self.grade(student)

    def results(self):
        return self.store.results([s.id for s in self.room.roster()])

    def dump(self) -> list[str]:
        with closing(sqlite3.connect(self.room.gradebook)) as db:
            return list(db.iterdump())

    def query(self, sql: str, *values: Any) -> list[tuple]:
        with closing(sqlite3.connect(self.room.gradebook)) as db:
            return db.execute(sql, values).fetchall()

    def change(self, sql: str, *values: Any) -> None:
        """As a person in formgrader does."""
        with closing(sqlite3.connect(self.room.gradebook)) as db:
            assert db.execute(sql, values).rowcount == 1
            db.commit()

    def give(self, student: str, cell: str, points: float, comment: str | None = None) -> None:
        """A person's points, and a comment where the cell is the student's."""
        self.change(
            f"UPDATE grade SET manual_score=?, needs_manual_grade=0 WHERE {OF}",
            *(points, student, cell, "GradeCell"),
        )
        if comment:
            self.change(
                f"UPDATE comment SET manual_comment=? WHERE {OF}",
                *(comment, student, cell, "SolutionCell"),
            )

    def grade_row(self, student: str, cell: str) -> tuple:
        """(automatic points, a person's, extra credit, whether it waits)"""
        columns = "auto_score, manual_score, extra_credit, needs_manual_grade"
        sql = f"SELECT {columns} FROM grade WHERE {OF}"
        [row] = self.query(sql, student, cell, "GradeCell")
        return row


# The grade or comment of (student, cell, kind of cell).
OF = """notebook_id IN (
    SELECT n.id FROM submitted_notebook n JOIN submitted_assignment a ON a.id = n.assignment_id
    WHERE a.student_id = ?
) AND cell_id IN (SELECT id FROM base_cell WHERE name = ? AND type = ?)"""


def autograded(root: Path, student: str) -> Notebook:
    return read_ipynb((root / "autograded" / student / NAME / f"{NAME}.ipynb").read_bytes())


def source_ipynb() -> str:
    return write_ipynb(master())
