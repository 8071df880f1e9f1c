"""What the writer remembers in the class folder, beside nbgrader's own files.

book/MODULE/masters/KEY.ipynb   each module file that hand-ins were graded with
book/MODULE/STUDENT.json        the hand-in whose marks stand in the grade book
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from tito.errors import UserError
from tito.files import remove_torn, write_atomic
from tito.grading.task import Assignment
from tito.notebook import Notebook, load, write_ipynb

FOLDER, MASTERS, HANDINS = "book", "masters", "handins.json"
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
        return self._handins.get(student)

    @property
    def students(self) -> list[str]:
        """Whose hand-ins we wrote into the grade book."""
        return sorted(self._handins)

    def keep_handins(self, digests: Mapping[str, str]) -> None:
        """Note that these students' marks are those of these hand-ins; whole or not at all."""
        self._handins.update(digests)
        remove_torn(self.folder / HANDINS)
        text = json.dumps(self._handins, indent=0, sort_keys=True, ensure_ascii=False)
        write_atomic(self.folder / HANDINS, text + "\n")

    @cached_property
    def _handins(self) -> dict[str, str]:
        try:
            found = json.loads((self.folder / HANDINS).read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        pairs = found.items() if isinstance(found, dict) else ()
        return {student: digest for student, digest in pairs if isinstance(digest, str)}


def key_of(master: Notebook) -> str:
    """How results name the version of the module that they were graded with."""
    return Assignment(master).master_key
