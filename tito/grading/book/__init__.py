"""The grade book: nbgrader's database and trees, written by one writer; marks read from it.

write(classroom, master, results)       results of `grade run` into the book
Kept(folder, module).keep_master(...)    before grading, so that a mended test can be told
read_marks(classroom)                    tests' and people's points, comments, lateness
Regrade(...)                             the questions that a mended test touches
fill(platform, sheet, ...)               marks into Canvas's or Moodle's own sheet
moodle_zip(files)                        feedback files as Moodle takes them back
"""

from __future__ import annotations

from tito.grading.book.feedback_zip import moodle_zip, participant_folder
from tito.grading.book.kept import Kept
from tito.grading.book.marks import CellMark, Marks, ModuleMarks, read_marks
from tito.grading.book.platforms import Filled, fill
from tito.grading.book.regrade import Change, Plan, Regrade, Stale
from tito.grading.book.sheet import Sheet
from tito.grading.book.states import State, doubtful, states
from tito.grading.book.table import table
from tito.grading.book.writer import Written, write

__all__ = [
    "CellMark",
    "Change",
    "Filled",
    "Kept",
    "Marks",
    "ModuleMarks",
    "Plan",
    "Regrade",
    "Sheet",
    "Stale",
    "State",
    "Written",
    "doubtful",
    "fill",
    "moodle_zip",
    "participant_folder",
    "read_marks",
    "states",
    "table",
    "write",
]
