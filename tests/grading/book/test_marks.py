"""Exact sums, and the table of marks."""

from __future__ import annotations

import csv
import io
from fractions import Fraction

import pytest

from tests.grading.book.sample import MASTER, RIGHT, hand_in, master
from tito.errors import UserError
from tito.grading.book import CellMark, Marks, read_marks, states, table
from tito.grading.book.cents import cents
from tito.grading.book.rows import score_of
from tito.notebook.points import exact


@pytest.mark.parametrize(
    ("points", "total", "shown"),
    [
        ([0.1] * 10, 1, "1"),
        ([12.5] * 7, Fraction(175, 2), "87.5"),
        ([1 / 3] * 3, 1, "1"),
        ([0.7, 0.2, 0.1], 1, "1"),
        ([1, 1, 1, 4e-16], 3, "3"),
        ([], 0, "0"),
        ([2.675], Fraction(107, 40), "2.68"),
    ],
)
def test_sums_are_exact(points, total, shown):
    cells = {str(n): CellMark(exact(p)) for n, p in enumerate(points)}
    marks = Marks("ann", None, Fraction(0), cells)
    assert marks.raw_score == total
    assert cents(marks.score) == shown


class Row:
    def __init__(self, auto=None, manual=None, extra=None):
        self.auto_score, self.manual_score, self.extra_credit = auto, manual, extra


@pytest.mark.parametrize(
    ("row", "points"),
    [
        (Row(2.0), 2),
        (Row(2.0, 0.0), 0),
        (Row(None, 1 / 3), Fraction(1, 3)),
        (Row(0.0, None, 0.5), Fraction(1, 2)),
        (Row(None, None, 0.5), 0),  # nbgrader: without a score no extra credit
        (Row(), 0),
    ],
)
def test_a_grade_counts_by_nbgrader_s_rule(row, points):
    assert score_of(row) == points


def test_a_person_s_points_count_in_the_penalty(own):
    """nbgrader takes off what was there when it graded; points given later are late, too."""
    own.give("ben", "own", 1)
    [module], _ = read_marks(own.room)
    ben = module.students["ben"]
    assert (ben.raw_score, ben.penalty, ben.score) == (4, 4, 0)
    assert own.query(
        "SELECT late_submission_penalty FROM submitted_notebook "
        "WHERE late_submission_penalty NOT NULL"
    ) == [(4.0,)]


LATE = """\
[extensions."ben"]
"07_sums" = 2026-12-03T12:00:00+01:00
"""


def change_settings(own, old, new):
    path = own.root / "course.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    own._look(own.root)


def bens(own):
    """ben's points after what lateness costs, as read and as they stand in the book."""
    [module], _ = read_marks(own.room)
    [(taken,)] = own.query(
        "SELECT n.late_submission_penalty FROM submitted_notebook n "
        "JOIN submitted_assignment a ON a.id = n.assignment_id WHERE a.student_id = 'ben'"
    )
    ben = module.students["ben"]
    assert ben.penalty == (taken or 0) and (ben.seconds_late > 0) == (taken is not None)
    return ben.score


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('[extensions."cem"]', LATE + '[extensions."cem"]'),
        ("due = 2026-12-01T", "due = 2026-12-03T"),
        ("due = 2026-12-01T12:00:00+01:00\n", ""),
    ],
    ids=["an extension", "another due time", "no due time"],
)
def test_lateness_is_what_the_settings_say_now(own, old, new):
    assert bens(own) == 0
    change_settings(own, old, new)
    assert bens(own) == 3


def test_a_due_time_before_the_hand_ins_makes_them_late(own):
    change_settings(own, "due = 2026-12-01T", "due = 2026-11-29T")
    [module], _ = read_marks(own.room)
    assert module.students["ann"].score == 0
    assert module.students["cem"].score > 0  # whose extension stands


@pytest.mark.parametrize("time", ["2026-12-01 10:00:00 UTC", None])
def test_lateness_is_what_the_collected_times_say_now(own, time):
    stamp = own.room.submitted("ben", "07_sums").parent / "timestamp.txt"
    stamp.write_text(time) if time else stamp.unlink()
    assert bens(own) == 3


def test_a_hand_in_that_is_not_graded_yet_lends_no_time_to_the_graded_one(own):
    own.collect("ben", hand_in(RIGHT), "2026-11-30 10:00:00 UTC")
    assert bens(own) == 0
    own.collect("ann", hand_in({}), "2026-12-30 10:00:00 UTC")
    [module], _ = read_marks(own.room)
    assert module.students["ann"].penalty == 0


def test_who_has_left_keeps_an_extension(own):
    roster = own.root / "roster.csv"
    lines = roster.read_text("utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("cem,")]
    roster.write_text("\n".join(kept), encoding="utf-8")
    settings = own.root / "course.toml"
    settings.write_text(settings.read_text("utf-8").partition("[extensions")[0], encoding="utf-8")
    own._look(own.root)
    [module], _ = read_marks(own.room)
    assert module.students["cem"].penalty == 0


def test_times_of_hand_ins_that_others_wrote_stay(own):
    (own.root / "book" / "07_sums" / "handins.json").unlink()
    change_settings(own, "due = 2026-12-01T", "due = 2026-12-03T")
    before = own.dump()
    read_marks(own.room)
    assert own.dump() == before


def test_reading_writes_nothing_else(own):
    before = own.dump()
    read_marks(own.room)
    assert own.dump() == before


def test_what_a_person_said_and_what_waits(own):
    own.give("ann", "reflect-1", 1.5, "short")
    [module], _ = read_marks(own.room, ["07_sums"])
    mark = module.students["ann"].cells["reflect-1"]
    assert (mark.points, mark.by_hand, mark.waiting, mark.comment) == (
        Fraction(3, 2),
        True,
        False,
        "short",
    )
    assert module.students["ann"].waiting == 2
    assert module.max_score == Fraction(19, 2)


def test_a_module_that_is_not_in_the_book(own):
    with pytest.raises(UserError, match="nothing of 09_x"):
        read_marks(own.room, ["09_x"])


def read(text):
    return {row["student_id"]: row for row in csv.DictReader(io.StringIO(text))}


def test_the_table_has_everybody_and_no_formula(own):
    own.give("ann", "reflect-1", 1.5)
    modules, people = read_marks(own.room)
    statuses = {("07_sums", s.student): s.status for s in states(own.room, "07_sums")}
    rows = read(table(modules, people, own.room.roster(), statuses, master(MASTER)))
    assert list(rows) == ["ann", "ben", "cem", "dua"]
    ann = rows["ann"]
    assert (ann["score"], ann["max_score"], ann["status"]) == ("5", "9.5", "graded")
    assert (ann["total"], ann["mean"], ann["reflect-1"], ann["draw"]) == ("2.5", "1", "1.5", "")
    assert (ann["group"], ann["waits_for_a_person"]) == ("A", "2")
    assert rows["dua"]["last_name"] == "'=Dua()"
    assert rows["dua"]["status"] == "nothing handed in"


def test_who_is_in_the_book_alone_has_a_row_too(own):
    own.change("UPDATE student SET last_name='-x' WHERE id='dua'")
    modules, people = read_marks(own.room)
    rows = read(table(modules, people, own.room.roster()[:1], {}))
    assert set(rows) == {"ann", "ben", "cem", "dua"}
    assert rows["dua"]["last_name"] == "'-x"
