"""Results of a class on the disk: one file for each student and module, whole or not there.

    results/MODULE/STUDENT.json
    {"version": 1, "student", "module", "key": {"master", "handin", "judge"}, "graded_at",
     "submission": the row of the grading JSON}

A run that ends in the middle, however it ends, has written every row that was finished. The key
says what a row was made from, so that the next run grades what is missing or changed and no more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from tito.files import write_atomic
from tito.grading.judge.result import BROKEN, Result

VERSION = 1


@dataclass(frozen=True)
class Key:
    """What a result was made from, as sha256: the module with its tests; the hand-in, empty where
    there was none; tito itself, the package before, the secret and the limits."""

    master: str
    handin: str
    judge: str


@dataclass(frozen=True)
class Stored:
    """One student's result as it stands on the disk."""

    student: str
    module: str
    key: Key
    graded_at: str
    submission: dict[str, Any]

    def is_of(self, handin: bytes) -> bool:
        """Whether this file is the one that was graded."""
        return hashlib.sha256(handin).hexdigest() == self.key.handin

    def graded_file(self, path: Path) -> bytes | None:
        """The file that was graded; None where there is none, or another by now."""
        data = path.read_bytes() if path.is_file() else b""
        return data if self.is_of(data) else None

    @cached_property
    def result(self) -> Result:
        return Result.from_json(self.submission)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, **asdict(self)}


class Store:
    """The results of one module, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def module(self) -> str:
        return self.folder.name

    def path(self, student: str) -> Path:
        return self.folder / f"{student}.json"

    def get(self, student: str) -> Stored | None:
        """The student's result; None where there is none that can be read."""
        try:
            raw = json.loads(self.path(student).read_bytes())
            if raw.pop("version") != VERSION:
                return None
            return Stored(**{**raw, "key": Key(**raw["key"])})
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def is_current(self, student: str, key: Key) -> bool:
        """Whether grading again could only give what is there.

        What could not be graded is worth another try: the cause may have lain with this machine.
        """
        stored = self.get(student)
        return stored is not None and stored.key == key and stored.submission["status"] != BROKEN

    def put(self, student: str, key: Key, result: Result) -> None:
        """Write one result; a reader sees the old one or this one."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        submission = {"student": student, **result.to_json()}
        document = Stored(student, self.module, key, now, submission).to_json()
        write_atomic(self.path(student), json.dumps(document, indent=1) + "\n")

    def students(self) -> list[str]:
        """Whose results are there, whether they are in the class or not."""
        return sorted(p.stem for p in self.folder.glob("*.json") if not p.name.startswith("."))

    def remove_torn(self) -> None:
        """Delete what a killed run was writing; nobody else may be writing now."""
        for path in self.folder.glob(".*.json.*"):
            path.unlink(missing_ok=True)

    def results(self, students: Sequence[str]) -> StoredResults:
        """The results of these students, in this order."""
        return StoredResults(self, students)


class StoredResults(Sequence[Stored]):
    """Results that are read from the disk each time they are asked for, so that a class of any
    size fits into memory. Those who have none are left out."""

    def __init__(self, store: Store, students: Sequence[str]) -> None:
        self._store = store
        self._students = [s for s in students if store.path(s).is_file()]

    def __len__(self) -> int:
        return len(self._students)

    def __getitem__(self, index: int) -> Stored:
        found = self._store.get(self._students[index])
        if found is None:
            raise KeyError(self._students[index])
        return found
