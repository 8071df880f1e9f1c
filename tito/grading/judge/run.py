"""G, the judge's process: reads a job from stdin, writes one JSON line for each thing it knows.

    python -m tito.grading.judge.run < job.json

It runs apart from its caller so that nothing a hand-in does to it, by size or by time, reaches
the batch. The caller reads JSON and nothing else.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from tito import forbid
from tito.errors import UserError
from tito.grading.engine.base import Engine
from tito.grading.engine.spawn import SpawnEngine
from tito.grading.judge import clean, harden
from tito.grading.judge.claimed import ClaimCap
from tito.grading.judge.job import Job
from tito.grading.judge.messages import Context, tidy
from tito.grading.judge.meter import Meter
from tito.grading.judge.passes import Book, Outcome, Walk
from tito.grading.judge.plan import (
    Exercise,
    GradedTest,
    Plan,
    Step,
    later_cells_change_names,
    make_plan,
)
from tito.grading.judge.rebuild import rebuild
from tito.grading.judge.result import FAILED, FORBIDS, LATER, PASSED, TIMEOUT
from tito.grading.judge.spare import Spare
from tito.grading.judge.submission import nothing_of, read_submission
from tito.grading.judge.text import visible
from tito.grading.judge.twin import Twin
from tito.grading.judge.world import Contract, World, contracts_of
from tito.grading.sandbox import is_isolating
from tito.grading.stage import Stage, make_stage
from tito.notebook import Role

Emit = Callable[[dict[str, Any]], None]
# What the judge itself may need beside a student's largest values.
OWN_MEMORY = 4 << 30
MOST_REMARKS = 100
READING = 60.0  # seconds of CPU until it is known what a hand-in holds


def main(engine: Engine | None = None, known: Job | None = None) -> None:
    """Read the job, grade, say "done". Anything else that ends the process is told by silence.

    known : a job whose module was read before, and is this one's
    """
    job = Job.from_json(sys.stdin.buffer.read().decode("ascii"), known)
    emit = _private_stdout()
    harden.close_memory()
    harden.collect_seldom()
    harden.limit_memory(job.limits.memory + OWN_MEMORY)
    harden.poison_empty_arrays()
    harden.stand_in_for_here()
    if job.package is not None:
        sys.path.insert(0, str(job.package.parent))
    os.environ["MPLBACKEND"] = "agg"
    judge = Judge(job, emit, engine or SpawnEngine())
    try:
        judge.run()
        if job.timing:
            spent = {"student": judge.student_seconds, "module": judge.meter.seconds}
            emit({"event": "spent", **spent})
    except Exception as error:  # a mistake of ours; whoever grades has to hear of it
        traceback.print_exc()
        words = "" if judge.hides else f": {error}"  # they may be about a hidden input
        emit({"event": "crash", "error": tidy(f"{type(error).__name__}{words}")})
    emit({"event": "done"})


def _private_stdout() -> Emit:
    """A writer to the real stdout; what anybody else prints from now on goes nowhere."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    lock = threading.Lock()

    def emit(event: dict[str, Any]) -> None:
        with lock:
            out.write(json.dumps(event) + "\n")
            out.flush()

    return emit


class Judge:
    """One job from bytes to points."""

    def __init__(self, job: Job, emit: Emit, engine: Engine) -> None:
        self.job = job
        self.emit = emit
        self.engine = engine
        self.settled = set(job.finished)
        self.running: GradedTest | None = None
        self.reading = True
        self.hides = False  # nothing of the walk that runs may be shown
        self.meter = Meter()
        self.student_seconds = 0.0
        self.watch = harden.Watch(self._gave_up)

    def run(self) -> None:
        job = self.job
        self.watch.allow(READING)
        try:
            submission = read_submission(job.submission)
        except UserError as error:
            self.emit({"event": "broken", "reason": error.message})
            return
        rebuilt = rebuild(job.master, submission, job.release, job.handed_out)
        if not (rebuilt.ours or rebuilt.solutions):
            self.emit({"event": "broken", "reason": nothing_of(submission, job.module)})
            return
        with ExitStack() as self.open:
            self.spare = Spare(self._new_world, self.engine.starts_ahead)
            self.spare.start()
            plan = make_plan(job.master, rebuilt)
            self.book = Book(self._context(plan), undone=set(job.undone))
            self._deviations([*rebuilt.deviations, *plan.left_out])
            self._settle_without_running(plan)
            self.reading = False
            self.watch.allow(None)
            self._run(plan)

    def _run(self, plan: Plan) -> None:
        self.claims = ClaimCap(plan.tests)
        self.twin = Twin(plan.steps, self._twin_world)
        own = {e.position: self.job.master.cells[e.position].source for e in plan.exercises}
        self.book.clean = clean.Clean(plan.steps, own, self._clean_world)
        self.expected = self._expected(plan)
        self._walk(plan, hide=False)
        if self._hidden_left(plan):
            self._walk(plan, hide=True)

    def _expected(self, plan: Plan) -> int:
        """How many processes for claims and baselines will probably be asked for."""
        left = [t for t in plan.tests if t.id not in self.settled]
        claims = [t for t in left if "claim(" in t.source]
        shared = [t for t in claims if any(f'"{kind}"' in t.source for kind in clean.SHARED)]
        alone = {t.exercise for t in claims if t not in shared}
        return len(alone) + bool(shared) + any("speed(" in t.source for t in left)

    def _context(self, plan: Plan) -> Context:
        cells = self.job.master.cells
        open_text = "\n".join(
            visible(c) for c in cells if not c.hidden and c.role is not Role.SOLUTION
        )
        owner = {name: e for e in plan.exercises for name in e.names}
        own = self.job.before == "own"
        return Context({}, open_text + "\n" + " ".join(owner), owner, own)

    # -- what needs no run

    def _settle_without_running(self, plan: Plan) -> None:
        routes = forbidden(plan, package_sources(self.job))
        for test in plan.tests:
            if (test.hidden and self.job.visible_only) or test.empty:
                self._settle(test, LATER, None, None)
            elif test.exercise in routes:
                self._settle(test, FAILED, Fraction(0), routes[test.exercise])

    # -- the two walks

    def _walk(self, plan: Plan, *, hide: bool) -> None:
        job = self.job
        self.hides = hide
        contracts = {}
        for source, writes in plan.contracts:
            contracts.update(contracts_of(source, writes))
        world = self.spare.take(contracts)
        world.meter = self.meter
        if self.expected > 0:
            self.spare.start()
        try:
            if not self._may_run(world):
                return
            walk = Walk(plan, world, self.twin, job.secret, self.book, hide=hide)
            for step in plan.steps[: self._how_far(plan, hide)]:
                self._step(walk, step, hide)
            self._report([] if hide else list(world.notes))
            if not hide and self._hidden_left(plan) and not later_cells_change_names(plan):
                self._hidden_in_place(plan, world)
                self._report([])
            if job.timing:
                self.student_seconds += world.own_seconds()
        finally:
            world.close()

    def _hidden_in_place(self, plan: Plan, world: World) -> None:
        """Hidden tests in the process that the visible ones left: no second one for a right answer.

        Nothing is shown of that process any more. The first that does not pass ends this; it and
        those after it run in a fresh process, in the notebook's order, and that counts.
        """
        walk = Walk(plan, world, self.twin, self.job.secret, self.book, hide=True, cells_ran=True)
        for step in plan.steps[: self._how_far(plan, hide=True)]:
            wanted = self._wanted(step, hide=True)
            self._step(walk, step, hide=True, only_passes=True)
            if wanted and step.id not in self.settled:
                return

    def _stage(self) -> Stage:
        job = self.job
        shared = self.engine.library, self.engine.packages
        return make_stage(job.package, job.package_modules, job.files, *shared)

    def _new_world(self) -> World:
        """One that may still be starting; it is gone at the end of the job at the latest."""
        stage = self.open.enter_context(self._stage())
        world = World(self.engine, stage, self.job.limits, ahead=True)
        self.open.callback(world.close)
        return world

    def _trusted_world(self, contracts: Mapping[str, Contract]) -> World:
        """A process for baselines or claims; it lives as long as the job."""
        world = self.spare.take(contracts)
        self.open.callback(lambda: self.meter.add(world.seconds))
        self.expected -= 1
        return world

    def _clean_world(self, contracts: Mapping[str, Contract]) -> World:
        world = self._trusted_world(contracts)
        if self.expected > 0:
            self.spare.start()
        return world

    def _twin_world(self, contracts: Mapping[str, Contract]) -> World:
        """No other process starts beside it: what follows is a measurement."""
        return self._trusted_world(contracts)

    def _how_far(self, plan: Plan, hide: bool) -> int:
        """Nothing below the last test matters, but a student wants to hear of all cells.

        The first walk runs the cells of hidden tests too: it leaves them their process.
        """
        if self.job.visible_only:
            return len(plan.steps)
        walks = (hide, True)
        wanted = (i for i, s in enumerate(plan.steps) if any(self._wanted(s, w) for w in walks))
        return max(wanted, default=-1) + 1

    def _may_run(self, world: World) -> bool:
        """Foreign code runs confined, or by an explicit wish."""
        self.emit({"event": "isolation", "layers": list(world.layers)})
        return is_isolating(world.layers) or self.job.unconfined

    def _step(
        self, walk: Walk, step: Step | GradedTest, hide: bool, only_passes: bool = False
    ) -> None:
        if isinstance(step, Step):
            self.emit({"event": "begin", "label": step.label})
            self.watch.allow(self.job.limits.test)
            walk.step(step)
        elif self._wanted(step, hide):
            self._test(walk, step, hide, only_passes)
        self.watch.allow(None)

    def _wanted(self, step: Step | GradedTest, hide: bool) -> bool:
        """Whether this walk has to run a test."""
        if not isinstance(step, GradedTest) or step.id in self.settled:
            return False
        if hide:
            return step.has_secret
        return not step.hidden and bool(step.shown.strip())

    def _test(self, walk: Walk, test: GradedTest, hide: bool, only_passes: bool) -> None:
        if self.book.spent > self.job.limits.notebook:
            why = f"the notebook used more than {self.job.limits.notebook:g} s before this test"
            self._settle(test, TIMEOUT, Fraction(0), why)
            return
        self.running = test
        self.emit({"event": "begin", "label": test.label, "id": test.id})
        self.watch.allow(self.job.limits.test)
        partly = test.has_secret and not hide
        source = test.shown if partly else test.source
        outcome = walk.test(test, source, scored=not partly)
        self.running = None
        if partly and outcome.status == PASSED and not self.job.visible_only:
            return  # its hidden part decides, in the second walk
        if only_passes and outcome.status != PASSED:
            return
        outcome, remark = self.claims.limit(test, outcome)
        self.book.remarks += [remark] if remark else []
        self._settle(test, outcome.status, outcome.points, outcome.message, outcome)

    def _hidden_left(self, plan: Plan) -> bool:
        if self.job.visible_only:
            return False
        return any(t.has_secret and t.id not in self.settled for t in plan.tests)

    # -- what the caller hears

    def _settle(
        self,
        test: GradedTest,
        status: str,
        points: Fraction | None,
        message: str | None,
        outcome: Outcome | None = None,
    ) -> None:
        if test.id in self.settled:
            return
        self.settled.add(test.id)
        message = message and self._with_cause(message)
        if outcome is not None and status == PASSED and not outcome.asked:
            self.book.remarks.append(f"{test.id}: passed without asking the student's code")
        self.emit(
            {
                "event": "cell",
                "id": test.id,
                "status": status,
                "points": None if points is None else str(points),
                "message": message,
                "seconds": _told_seconds(test, outcome.seconds) if outcome else 0.0,
                "doubt": outcome is not None and outcome.doubt,
                "ratio": outcome.ratio if outcome else None,
            }
        )

    def _with_cause(self, message: str) -> str:
        """A name that is not there, because the cell that makes it did not come to its end."""
        missing = re.search(r"NameError: name '(\w+)' is not defined", message)
        cause = self.book.stopped.get(missing[1]) if missing else None
        return f"{message}\n  likely    {cause}" if cause else message

    def _deviations(self, remarks: list[str]) -> None:
        self.emit({"event": "deviations", "remarks": list(remarks)})

    def _report(self, notes: list[str]) -> None:
        self._deviations(_first([*self.book.remarks, *notes]))
        self.emit({"event": "raised", "cells": _first(self.book.raised)})
        self.book.remarks.clear()
        self.book.raised.clear()

    def _gave_up(self) -> None:
        """Called by the watch's thread right before it ends the process."""
        if self.running is not None:
            seconds = self.job.limits.test
            self._settle(
                self.running, TIMEOUT, Fraction(0), f"the test took more than {seconds:g} s"
            )
        elif self.reading:
            self.emit({"event": "broken", "reason": f"it takes more than {READING:g} s to read"})


def _told_seconds(test: GradedTest, seconds: float) -> float:
    """Of a secret test coarsely: code that has seen its inputs could write them into its time."""
    return round(seconds, 1) if test.has_secret else seconds


def _first(texts: list[str]) -> list[str]:
    """A hand-in with thousands of failing cells need not fill the report."""
    more = len(texts) - MOST_REMARKS
    return texts[:MOST_REMARKS] + ([f"and {more} more"] if more > 0 else [])


def package_sources(job: Job) -> dict[str, str]:
    """The modules that cells import from, by dotted name."""
    return forbid.read_package(job.package, job.package_modules) if job.package else {}


def forbidden(plan: Plan, package: Mapping[str, str] | None = None) -> dict[int, str]:
    """For each exercise that took a forbidden route: which, and where.

    package : sources of the modules that cells import from, by dotted name
    """
    found = {}
    for exercise in plan.exercises:
        if not exercise.forbid:
            continue
        sources, start = _read_by_forbid(plan, exercise)
        if not sources:
            continue  # no test of its own: nothing that a route could earn
        specs = _specifications(plan, exercise) if "spec" in exercise.forbid else ()
        names = sorted(exercise.names)
        given = {s.label for s in plan.steps if isinstance(s, Step) and s.kind == "given"}
        findings = forbid.find(sources, names, exercise.forbid, start, specs, package, given, True)
        if findings:
            found[exercise.position] = tidy(_in_words(findings[0]))
    return found


def _in_words(finding: forbid.Finding) -> str:
    what, advice = forbid.SETS[finding.set].what, forbid.SETS[finding.set].advice
    place = f"{finding.label}, line {finding.line}: {finding.route}"
    if finding.hidden:
        return f"{place} cannot be read, so it may be {what}, {FORBIDS}: write out what it does"
    return f"{place} is {what}, {FORBIDS}: {advice}"


def _specifications(plan: Plan, exercise: Exercise) -> frozenset[str]:
    """Given functions that the tests of an exercise compare with."""
    tests = [s.source for s in plan.steps if _tests(s, exercise)]
    given = [s.source for s in plan.steps if isinstance(s, Step) and s.kind == "given"]
    reference = plan.contracts[plan.exercises.index(exercise)][0]
    return forbid.specifications(tests, given, reference)


def _read_by_forbid(plan: Plan, exercise: Exercise) -> tuple[dict[str, str], str | None]:
    """The code that runs before the last test of an exercise, by label, and its own cell's."""
    tests = [i for i, s in enumerate(plan.steps) if _tests(s, exercise)]
    sources: dict[str, str] = {}
    start = None
    for step in plan.steps[: max(tests, default=-1) + 1]:
        if not isinstance(step, Step) or not step.in_s or step.kind == "imports":
            continue
        sources[step.label] = step.source
        if step.kind == "solution" and step.position == exercise.position and start is None:
            start = step.label
    return sources, start


def _tests(step: Step | GradedTest, exercise: Exercise) -> bool:
    return isinstance(step, GradedTest) and step.exercise == exercise.position


if __name__ == "__main__":
    main()
