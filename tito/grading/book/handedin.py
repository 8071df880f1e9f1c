"""When a hand-in of the grade book came, and by how much it is late, as the class says it now.

course.toml and what was collected may change after a hand-in was graded: an extension, another due
time, a time that somebody gave. Lateness is therefore worked out anew whenever marks are read.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from tito.grading.book.kept import Kept
from tito.grading.classroom import TIMESTAMP, Classroom
from tito.grading.collect import inbox
from tito.grading.collect.inbox import Record
from tito.grading.collect.lateness import FROM_FILE, PLATFORM, YOU, counted_time
from tito.grading.collect.platforms import CANVAS


@dataclass(frozen=True)
class HandedIn:
    """at : the time that counts, in UTC; None where it is in time or nobody knows
    marked : who says that it is late where that is no more than a mark: "Canvas", or the time of
        the file itself; empty where the time is known, or not late
    """

    at: datetime | None = None
    marked: str = ""


FILE_TIME = "the time of its file"


def handed_in(classroom: Classroom, student: str, module: str, record: Record | None) -> HandedIn:
    """When a collected hand-in came; `record` is its note in the inbox, where it has one."""
    if record is None or record.time_from in (PLATFORM, YOU):
        return HandedIn(classroom.submitted_at(student, module))
    settings = classroom.settings()
    if record.platform == CANVAS:
        at, _ = counted_time(record, settings, student)
        return HandedIn(at, CANVAS if at else "")
    at, due = classroom.submitted_at(student, module), settings.due(module, student)
    late = record.time_from == FROM_FILE and at is not None and due is not None and at > due
    return HandedIn(at, FILE_TIME if late else "")


def record_of(classroom: Classroom, student: str, module: str, digest: str) -> Record | None:
    """The note of the hand-in whose notebook has this sha256; what somebody mended by hand since it
    was collected is the newest one."""
    history = inbox.records(classroom.inbox(module, student))
    same = [r for r in history if r.notebook and inbox.notebook_digest(r) == digest]
    return same[-1] if same else inbox.newest(history)


class Times:
    """Brings the times in the tables in line with the class, for hand-ins that we wrote there,
    of those who are in the class: whoever has left keeps what was settled."""

    def __init__(self, classroom: Classroom, module: str) -> None:
        self._classroom = classroom
        self._module = module
        self._settings = classroom.settings()
        self._kept = Kept(classroom.root, module)
        self._roster = {student.id for student in classroom.roster()}

    def assignment(self, row: Any) -> None:
        """The due time; a module without one in course.toml is never late."""
        if self._kept.students:
            _set(row, duedate=utc(self._settings.due(self._module)))

    def hand_in(self, row: Any) -> str:
        """Time and extension of one hand-in; who marks it late, see HandedIn."""
        student = row.student_id
        graded = self._kept.handin(student)
        if graded is None or student not in self._roster:
            return ""
        _set(row, extension=self.extension(student))
        path = self._classroom.submitted(student, self._module)
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != graded:
            return ""  # another one by now, whose time is not that of the marks
        record = record_of(self._classroom, student, self._module, graded)
        found = handed_in(self._classroom, student, self._module, record)
        unreadable = found.at is None and (path.parent / TIMESTAMP).is_file()
        if not unreadable or (record and record.platform == CANVAS):
            _set(row, timestamp=utc(found.at))
        return found.marked

    def extension(self, student: str) -> timedelta | None:
        """Beyond the due time of all; None where there is none."""
        due = self._settings.due(self._module)
        own = self._settings.due(self._module, student)
        return (own - due or None) if due and own else None


def utc(time: datetime | None) -> datetime | None:
    """As the tables hold a time: in UTC, without a zone."""
    return None if time is None else time.astimezone(timezone.utc).replace(tzinfo=None)


def _set(row: Any, **values: Any) -> None:
    for name, value in values.items():
        if getattr(row, name) != value:
            setattr(row, name, value)
