"""`tito grade run`: hand-ins in a folder, or all that a class has handed in."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tito.commands.classes import as_given, class_words, given_ids, the_class, wanted_modules
from tito.commands.deliver import BYTE_ORDER_MARK, deliver
from tito.commands.masters import course_of, make_batch, module_asked_for
from tito.commands.progress import Progress
from tito.commands.words import quoted
from tito.course import Course, ModuleRef
from tito.errors import UsageError, UserError
from tito.grading.judge.result import GRADED, MISSING
from tito.grading.wording import counted
from tito.notebook import Notebook

if TYPE_CHECKING:
    from tito.grading.classroom import Classroom
    from tito.grading.collected import Collected
    from tito.grading.executors import Workers
    from tito.grading.handins import Found
    from tito.grading.report import Graded
    from tito.grading.store import Stored
    from tito.grading.timing import Timing


def grade_run(args: argparse.Namespace) -> int:
    """0 when every hand-in was graded, whatever its points; 1 when one could not be."""
    _refuse_odd_options(args)
    return _handed_in(args) if args.handins else _collected(args)


def _refuse_odd_options(args: argparse.Namespace) -> None:
    if args.json == "-" and args.csv == "-":
        raise UsageError("--json and --csv cannot both write to stdout; name a file for one")
    if args.jobs is not None and args.jobs < 1:
        raise UsageError("-j takes a number from 1 on")
    if args.handins:
        _refuse(args, ("classroom", "course", "again"), "is for what was collected, not HANDINS")
        if not Path(args.handins).exists():
            raise UsageError("no such file or folder", path=args.handins)
    elif args.master:
        raise UsageError("--master needs HANDINS; what was collected belongs to a course's module")


def _refuse(args: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(args, name):
            option = {"classroom": "class"}.get(name, name)
            raise UsageError(f"--{option} {why}")


def _workers(args: argparse.Namespace, most: int) -> Workers:
    """Where to grade; never more local workers than hand-ins."""
    from tito.grading.executors import cluster, local
    from tito.grading.limits import default_jobs

    if args.cluster:
        return cluster(args.cluster)
    return local(max(1, min(args.jobs or default_jobs(), most)))


def _options(args: argparse.Namespace) -> dict[str, object]:
    return {"unconfined": args.unconfined, "engine": args.engine, "timing": args.timing}


# -- hand-ins in a folder


def _handed_in(args: argparse.Namespace) -> int:
    course, ref = module_asked_for(args)
    batch = make_batch(course, ref, **_options(args))
    found = _found(args, batch.master, course)
    timing = _timing(args)
    with Progress("grading", len(found.handins)) as progress:
        heard = timing.watching(progress) if timing else progress
        rows = batch.run(found.handins, _workers(args, len(found.handins)), heard)
    if timing:
        timing.finish()
    for note in found.notes:
        print(f"tito: {note}", file=sys.stderr)
    parts = [Part("", rows)]
    _report(args, parts, found.notes, timing, _next(args))
    return _code(parts)


def _timing(args: argparse.Namespace) -> Timing | None:
    from tito.grading.timing import Timing

    return Timing(elsewhere=bool(args.cluster)) if args.timing else None


def _found(args: argparse.Namespace, master: Notebook, course: Course | None) -> Found:
    """The hand-ins; one at least."""
    from tito.grading.handins import Wanted, find_handins

    grade_ids = tuple(c.grade_id for c in master.cells if c.grade_id)
    wanted = Wanted(master.name, grade_ids, master.path)
    found = find_handins(
        Path(args.handins), wanted, lambda: wanted_modules(course) if course else ()
    )
    if not found.handins:
        raise UserError(
            "there are no hand-ins in it",
            path=args.handins,
            hint="put one folder (or notebook, or zip) for each student there",
        )
    return found


def _next(args: argparse.Namespace) -> str:
    if args.json:
        return f"every message stands in {args.json}"
    which = ("--module", args.module) if args.module else ("--master", args.master)
    words = " ".join(quoted(str(word)) for word in (args.handins, *which))
    return f"next: tito grade run {words} --json results.json"


# -- what a class has handed in


def _collected(args: argparse.Namespace) -> int:
    classroom = the_class(args)
    course = course_of(classroom, args.course)
    refs = _modules(args, classroom, course)
    timing = _timing(args)
    with classroom.lock(), _workers(args, len(classroom.roster())) as workers:
        parts = [_grade_module(args, classroom, course, ref, workers, timing) for ref in refs]
    if timing:
        timing.finish()
    _report(args, parts, [], timing, f"next: tito grade status{class_words(args)}")
    # Who of the class has handed in nothing is told, and is no failure of the grading.
    return _code(parts, fine=(GRADED, MISSING))


def _modules(args: argparse.Namespace, classroom: Classroom, course: Course) -> list[ModuleRef]:
    """The module asked for, or every one of which something was collected."""
    if not classroom.roster():
        raise UserError("nobody stands in roster.csv", path=classroom.root)
    collected = classroom.modules_collected()
    hint = f"tito grade collect SOURCE{class_words(args)}"
    if args.module:
        ref = course.resolve(args.module)
        if ref.name not in collected:
            # A row of zeros for everybody would go into the marks of all modules.
            raise UserError(f"nobody has handed in {ref.name}", path=classroom.root, hint=hint)
        return [ref]
    if not collected:
        raise UserError("nothing was collected yet", path=classroom.root, hint=hint)
    return [course.resolve(name) for name in collected]


def _grade_module(
    args: argparse.Namespace,
    classroom: Classroom,
    course: Course,
    ref: ModuleRef,
    workers: Workers,
    timing: Timing | None,
) -> Part:
    """Grade what is missing or changed; then the grade book is told."""
    from tito.grading.collected import Collected

    run = Collected(classroom, ref.name, make_batch(course, ref, classroom, **_options(args)))
    waiting = run.waiting(args.again)
    with Progress(ref.name, len(waiting)) as progress:
        try:
            run.grade(waiting, workers, timing.watching(progress) if timing else progress)
        except KeyboardInterrupt:
            progress.close()
            _say("what was graded so far is kept; the same command goes on from there")
            raise
    _say(f"{ref.name}: {_done(run.results, {handin.student for handin in waiting})}")
    _write_book(classroom, run)
    return Part(ref.name, as_given(classroom, run.results))


def _done(results: Sequence[Stored], now: set[str]) -> str:
    """How many were graded, now and before, and how many could not be."""
    statuses: Counter[str] = Counter()
    graded_now = 0
    for stored in results:
        status = stored.submission["status"]
        statuses[status] += 1
        graded_now += status == GRADED and stored.student in now
    before = statuses.pop(GRADED, 0) - graded_now
    told = f"{graded_now} graded now"
    if before:
        told += f", {before} unchanged since they were graded"
    others = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return f"{told}; {others}" if others else told


def _write_book(classroom: Classroom, run: Collected) -> None:
    """The results into nbgrader's grade book, and who has to be looked at by a person."""
    from tito.grading import book

    results = run.results
    with Progress("grade book", len(results)) as progress:
        written = book.write(
            classroom, run.batch.master, results, files=run.batch.files, progress=progress
        )
    if written.waiting:
        count = len(written.waiting)
        waits = "waits" if count == 1 else "wait"
        _say(f"{run.module}: {counted(count, 'hand-in')} {waits} for points from a person")
    names = given_ids(classroom) if written.outdated else {}
    for student in written.outdated:
        who = names.get(student, student)
        _say(f"{run.module}: {who} handed in anew meanwhile; call this command again")


def _say(text: str) -> None:
    print(f"tito: {text}", file=sys.stderr, flush=True)


# -- what came out


@dataclass(frozen=True)
class Part:
    """Rows of one module; `title` where there may be several."""

    title: str
    rows: Sequence[Graded]


def _report(
    args: argparse.Namespace,
    parts: list[Part],
    notes: list[str],
    timing: Timing | None,
    last_line: str,
) -> None:
    from tito.grading import report

    if args.json:
        deliver(args.json, report.to_json(_everybody(parts), notes))
    if args.csv:
        # Excel takes a file without the mark for its own old encoding.
        mark = "" if args.csv == "-" else BYTE_ORDER_MARK
        deliver(args.csv, mark + report.to_csv(_everybody(parts)))
    if "-" in (args.json, args.csv):
        if timing:
            print(timing.report(), file=sys.stderr)
        return
    cut = False
    for part in parts:
        if part.title:
            print(part.title)
        table = report.table(part.rows)
        cut = cut or report.CUT in table
        print(table)
        if len(part.rows) == 1:
            print(report.details(part.rows[0]))
        print(report.closing(part.rows))
    if timing:
        print(timing.report())
    if cut and not args.json:
        print(f"lines that end in {report.CUT} are cut: --json FILE holds every message")
    print(last_line)


def _code(parts: list[Part], fine: tuple[str, ...] = (GRADED,)) -> int:
    return int(any(row.result.status not in fine for row in _everybody(parts)))


def _everybody(parts: list[Part]) -> Iterator[Graded]:
    return chain.from_iterable(part.rows for part in parts)
