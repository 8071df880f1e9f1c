"""All that the overview of a class says, in one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tito.grading.judge.result import GRADED
from tito.grading.overview.oddities import Oddity, oddities
from tito.grading.overview.questions import Question, questions
from tito.grading.overview.similar import (
    Likeness,
    identical,
    likeness,
    read_work,
    same_words,
)
from tito.notebook import Notebook


@dataclass(frozen=True)
class Overview:
    """A class in one module.

    statuses : status -> number of students
    points   : of each hand-in that was graded, by tests alone
    """

    module: str
    title: str
    statuses: Mapping[str, int]
    points: Sequence[float]
    max_points: float
    questions: Sequence[Question]
    oddities: Sequence[Oddity]
    likeness: Likeness = field(default_factory=Likeness)

    @property
    def students(self) -> int:
        return sum(self.statuses.values())


def overview(
    module: str,
    records: Sequence[Mapping[str, Any]],
    hand_ins: Iterable[tuple[str, Notebook]] = (),
    handed_out: Notebook | None = None,
    title: str | None = None,
) -> Overview:
    """The overview of a class.

    records    : one row of the grading JSON for each student
    hand_ins   : (student, notebook), read one at a time; only traits and hashes are kept
    handed_out : what students were given, to tell their own words from it
    """
    graded = [record for record in records if record["status"] == GRADED]
    asked = questions(graded)
    works = {name: read_work(nb, handed_out) for name, nb in hand_ins} if handed_out else {}
    own = {name: work.traits for name, work in works.items()}
    same = identical(works)
    return Overview(
        module=module,
        title=title or module,
        statuses=dict(Counter(record["status"] for record in records).most_common()),
        points=sorted(float(record["points"]) for record in graded),
        max_points=sum(q.max_points for q in asked if q.asked),
        questions=asked,
        oddities=oddities(records),
        likeness=replace(likeness(own, same=same), answers=same_words(works, same)),
    )
