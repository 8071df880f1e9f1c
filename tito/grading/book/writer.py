"""The one writer of a class's grade book: nbgrader's tables and trees from a module's results.

Everything is written so that doing it again changes nothing. A few hand-ins are one step: their
notebooks are replaced, then their rows are committed, then the hand-ins are noted as written. A run
that ends in between leaves whole files and whole rows, and the next one writes what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.files import remove_torn, write_atomic
from tito.grading.book import rows
from tito.grading.book.autograded import Page, Pages
from tito.grading.book.database import Book
from tito.grading.book.handedin import utc
from tito.grading.book.kept import Kept
from tito.grading.book.late import LatePenalty
from tito.grading.book.recorded import kernelspec
from tito.grading.classroom import TIMESTAMP, Classroom
from tito.grading.judge.result import GRADED, MISSING
from tito.grading.store import Stored
from tito.notebook import Notebook, write_ipynb
from tito.notebook.points import exact
from tito.release.version import student_ipynb

# Hand-ins in one transaction: a disk is waited for once for all of them, and formgrader, which
# may want to write too, waits for less than a second.
AT_ONCE = 20


@dataclass
class Written:
    """What a run of the writer did.

    students : whose hand-ins stand in the grade book now
    waiting : of those, who have something for a person to grade
    outdated : whose hand-in was collected anew since it was graded; what stands of them stays
    """

    students: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)


def write(
    classroom: Classroom,
    master: Notebook,
    results: Iterable[Stored],
    *,
    files: Iterable[Path] = (),
    progress: Callable[[str], None] = lambda student: None,
) -> Written:
    """Bring the grade book and nbgrader's trees in line with the results of one module.

    master : the module with its tests; it names the assignment
    results : one for each student; of each student of the roster without one nothing is changed
    files : data files of the module
    progress : hears of each student that is done
    """
    with classroom.lock():
        writer = _Writer(classroom, master)
        try:
            writer.module(list(files))
            for stored in results:
                writer.hand_in(stored)
                progress(stored.student)
            writer.commit()
        finally:
            writer.close()
        return writer.written


class _Writer:
    def __init__(self, classroom: Classroom, master: Notebook) -> None:
        self.name = master.name
        self.written = Written()
        self._classroom = classroom
        self._settings = classroom.settings()
        self._master = master
        self._pages = Pages(master)
        self._kept = Kept(classroom.root, self.name)
        self._waiting: list[tuple[Stored, rows.Submitted]] = []
        self._penalty = LatePenalty(classroom.root)
        self._book = Book(classroom.gradebook, self._settings.course_id)

    def close(self) -> None:
        self._book.close()

    # -- the module

    def module(self, files: list[Path]) -> None:
        """The assignment's rows, the class, and the trees source and release."""
        self._kept.keep_master(self._master)
        self._write_trees(files)
        with self._book.transaction() as session:
            rows.sync_students(session, self._classroom.roster())
            self._assigned = rows.sync_assignment(
                session,
                self._settings.course_id,
                self.name,
                utc(self._settings.due(self.name)),
                kernelspec(self._master),
                list(self._pages.records.values()),
            )

    def _write_trees(self, files: list[Path]) -> None:
        source, release = (self._classroom.root / t / self.name for t in ("source", "release"))
        _write(source / f"{self.name}.ipynb", write_ipynb(self._master))
        _write(release / f"{self.name}.ipynb", student_ipynb(self._master))
        for file in files:
            for folder in (source, release):
                _write(folder / file.name, file.read_bytes())

    # -- a hand-in

    def hand_in(self, stored: Stored) -> None:
        """One student's notebook and marks."""
        graded = stored.submission
        if graded["status"] == MISSING and not self._is_known(stored.student):
            return  # as nbgrader has it: who handed nothing in has no row
        submission = self._submission(stored)
        if submission is None and stored.key.handin:
            self.written.outdated.append(stored.student)
            return
        page = self._pages.page(submission, graded)
        self._write_page(stored.student, page)
        self._waiting.append((stored, self._submitted(stored, page)))
        if len(self._waiting) >= AT_ONCE:
            self.commit()

    def commit(self) -> None:
        """The rows of the hand-ins whose notebooks are written."""
        if not self._waiting:
            return
        with self._book.transaction() as session:
            for _, submitted in self._waiting:
                waits = rows.sync_submission(session, self._assigned, submitted, self._penalty)
                self.written.students.append(submitted.student)
                if waits:
                    self.written.waiting.append(submitted.student)
        self._kept.keep_handins({s.student: s.key.handin for s, _ in self._waiting})
        self._waiting.clear()

    def _is_known(self, student: str) -> bool:
        return self._kept.handin(student) is not None

    def _submission(self, stored: Stored) -> bytes | None:
        return stored.graded_file(self._classroom.submitted(stored.student, self.name))

    def _write_page(self, student: str, page: Page) -> None:
        folder = self._classroom.root / "autograded" / student / self.name
        _write(folder / f"{self.name}.ipynb", page.ipynb())
        stamp = self._classroom.submitted(student, self.name).parent / TIMESTAMP
        if stamp.is_file():
            # By it nbgrader sees that this hand-in was graded.
            _write(folder / TIMESTAMP, stamp.read_bytes())

    def _submitted(self, stored: Stored, page: Page) -> rows.Submitted:
        student = stored.student
        known = self._kept.handin(student)
        return rows.Submitted(
            student=student,
            timestamp=utc(self._classroom.submitted_at(student, self.name)),
            extension=self._extension(student),
            scores=scores(stored.submission, page),
            unanswered=page.unanswered,
            other_work=None if known is None else known != stored.key.handin,
        )

    def _extension(self, student: str) -> timedelta | None:
        due = self._settings.due(self.name)
        own = self._settings.due(self.name, student)
        return None if due is None or own is None else own - due


def scores(graded: dict[str, Any], page: Page) -> dict[str, Fraction | None]:
    """Points by cell: what tests gave; None where people decide.

    0 for an answer left as it was, and in a hand-in without a cell that could be read: there is
    nothing to look at, though a person may give points all the same.
    """
    found: dict[str, Fraction | None] = {}
    for cell in graded["cells"]:
        points = cell["points"]
        found[cell["id"]] = None if points is None else exact(points)
    if graded["status"] != GRADED:
        return {name: points or Fraction(0) for name, points in found.items()}
    if page.readable:
        found.update(dict.fromkeys(page.unanswered, Fraction(0)))
    return found


def _write(path: Path, content: str | bytes) -> None:
    """Write a file of a tree that has no other writer."""
    remove_torn(path)
    write_atomic(path, content)
