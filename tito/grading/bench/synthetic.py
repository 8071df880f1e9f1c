"""A class made up from a master: hand-ins of every kind that classes hand in.

Every kind is equally frequent in each twenty, and what is in hand-in 7 is in 107 too but for a
comment: what grading costs can so be compared between parts of the class.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tito.grading.example_handins import filled_in, solution, with_bodies
from tito.notebook import Notebook
from tito.notebook.model import exercises
from tito.release.version import student_ipynb

RIGHT, HALF, WRONG, EMPTY, BROKEN, SLOW = "right", "half", "wrong", "empty", "broken", "slow"
# Of twenty.
SHARES = {RIGHT: 9, HALF: 5, WRONG: 3, EMPTY: 1, BROKEN: 1, SLOW: 1}
HONEST = (RIGHT, HALF, WRONG, EMPTY, SLOW)
REPEATED_AFTER = 100
BODIES = ("return {first}", "return None", "return 0", "raise ValueError('not today')")
SLOW_SECONDS = 0.3
_WAIT = """
import time as _time
_until = _time.process_time() + {seconds}
while _time.process_time() < _until:
    pass
"""


@dataclass(frozen=True)
class Synthetic:
    """One hand-in: the bytes of its notebook."""

    student: str
    kind: str
    data: bytes


def synthetic_class(master: Notebook, count: int, seed: int = 0) -> Iterator[Synthetic]:
    """`count` hand-ins, the same ones for the same seed."""
    student = student_ipynb(master).encode()
    answers = {
        e.solution.grade_id: solution(e.solution) for e in exercises(master) if e.solution.grade_id
    }
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    for number in range(count):
        draw = random.Random(f"{seed}, {number % REPEATED_AFTER}")
        if number % len(kinds) == 0:
            order = random.Random(f"{seed}, order {number % REPEATED_AFTER}")
            twenty = order.sample(kinds, len(kinds))
        kind = twenty[number % len(kinds)]
        name = f"student-{number + 1:03d}"
        yield Synthetic(name, kind, _notebook(student, answers, kind, name, draw))


def _notebook(
    student: bytes, answers: dict[str, str], kind: str, name: str, draw: random.Random
) -> bytes:
    sources = {
        grade_id: f"{source}\n# {name} has handed this in."
        for grade_id, source in _sources(answers, kind, draw).items()
    }
    data = filled_in(student, sources)
    return data[: len(data) // 2] if kind == BROKEN else data


def _sources(answers: dict[str, str], kind: str, draw: random.Random) -> dict[str, str]:
    """What stands in the solution cells that were touched."""
    if kind == EMPTY:
        return {}
    if kind == HALF:
        chosen = draw.sample(sorted(answers), (len(answers) + 1) // 2)
        return {grade_id: answers[grade_id] for grade_id in chosen}
    if kind == WRONG:
        return {i: with_bodies(source, draw.choice(BODIES)) for i, source in answers.items()}
    if kind == SLOW:
        first = min(answers)
        slow = answers[first] + _WAIT.format(seconds=SLOW_SECONDS)
        return {**answers, first: slow}
    return dict(answers)
