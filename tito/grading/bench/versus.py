"""The same hand-ins by nbgrader's autograde and by one worker of ours, side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tito.course import Course, ModuleRef
from tito.errors import UserError
from tito.files import write_atomic
from tito.grading import book
from tito.grading.audit.crosscheck import NbGrader
from tito.grading.batch import Batch, Row
from tito.grading.bench.processes import cpu_seconds
from tito.grading.bench.room import make_room
from tito.grading.bench.synthetic import HONEST, RIGHT, Synthetic
from tito.grading.collected import Collected
from tito.grading.executors import local
from tito.notebook import write_ipynb
from tito.notebook.points import display, exact

WARM_UP = "warm-up"
Scores = dict[tuple[str, str], Fraction | None]


@dataclass
class Spent:
    """Seconds by the clock on the wall, and of CPU in all processes."""

    wall: float = 0.0
    cpu: float = 0.0

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    def to_json(self) -> dict[str, float]:
        return {"wall": round(self.wall, 3), "cpu": round(self.cpu, 3)}


@dataclass
class Difference:
    """A question in which the two give other points; None is no points at all."""

    student: str
    kind: str
    question: str
    nbgrader: Fraction | None
    ours: Fraction | None

    def __str__(self) -> str:
        theirs, ours = ("none" if p is None else display(p) for p in (self.nbgrader, self.ours))
        return f"{self.student} ({self.kind}): {self.question}: nbgrader {theirs}, ours {ours}"


@dataclass
class Versus:
    """count hand-ins; of nbgrader's command, what it costs to start is not counted as grading.

    ours : grading and the grade book, as nbgrader's command does both; book : the latter alone
    """

    count: int = 0
    nbgrader: Spent = field(default_factory=Spent)
    start_up: Spent = field(default_factory=Spent)
    ours: Spent = field(default_factory=Spent)
    differences: list[Difference] = field(default_factory=list)
    book: Spent = field(default_factory=Spent)

    @property
    def warm(self) -> Spent:
        return self.nbgrader - self.start_up

    @property
    def throughput_ratio(self) -> float:
        return self.warm.wall / self.ours.wall

    @property
    def cpu_ratio(self) -> float:
        return self.warm.cpu / self.ours.cpu

    @property
    def honest_differences(self) -> list[Difference]:
        return [d for d in self.differences if d.kind in HONEST]

    def lines(self) -> Iterator[str]:
        yield f"{self.count} hand-ins, one after the other   wall      CPU   a hand-in (CPU)"
        for name, spent in (
            ("nbgrader autograde, the command", self.nbgrader),
            ("  of that, to start (nothing to do)", self.start_up),
            ("nbgrader autograde, warm", self.warm),
            ("one worker of ours, warm", self.ours),
            ("  of that, the grade book", self.book),
        ):
            each = spent.cpu / self.count
            yield f"  {name:<36}{spent.wall:7.2f} s {spent.cpu:7.2f} s  {each:7.3f} s"
        yield (f"  throughput_ratio {self.throughput_ratio:.1f} (wall), {self.cpu_ratio:.1f} (CPU)")
        yield from self._compared()

    def _compared(self) -> Iterator[str]:
        yield f"  questions with other points: {len(self.differences)}"
        yield from (f"    {difference}" for difference in self.differences)
        yield f"  of these in honest hand-ins ({', '.join(HONEST)}): {len(self.honest_differences)}"

    def to_json(self) -> dict[str, Any]:
        return {
            "hand_ins": self.count,
            "nbgrader": self.nbgrader.to_json(),
            "nbgrader_start_up": self.start_up.to_json(),
            "nbgrader_warm": self.warm.to_json(),
            "ours": self.ours.to_json(),
            "ours_book": self.book.to_json(),
            "throughput_ratio": round(self.throughput_ratio, 2),
            "cpu_ratio": round(self.cpu_ratio, 2),
            "differences": [str(d) for d in self.differences],
            "honest_differences": len(self.honest_differences),
        }


def versus(
    course: Course,
    ref: ModuleRef,
    batch: Batch,
    hand_ins: list[Synthetic],
    folder: Path,
    say: Callable[[str], None],
) -> Versus:
    """Grade the hand-ins with both; `folder` is a scratch folder."""
    found = Versus(len(hand_ins))
    say("one worker of ours")
    ours = our_scores(course, ref, batch, hand_ins, folder, found)
    theirs = _their_scores(course, ref, batch, hand_ins, folder, found, say)
    kinds = {h.student: h.kind for h in hand_ins}
    found.differences = [
        Difference(student, kinds[student], question, theirs.get((student, question)), points)
        for (student, question), points in ours.items()
        if theirs.get((student, question)) != points
    ]
    return found


@contextmanager
def measured(into: Spent) -> Iterator[None]:
    cpu, wall = cpu_seconds(), time.perf_counter()
    yield
    into.wall += time.perf_counter() - wall
    into.cpu += cpu_seconds() - cpu


def our_scores(
    course: Course,
    ref: ModuleRef,
    batch: Batch,
    hand_ins: list[Synthetic],
    folder: Path,
    found: Versus,
) -> Scores:
    """Grade into a class folder and write its grade book, as `tito grade run` does."""
    warm_up = replace(_warm_up(hand_ins), student=WARM_UP)
    room, _ = make_room(folder / "ours", ref.name, [warm_up, *hand_ins], course)
    run = Collected(room, ref.name, batch)
    with room.lock(), local(1) as workers:
        run.grade([h for h in run.handins() if h.student == WARM_UP], workers, _nothing)
        book.write(room, batch.master, run.results, files=batch.files)
        with measured(found.ours):
            run.grade(run.waiting(), workers, _nothing)
            with measured(found.book):
                book.write(room, batch.master, run.results, files=batch.files)
    scores = _recorded(room.root, ref.name)
    return {key: points for key, points in scores.items() if key[0] != WARM_UP}


def _nothing(row: Row) -> None:
    pass


def _warm_up(hand_ins: list[Synthetic]) -> Synthetic:
    """One that makes both load all they need."""
    return next((h for h in hand_ins if h.kind == RIGHT), hand_ins[0])


def _their_scores(
    course: Course,
    ref: ModuleRef,
    batch: Batch,
    hand_ins: list[Synthetic],
    folder: Path,
    found: Versus,
    say: Callable[[str], None],
) -> Scores:
    nbgrader = NbGrader(folder / "nbgrader", course, ref.name)
    write_atomic(nbgrader.notebook("source"), write_ipynb(batch.master))
    for file in batch.files:
        write_atomic(nbgrader.notebook("source").parent / file.name, file.read_bytes())
    say("nbgrader generate_assignment")
    nbgrader.call("generate_assignment", ref.name, "--force")
    _submit(nbgrader, WARM_UP, _warm_up(hand_ins).data)
    say("nbgrader autograde, one to warm up")
    nbgrader.call("autograde", ref.name)
    for hand_in in hand_ins:
        _submit(nbgrader, hand_in.student, hand_in.data)
    say(f"nbgrader autograde, {len(hand_ins)} hand-ins")
    with measured(found.nbgrader):
        _autograde(nbgrader)
    for hand_in in hand_ins:  # those that it could not grade it would try again
        if not nbgrader.notebook("autograded", hand_in.student).exists():
            nbgrader.notebook("submitted", hand_in.student).unlink()
            nbgrader.notebook("submitted", hand_in.student).parent.rmdir()
    say("nbgrader autograde, with nothing to do")
    with measured(found.start_up):
        _autograde(nbgrader)
    return _recorded(nbgrader.folder, ref.name)


def _submit(nbgrader: NbGrader, student: str, data: bytes) -> None:
    write_atomic(nbgrader.notebook("submitted", student), data)


def _autograde(nbgrader: NbGrader) -> None:
    # It ends with 1 where it could not grade one; what it gave the others is read all the same.
    with suppress(UserError):
        nbgrader.call("autograde", nbgrader.name)


def _recorded(folder: Path, name: str) -> Scores:
    """The points that tests gave, as the grade book has them."""
    from nbgrader.api import Gradebook

    scores: Scores = {}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}", "audit") as book:
        for submission in book.assignment_submissions(name):
            for notebook in submission.notebooks:
                for grade in notebook.grades:
                    points = grade.auto_score
                    scores[submission.student.id, grade.name] = (
                        None if points is None else exact(points)
                    )
    return scores
