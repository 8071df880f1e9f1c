"""What instructors do: hand out modules, grade hand-ins."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.words import quoted
from tito.course import Course, ModuleRef, find_course
from tito.errors import UsageError, UserError
from tito.files import write_atomic
from tito.notebook import Notebook, load

if TYPE_CHECKING:
    from tito.grading.batch import Batch
    from tito.grading.handins import Found
    from tito.grading.timing import Timing


def generate(args: argparse.Namespace) -> int:
    """`tito generate OUT`: the students' folder, refused where it would give an answer away."""
    from tito.grading.audit import ensure_green
    from tito.release import kit

    course, out = find_course(), Path(args.out)
    solved = kit.solved_modules(course, args.solved)
    kit.refuse_unless_free(out)
    for ref in course.modules if not course.is_kit else []:
        ensure_green(course, ref, lambda what, name=ref.name: _say(f"auditing {name}: {what}"))
    made = kit.generate(course, out, solved)
    print(f"made the kit {out}: {', '.join(made.modules)}, {len(made.files)} files, no answers")
    if solved:
        print(f"solved in it: {', '.join(sorted(solved))}")
    print(f"for nbgrader: {out / 'modules'} has the layout of its release/ folder")
    print(f"next: give {out} to your students; grade with tito grade run HANDINS --module NN")
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def grade_run(args: argparse.Namespace) -> int:
    """`tito grade run`: 0 when every hand-in was graded, 1 when one could not be."""
    from tito.grading import report
    from tito.grading.judge.result import GRADED
    from tito.grading.limits import default_jobs

    _refuse_odd_options(args)
    batch = _batch(args)
    found = _found(args, batch.master)
    total = len(found.handins)
    timing = _timing(args)
    progress = _Progress(total)
    jobs = min(args.jobs or default_jobs(), total)
    rows = batch.run(found.handins, jobs, timing.watching(progress) if timing else progress)
    if timing:
        timing.finish()
    for note in found.notes:
        print(f"tito: {note}", file=sys.stderr)
    _deliver(args.json, report.to_json(rows, found.notes))
    _deliver(args.csv, report.to_csv(rows))
    if "-" not in (args.json, args.csv):
        print(report.table(rows))
        if total == 1:
            print(report.details(rows[0]))
        print(report.closing(rows))
        if timing:
            print(timing.report())
        print(_next(args))
    elif timing:
        print(timing.report(), file=sys.stderr)
    return 0 if all(r.result.status == GRADED for r in rows) else 1


def _timing(args: argparse.Namespace) -> Timing | None:
    from tito.grading.timing import Timing

    return Timing() if args.timing else None


def _refuse_odd_options(args: argparse.Namespace) -> None:
    if args.json == "-" and args.csv == "-":
        raise UsageError("--json and --csv cannot both write to stdout; name a file for one")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("-j takes a number from 1 on")
    if not Path(args.handins).exists():
        raise UsageError("no such file or folder", path=args.handins)


def _found(args: argparse.Namespace, master: Notebook) -> Found:
    """The hand-ins; one at least."""
    from tito.grading.handins import Wanted, find_handins

    grade_ids = tuple(c.grade_id for c in master.cells if c.grade_id)
    found = find_handins(Path(args.handins), Wanted(master.name, grade_ids, master.path))
    if not found.handins:
        raise UserError(
            "there are no hand-ins in it",
            path=args.handins,
            hint="put one folder (or notebook, or zip) for each student there",
        )
    return found


def _batch(args: argparse.Namespace) -> Batch:
    """What the hand-ins are graded with: the master, and the package of the modules before it."""
    from tito.grading.batch import Batch
    from tito.grading.judge import check_master
    from tito.grading.limits import limits_of
    from tito.grading.secret import secret_of
    from tito.release import trial

    course, ref = _module(args)
    batch = Batch(
        _master(course, ref), unconfined=args.unconfined, engine=args.engine, timing=args.timing
    )
    check_master(batch.master)
    batch.secret = secret_of(batch.master)
    if course is not None:
        batch.package = course.package
        batch.package_modules = trial.earlier_exports(course, ref)
        batch.limits = limits_of(course.root)
        if ref in course.modules:
            batch.files = trial.data_files(ref)
    return batch


def _module(args: argparse.Namespace) -> tuple[Course | None, ModuleRef]:
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


def _master(course: Course | None, ref: ModuleRef) -> Notebook:
    """The module with its tests; in a kit the released one, never the student's own file."""
    from tito.release import kit

    if course is not None and course.is_kit and ref.given is None:
        return kit.released(course, ref.name)
    if not ref.source.is_file():
        raise UsageError("no such file", path=ref.source)
    return load(ref.source)


def _deliver(target: str | None, text: str) -> None:
    """Machine-readable output to its file, or to stdout for "-"."""
    if target == "-":
        sys.stdout.write(text)
    elif target:
        write_atomic(Path(target), text)


def _next(args: argparse.Namespace) -> str:
    if args.json:
        return f"every message stands in {args.json}"
    which = ("--module", args.module) if args.module else ("--master", args.master)
    words = " ".join(quoted(str(word)) for word in (args.handins, *which))
    return f"next: tito grade run {words} --json results.json"


class _Progress:
    """A line on a terminal that counts the finished hand-ins; silent elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._shown = sys.stderr.isatty()

    def __call__(self, row: object) -> None:
        self._done += 1
        if self._shown:
            end = "\n" if self._done == self._total else ""
            print(f"\rgraded {self._done} of {self._total}", end=end, file=sys.stderr, flush=True)
