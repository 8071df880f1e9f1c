"""Marks as one table for any spreadsheet: nbgrader's columns, and what we know besides."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction

from tito.grading.book.cents import cents
from tito.grading.book.changes import questions
from tito.grading.book.handedin import FILE_TIME
from tito.grading.book.marks import Marks, ModuleMarks, Person
from tito.grading.book.rows import split_name
from tito.grading.roster import Student
from tito.grading.spreadsheet import plain
from tito.notebook import Notebook

# As `nbgrader export` names them.
NBGRADER = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)
OWN = ("group", "status", "waits_for_a_person")
NOTHING = "nothing handed in"
OF_NOBODY = "not in roster.csv"


def table(
    modules: Iterable[ModuleMarks],
    people: Iterable[Person],
    roster: Iterable[Student],
    statuses: Mapping[tuple[str, str], str],
    master: Notebook | None = None,
) -> str:
    """CSV with a row for each module and student, the roster's first.

    statuses : (module, student) -> what became of the hand-in
    master : the only module's, for a column with the points of each question
    """
    named = questions(master) if master else {}
    cells = {name: [c.grade_id for c in own] for name, own in named.items()}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*NBGRADER, *OWN, *map(plain, cells)])
    roster = list(roster)
    known = {student.id for student in roster}
    everybody = list(_everybody(people, roster))
    for module in modules:
        for student, person in everybody:
            status = statuses.get((module.module, student.id), "")
            status = status if student.id in known else OF_NOBODY
            writer.writerow(_row(module, student, person, status, cells))
    return out.getvalue()


def _everybody(
    people: Iterable[Person], roster: Iterable[Student]
) -> Iterable[tuple[Student, Person]]:
    """The roster, then those whom only the grade book knows."""
    known = {p.id: p for p in people}
    for student in roster:
        first, last = split_name(student.name)
        own = Person(student.id, first or "", last or "", student.email)
        yield student, known.pop(student.id, own)
    for person in known.values():
        yield Student(person.id), person


def _row(
    module: ModuleMarks,
    student: Student,
    person: Person,
    status: str,
    cells: Mapping[str, list[str | None]],
) -> list[object]:
    marks = module.students.get(student.id)
    zero = Fraction(0)
    return [
        module.module,
        module.duedate or "",
        _time(marks) or "",
        plain(student.given_id or student.id),
        plain(person.last_name),
        plain(person.first_name),
        plain(person.email),
        cents(marks.raw_score if marks else zero),
        cents(marks.penalty if marks else zero),
        cents(marks.score if marks else zero),
        cents(module.max_score),
        plain(student.group),
        status or ("" if marks else NOTHING),
        marks.waiting if marks else 0,
        *(_question(marks, own) for own in cells.values()),
    ]


def _time(marks: Marks | None) -> datetime | None:
    """When it came, as far as somebody knows: what is only marked late has a time that stands for
    that, and is no time to show."""
    return marks.timestamp if marks and marks.marked in ("", FILE_TIME) else None


def _question(marks: Marks | None, cells: list[str | None]) -> str:
    """The points of a question; empty while a person has to decide, or without a hand-in."""
    found = [marks.cells[c] for c in cells if marks and c in marks.cells]
    points = [c.points for c in found if c.points is not None]
    return cents(sum(points, Fraction(0))) if points else ""
