"""Which class folder and which course a command of `tito grade` works with."""

from __future__ import annotations

import argparse
from pathlib import Path

from tito.course import Course, find_course
from tito.errors import UsageError, UserError
from tito.grading.classroom import Classroom


def add_class(parser: argparse.ArgumentParser) -> None:
    """The options of every command that works in a class folder."""
    parser.add_argument(
        "--class",
        dest="classroom",
        metavar="FOLDER",
        help="the class folder (default: the nearest from here upwards)",
    )
    parser.add_argument(
        "--course", metavar="FOLDER", help="where the modules are (default: as course.toml says)"
    )
    parser.add_argument("--module", metavar="NN", help="only this module")


def the_class(args: argparse.Namespace) -> Classroom:
    return Classroom.open(args.classroom)


def the_course(args: argparse.Namespace, classroom: Classroom) -> Course:
    """The course with the masters: --course, the one around the current folder, or the one that
    course.toml names. A student's kit is none: it has no hidden tests.
    """
    if args.course is not None:
        course = _course_at(Path(args.course), "--course")
    else:
        course = _course_here() or _named(classroom)
    return course


def _course_at(folder: Path, named_by: str) -> Course:
    course = find_course(folder) if folder.is_dir() else None
    if course is None:
        raise UsageError(f"{named_by} names no folder", path=folder)
    if course.is_kit:
        raise UserError(
            f"{named_by} names a student's kit, which holds no hidden tests",
            path=course.root,
            hint="name the course's repository",
        )
    return course


def _course_here() -> Course | None:
    try:
        course = find_course()
    except UsageError:
        return None
    return None if course.is_kit else course


def _named(classroom: Classroom) -> Course:
    folder = classroom.settings().course
    if folder is None:
        raise UsageError(
            "where are the modules? course.toml names no course",
            path=classroom.root / "course.toml",
            hint='write course = "PATH" in it, or say --course FOLDER',
        )
    return _course_at(folder, "course in course.toml")
