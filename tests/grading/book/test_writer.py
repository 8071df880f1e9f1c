"""One writer: again changes nothing, people's marks stay, a run that ended is made whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.grading.book.sample import MASTER, NAME, POINTS, RIGHT, TIMES, autograded, hand_in, row
from tests.grading.book.sample import master as sample_master
from tito.errors import UserError
from tito.grading.book import rows, write
from tito.grading.book.database import Book, create


def tree(root):
    return {p.relative_to(root): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_writing_again_changes_no_byte(own, rewrite):
    before, files = own.dump(), tree(own.root)
    written = rewrite()
    assert written.students == ["ann", "ben", "cem"]
    assert own.dump() == before
    assert tree(own.root) == files


def test_who_handed_nothing_in_has_no_row_and_those_who_wait_are_told(own, rewrite):
    own.grade("dua", row("dua", {}, status="missing", reason="nothing"))
    before = own.dump()
    assert rewrite().students == ["ann", "ben", "cem"]
    assert own.dump() == before


def test_other_assignments_and_students_keep_their_rows(own, rewrite):
    with closing(sqlite3.connect(own.room.gradebook)) as db:
        db.execute("INSERT INTO student VALUES ('eve', 'E', 'V', NULL, NULL)")
        db.execute("INSERT INTO assignment VALUES ('a1', 'other', NULL, 'kernels')")
        db.execute("INSERT INTO notebook VALUES ('n1', 'other', 'a1', NULL)")
        db.execute("INSERT INTO base_cell VALUES ('c1', 'total-test', 'n1', 'GradeCell')")
        db.execute("INSERT INTO grade_cells VALUES ('c1', 2.0, 'code')")
        db.execute("INSERT INTO submitted_assignment VALUES ('s1', 'a1', 'ann', NULL, NULL)")
        db.execute("INSERT INTO submitted_notebook VALUES ('m1', 's1', 'n1', 1, 0.5)")
        db.execute("INSERT INTO grade VALUES ('g1', 'm1', 'c1', 1.0, 2.0, 3.0, 1)")
        db.commit()
    before = set(own.dump())
    own.grade("ann", row("ann", {**POINTS["ann"], "total-test": 0}))
    rewrite()
    changed = set(own.dump()) ^ before
    assert len(changed) == 2  # one grade of ours, as it was and as it is
    assert all('INSERT INTO "grade"' in line and "'m1'" not in line for line in changed)


def test_what_a_person_gave_survives(own, rewrite):
    own.give("ann", "reflect-1", 1.5, "short")
    own.give("ann", "total-test", 1)
    own.change("UPDATE submitted_notebook SET flagged=1 WHERE late_submission_penalty=3.0")
    own.grade("ann", row("ann", {"total-test": 0, "total-hidden": 0.5, "mean-test": 1}))
    rewrite()
    assert own.grade_row("ann", "reflect-1") == (None, 1.5, None, 0)
    assert own.grade_row("ann", "total-test") == (0.0, 1.0, None, 0)
    assert own.query("SELECT manual_comment FROM comment WHERE manual_comment NOT NULL") == [
        ("short",)
    ]
    assert own.query("SELECT count(*) FROM submitted_notebook WHERE flagged") == [(1,)]


def test_another_hand_in_waits_for_the_person_again_and_nothing_is_deleted(own, rewrite):
    own.give("ann", "reflect-1", 1.5, "short")
    own.give("cem", "reflect-1", 2)
    own.collect("ann", hand_in({**RIGHT, "reflect-1": "Longer now."}), "2026-12-01 09:00:00 UTC")
    own.grade("ann")
    rewrite()
    assert own.grade_row("ann", "reflect-1") == (None, 1.5, None, 1)
    assert own.grade_row("cem", "reflect-1") == (None, 2.0, None, 0)
    # Looked at again in formgrader: it stays looked at.
    own.give("ann", "reflect-1", 2)
    rewrite()
    assert own.grade_row("ann", "reflect-1") == (None, 2.0, None, 0)


def test_a_hand_in_collected_after_it_was_graded_is_left_for_grading(own, rewrite):
    before, page = own.dump(), tree(own.root / "autograded")
    own.collect("ben", hand_in(RIGHT), TIMES["ben"])
    written = rewrite()
    assert (written.outdated, written.students) == (["ben"], ["ann", "cem"])
    assert own.dump() == before
    assert tree(own.root / "autograded") == page


@pytest.mark.parametrize("status", ["broken", "ambiguous"])
def test_in_a_hand_in_without_a_readable_cell_nothing_waits_for_points(own, rewrite, status):
    own.collect("dua", b"<html>", TIMES["ann"])
    own.grade("dua", row("dua", {}, status=status, reason="not a notebook"))
    assert "dua" not in rewrite().waiting
    for cell in ("total-test", "own", "reflect-1"):
        assert own.grade_row("dua", cell) == (0.0, None, None, 0)
    [task] = own.query(
        "SELECT g.auto_score, g.needs_manual_grade FROM grade g JOIN base_cell c ON c.id=g.cell_id "
        "JOIN submitted_notebook n ON n.id=g.notebook_id JOIN submitted_assignment a "
        "ON a.id=n.assignment_id WHERE c.name='draw' AND a.student_id='dua'"
    )
    assert task == (0.0, 0)
    notes = autograded(own.root, "dua").cells[0]
    assert notes.outputs[0]["text"] == f"{status}: not a notebook\n"


def test_a_whole_hand_in_after_a_broken_one_waits_for_points_again(own, rewrite):
    own.collect("dua", b"<html>", TIMES["ann"])
    own.grade("dua", row("dua", {}, status="broken", reason="not a notebook"))
    rewrite()
    own.collect("dua", hand_in(RIGHT), TIMES["ann"])
    own.grade("dua", row("dua", POINTS["ann"]))
    assert "dua" in rewrite().waiting
    assert own.grade_row("dua", "reflect-1") == (None, None, None, 1)


def test_a_persons_points_for_a_broken_hand_in_stand(own, rewrite):
    own.collect("dua", b"<html>", TIMES["ann"])
    own.grade("dua", row("dua", {}, status="broken", reason="not a notebook"))
    rewrite()
    own.give("dua", "reflect-1", 1)
    assert "dua" not in rewrite().waiting
    assert own.grade_row("dua", "reflect-1") == (0.0, 1.0, None, 0)


def test_an_extension_that_is_taken_back_goes(own, rewrite):
    path = own.root / "course.toml"
    path.write_text(path.read_text().partition("[extensions")[0])
    own._look(own.root)
    write(own.room, sample_master(), own.results())
    assert own.query("SELECT extension FROM submitted_assignment WHERE student_id='cem'") == [
        (None,)
    ]
    assert own.query(
        "SELECT late_submission_penalty FROM submitted_notebook n JOIN submitted_assignment a "
        "ON a.id=n.assignment_id WHERE student_id='cem'"
    ) == [(2.75,)]


def test_a_name_that_a_person_mended_stays(own, rewrite):
    own.change("UPDATE student SET first_name='Ben van der', last_name='Bloch' WHERE id='ben'")
    own.change("UPDATE student SET first_name='Arendt', last_name='Ann' WHERE id='ann'")
    rewrite()
    [names] = own.query("SELECT first_name, last_name FROM student WHERE id='ann'")
    assert names == ("Arendt", "Ann")  # the roster's words, parted elsewhere
    [names] = own.query("SELECT first_name, last_name FROM student WHERE id='ben'")
    assert names == ("Ben", "Bloch")  # not the roster's words


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Arendt, Ann", ("Ann", "Arendt")),
        ("Ann Maria Arendt", ("Ann Maria", "Arendt")),
        ("Plato", (None, "Plato")),
        ("", (None, None)),
    ],
)
def test_a_name_in_two_parts(name, parts):
    assert rows.split_name(name) == parts


# -- the module changes


def test_a_new_test_gets_rows_in_every_hand_in(own, rewrite):
    more = MASTER.replace('"total-hidden"', '"total-more"')
    rewrite(sample_master(more))
    names = [n for (n,) in own.query("SELECT name FROM base_cell WHERE name LIKE 'total-%'")]
    assert sorted(names) == ["total-more", "total-test"]
    assert own.query(
        "SELECT count(*) FROM grade g JOIN base_cell c ON c.id=g.cell_id WHERE c.name='total-more'"
    ) == [(3,)]
    sources = own.query("SELECT count(*) FROM source_cell WHERE name='total-hidden'")
    assert sources == [(0,)]


def test_a_cell_that_a_person_graded_is_not_removed(own, rewrite):
    own.give("ann", "total-hidden", 0.5)
    before = own.dump()
    with pytest.raises(UserError, match="total-hidden, which was graded"):
        rewrite(sample_master(MASTER.replace('"total-hidden"', '"total-more"')))
    assert own.dump() == before


def test_points_of_the_module_are_brought_in_line(own, rewrite):
    rewrite(sample_master(MASTER.replace('"points": 0.5', '"points": 0.25')))
    [(most,)] = own.query(
        "SELECT max_score FROM grade_cells g JOIN base_cell c ON c.id=g.id "
        "WHERE name='total-hidden'"
    )
    assert most == 0.25


# -- what a crash leaves


class Crash(BaseException):
    pass


STEPS = ["_write_trees", "_write_page", "sync_submission", "flush", "commit", "keep_handins"]


@pytest.mark.parametrize(
    ("step", "at_once"), [*((step, 1) for step in STEPS), ("sync_submission", 20), ("commit", 20)]
)
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_run_that_ends_between_two_steps_is_made_whole_by_the_next(
    own, rewrite, monkeypatch, step, after, at_once
):
    """The state after the crash and the next run is that of a run without a crash."""
    answers = {**RIGHT, "total": "def total(values):\n    return 7", "reflect-1": "New."}
    own.give("ben", "own", 0.5)
    own.collect("ben", hand_in(answers), "2026-12-02 11:00:00 UTC")
    own.grade("ben", row("ben", {"total-test": 0, "total-hidden": 0, "mean-test": 1}))
    with monkeypatch.context() as patch:
        patch.setattr("tito.grading.book.writer.AT_ONCE", at_once)
        _crash_at(patch, step, after)
        with pytest.raises(Crash):
            rewrite()
    _is_consistent(own)
    rewrite()
    assert own.grade_row("ben", "total-test")[0] == 0.0
    assert own.grade_row("ben", "own") == (None, 0.5, None, 1)
    whole = own.dump(), tree(own.root)
    rewrite()
    assert (own.dump(), tree(own.root)) == whole
    assert "return 7" in autograded(own.root, "ben").by_id("total").source


def _crash_at(patch, step, after):
    from sqlalchemy.orm import Session

    from tito.grading.book.kept import Kept
    from tito.grading.book.writer import _Writer

    owner = {"keep_handins": Kept, "sync_submission": rows, "flush": Session}.get(step, _Writer)
    real = getattr(owner, step)

    def crashing(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        raise Crash

    patch.setattr(owner, step, crashing)


def _is_consistent(own):
    """Every file is whole, and each hand-in has the rows of all cells, all old or all new."""
    for student in ("ann", "ben", "cem"):
        assert autograded(own.root, student).cells
    [(count,)] = own.query("SELECT count(*) FROM grade")
    assert count == 18
    old_or_new = {(2.0, 0.0, 1.0), (0.0, 0.0, 1.0)}
    scores = tuple(own.grade_row("ben", c)[0] for c in ("total-test", "total-hidden", "mean-test"))
    assert scores in old_or_new
    assert own.query("PRAGMA integrity_check") == [("ok",)]


def test_a_book_whose_making_was_broken_off_is_made_anew(tmp_path, monkeypatch):
    path = tmp_path / "gradebook.db"
    import nbgrader.api

    with monkeypatch.context() as patch:
        patch.setattr(nbgrader.api.Gradebook, "check_course", _crash)
        with pytest.raises(Crash):
            create(path, "kernels")
    assert list(tmp_path.iterdir()) == []


def _crash(*args, **options):
    raise Crash


def test_what_a_killed_one_left_of_a_book_is_removed(tmp_path):
    left = [".gradebook.db.abcd_123", ".gradebook.db.abcd_123-journal"]
    for name in [*left, ".gradebook.db.mine", ".other.abcd_123"]:
        (tmp_path / name).write_text("half of it")
    create(tmp_path / "gradebook.db", "kernels")
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [".gradebook.db.mine", ".other.abcd_123", "gradebook.db"]


def test_what_killed_ones_left_in_the_trees_is_removed(own, rewrite):
    before = tree(own.root)
    notebook = f".{NAME}.ipynb.abcd_123"
    for name in (
        f"autograded/ann/{NAME}/{notebook}",
        f"autograded/ann/{NAME}/.timestamp.txt.abcd_123",
        f"source/{NAME}/{notebook}",
        f"release/{NAME}/{notebook}",
        f"book/{NAME}/.handins.json.abcd_123",
    ):
        (own.root / name).write_text("half of it")
    rewrite()
    assert tree(own.root) == before


def test_a_book_of_another_version_is_not_touched(own):
    own.change("UPDATE alembic_version SET version_num='x'")
    before = own.dump()
    with pytest.raises(UserError, match="another version of nbgrader"):
        Book(own.room.gradebook, "kernels")
    assert own.dump() == before


def test_a_locked_book_is_said_so(own, rewrite, monkeypatch):
    monkeypatch.setattr("tito.grading.book.database.PATIENCE_SECONDS", 0.05)
    with closing(sqlite3.connect(own.room.gradebook)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UserError, match="cannot be written"):
            rewrite()


def test_the_trees_hold_the_module_and_its_student_version(own):
    source = (own.root / "source" / NAME / f"{NAME}.ipynb").read_text()
    release = (own.root / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "return sum(values)" in source
    assert "assert total([]) == 0" in source
    assert "return sum(values)" not in release
    assert "assert total([]) == 0" not in release
    stamp = own.root / "autograded" / "ann" / NAME / "timestamp.txt"
    assert stamp.read_text() == TIMES["ann"]
