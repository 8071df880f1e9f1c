"""Rows of nbgrader's tables brought in line with a module and its results.

Only what differs is written, so that writing again changes nothing. What a person entered in
formgrader (manual scores, extra credit, comments, flags) is never changed or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tito.errors import UserError
from tito.grading.book.database import tables
from tito.grading.book.recorded import GRADE_CELL, SOLUTION_CELL, TASK_CELL, RecordedCell
from tito.notebook.points import exact

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

NO_RESPONSE = "No response."


@dataclass(frozen=True)
class Assigned:
    """Where a module stands in the tables: ids of its rows.

    cells : (name, kind) -> id
    """

    assignment: str
    notebook: str
    cells: dict[tuple[str, str], str]


@dataclass
class Submitted:
    """One student's hand-in as the tables hold it.

    timestamp : when it was handed in, UTC without a zone; None leaves what is there
    extension : beyond the assignment's due date; None leaves what is there
    scores : points of each graded cell; None where a person decides
    unanswered : solutions that hold nothing of the student's
    other_work : whether the hand-in is another than the one a person has graded; None: not known
    """

    student: str
    timestamp: datetime | None
    extension: timedelta | None
    scores: dict[str, Fraction | None]
    unanswered: set[str] = field(default_factory=set)
    other_work: bool | None = None


# seconds late, points -> what is taken off
Penalty = Callable[[str, float, float], float | None]


# -- the module


def sync_assignment(
    session: Session,
    course_id: str,
    name: str,
    duedate: datetime | None,
    kernelspec: str,
    cells: list[RecordedCell],
) -> Assigned:
    """The module's rows as `nbgrader generate_assignment` makes them.

    Hand-ins that are there get rows for new cells. A cell that is gone goes with its automatic
    points; one that a person has graded is a UserError.
    """
    api = tables()
    if session.get(api.Course, course_id) is None:
        session.add(api.Course(id=course_id))
        session.flush()
    assignment = session.query(api.Assignment).filter_by(name=name).one_or_none()
    if assignment is None:
        assignment = api.Assignment(name=name, course_id=course_id)
        session.add(assignment)
    if duedate is not None:
        _set(assignment, duedate=duedate)
    session.flush()
    notebook = session.query(api.Notebook).filter_by(name=name, assignment_id=assignment.id)
    notebook = notebook.one_or_none()
    if notebook is None:
        notebook = api.Notebook(name=name, assignment_id=assignment.id, kernelspec=kernelspec)
        session.add(notebook)
    _set(notebook, kernelspec=kernelspec)
    session.flush()
    ids = _sync_cells(session, notebook.id, cells)
    _sync_sources(session, notebook.id, cells)
    session.flush()
    return Assigned(assignment.id, notebook.id, ids)


def _sync_cells(
    session: Session, notebook: str, cells: list[RecordedCell]
) -> dict[tuple[str, str], str]:
    api = tables()
    kinds = {GRADE_CELL: api.GradeCell, SOLUTION_CELL: api.SolutionCell, TASK_CELL: api.TaskCell}
    wanted = {(c.name, kind): c for c in cells for kind in c.kinds}
    there = {
        (c.name, c.type): c for c in session.query(api.BaseCell).filter_by(notebook_id=notebook)
    }
    for key in there.keys() - wanted.keys():
        _remove_cell(session, there.pop(key))
    made = []
    for (name, kind), cell in wanted.items():
        row = there.get((name, kind))
        if row is None:
            row = kinds[kind](name=name, notebook_id=notebook)
            there[name, kind] = row
            made.append(row)
        if kind != SOLUTION_CELL:
            _set(row, max_score=cell.max_score, cell_type=cell.cell_type)
    session.add_all(made)
    session.flush()
    for handin in session.query(api.SubmittedNotebook).filter_by(notebook_id=notebook):
        _add_marks(session, handin.id, {(r.name, r.type): r.id for r in made})
    return {key: there[key].id for key in wanted}


def _remove_cell(session: Session, cell: Any) -> None:
    api = tables()
    grades = session.query(api.Grade).filter_by(cell_id=cell.id).all()
    comments = session.query(api.Comment).filter_by(cell_id=cell.id).all()
    by_hand = [g for g in grades if g.manual_score is not None or g.extra_credit is not None]
    by_hand += [c for c in comments if c.manual_comment is not None]
    if by_hand:
        raise UserError(
            f"the module no longer has the cell {cell.name}, which was graded or commented by "
            f"hand in {len(by_hand)} hand-ins",
            hint="give the cell its grade_id back, or empty its marks in formgrader first",
        )
    for row in (*grades, *comments):
        session.delete(row)
    session.flush()
    session.delete(cell)


def _sync_sources(session: Session, notebook: str, cells: list[RecordedCell]) -> None:
    api = tables()
    there = {c.name: c for c in session.query(api.SourceCell).filter_by(notebook_id=notebook)}
    for name in there.keys() - {c.name for c in cells}:
        session.delete(there[name])
    for cell in cells:
        row = there.get(cell.name)
        if row is None:
            row = api.SourceCell(name=cell.name, notebook_id=notebook)
            session.add(row)
        _set(
            row,
            cell_type=cell.cell_type,
            locked=cell.locked,
            source=cell.source,
            checksum=cell.checksum,
        )


# -- the class


def sync_students(session: Session, students: Iterable[Any]) -> None:
    """A row for each student of the roster; a name that a person entered otherwise stays."""
    api = tables()
    there = {row.id: row for row in session.query(api.Student)}
    for student in students:
        row = there.get(student.id)
        if row is None:
            row = api.Student(id=student.id)
            session.add(row)
        if not _says(row, student.name):
            first, last = split_name(student.name)
            _set(row, first_name=first, last_name=last)
        if student.email:
            _set(row, email=student.email)
        if lms := student.canvas_id or student.moodle_id:
            _set(row, lms_user_id=lms)
    session.flush()


def _says(row: Any, name: str) -> bool:
    """Whether the row holds the name already, wherever it was parted."""
    parts = [p for p in (row.first_name, row.last_name) if p]
    words = sorted(" ".join(parts).replace(",", " ").split())
    return words == sorted(name.replace(",", " ").split())


def split_name(name: str) -> tuple[str | None, str | None]:
    """(first, last) names: at the comma of "Last, First", else before the last word.

    >>> split_name("Last, First Second"), split_name("First Second Last"), split_name("Mono")
    (('First Second', 'Last'), ('First Second', 'Last'), (None, 'Mono'))
    """
    if "," in name:
        last, _, first = name.partition(",")
    else:
        first, _, last = name.strip().rpartition(" ")
    return first.strip() or None, last.strip() or None


# -- a hand-in


def sync_submission(
    session: Session, assigned: Assigned, submitted: Submitted, penalty: Penalty
) -> bool:
    """One student's rows as `nbgrader autograde` makes them, with what people entered kept.

    returns whether something of it waits for a person
    """
    api = tables()
    if session.get(api.Student, submitted.student) is None:
        session.add(api.Student(id=submitted.student))
        session.flush()
    handin, notebook = _submission(session, assigned, submitted)
    grades = session.query(api.Grade).filter_by(notebook_id=notebook.id).all()
    for grade in grades:
        _sync_grade(grade, submitted)
    for comment in session.query(api.Comment).filter_by(notebook_id=notebook.id):
        cell = session.get(api.BaseCell, comment.cell_id)
        silent = cell.type == SOLUTION_CELL and cell.name in submitted.unanswered
        _set(comment, auto_comment=NO_RESPONSE if silent else None)
    session.flush()
    sync_penalty(handin, notebook, grades, penalty)
    return any(g.needs_manual_grade for g in grades)


def _submission(session: Session, assigned: Assigned, submitted: Submitted) -> tuple[Any, Any]:
    """The rows of the hand-in and its notebook, made with their marks where there are none."""
    api = tables()
    handin = session.query(api.SubmittedAssignment).filter_by(
        assignment_id=assigned.assignment, student_id=submitted.student
    )
    handin = handin.one_or_none()
    if handin is None:
        handin = api.SubmittedAssignment(
            assignment_id=assigned.assignment, student_id=submitted.student
        )
        session.add(handin)
    elif submitted.other_work is None:
        submitted.other_work = bool(
            submitted.timestamp and handin.timestamp and submitted.timestamp != handin.timestamp
        )
    if submitted.timestamp is not None:
        _set(handin, timestamp=submitted.timestamp)
    if submitted.extension is not None:
        _set(handin, extension=submitted.extension or None)
    session.flush()
    notebook = session.query(api.SubmittedNotebook).filter_by(
        assignment_id=handin.id, notebook_id=assigned.notebook
    )
    notebook = notebook.one_or_none()
    if notebook is None:
        notebook = api.SubmittedNotebook(assignment_id=handin.id, notebook_id=assigned.notebook)
        session.add(notebook)
        session.flush()
        _add_marks(session, notebook.id, assigned.cells)
    return handin, notebook


def _add_marks(session: Session, notebook: str, cells: dict[tuple[str, str], str]) -> None:
    """Empty grades and comments, where nbgrader has them."""
    api = tables()
    for (_, kind), cell in cells.items():
        if kind in (GRADE_CELL, TASK_CELL):
            session.add(api.Grade(cell_id=cell, notebook_id=notebook))
        if kind in (SOLUTION_CELL, TASK_CELL):
            session.add(api.Comment(cell_id=cell, notebook_id=notebook))
    session.flush()


def _sync_grade(grade: Any, submitted: Submitted) -> None:
    """Automatic points; what a person gave stands, and waits for them if the work is another."""
    points = submitted.scores.get(grade.cell.name)
    _set(grade, auto_score=None if points is None else float(points))
    if grade.manual_score is None:
        _set(grade, needs_manual_grade=points is None)
    elif submitted.other_work:
        _set(grade, needs_manual_grade=True)


def sync_penalty(handin: Any, notebook: Any, grades: list[Any], penalty: Penalty) -> None:
    """Write down what lateness takes off these grades, which are all of the hand-in."""
    _set(notebook, late_submission_penalty=taken_off(handin, grades, penalty))


def taken_off(handin: Any, grades: list[Any], penalty: Penalty) -> float | None:
    """What nbgrader's late-penalty plugin takes off: never more than there is."""
    late = handin.total_seconds_late
    if late <= 0:
        return None
    score = float(sum((score_of(g) for g in grades), Fraction(0)))
    taken = penalty(handin.student_id, score, late)
    return None if taken is None else min(max(taken, 0.0), score)


def score_of(grade: Any) -> Fraction:
    """A grade's points, by nbgrader's rule: a person's before a program's, and extra credit."""
    given = grade.manual_score if grade.manual_score is not None else grade.auto_score
    if given is None:
        return Fraction(0)
    return exact(given) + exact(grade.extra_credit or 0)


def _set(row: Any, **values: Any) -> None:
    """Change what differs; a row that stays as it is is not written."""
    for name, value in values.items():
        if getattr(row, name) != value:
            setattr(row, name, value)
