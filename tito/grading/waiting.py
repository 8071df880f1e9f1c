"""What in a class folder waits for a person, or for the next command."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from tito.grading.book.handedin import handed_in
from tito.grading.book.kept import Kept
from tito.grading.book.regrade import Regrade
from tito.grading.classroom import CONFIG, ROSTER, Classroom
from tito.grading.collect import inbox
from tito.grading.collect.dividing import other_module
from tito.grading.collect.inbox import Record
from tito.grading.collect.rows import ASIDE, UNMATCHED
from tito.grading.judge.result import AMBIGUOUS, BROKEN, GRADED, MISSING
from tito.grading.roster import Student
from tito.grading.store import Store, Stored
from tito.grading.wording import counted, hanging, padded
from tito.grading.wording import width as columns
from tito.notebook import Notebook

VERSION = 1
NO_MODULE, LEFT_OVER = "no module", "of nobody"
NOT_GRADED, CHANGED, MANUAL = "not graded yet", "changed", "by hand"
OLDER = "older than its tests"
LATE = "late, time unknown"
# What a person has to settle first, then what the next command does.
ORDER = (
    UNMATCHED,
    NO_MODULE,
    AMBIGUOUS,
    BROKEN,
    LATE,
    LEFT_OVER,
    NOT_GRADED,
    CHANGED,
    OLDER,
    MANUAL,
    MISSING,
)
NARROWEST = 60
OUR_PLUGIN = "tito.grading.latepenalty"


@dataclass(frozen=True)
class Waiting:
    """One thing that is not done: whose, of which module, what, why, and what to type."""

    what: str
    student: str
    module: str
    reason: str = ""
    command: str = ""

    @property
    def why(self) -> str:
        return f"{self.reason}: {self.command}" if self.command else self.reason


def look(
    classroom: Classroom,
    modules: list[str] | None = None,
    master: Callable[[str], Notebook | None] = lambda module: None,
    words: str = "",
) -> list[Waiting]:
    """All that waits, what needs a person first; of these modules, or of all that is known.

    master : a module as it is now, None where that is not known
    words : the options that this call had, for the commands that are named
    """
    if modules is None:
        modules = _modules(classroom)
    found = [*_unmatched(classroom, modules), *_left_over(classroom, modules)]
    for module in modules:
        found += _of_module(classroom, module, words)
        found += _older(classroom, module, master(module))
    found += _by_hand(classroom, modules)
    return sorted(found, key=lambda w: ORDER.index(w.what))


def _modules(classroom: Classroom) -> list[str]:
    """Those of which something was collected, and those that are overdue."""
    settings, now = classroom.settings(), datetime.now(timezone.utc)
    overdue = [name for name in settings.modules_due if now > settings.due(name)]
    return sorted({*classroom.modules_collected(), *overdue})


def _unmatched(classroom: Classroom, modules: list[str]) -> Iterator[Waiting]:
    """What is nobody's, or of no module; without what a person has set aside."""
    for folder in sorted(classroom.unmatched.glob("*")):
        for record in inbox.records(folder):
            if record.status != ASIDE and (not record.module or record.module in modules):
                what = NO_MODULE if record.student else UNMATCHED
                yield Waiting(what, record.found, record.module, record.problem or "")


def _left_over(classroom: Classroom, modules: list[str]) -> Iterator[Waiting]:
    """Folders of somebody who is no longer in the roster, or has another id there now."""
    known = {student.id for student in classroom.roster()}
    for module in modules:
        folders = (classroom.root / "submitted").glob(f"*/{_glob(module)}")
        for folder in sorted(folders):
            if folder.parent.name not in known:
                why = f"nobody in {ROSTER}; with another id there, collect the download again"
                yield Waiting(LEFT_OVER, folder.parent.name, module, why)


def _glob(text: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)


def _of_module(classroom: Classroom, module: str, words: str) -> Iterator[Waiting]:
    store = Store(classroom.results(module))
    for student in classroom.roster():
        history = inbox.records(classroom.inbox(module, student.id))
        trouble, best = inbox.trouble(history), inbox.newest(history)
        path = classroom.submitted(student.id, module)
        # What cannot be read is no work for the next run.
        told = (
            {trouble[0], NOT_GRADED} if trouble and _is_broken(best) else {trouble and trouble[0]}
        )
        if trouble is not None:
            if NOT_GRADED in told:
                yield _asked_again(*trouble, student, module, words)
            else:
                yield Waiting(trouble[0], student.given_id, module, trouble[1])
        if path.is_file():
            for what, why in _of_grading(store.get(student.id), path):
                if what in told:
                    continue
                if what == BROKEN:
                    yield _asked_again(what, why, student, module, words)
                else:
                    yield Waiting(what, student.given_id, module, why)
            yield from _late_by_a_mark(classroom, student, module, best, words)
        elif trouble is None:
            yield Waiting(MISSING, student.given_id, module, "nothing was handed in")


def _is_broken(best: Record | None) -> bool:
    return best is None or best.status == BROKEN


def _asked_again(what: str, why: str, student: Student, module: str, words: str) -> Waiting:
    """What another file settles, and how that is taken in."""
    command = f'tito grade collect FILE --module {module} --as "{student.given_id}"{words}'
    return Waiting(what, student.given_id, module, f"{why}; ask for it again", command)


def _late_by_a_mark(
    classroom: Classroom, student: Student, module: str, record: Record | None, words: str
) -> Iterator[Waiting]:
    """What settles when a hand-in came that is only marked late, where lateness costs something."""
    found = handed_in(classroom, student.id, module, record)
    if record is None or not found.marked or not _lateness_costs(classroom):
        return
    file = record.folder / inbox.FILES / (record.notebook or "")
    whose = f'--module {module} --as "{student.given_id}"'
    command = f'tito grade collect "{file}" {whose} --handed-in TIME{words}'
    reason = f"marked late by {found.marked}; if you know when it came"
    yield Waiting(LATE, student.given_id, module, reason, command)


def _lateness_costs(classroom: Classroom) -> bool:
    """Whether [late] takes something off, or a plugin of the instructor's own may."""
    config = classroom.root / CONFIG
    own = config.is_file() and OUR_PLUGIN not in config.read_text("utf-8", "replace")
    return own or classroom.settings().late.rule != "none"


def _of_grading(stored: Stored | None, path: Path) -> Iterator[tuple[str, str]]:
    """What a collected file still needs."""
    if stored is None:
        yield NOT_GRADED, ""
    elif not stored.is_of(path.read_bytes()):
        yield CHANGED, "another file than the one that was graded"
    elif stored.submission["status"] != GRADED:
        yield BROKEN, stored.submission.get("reason") or ""


def _older(classroom: Classroom, module: str, master: Notebook | None) -> Iterator[Waiting]:
    """Results of the files that are there, from before a test was mended."""
    if master is None:
        return
    shown = {student.id: student.given_id for student in classroom.roster()}
    for student, questions in older_results(classroom, module, master).items():
        path = classroom.submitted(student, module)
        if Store(classroom.results(module)).get(student).graded_file(path) is not None:
            why = f"graded before these questions changed: {', '.join(questions)}"
            yield Waiting(OLDER, shown[student], module, why)


def older_results(classroom: Classroom, module: str, master: Notebook) -> dict[str, list[str]]:
    """Whose results were made with other tests, and the questions that they may concern."""
    kept, store = Kept(classroom.root, module), Store(classroom.results(module))
    results = store.results([student.id for student in classroom.roster()])
    plan = Regrade(kept, store, master).plan(results)
    return {
        stale.stored.student: [q for q in plan.questions if q in stale.questions]
        for stale in plan.stale
    }


_OPEN_CELLS = """
    SELECT student.id, assignment.name, count(*)
    FROM grade
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    JOIN assignment ON assignment.id = submitted_assignment.assignment_id
    JOIN student ON student.id = submitted_assignment.student_id
    WHERE grade.needs_manual_grade
    GROUP BY student.id, assignment.name
"""


def _by_hand(classroom: Classroom, modules: list[str]) -> Iterator[Waiting]:
    """Cells that nobody has graded yet, as the grade book has them."""
    shown = {student.id: student.given_id for student in classroom.roster()}
    for student, module, count in sorted(_open_cells(classroom.gradebook)):
        if module in modules and student in shown:
            why = f"{counted(count, 'cell')} to grade by hand"
            yield Waiting(MANUAL, shown[student], module, why)


def _open_cells(book: Path) -> list[tuple[str, str, int]]:
    """Read without nbgrader, whose import alone takes longer than all the rest."""
    if not book.is_file():
        return []
    try:
        address = f"{book.resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=10)) as base:
            return base.execute(_OPEN_CELLS).fetchall()
    except sqlite3.Error:  # another version's tables, or locked all the time
        return []


# -- told


def table(found: list[Waiting], width: int | None = None) -> str:
    """A row for each thing that waits, how many of each kind, and the commands that rows name.

    A command stands on one line, however long: it is there to be copied.
    """
    if not found:
        return "nothing waits"
    width = max(width or shutil.get_terminal_size((110, 24)).columns, NARROWEST)
    rows = [("student", "module", "what", "why")]
    rows += [(w.student[:32], w.module, w.what, _in_a_row(w)) for w in found]
    widths = [max(columns(row[i]) for row in rows) for i in range(3)]
    lines = []
    for row in rows:
        start = "  ".join(padded(cell, size) for cell, size in zip(row[:3], widths)) + "  "
        lines += hanging(start, row[3], width)
    counts = Counter(w.what for w in found)
    lines.append(", ".join(f"{counts[what]} {what}" for what in ORDER if counts[what]))
    commands = [f"  {w.student}: {w.command}" for w in found if w.command]
    if commands:
        lines += ["the commands:", *commands]
    return "\n".join(lines)


def _in_a_row(waiting: Waiting) -> str:
    return f"{waiting.reason}: command below" if waiting.command else waiting.reason


def next_step(found: list[Waiting], words: str = "") -> str:
    """What to type next; `words` are the options that this call had."""
    kinds = {w.what: w for w in reversed(found)}
    if UNMATCHED in kinds:
        whose = kinds[UNMATCHED].student
        return f'next: tito grade collect --as "{whose}=ID"{words}'
    if NO_MODULE in kinds:
        module = other_module(kinds[NO_MODULE].why) or "NN"
        return f"next: tito grade collect --module {module}{words}"
    if AMBIGUOUS in kinds:
        return f"next: tito grade collect THE_FILE --module NN --as ID{words}"
    if NOT_GRADED in kinds or CHANGED in kinds:
        return f"next: tito grade run{words}"
    if OLDER in kinds:
        return f"next: tito grade regrade{words}"
    if MANUAL in kinds:
        return (
            "next: grade what is left by hand in formgrader (jupyter lab in the class folder, menu "
            "Nbgrader, Formgrader, Manual Grading); what earns points stands in "
            f"source/{kinds[MANUAL].module}"
        )
    if BROKEN in kinds or MISSING in kinds:
        return (
            f"next: tito grade collect, or write to those whose hand-in is missing or broken; "
            f"then tito grade export{words}"
        )
    return f"next: tito grade export --format csv{words}"


def to_json(found: list[Waiting]) -> str:
    told = [{key: getattr(w, key) for key in ("what", "student", "module", "why")} for w in found]
    document = {"version": VERSION, "waiting": told}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
