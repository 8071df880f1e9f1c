"""The grade book: nbgrader's database and trees, written by one writer; marks read from it."""

from __future__ import annotations

from tito.grading.book.kept import Kept
from tito.grading.book.write import Written, write

__all__ = ["Kept", "Written", "write"]
