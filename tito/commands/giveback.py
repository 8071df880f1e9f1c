"""`tito grade feedback` and `tito grade report`: a page for each student, one for the class."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.classes import class_words, given_ids, the_class
from tito.commands.deliver import deliver
from tito.errors import UsageError, UserError
from tito.files import write_atomic
from tito.grading.wording import counted

if TYPE_CHECKING:
    from tito.grading.book import Marks
    from tito.grading.classroom import Classroom
    from tito.grading.feedback import Feedback, Late
    from tito.grading.roster import Student
    from tito.grading.store import Stored
    from tito.notebook import Notebook


def grade_feedback(args: argparse.Namespace) -> int:
    """0 when every student with a result has a page that is up to date."""
    from tito.commands.marks import graded_module, master_of_class, say_older
    from tito.grading.book import read_marks, states
    from tito.grading.feedback import page
    from tito.grading.store import Store

    classroom = the_class(args)
    module = graded_module(classroom, args.module)
    students = _asked_for(classroom, args.student)
    master = master_of_class(classroom, module)
    if master is None:
        raise UserError("its master is not in source/", path=classroom.root, hint="tito grade run")
    [marks], _ = read_marks(classroom, [module])
    doubts = {state.student: state.doubt for state in states(classroom, module)}
    store = Store(classroom.results(module))
    folder = Path(args.out) if args.out else classroom.root / "feedback"
    pages: dict[str, bytes] = {}
    without, undecided = [], 0
    for student in students:
        stored = store.get(student.id)
        if stored is None:
            without.append(student.given_id)
            continue
        found = _feedback(classroom, master, stored, student, marks.students.get(student.id))
        undecided += found.waiting > 0
        text = page(found)
        pages[student.id] = text.encode()
        write_atomic(folder / student.id / module / f"{module}.html", text)
    say_older(args, classroom, [module])
    shown = {s.id: s.given_id for s in students}
    _tell(pages, without, {shown[s]: doubts.get(s) for s in pages}, folder)
    if undecided:
        print(
            f"tito: {undecided} of these pages still lack points of a person (formgrader)",
            file=sys.stderr,
        )
    if args.moodle:
        _pack(args.moodle, classroom, module, pages)
    return 1 if without else 0


def _asked_for(classroom: Classroom, words: list[str]) -> list[Student]:
    """The students named on the command line, all without any."""
    roster = classroom.roster()
    wanted = set(words)
    if unknown := wanted - {name for s in roster for name in (s.id, s.given_id)}:
        raise UsageError(f"not in roster.csv: {', '.join(sorted(unknown))}")
    return [s for s in roster if not wanted or wanted & {s.id, s.given_id}]


def _feedback(
    classroom: Classroom, master: Notebook, stored: Stored, student: Student, marks: Marks | None
) -> Feedback:
    from tito.grading.feedback import Mark, feedback_of

    in_book = {
        grade_id: Mark(mark.points, mark.comment, mark.by_hand, mark.waiting)
        for grade_id, mark in (marks.cells if marks else {}).items()
    }
    return feedback_of(
        master,
        stored.submission,
        _graded_file(classroom, stored),
        student=student.name or student.given_id,
        marks=in_book,
        late=_lateness(classroom, stored.module, marks),
    )


def _graded_file(classroom: Classroom, stored: Stored) -> Notebook | None:
    """The notebook that the result is about; None where it is another one by now, or none."""
    from tito.grading.judge.submission import read_submission

    data = stored.graded_file(classroom.submitted(stored.student, stored.module))
    try:
        return read_submission(data) if data is not None else None
    except UserError:
        return None


def _lateness(classroom: Classroom, module: str, marks: Marks | None) -> Late | None:
    """As the marks have it, so that times and deduction are those of the same hand-in."""
    from tito.grading.book.handedin import FILE_TIME
    from tito.grading.feedback import Late

    if marks is None or marks.timestamp is None:
        return None
    due = classroom.settings().due(module, marks.student)
    zone = due.tzinfo if due else timezone.utc
    due_at = _clock(marks.due, zone) if marks.due else None
    if marks.marked and marks.marked != FILE_TIME:
        return Late(due=due_at, penalty=marks.decided_penalty, marked=marks.marked)
    seconds = marks.seconds_late
    return Late(
        handed_in=_clock(marks.timestamp, zone),
        due=due_at,
        by=_span(seconds) if seconds else None,
        penalty=marks.decided_penalty,
        by_file=bool(marks.marked),
    )


def _clock(time: datetime, zone: tzinfo | None) -> str:
    """A time in UTC without a zone, as people of that zone say it."""
    own = time.replace(tzinfo=timezone.utc).astimezone(zone)
    return f"{own:%Y-%m-%d %H:%M} ({own.tzname() or 'UTC'})"


def _span(seconds: float) -> str:
    """ "3 days, 4 hours", in the two largest units that are not 0."""
    left = timedelta(seconds=seconds)
    found = []
    for name, unit in (("day", 86400), ("hour", 3600), ("minute", 60)):
        count, rest = divmod(left, timedelta(seconds=unit))
        left = rest
        if count:
            found.append(counted(count, name))
    return ", ".join(found[:2]) or "less than a minute"


def _tell(
    pages: dict[str, bytes], without: list[str], doubts: dict[str, str | None], folder: Path
) -> None:
    print(f"{counted(len(pages), 'page')} in {folder}")
    for student, why in doubts.items():
        if why:
            print(f"  {student}: {why}")
    if without:
        print(f"not graded yet, so without a page: {', '.join(without)}")
    print("next: open some of them, then send them back (--moodle FILE makes the zip Moodle takes)")


def _pack(target: str, classroom: Classroom, module: str, pages: dict[str, bytes]) -> None:
    from tito.grading.book import moodle_zip, participant_folder

    files, left = {}, []
    for student in classroom.roster():
        if student.id not in pages:
            continue
        number = _participant(classroom, module, student)
        if not number:
            left.append(student.given_id)
            continue
        folder = participant_folder(student.name or student.id, number)
        files[folder] = {f"{module}.html": pages[student.id]}
    write_atomic(Path(target), moodle_zip(files))
    print(f"wrote {target}: {counted(len(files), 'student')}")
    if left:
        print(
            "neither handed in through Moodle nor with a moodle_id in roster.csv, so not in it: "
            f"{', '.join(left)}"
        )


def _participant(classroom: Classroom, module: str, student: Student) -> str:
    """The number that Moodle knows a student by in this assignment.

    It is another one in each: the folder in which the hand-in came has it, and what stands in the
    roster may be that of an earlier assignment.
    """
    from tito.grading.collect import inbox

    numbers = [r.moodle_id for r in inbox.records(classroom.inbox(module, student.id))]
    return next(filter(None, reversed(numbers)), student.moodle_id)


def grade_report(args: argparse.Namespace) -> int:
    """`tito grade report`: how the class did, and what a person may want to look at."""
    from tito.commands.marks import graded_module, master_of_class
    from tito.grading import overview as over
    from tito.grading.store import Store
    from tito.strip import student_version

    if args.json == "-" and args.csv == "-":
        raise UsageError("--json and --csv cannot both write to stdout; name a file for one")
    classroom = the_class(args)
    module = graded_module(classroom, args.module)
    store = Store(classroom.results(module))
    shown = given_ids(classroom)
    results = list(store.results(list(shown)))
    if not results:
        raise UserError("nothing is graded yet", path=classroom.root, hint="tito grade run")
    master = master_of_class(classroom, module)
    found = over.overview(
        module,
        [{**s.submission, "student": shown[s.student]} for s in results],
        ((shown[student], notebook) for student, notebook in _hand_ins(classroom, results)),
        student_version(master) if master else None,
        title=module,
    )
    quiet = "-" in (args.json, args.csv)
    for target, text in ((args.json, over.to_json), (args.csv, over.to_csv)):
        deliver(target, text(found))
    out = Path(args.out) if args.out else classroom.exports / f"{module}-report.html"
    write_atomic(out, over.page(found))
    if not quiet:
        print(over.to_text(found))
        print(f"wrote {out}")
        print(f"next: open it, then tito grade feedback --module {module}{class_words(args)}")
    return 0


def _hand_ins(classroom: Classroom, results: list[Stored]) -> Iterator[tuple[str, Notebook]]:
    for stored in results:
        notebook = _graded_file(classroom, stored)
        if notebook is not None:
            yield stored.student, notebook
