"""What a class has handed in of one module, graded into its store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from tito.errors import UserError
from tito.grading.batch import Batch, Row
from tito.grading.book import Kept
from tito.grading.classroom import Classroom
from tito.grading.collect import inbox
from tito.grading.executors import Workers
from tito.grading.handins import HandIn, Wanted, find_handins
from tito.grading.judge.result import GRADED, MISSING
from tito.grading.store import Key, Store, StoredResults
from tito.grading.task import Assignment

NOTHING = "nothing was handed in"


@dataclass
class Collected:
    """One module of a class folder; whoever writes holds the classroom's lock."""

    classroom: Classroom
    module: str
    batch: Batch

    @cached_property
    def store(self) -> Store:
        return Store(self.classroom.results(self.module))

    @cached_property
    def assignment(self) -> Assignment:
        return self.batch.assignment()

    @property
    def results(self) -> StoredResults:
        """Everybody's, in the order of the roster."""
        return self.store.results([student.id for student in self.classroom.roster()])

    @property
    def of_nobody(self) -> list[str]:
        """Students with a result who are not in the roster, or have another id there now."""
        known = {student.id for student in self.classroom.roster()}
        return [name for name in self.store.students() if name not in known]

    @property
    def not_graded(self) -> list[str]:
        """Students of the roster who have handed in and have no result yet."""
        graded = set(self.store.students())
        return [
            student.id
            for student in self.classroom.roster()
            if student.id not in graded
            and self.classroom.submitted(student.id, self.module).is_file()
        ]

    def key(self, handin: str) -> Key:
        return Key(self.assignment.master_key, handin, self.assignment.judge_key)

    def waiting(self, again: bool = False) -> list[HandIn]:
        """The hand-ins without a result, or changed since then; with `again`, all."""
        everybody = self.handins()
        if again:
            return list(everybody)
        return [h for h in everybody if not self.store.is_current(h.student, self.key(_digest(h)))]

    def grade(
        self, handins: list[HandIn], workers: Workers, progress: Callable[[Row], None]
    ) -> None:
        """Grade these, and write each result as soon as it is there."""
        self.store.remove_torn()
        # First of all: only so can a later run tell which questions a mended test changes.
        Kept(self.classroom.root, self.module).keep_master(self.batch.master)
        for _, row in self.batch.stream(handins, workers, self.assignment):
            self.store.put(row.student, self.key(row.handin), row.result)
            progress(row)

    def handins(self) -> Iterator[HandIn]:
        """One for each student of the roster."""
        wanted = Wanted(self.module)
        for student in self.classroom.roster():
            path = self.classroom.submitted(student.id, self.module)
            if path.is_file() or path.is_symlink():
                [found] = find_handins(path, wanted).handins
                yield replace(found, student=student.id)
            else:
                yield self._nothing(student.id)

    def _nothing(self, student: str) -> HandIn:
        """Why there is no file to grade: collecting may have found what is none."""
        history = inbox.records(self.classroom.inbox(self.module, student))
        status, why = inbox.trouble(history) or (MISSING, NOTHING)
        return HandIn(student, status, why)


def _digest(handin: HandIn) -> str:
    """What `Row.handin` will be."""
    if handin.status != GRADED or handin.read is None:
        return ""
    try:
        return hashlib.sha256(handin.read()).hexdigest()
    except UserError:  # said again when it is graded
        return ""
