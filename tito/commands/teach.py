"""What instructors do: hand out modules, grade hand-ins."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tito.course import Course, ModuleRef, find_course, find_root
from tito.errors import UsageError, UserError
from tito.files import write_atomic
from tito.notebook import Notebook, load


def generate(args: argparse.Namespace) -> int:
    """`tito generate OUT`: the students' folder, refused where it would give an answer away."""
    from tito.release import kit

    course, out = find_course(), Path(args.out)
    solved = kit.solved_modules(course, args.solved)
    kit.refuse_unless_free(out)
    made = kit.generate(course, out, solved)
    print(f"made the kit {out}: {', '.join(made.modules)}, {len(made.files)} files, no answers")
    if solved:
        print(f"solved in it: {', '.join(sorted(solved))}")
    print(f"for nbgrader: {out / 'modules'} has the layout of its release/ folder")
    print(f"next: give {out} to your students; grade with tito grade run HANDINS --module NN")
    return 0


def grade_run(args: argparse.Namespace) -> int:
    """`tito grade run`: 0 when every hand-in was graded, 1 when one could not be."""
    from tito.grading import handins, report
    from tito.grading.batch import Batch, default_jobs, secret_of
    from tito.grading.judge import check_master
    from tito.grading.judge.result import GRADED

    if args.json == "-" and args.csv == "-":
        raise UsageError("--json and --csv cannot both write to stdout; name a file for one")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("-j takes a number from 1 on")
    source = Path(args.handins)
    if not source.exists():
        raise UsageError("no such file or folder", path=source)
    master, package, modules = _master(args)
    check_master(master)
    grade_ids = tuple(c.grade_id for c in master.cells if c.grade_id)
    wanted = handins.Wanted(master.path.stem, grade_ids, master.path)
    found = handins.find_handins(source, wanted)
    if not found.handins:
        raise UserError("there are no hand-ins in it", path=source, hint="one folder a student")
    batch = Batch(master, package, modules, secret_of(master), unconfined=args.unconfined)
    jobs = min(args.jobs or default_jobs(), len(found.handins))
    rows = batch.run(found.handins, jobs, _Progress(len(found.handins)))
    for note in found.notes:
        print(f"tito: {note}", file=sys.stderr)
    _deliver(args.json, report.to_json(rows, found.notes))
    _deliver(args.csv, report.to_csv(rows))
    if "-" not in (args.json, args.csv):
        print(report.table(rows))
        print(report.details(rows[0]) if len(rows) == 1 else "", end="\n")
        print(report.closing(rows))
        print(_next(args))
    return 0 if all(r.result.status == GRADED for r in rows) else 1


def _master(args: argparse.Namespace) -> tuple[Notebook, Path | None, list[str] | None]:
    """The master, the reference package and which parts of it lie before the module."""
    if args.master:
        path = Path(args.master)
        if not path.is_file():
            raise UsageError("no such file", path=path)
        try:
            course = Course(find_root(path.resolve().parent))
        except UsageError:
            return load(path), None, None
        ref = course.resolve(str(path))
    elif args.module:
        course = find_course()
        ref = course.resolve(args.module)
    else:
        raise UsageError("against which module? say --module NN or --master FILE")
    return _load(course, ref), course.package, _before(course, ref)


def _load(course: Course, ref: ModuleRef) -> Notebook:
    """The module with its tests; in a kit the released one, never the student's own file."""
    if course.is_kit and ref.given is None:
        return load(course.released / f"{ref.name}.ipynb")
    if not ref.source.is_file():
        raise UsageError("no such file", path=ref.source)
    return load(ref.source)


def _before(course: Course, ref: ModuleRef) -> list[str]:
    """The parts of the package that the modules before this one build."""
    number = ref.number
    names = []
    for module in course.modules:
        if number is not None and module.number < number and module.source.is_file():
            target = load(module.source).default_exp
            if target:
                names.append(target.partition(".")[0])
    return names


def _deliver(target: str | None, text: str) -> None:
    """Machine-readable output to its file, or to stdout for "-"."""
    if target == "-":
        sys.stdout.write(text)
    elif target:
        write_atomic(Path(target), text)


def _next(args: argparse.Namespace) -> str:
    if args.json:
        return f"every message stands in {args.json}"
    which = f"--module {args.module}" if args.module else f"--master {args.master}"
    return f"next: tito grade run {args.handins} {which} --json results.json"


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
