"""Marks as the grade book holds them: tests' points, people's points and comments, lateness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tito.errors import UserError
from tito.grading.book.database import Book, tables
from tito.grading.book.handedin import Times
from tito.grading.book.late import LatePenalty
from tito.grading.book.rows import score_of, sync_penalty, taken_off
from tito.grading.classroom import Classroom
from tito.notebook.points import exact

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


@dataclass
class CellMark:
    """One cell of one hand-in.

    points : what counts, a person's before the tests'; None while a person has to decide
    by_hand : whether a person gave the points
    comment : a person's
    """

    points: Fraction | None = None
    by_hand: bool = False
    waiting: bool = False
    comment: str | None = None


@dataclass
class Marks:
    """One student's hand-in of one module.

    timestamp, due : UTC, without a zone, as nbgrader has them; due with the extension
    marked : who marks it late, where nobody says by how much
    decided_penalty : without points that a person gave for an earlier answer
    """

    student: str
    timestamp: datetime | None
    penalty: Fraction
    cells: dict[str, CellMark] = field(default_factory=dict)
    due: datetime | None = None
    marked: str = ""
    decided_penalty: Fraction = Fraction(0)

    @property
    def raw_score(self) -> Fraction:
        return sum((c.points for c in self.cells.values() if c.points is not None), Fraction(0))

    @property
    def seconds_late(self) -> float:
        if self.timestamp is None or self.due is None:
            return 0.0
        return max(0.0, (self.timestamp - self.due).total_seconds())

    @property
    def score(self) -> Fraction:
        return max(Fraction(0), self.raw_score - self.penalty)

    @property
    def waiting(self) -> int:
        """How many cells wait for a person."""
        return sum(c.waiting for c in self.cells.values())

    @property
    def by_hand(self) -> bool:
        return any(c.by_hand for c in self.cells.values())


@dataclass
class ModuleMarks:
    """A module's marks: of each student with a hand-in in the grade book."""

    module: str
    duedate: datetime | None
    max_score: Fraction
    students: dict[str, Marks] = field(default_factory=dict)


@dataclass(frozen=True)
class Person:
    """A student as the grade book names them."""

    id: str
    first_name: str
    last_name: str
    email: str


def read_marks(
    classroom: Classroom, modules: Iterable[str] | None = None
) -> tuple[list[ModuleMarks], list[Person]]:
    """The marks of these modules, of all that are in the grade book where none is named.

    Lateness and what it costs are worked out anew first, and written: an extension, a due time or
    a time of a hand-in may be another by now, and people's points may have come in since.
    """
    if not classroom.gradebook.is_file():
        raise UserError(
            "there is no grade book yet", path=classroom.root, hint="tito grade run grades first"
        )
    penalty = LatePenalty(classroom.root)
    with (
        classroom.lock(),
        Book(classroom.gradebook, classroom.settings().course_id) as book,
        book.transaction() as session,
    ):
        found = _assignments(session, classroom, modules)
        marks = [_module(session, each, penalty, Times(classroom, each.name)) for each in found]
        return marks, _people(session)


def _assignments(
    session: Session, classroom: Classroom, modules: Iterable[str] | None
) -> list[Any]:
    api = tables()
    known = {a.name: a for a in session.query(api.Assignment).order_by(api.Assignment.name)}
    wanted = list(known) if modules is None else list(modules)
    if missing := [name for name in wanted if name not in known]:
        raise UserError(
            f"nothing of {', '.join(missing)} is in the grade book yet",
            path=classroom.root,
            hint="tito grade run grades it",
        )
    return [known[name] for name in wanted]


def _people(session: Session) -> list[Person]:
    """In nbgrader's order."""
    api = tables()
    rows = session.query(api.Student).order_by(api.Student.last_name, api.Student.first_name)
    return [Person(r.id, r.first_name or "", r.last_name or "", r.email or "") for r in rows.all()]


def _module(session: Session, assignment: Any, penalty: LatePenalty, times: Times) -> ModuleMarks:
    api = tables()
    times.assignment(assignment)
    cells = {
        cell.id: cell
        for notebook in session.query(api.Notebook).filter_by(assignment_id=assignment.id)
        for cell in session.query(api.BaseCell).filter_by(notebook_id=notebook.id)
    }
    graded = [exact(c.max_score) for c in cells.values() if hasattr(c, "max_score")]
    found = ModuleMarks(assignment.name, assignment.duedate, sum(graded, Fraction(0)))
    handins = session.query(api.SubmittedAssignment).filter_by(assignment_id=assignment.id)
    for handin in handins:
        marked = times.hand_in(handin)
        marks = _marks(session, handin, cells, penalty)
        marks.due, marks.marked = handin.duedate, marked
        found.students[handin.student_id] = marks
    return found


def _marks(session: Session, handin: Any, cells: dict[str, Any], penalty: LatePenalty) -> Marks:
    api = tables()
    marks = Marks(handin.student_id, handin.timestamp, Fraction(0))
    for notebook in session.query(api.SubmittedNotebook).filter_by(assignment_id=handin.id):
        grades = session.query(api.Grade).filter_by(notebook_id=notebook.id).all()
        sync_penalty(handin, notebook, grades, penalty)
        marks.penalty += exact(notebook.late_submission_penalty or 0)
        decided = [g for g in grades if not (g.manual_score is not None and g.needs_manual_grade)]
        marks.decided_penalty += exact(taken_off(handin, decided, penalty) or 0)
        for grade in grades:
            marks.cells[cells[grade.cell_id].name] = _cell_mark(grade)
        for comment in session.query(api.Comment).filter_by(notebook_id=notebook.id):
            if comment.manual_comment:
                mark = marks.cells.setdefault(cells[comment.cell_id].name, CellMark())
                mark.comment = comment.manual_comment
    return marks


def _cell_mark(grade: Any) -> CellMark:
    undecided = grade.manual_score is None and grade.auto_score is None
    return CellMark(
        points=None if undecided else score_of(grade),
        by_hand=grade.manual_score is not None or bool(grade.extra_credit),
        waiting=bool(grade.needs_manual_grade),
    )
