"""What the writer remembers in the class folder, beside nbgrader's own files.

book/MODULE/masters/KEY.ipynb   each module file that hand-ins were graded with
book/MODULE/STUDENT.json        the hand-in whose marks stand in the grade book
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tito.errors import UserError
from tito.files import write_atomic
from tito.grading.task import Assignment
from tito.notebook import Notebook, load, write_ipynb

FOLDER, MASTERS = "book", "masters"
_KEY = re.compile(r"[0-9a-f]{64}")


class Kept:
    """What is remembered of one module."""

    def __init__(self, class_folder: Path, module: str) -> None:
        self.folder = class_folder / FOLDER / module

    def keep_master(self, master: Notebook) -> str:
        """Keep the module as it is now, so that a later one can be compared with it; its key."""
        key = key_of(master)
        write_atomic(self._master(key), write_ipynb(master))
        return key

    def master(self, key: str) -> Notebook | None:
        """The module that results with this key were graded with; None where it was not kept."""
        path = self._master(key) if _KEY.fullmatch(key) else None
        if path is None or not path.is_file():
            return None
        try:
            return load(path)
        except UserError:
            return None

    def _master(self, key: str) -> Path:
        return self.folder / MASTERS / f"{key}.ipynb"

    def handin(self, student: str) -> str | None:
        """sha256 of the hand-in that the grade book knows; None where that is not known."""
        try:
            value = json.loads(self._mark(student).read_text("utf-8"))["handin"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return value if isinstance(value, str) else None

    def keep_handin(self, student: str, digest: str) -> None:
        write_atomic(self._mark(student), json.dumps({"handin": digest}) + "\n")

    def _mark(self, student: str) -> Path:
        return self.folder / f"{student}.json"


def key_of(master: Notebook) -> str:
    """How results name the version of the module that they were graded with."""
    return Assignment(master).master_key
