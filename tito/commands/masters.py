"""Which module hand-ins are graded against, and with what."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tito.course import Course, ModuleRef, find_course
from tito.errors import UsageError, UserError
from tito.notebook import Notebook, load

if TYPE_CHECKING:
    from tito.grading.batch import Batch
    from tito.grading.classroom import Classroom


def module_asked_for(args: argparse.Namespace) -> tuple[Course | None, ModuleRef]:
    """The module that --module or --master names, and its course where it lies in one."""
    if args.module:
        course = find_course()
        return course, course.resolve(args.module)
    if not args.master:
        raise UsageError("against which module? say --module NN or --master FILE")
    path = Path(args.master)
    if not path.is_file():
        raise UsageError("no such file", path=path)
    try:
        course = find_course(path.resolve().parent)
    except UsageError:
        return None, ModuleRef(path.stem, path.parent, given=path)
    return course, course.resolve(str(path))


def course_of(classroom: Classroom, given: str | None = None) -> Course:
    """The course of a class: as given, as its course.toml says, or where we are.

    A student's kit is none: it holds no hidden tests.
    """
    folder = Path(given) if given else classroom.settings().course
    if folder is not None and not folder.is_dir():
        hint = "name it with --course FOLDER"
        raise UsageError("the course folder is not there", path=folder, hint=hint)
    course = find_course(folder)
    if course.is_kit:
        hint = "name the course's repository with --course FOLDER"
        raise UserError("a student's kit holds no hidden tests", path=course.root, hint=hint)
    return course


def master_now(classroom: Classroom, module: str) -> Notebook | None:
    """A module of the class's course as it is now; None where it cannot be read."""
    try:
        return load(course_of(classroom).resolve(module).source)
    except UserError:
        return None


def make_batch(
    course: Course | None, ref: ModuleRef, classroom: Classroom | None = None, **options: object
) -> Batch:
    """What hand-ins are graded with: the master, and the package of the modules before it.

    classroom : has the secret behind the seeds of hidden inputs (without one it is the master's
        own), and may have limits
    options : further arguments of Batch
    """
    from tito.grading.batch import Batch
    from tito.grading.judge import check_master
    from tito.grading.limits import limits_of
    from tito.grading.secret import secret_of
    from tito.release import trial

    batch = Batch(master_of(course, ref), **options)
    check_master(batch.master)
    batch.secret = classroom.settings().secret if classroom else secret_of(batch.master)
    batch.limits = limits_of(course and course.root, classroom and classroom.root)
    if course is not None:
        batch.package = course.package
        batch.package_modules = trial.earlier_exports(course, ref)
        if ref in course.modules:
            batch.files = trial.data_files(ref)
    return batch


def master_of(course: Course | None, ref: ModuleRef) -> Notebook:
    """The module with its tests; in a kit the released one, never the student's own file."""
    from tito.release import kit

    if course is not None and course.is_kit and ref.given is None:
        return kit.released(course, ref.name)
    if not ref.source.is_file():
        raise UsageError("no such file", path=ref.source)
    return load(ref.source)
