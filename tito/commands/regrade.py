"""`tito grade regrade`: after a test was mended, the questions that it touches are graded again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tito.commands.classes import given_ids, the_class
from tito.commands.deliver import deliver
from tito.commands.masters import course_of, make_batch
from tito.commands.progress import Progress
from tito.commands.words import quoted
from tito.errors import UsageError, UserError
from tito.grading.wording import counted
from tito.notebook.points import as_number, display

if TYPE_CHECKING:
    from fractions import Fraction

    from tito.course import Course, ModuleRef
    from tito.grading.book import Change, Plan, Regrade, Stale
    from tito.grading.classroom import Classroom
    from tito.grading.collected import Collected
    from tito.grading.executors import Workers
    from tito.grading.judge.result import CellResult
    from tito.grading.store import Stored


@dataclass
class Regraded:
    """What came of one module.

    plan : what was graded again, and for which questions
    not_graded : (student, why) of those whose stored result stayed
    still_broken : (student, why) of those that could not be graded before, and cannot be now
    of_nobody : whose results are left alone, since they are in no roster
    not_graded_yet : who has handed in and was never graded
    names : Student.id -> the id as it stands in the roster
    """

    module: str
    plan: Plan
    changes: list[Change] = field(default_factory=list)
    not_graded: list[tuple[str, str]] = field(default_factory=list)
    still_broken: list[tuple[str, str]] = field(default_factory=list)
    of_nobody: list[str] = field(default_factory=list)
    not_graded_yet: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def name(self, student: str) -> str:
        """The id as it stands in the roster; not every one may be a folder's name."""
        return self.names.get(student, student)

    @property
    def mended(self) -> int:
        """How many could not be graded before, and now could."""
        left = {student for student, _ in self.not_graded + self.still_broken}
        return sum(stale.stored.student not in left for stale in self.plan.broken)

    @property
    def regraded(self) -> int:
        left = {student for student, _ in self.not_graded}
        return self.mended + sum(stale.stored.student not in left for stale in self.plan.stale)


def grade_regrade(args: argparse.Namespace) -> int:
    """0 when every question concerned was graded again, 1 when one could not be."""
    from tito.grading.executors import local
    from tito.grading.limits import default_jobs

    if args.jobs is not None and args.jobs < 1:
        raise UsageError("-j takes a number from 1 on")
    classroom = the_class(args)
    course = course_of(classroom, args.course)
    refs = _graded_modules(args, classroom, course)
    jobs = max(1, min(args.jobs or default_jobs(), len(classroom.roster())))
    with classroom.lock(), local(jobs) as workers:
        done = [_regrade(args, classroom, course, ref, workers) for ref in refs]
    if args.json:
        deliver(args.json, json.dumps(_as_json(args, done), indent=1) + "\n")
    if args.json != "-":
        for part in done:
            print(_told(part, args.dry_run))
        print(_next_after_regrade(args, done))
    return int(any(part.not_graded for part in done))


def _graded_modules(
    args: argparse.Namespace, classroom: Classroom, course: Course
) -> list[ModuleRef]:
    if args.module:
        return [course.resolve(args.module)]
    names = [name for name in classroom.modules_collected() if classroom.results(name).is_dir()]
    if not names:
        raise UserError(
            "nothing was graded yet", path=classroom.root, hint="tito grade run grades first"
        )
    return [course.resolve(name) for name in names]


def _regrade(
    args: argparse.Namespace,
    classroom: Classroom,
    course: Course,
    ref: ModuleRef,
    workers: Workers,
) -> Regraded:
    from tito.grading.book import Kept, Regrade
    from tito.grading.collected import Collected

    batch = make_batch(course, ref, classroom, unconfined=args.unconfined)
    run = Collected(classroom, ref.name, batch)
    kept = Kept(classroom.root, ref.name)
    regrade = Regrade(kept, run.store, batch.master)
    done = Regraded(ref.name, regrade.plan(run.results))
    done.of_nobody, done.not_graded_yet = run.of_nobody, run.not_graded
    done.names = given_ids(classroom)
    if done.plan.questions:
        _refuse_wrong_tests(run, done.plan.questions, workers)
    if not args.dry_run:
        kept.keep_master(batch.master)
        for stored in done.plan.relabelled:
            regrade.keep(regrade.relabelled(stored))
    stale = {s.stored.student: s for s in done.plan.everyone}
    with Progress(ref.name, len(stale)) as progress:
        for before, after in _graded_again(run, regrade, stale, workers, done, progress):
            done.changes += regrade.changes(before, after)
            if not args.dry_run:
                regrade.keep(after)
    if not args.dry_run:
        _write_book(classroom, run)
    order = {student.id: n for n, student in enumerate(classroom.roster())}
    done.changes.sort(key=lambda c: order.get(c.student, len(order)))
    return done


def _refuse_wrong_tests(run: Collected, names: list[str], workers: Workers) -> None:
    """A mended test that the course's own solution fails would take points from right answers."""
    from tito.grading.audit.thresholds import speed_cells
    from tito.grading.book.changes import question_of
    from tito.grading.handins import HandIn
    from tito.grading.judge.result import GRADED
    from tito.notebook import write_ipynb

    master = run.batch.master
    own = HandIn("", read=lambda: write_ipynb(master).encode())
    [(_, row)] = run.batch.stream([own], workers, run.assignment)
    measured = {cell.id for cell in speed_cells(master)}
    question = question_of(master)
    lost = [
        f"{cell.id}: {(cell.message or cell.status).strip().partition(chr(10))[0]}"
        for cell in row.result.automatic
        if question.get(cell.id) in names and _has_lost(cell, cell.id in measured)
    ]
    if row.result.status != GRADED:
        lost = [row.result.reason or row.result.status]
    if lost:
        raise UserError(
            f"the course's own solution fails the tests that changed: {'; '.join(lost)}",
            path=master.path,
            hint="mend the test, then call this again; nothing of the module was graded again",
        )


def _has_lost(cell: CellResult, is_measured: bool) -> bool:
    """Whether points are missing; a speed may miss a step on a busy machine, but not all."""
    if cell.points is None:
        return False
    return cell.points <= 0 < cell.max_points if is_measured else cell.points < cell.max_points


def _graded_again(
    run: Collected,
    regrade: Regrade,
    stale: dict[str, Stale],
    workers: Workers,
    done: Regraded,
    progress: Progress,
) -> Iterator[tuple[Stored, Stored]]:
    """(stored, merged) of each hand-in that could be graded again."""
    from tito.grading.judge.result import GRADED, MISSING

    handins = [h for h in run.handins() if h.student in stale]
    for _, row in run.batch.stream(handins, workers, run.assignment):
        progress(row)
        own = stale[row.student]
        was_graded = own.stored.submission["status"] == GRADED
        if row.handin != own.stored.key.handin:
            why = "handed in anew since it was graded: tito grade run grades it"
            done.not_graded.append((row.student, why))
        elif was_graded and row.result.status != GRADED:
            done.not_graded.append((row.student, row.result.reason or row.result.status))
        else:
            if row.result.status not in (GRADED, MISSING):
                why = row.result.reason or row.result.status
                done.still_broken.append((row.student, why))
            yield own.stored, regrade.merged(own, row.result)


def _write_book(classroom: Classroom, run: Collected) -> None:
    from tito.grading import book

    book.write(classroom, run.batch.master, run.results, files=run.batch.files)


def _told(part: Regraded, dry_run: bool) -> str:
    return "\n".join([*_told_of_graded(part, dry_run), *_told_of_others(part)])


def _told_of_others(part: Regraded) -> list[str]:
    """Whose results are as they were, for the roster and not for the tests."""
    lines = []
    if part.of_nobody:
        lines.append(f"  not graded again, nobody in roster.csv: {', '.join(part.of_nobody)}")
    if part.not_graded_yet:
        names = ", ".join(map(part.name, part.not_graded_yet))
        lines.append(f"  not graded yet (tito grade run does it): {names}")
    return lines


def _told_of_graded(part: Regraded, dry_run: bool) -> list[str]:
    plan = part.plan
    if not (plan.stale or plan.broken):
        same = "its tests are those that the hand-ins were graded with"
        return [f"{part.module}: nothing to grade again, {same}"]
    lines = []
    if plan.stale:
        names = ", ".join(plan.questions)
        lines.append(
            f"{part.module}: graded again in {counted(len(plan.stale), 'hand-in')}: {names}"
        )
    if part.mended:
        lines.append(f"{part.module}: {part.mended} that could not be graded before, as a whole")
    elif not plan.stale:
        lines.append(f"{part.module}: nothing could be graded again")
    if plan.unknown:
        lines.append(
            "  the version that some were graded with was not kept, so all their questions count"
        )
    lines += _changes_table(part)
    lines += [f"  not graded again: {part.name(s)}: {why}" for s, why in part.not_graded]
    lines += [f"  still broken: {part.name(s)}: {why}" for s, why in part.still_broken]
    if dry_run:
        lines.append("  a dry run: nothing was written")
    return lines


def _changes_table(part: Regraded) -> list[str]:
    if not part.changes:
        return ["  nobody's points changed"]
    rows = [
        (part.name(c.student), c.question, _shown(c.before), _shown(c.after)) for c in part.changes
    ]
    heads = ("student", "question", "before", "after")
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(4)]
    return [
        f"  {a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:>{widths[3]}}"
        for a, b, c, d in (heads, *rows)
    ]


def _shown(points: Fraction | None) -> str:
    return "-" if points is None else display(points)


def _as_json(args: argparse.Namespace, done: list[Regraded]) -> dict[str, Any]:
    return {
        "version": 1,
        "dry_run": args.dry_run,
        "modules": [
            {
                "module": part.module,
                "questions": part.plan.questions,
                "regraded": part.regraded,
                "changes": [
                    {
                        "student": part.name(c.student),
                        "question": c.question,
                        "before": None if c.before is None else as_number(c.before),
                        "after": None if c.after is None else as_number(c.after),
                    }
                    for c in part.changes
                ],
                "not_graded": [
                    {"student": part.name(s), "reason": why} for s, why in part.not_graded
                ],
                "still_broken": [
                    {"student": part.name(s), "reason": why} for s, why in part.still_broken
                ],
                "not_in_roster": part.of_nobody,
                "not_graded_yet": [part.name(s) for s in part.not_graded_yet],
            }
            for part in done
        ],
    }


def _next_after_regrade(args: argparse.Namespace, done: list[Regraded]) -> str:
    if args.dry_run and any(part.plan.stale or part.plan.broken for part in done):
        return "next: the same without --dry-run"
    return f"next: tito grade export{_class_word(args)} --format csv"


def _class_word(args: argparse.Namespace) -> str:
    return f" --class {quoted(args.classroom)}" if args.classroom else ""
