"""What became of each hand-in, and whose points are better not given out yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tito.grading.book.marks import Marks
from tito.grading.classroom import Classroom
from tito.grading.judge.result import GRADED
from tito.grading.store import Store, Stored

ANEW = "handed in anew since it was graded"


@dataclass(frozen=True)
class State:
    """One student's hand-in.

    status : of the grading
    doubt : why the points in the grade book may not be what was earned
    """

    student: str
    status: str
    doubt: str | None = None


def states(classroom: Classroom, module: str) -> Iterator[State]:
    """Of each student of the roster who has a result."""
    store = Store(classroom.results(module))
    for student in classroom.roster():
        stored = store.get(student.id)
        if stored is not None:
            status = stored.submission["status"]
            yield State(student.id, status, _doubt(classroom, stored))


def _doubt(classroom: Classroom, stored: Stored) -> str | None:
    if _is_another(classroom, stored):
        return ANEW
    status = stored.submission["status"]
    return None if status == GRADED else stored.submission.get("reason") or status


def _is_another(classroom: Classroom, stored: Stored) -> bool:
    """Whether another file than the one that was graded has been collected."""
    path = classroom.submitted(stored.student, stored.module)
    if not path.is_file() or not stored.key.handin:
        return False
    return not stored.is_of(path.read_bytes())


def doubtful(classroom: Classroom, module: str, marks: Mapping[str, Marks]) -> dict[str, str]:
    """Why, for those whose zero may be a broken upload, or who have no points at all; not those
    whom a person has graded."""
    return {
        state.student: state.doubt
        for state in states(classroom, module)
        if state.doubt and not (state.student in marks and marks[state.student].by_hand)
    }
