"""`tito grade init`, `collect` and `status`: a class folder, what comes into it, what waits."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.classes import class_words, the_class, wanted_modules
from tito.commands.deliver import deliver
from tito.commands.masters import course_of, master_now
from tito.commands.words import quoted, shown
from tito.course import Course, find_course
from tito.errors import UsageError, UserError

if TYPE_CHECKING:
    from tito.grading.classroom import Classroom
    from tito.grading.collect import Collection, Collector


def grade_init(args: argparse.Namespace) -> int:
    """Make a class folder."""
    from tito.grading.newclass import make_class

    folder = Path(args.folder)
    course = _course_for_init(args)
    modules = [ref.name for ref in course.modules] if course else []
    if make_class(folder, course.root if course else None, modules):
        print(f"made the class folder {shown(folder)}: only you can read it")
    else:
        print(f"{shown(folder)} is a class folder already; nothing was changed")
    if lack := _lack_of_course(folder, args, course):
        print(lack)
    print(f"due times, the late rule and extensions: {shown(folder / 'course.toml')}")
    print(f"next: put your students into {shown(folder / 'roster.csv')}, then")
    print(f"      tito grade collect DOWNLOAD --class {quoted(shown(folder))}")
    return 0


def _lack_of_course(folder: Path, args: argparse.Namespace, course: Course | None) -> str | None:
    """What is wrong with the course that the class names, and what to write there."""
    from tito.grading.classroom import Classroom

    own = Classroom.open(folder).settings().course
    path = shown(folder / "course.toml")
    if own is None:
        example = course.root.resolve().as_posix() if course else "/path/to/it"
        return f'no course is named in {path}: write its folder there, course = "{example}"'
    if not own.is_dir():
        return f"the course {own} that {path} names is not there: write its folder there"
    if args.course and course and own.resolve() != course.root.resolve():
        return f"its course stays {own}: to change that, write another one to {path}"
    return None


def _course_for_init(args: argparse.Namespace) -> Course | None:
    """The course whose modules are graded; a student's kit has no hidden tests and is none."""
    if args.course is not None:
        if not Path(args.course).is_dir():
            raise UsageError("no such folder", path=args.course)
        course = find_course(Path(args.course))
        if course.is_kit:
            raise UsageError("a student's kit: it holds no hidden tests", path=args.course)
        return course
    try:
        course = find_course()
    except UsageError:
        return None
    return None if course.is_kit else course


def grade_collect(args: argparse.Namespace) -> int:
    """0 when everything found its student, 1 when something waits for a person."""
    from tito.grading.collect import showing

    classroom = the_class(args)
    source = _source(args, classroom)
    collector = _collector(args, classroom)
    if args.dry_run:
        collection = _collected(args, collector, source)
    else:
        with classroom.lock():
            collection = _collected(args, collector, source)
            _remember(args, classroom, collection, collector.set_aside)
    if args.json:
        deliver(args.json, showing.to_json(collection, dry_run=args.dry_run))
    if args.json != "-":
        print(showing.table(collection))
        print(showing.closing(collection, args.dry_run, class_words(args)))
        print(_after_collecting(args, collection))
    return int(any(row.waits for row in collection.rows))


def _source(args: argparse.Namespace, classroom: Classroom) -> Path | None:
    if args.source is None:
        if _whose(args):
            raise UsageError("--as ID needs a SOURCE; --as FOUND=ID does not")
        return None
    source = Path(args.source)
    if not source.exists():
        raise UsageError("no such file or folder", path=source)
    if classroom.root.is_relative_to(source.resolve()):
        raise UsageError("this is the class folder itself; name a download", path=source)
    return source


def _collector(args: argparse.Namespace, classroom: Classroom) -> Collector:
    from tito.grading.collect import Collector
    from tito.grading.collect.matching import same

    course = course_of(classroom, args.course)
    modules = wanted_modules(course)
    if not classroom.roster():
        raise UserError("nobody stands in roster.csv", path=classroom.root / "roster.csv")
    only = None
    if args.module:
        name = course.resolve(args.module).name
        only = next((w for w in modules if w.name == name), None)
        if only is None:
            raise UsageError(f"{args.module} is no module of the course", path=course.root)
    handed_in = _time(args.handed_in) if args.handed_in else None
    named = frozenset(same(found) for found in _pairs(args)) or None
    said = _said(args, classroom)
    return Collector(classroom, modules, only, handed_in, args.dry_run, said, named)


def _time(text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise UsageError(
            f"--handed-in {text!r} is no time with its zone",
            hint="write it as 2026-12-01T20:15:00+01:00",
        )
    return time


def _pairs(args: argparse.Namespace) -> dict[str, str]:
    return dict(word.rsplit("=", 1) for word in args.whose or [] if "=" in word)


def _whose(args: argparse.Namespace) -> str | None:
    """The student of the whole source, where --as names just one."""
    alone = [word for word in args.whose or [] if "=" not in word]
    if len(alone) > 1 or (alone and _pairs(args)):
        raise UsageError("say --as ID for the whole source, or --as FOUND=ID for each hand-in")
    return alone[0] if alone else None


def _said(args: argparse.Namespace, classroom: Classroom) -> dict[str, str]:
    """What --as says, as Student.id or "-"."""
    ids = {name: s.id for s in classroom.roster() for name in (s.id, s.given_id)}
    ids["-"] = "-"
    said = _pairs(args)
    if (whose := _whose(args)) is not None:
        said[whose] = whose
    for student in said.values():
        if student not in ids:
            raise UsageError(f"--as: no {student!r} in roster.csv", path=classroom.root)
    return {found.strip(): ids[student] for found, student in said.items()}


def _collected(args: argparse.Namespace, collector: Collector, source: Path | None) -> Collection:
    from tito.grading.collect import collect, collect_again

    if source is None:
        return collect_again(collector)
    return collect(collector, source, _whose(args), _Shown())


class _Shown:
    """A line on a terminal that counts; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if self._shown and (done % 10 == 0 or done == total):
            end = "\n" if done == total else ""
            print(f"\rcollected {done} of {total}", end=end, file=sys.stderr, flush=True)


def _remember(
    args: argparse.Namespace, classroom: Classroom, collection: Collection, once: set[str]
) -> None:
    """What was said with --as FOUND=ID holds for later downloads too; but `once` are hand-ins of
    students that were set aside, whose later ones count."""
    from tito.grading.collect.matching import add_matches, read_matches

    pairs = {found.strip(): student for found, student in _pairs(args).items()}
    for found in pairs.keys() - collection.found:
        print(f"tito: --as: nothing is called {found!r} here", file=sys.stderr)
    known = read_matches(classroom.matches, classroom.roster())
    ids = _said(args, classroom)
    found = collection.found - once
    new = {f: s for f, s in pairs.items() if f in found and known.get(f) != ids[f]}
    if new:
        add_matches(classroom.matches, new)


def _after_collecting(args: argparse.Namespace, collection: Collection) -> str:
    words = class_words(args)
    if args.dry_run:
        return "next: the same command without --dry-run"
    if any(row.waits for row in collection.rows):
        return f"next: settle what waits (tito grade status{words} lists it), tito grade run{words}"
    return f"next: tito grade run{words}"


def grade_status(args: argparse.Namespace) -> int:
    """What waits for a person. 0 however much that is: it did what it says."""
    from tito.grading import waiting

    classroom = the_class(args)
    modules = None
    if args.module:
        modules = [course_of(classroom, args.course).resolve(args.module).name]
    words = class_words(args)
    found = waiting.look(classroom, modules, lambda name: master_now(classroom, name), words)
    if args.json:
        deliver(args.json, waiting.to_json(found))
    if args.json == "-":
        return 0
    print(waiting.table(found))
    print(waiting.next_step(found, words))
    return 0
