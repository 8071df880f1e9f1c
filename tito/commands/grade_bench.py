"""`tito grade bench`: what grading a class costs here, beside nbgrader, on one worker and more."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tito.commands.deliver import deliver
from tito.commands.masters import make_batch
from tito.commands.progress import Progress
from tito.course import Course, ModuleRef, find_course
from tito.errors import UsageError

if TYPE_CHECKING:
    from tito.grading.batch import Batch
    from tito.grading.bench.synthetic import Synthetic

PARTS = ("versus", "growth", "spread", "killed")
MODULE = "03"
COMPARED = 20  # every kind of the synthetic class is among so many
SPREAD = 60


def grade_bench(args: argparse.Namespace) -> int:
    """0 when all that was asked for was measured and nothing was lost, 1 otherwise."""
    from tito.grading.bench.processes import require_linux

    if args.students < COMPARED:
        raise UsageError(f"--students takes a number from {COMPARED} on")
    if args.jobs < 1:
        raise UsageError("-j takes a number from 1 on")
    require_linux()
    course = find_course()
    bench = _Bench(args, course, course.resolve(args.module or MODULE))
    with tempfile.TemporaryDirectory(prefix="tito-bench-") as scratch:
        for part in PARTS:
            if not args.part or part in args.part:
                folder = Path(scratch) / part
                folder.mkdir()
                bench.run(part, folder)
    if args.json:
        deliver(args.json, json.dumps(bench.document, indent=1) + "\n")
    if args.json != "-":
        print("next: tito grade run HANDINS --module NN -j N grades with N workers")
    return int(bench.failed)


@dataclass
class _Bench:
    """Runs the parts; prints what each found, and keeps it for the JSON."""

    args: argparse.Namespace
    course: Course
    ref: ModuleRef
    failed: bool = False
    document: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.batch: Batch = make_batch(self.course, self.ref, engine=self.args.engine)
        self.document.update(version=1, module=self.ref.name, seed=self.args.seed)
        self._print(f"{self.ref.name}, a synthetic class (seed {self.args.seed})")

    def run(self, part: str, folder: Path) -> None:
        getattr(self, f"_{part}")(folder)

    def _print(self, line: str) -> None:
        if self.args.json != "-":
            print(line, flush=True)

    def _class(self, count: int) -> Iterator[Synthetic]:
        from tito.grading.bench.synthetic import synthetic_class

        return synthetic_class(self.batch.master, count, self.args.seed)

    def _versus(self, folder: Path) -> None:
        from tito.grading.bench.versus import versus

        hand_ins = list(self._class(COMPARED))
        found = versus(self.course, self.ref, self.batch, hand_ins, folder, _say)
        for line in found.lines():
            self._print(line)
        self.document["throughput_ratio"] = round(found.throughput_ratio, 2)
        self.document["versus"] = found.to_json()
        self.failed |= bool(found.honest_differences)

    def _growth(self, folder: Path) -> None:
        from tito.grading.bench.growth import growth, warm_up
        from tito.grading.bench.room import make_room
        from tito.grading.collected import Collected
        from tito.grading.executors import local

        room, _ = make_room(folder, self.ref.name, self._class(self.args.students), self.course)
        run = Collected(room, self.ref.name, self.batch)
        with room.lock(), local(self.args.jobs) as workers:
            warm_up(run, workers)
            with Progress("a large class", self.args.students) as progress:
                found = growth(run, workers, progress)
        for line in found.lines():
            self._print(line)
        self.document["growth"] = found.to_json()

    def _spread(self, folder: Path) -> None:
        from tito.grading.bench.spread import has_dask, head, spread

        hand_ins = list(self._class(min(self.args.students, SPREAD)))
        self._print(head(len(hand_ins)))
        self.document["spread"] = []
        for found in spread(self.batch, hand_ins, _say):
            self._print(found.line())
            self.document["spread"].append(found.to_json())
            self.failed |= bool(found.wrong)
        if not has_dask():
            self._print('  Dask is not installed: pip install "distributed" adds it here')

    def _killed(self, folder: Path) -> None:
        from tito.grading.bench.killed import killed
        from tito.grading.bench.room import make_room

        count = self.args.students
        rooms = [
            make_room(folder / name, self.ref.name, self._class(count), self.course)[0]
            for name in ("whole", "killed")
        ]
        options = ["--engine", self.args.engine] if self.args.engine else []
        found = killed(*rooms, self.ref.name, self.course, options, _say)
        for line in found.lines():
            self._print(line)
        self.document["killed"] = found.to_json()
        self.failed |= not found.same


def _say(text: str) -> None:
    print(f"tito: {text}", file=sys.stderr, flush=True)
