"""What a student's page says: the stored result, the hand-in and a person's marks, in one value.

Nothing of a hidden test goes in but what the judge already cleared for students: its points and its
author's message. Times are left out, since how long a hidden test took is the student's to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tito.grading.judge.result import GRADED, LATER, MANUAL
from tito.notebook import Cell, Notebook, Role
from tito.notebook.points import exact
from tito.strip import TEXT_STUB, strip_marks, strip_solutions

_HEADING = re.compile(r"^#{1,6}\s+(?P<title>.+?)\s*#*\s*$", re.MULTILINE)
NO_ANSWER = "(no answer)"
WAITS = "waits for a person"
ON_EARLIER = "*On an earlier version of this answer:*"


@dataclass(frozen=True)
class Mark:
    """What the grade book says of one cell, beside what tests found.

    points : None where nobody has decided, or only a comment was written
    by_hand : whether a person gave them; otherwise they count for what people grade alone: 0, since
        there is no answer
    waiting : whether a person has to look at it (again): what they gave was for another answer
    """

    points: Fraction | None = None
    comment: str | None = None
    by_hand: bool = False
    waiting: bool = False

    @property
    def is_of_another(self) -> bool:
        """Whether what a person gave is for an earlier version of the answer."""
        return self.by_hand and self.waiting


@dataclass(frozen=True)
class Late:
    """When it came, when it was due, and what that costs; texts and points, ready to show.

    marked : who says that it is late, where the platform gives no time: then `handed_in` is None
    by_file : whether `handed_in` is the time of the file, which copying may have changed
    """

    handed_in: str | None = None
    due: str | None = None
    by: str | None = None
    penalty: Fraction = Fraction(0)
    marked: str | None = None
    by_file: bool = False


@dataclass(frozen=True)
class Part:
    """One graded cell of a question."""

    id: str
    status: str
    points: Fraction | None
    max_points: Fraction
    message: str | None = None
    comment: str | None = None
    hidden: bool = False

    @property
    def sign(self) -> str:
        """How the page marks it: all of the points, some, none, or not decided."""
        if self.points is None:
            return "open"
        if self.points >= self.max_points:
            return "passed"
        return "partly" if self.points > 0 else "lost"


@dataclass
class Question:
    """What stands under one heading of the module: the student's cells and their points.

    comments : a person's, on cells that have no points of their own, as the code of an exercise
    """

    title: str
    code: list[str] = field(default_factory=list)
    answer: str | None = None
    parts: list[Part] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)

    @property
    def points(self) -> Fraction | None:
        """None while a person has to decide."""
        known = [part.points for part in self.parts if part.points is not None]
        return sum(known, Fraction(0)) if len(known) == len(self.parts) else None

    @property
    def max_points(self) -> Fraction:
        return sum((part.max_points for part in self.parts), Fraction(0))


@dataclass
class Feedback:
    """All that one page says."""

    title: str
    student: str
    status: str
    reason: str | None
    questions: list[Question]
    notes: list[str]
    isolation: list[str]
    late: Late | None = None
    comments: list[str] = field(default_factory=list)

    @property
    def points(self) -> Fraction:
        """All points so far, what lateness costs taken off; never below zero."""
        earned = [part.points for q in self.questions for part in q.parts]
        total = sum((p for p in earned if p is not None), Fraction(0))
        return max(total - (self.late.penalty if self.late else 0), Fraction(0))

    @property
    def max_points(self) -> Fraction:
        return sum((q.max_points for q in self.questions), Fraction(0))

    @property
    def waiting(self) -> Fraction:
        """Points that a person has yet to decide."""
        parts = [part for q in self.questions for part in q.parts]
        return sum((part.max_points for part in parts if part.points is None), Fraction(0))


def feedback_of(
    master: Notebook,
    record: Mapping[str, Any],
    hand_in: Notebook | None = None,
    *,
    student: str | None = None,
    marks: Mapping[str, Mark] | None = None,
    late: Late | None = None,
    comments: Iterable[str] = (),
) -> Feedback:
    """The page of one student.

    record  : the student's row of the grading JSON
    hand_in : the notebook that was graded; None where there is none to show
    student : how the page calls them; the row's own word for them otherwise
    marks   : grade_id -> what the grade book says
    comments : a person's, on the whole
    """
    graded = {cell["id"]: cell for cell in record["cells"]}
    said = {name: mark.comment for name, mark in (marks or {}).items() if mark.comment}
    blank = strip_marks(strip_solutions(master))
    questions: dict[str, Question] = {}
    for title, cell in _under_headings(blank):
        question = questions.setdefault(title, Question(title))
        own = hand_in.by_id(cell.grade_id) if hand_in and cell.grade_id else None
        if cell.role is Role.SOLUTION and own:
            question.code.append(own.source)
        if cell.role is Role.REFLECTION:
            asked = cell.source.replace(TEXT_STUB[0], "").rstrip()
            question.answer = own.source if own else f"{asked}\n\n{NO_ANSWER}"
        if cell.grade_id in graded:
            mark = (marks or {}).get(cell.grade_id, Mark())
            readable = record["status"] == GRADED
            question.parts.append(_part(graded[cell.grade_id], cell, mark, readable))
            said.pop(cell.grade_id, None)
        elif comment := said.pop(cell.grade_id or "", None):
            question.comments.append(comment)
    return Feedback(
        title=_title(master),
        student=student or record["student"],
        status=record["status"],
        reason=record.get("reason"),
        questions=[q for q in questions.values() if q.parts or q.comments],
        notes=[*record.get("deviations", []), *record.get("raised", [])],
        isolation=list(record.get("isolation", [])),
        late=late,
        comments=[*comments, *said.values()],
    )


def _under_headings(notebook: Notebook) -> Iterator[tuple[str, Cell]]:
    """(the heading it stands under, cell); a question that a person grades is its own heading."""
    title = ""
    for cell in notebook.cells:
        if cell.role is Role.TEXT and (found := _HEADING.findall(cell.source)):
            title = found[-1]
        elif cell.role is Role.REFLECTION:
            yield _first_words(cell.source), cell
        elif cell.role in (Role.SOLUTION, Role.TEST):
            yield title, cell


def _first_words(source: str) -> str:
    """The title of a reflection question: its heading, its bold opening, or its first line."""
    line = next((line for line in source.splitlines() if line.strip()), "")
    bold = re.match(r"\*\*(.+?)\*\*", line.strip())
    return bold[1] if bold else line.strip("#* ").strip()


def _title(master: Notebook) -> str:
    for cell in master.cells:
        if cell.role is Role.TEXT and (found := _HEADING.search(cell.source)):
            return found["title"]
    return master.name


def _part(record: Mapping[str, Any], cell: Cell, mark: Mark, readable: bool) -> Part:
    points, status = _decided(record, mark, readable)
    return Part(
        id=record["id"],
        status=status,
        points=points,
        max_points=exact(record["max_points"]),
        message=record.get("message") if readable else None,
        comment=_told_of(mark),
        hidden=cell.hidden,
    )


def _told_of(mark: Mark) -> str | None:
    if mark.comment and mark.is_of_another:
        return f"{ON_EARLIER}\n\n{mark.comment}"
    return mark.comment


def _decided(record: Mapping[str, Any], mark: Mark, readable: bool) -> tuple[Fraction | None, str]:
    """(points, what the page calls it): a person's before all others, as in the grade book."""
    status = record["status"]
    if mark.is_of_another:
        return None, WAITS
    if mark.by_hand:
        return mark.points, "graded by a person"
    if status == MANUAL:
        if not readable:
            return Fraction(0), "nothing to grade"
        return mark.points, WAITS if mark.points is None else "no answer"
    if status == LATER or record["points"] is None:
        return None, status
    return exact(record["points"]), status if readable else "not graded"
