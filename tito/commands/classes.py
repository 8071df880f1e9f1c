"""Which class folder a command of `tito grade` works in, and with which modules."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from tito.commands.words import quoted
from tito.course import Course
from tito.grading.classroom import ROSTER, Classroom
from tito.grading.roster import doubtful_columns
from tito.notebook import load

if TYPE_CHECKING:
    from tito.grading.collect import Wanted
    from tito.grading.store import Stored


def the_class(args: argparse.Namespace) -> Classroom:
    """The class folder; what looks odd in its roster is told."""
    classroom = Classroom.open(args.classroom)
    for remark in doubtful_columns(classroom.root / ROSTER):
        print(f"tito: {ROSTER}: {remark}", file=sys.stderr)
    return classroom


def given_ids(classroom: Classroom) -> dict[str, str]:
    """Student.id -> the id as it stands in roster.csv, by which people know a student; folders are
    called by another one where a system could not keep it."""
    return {student.id: student.given_id for student in classroom.roster()}


def as_given(classroom: Classroom, results: Iterable[Stored]) -> list[Stored]:
    """Results under those ids, to be shown."""
    names = given_ids(classroom)
    return [replace(s, student=names.get(s.student, s.student)) for s in results]


def class_words(args: argparse.Namespace) -> str:
    """The --class of this call, for the next one; empty where none was named."""
    return f" --class {quoted(args.classroom)}" if args.classroom else ""


def wanted_modules(course: Course) -> list[Wanted]:
    """The modules of a course by the ids that stand in their notebooks."""
    from tito.grading.collect import Wanted

    wanted = []
    for ref in course.modules:
        if ref.source.is_file():
            ids = tuple(c.grade_id for c in load(ref.source).cells if c.grade_id)
            wanted.append(Wanted(ref.name, ids, ref.source))
    return wanted
