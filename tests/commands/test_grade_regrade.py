"""`tito grade regrade`: a test is mended after a class was graded."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from tests.commands.a_class import Taught
from tests.grading.book.sample import MASTER, RIGHT, ROSTER, hand_in

pytest.importorskip("nbgrader")
# Files and tables of a class; that it is graded alike is tried on every Python elsewhere.
pytestmark = pytest.mark.newest

# The hidden test was too strict: an empty list may give what a student made of it.
MENDED = MASTER.replace("assert total([]) == 0", "assert total([]) in (0, 3)")


# In this process: two more would each load the judge anew.
REGRADE = ("regrade", "-j", "1")


@pytest.fixture(scope="module")
def taught(tmp_path_factory) -> Taught:
    own = Taught(tmp_path_factory.mktemp("regrade"))
    assert own.tito("run", "-j", "1") == 0
    assert own.own.store.get("ann").submission["points"] == 3.5
    return own


def files(taught):
    return {
        p: p.read_bytes()
        for p in sorted(taught.own.root.rglob("*"))
        if p.is_file() and p.name != ".tito.lock"
    }


def test_before_a_change_there_is_nothing_to_do(taught, capsys):
    before = files(taught)
    assert taught.tito(*REGRADE) == 0
    assert "nothing to grade again" in capsys.readouterr().out
    assert files(taught) == before


def test_a_dry_run_lists_and_writes_nothing(taught, capsys):
    taught.set(MENDED)
    before, dump = files(taught), taught.own.dump()
    assert taught.tito(*REGRADE, "--dry-run", "--json", "-") == 0
    [part] = json.loads(capsys.readouterr().out)["modules"]
    assert part["questions"] == ["total"]
    assert part["regraded"] == 3
    assert part["changes"] == [{"student": "ben", "question": "total", "before": 2, "after": 2.5}]
    assert files(taught) == before
    assert taught.own.dump() == dump


def test_results_from_before_a_mended_test_are_named(taught, capsys):
    taught.set(MASTER)
    taught.tito("status", "--json")
    assert "older than" not in capsys.readouterr().out
    taught.set(MENDED)
    taught.tito("status", "--json")
    found = json.loads(capsys.readouterr().out)["waiting"]
    older = [w for w in found if w["what"] == "older than its tests"]
    assert [w["student"] for w in older] == ["ann", "ben", "cem"]
    assert older[0]["why"] == "graded before these questions changed: total"
    taught.tito("status")
    assert "next: tito grade regrade --class" in capsys.readouterr().out
    for words in (["export", "--out", "-"], ["feedback", "--student", "ann"]):
        taught.tito(*words)
        said = capsys.readouterr().err
        assert "07_sums: 3 results from before its tests changed; tito grade regrade" in said
    taught.set(MASTER + "\n# %% [markdown]\n# A word at the end.\n")
    taught.tito("status")
    assert "older than" not in capsys.readouterr().out  # no question is another one


@pytest.mark.parametrize("words", [["--dry-run"], []])
def test_a_mended_test_that_the_courses_own_solution_fails_is_refused(taught, capsys, words):
    taught.set(MASTER.replace("assert mean([1, 3]) == 2", "assert mean([1, 3]) == 3, 'off'"))
    before, dump = files(taught), taught.own.dump()
    assert taught.tito("regrade", *words) == 1
    said = capsys.readouterr()
    assert "the course's own solution fails the tests that changed: mean-test: " in said.err
    assert "ann" not in said.out
    assert files(taught) == before and taught.own.dump() == dump


def test_the_points_change_where_the_test_was_mended_and_nowhere_else(taught, capsys):
    taught.set(MENDED)
    taught.own.give("ben", "own", 0.5, "fine")
    before = set(taught.own.dump())
    assert taught.tito("regrade") == 0
    shown = capsys.readouterr().out
    assert "graded again in 3 hand-ins: total" in shown
    assert ["ben", "total", "2", "2.5"] in [line.split() for line in shown.splitlines()]
    assert "next: tito grade export --class" in shown
    changed = [line for line in before ^ set(taught.own.dump()) if '"grade"' in line]
    assert len(changed) == 2  # ben's hidden test, before and after
    assert taught.own.grade_row("ben", "total-hidden") == (0.5, None, None, 0)
    assert taught.own.grade_row("ben", "own") == (None, 0.5, None, 0)
    assert taught.tito(*REGRADE) == 0
    assert "nothing to grade again" in capsys.readouterr().out
    # The results say that they are of the module as it is now: a run has nothing to do.
    before = files(taught)
    taught.tito("run", "-j", "1")
    assert "0 graded now" in capsys.readouterr().err
    assert files(taught) == before


def test_who_handed_in_anew_meanwhile_is_left_to_grade_run(taught, capsys):
    taught.set(MENDED.replace("assert mean([1, 3]) == 2", "assert mean([1, 3]) == 2.0, 'mean'"))
    path = taught.own.room.submitted("ann", "07_sums")
    path.write_bytes(path.read_bytes() + b"\n")
    assert taught.tito(*REGRADE) == 1
    assert "ann: handed in anew since it was graded" in capsys.readouterr().out


def test_what_still_cannot_be_graded_is_not_counted_as_graded_again(taught, capsys):
    taught.own.collect("dua", b"<html>", "2026-11-30 10:00:00.000000 UTC")
    taught.tito("run", "-j", "1")
    capsys.readouterr()
    taught.set(MASTER.replace("assert mean([1, 3]) == 2", "assert mean([1, 5]) == 3"))
    assert taught.tito(*REGRADE, "--dry-run", "--json", "-") == 0
    [part] = json.loads(capsys.readouterr().out)["modules"]
    assert part["regraded"] == 3
    [still] = part["still_broken"]
    assert still["student"] == "dua" and still["reason"]
    assert taught.tito(*REGRADE) == 0
    shown = capsys.readouterr().out
    assert "graded again in 3 hand-ins: " in shown
    assert f"  still broken: dua: {still['reason']}" in shown
    assert "as a whole" not in shown


@pytest.fixture(scope="module")
def before_the_move(tmp_path_factory) -> Path:
    """The folder of a class that is graded."""
    folder = tmp_path_factory.mktemp("move") / "all"
    Taught(folder).tito("run", "-j", "1")
    return folder


@pytest.fixture
def moved(before_the_move, tmp_path):
    """A graded class whose roster is another one now: ann has a new id, cem has left, eva is new
    and has handed in, fay is new and has not; and then the test was mended."""
    copy = Taught.at(shutil.copytree(before_the_move, tmp_path / "copy"))
    own = copy.own
    own.give("ann", "reflect-1", 1.5, "well said")
    settings = own.root / "course.toml"
    settings.write_text(settings.read_text().partition("[extensions")[0])
    text = ROSTER.replace("\nann,", "\nanna,").replace("\ncem,", "\nfay,").replace("Cem Öz", "Fay")
    roster = own.root / "roster.csv"
    roster.write_text(text + "eva,Eva Ernst,,A,105,2005\n", encoding="utf-8")
    own.collect("eva", hand_in(RIGHT), "2026-11-30 10:00:00.000000 UTC")
    copy.set(MENDED)
    return copy


def points_in_book(own):
    return set(
        own.query(
            "SELECT a.student_id, c.name, g.auto_score, g.manual_score FROM grade g "
            "JOIN base_cell c ON c.id = g.cell_id "
            "JOIN submitted_notebook n ON n.id = g.notebook_id "
            "JOIN submitted_assignment a ON a.id = n.assignment_id"
        )
    )


def test_regrade_with_another_roster_touches_the_class_alone_and_tells_the_rest(moved, capsys):
    own = moved.own
    left = {name: own.store.path(name).read_bytes() for name in ("ann", "cem")}
    before = points_in_book(own)
    capsys.readouterr()
    assert moved.tito(*REGRADE, "--json", "-") == 0
    [part] = json.loads(capsys.readouterr().out)["modules"]
    assert part["regraded"] == 1
    assert part["changes"] == [{"student": "ben", "question": "total", "before": 2, "after": 2.5}]
    assert part["not_in_roster"] == ["ann", "cem"]
    assert part["not_graded_yet"] == ["eva"]
    assert {name: own.store.path(name).read_bytes() for name in left} == left
    assert not own.store.path("anna").exists() and not own.store.path("eva").exists()
    assert points_in_book(own) ^ before == {
        ("ben", "total-hidden", 0.0, None),
        ("ben", "total-hidden", 0.5, None),
    }


def test_what_regrade_tells_of_another_roster(moved, capsys):
    capsys.readouterr()
    assert moved.tito(*REGRADE, "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "  not graded again, nobody in roster.csv: ann, cem\n" in shown
    assert "  not graded yet (tito grade run does it): eva\n" in shown
    moved.tito(*REGRADE)
    capsys.readouterr()
    assert moved.tito(*REGRADE) == 0  # now there is nothing to do, and these are told all the same
    shown = capsys.readouterr().out
    assert "nothing to grade again" in shown and "nobody in roster.csv: ann, cem" in shown


def test_who_has_the_old_id_again_is_graded_again_with_a_persons_points(moved, capsys):
    own = moved.own
    moved.tito(*REGRADE)
    roster = own.root / "roster.csv"
    roster.write_text(roster.read_text("utf-8").replace("\nanna,", "\nann,"), encoding="utf-8")
    cheaper = '"grade_id": "total-test", "locked": true, "points": 1'
    moved.set(MENDED.replace(cheaper[:-1] + "2", cheaper))
    capsys.readouterr()
    assert moved.tito(*REGRADE, "--json", "-") == 0
    [part] = json.loads(capsys.readouterr().out)["modules"]
    changed = {(c["student"], c["before"], c["after"]) for c in part["changes"]}
    assert ("ann", 2.5, 1.5) in changed
    assert own.grade_row("ann", "total-test")[0] == 1.0
    assert own.grade_row("ann", "reflect-1") == (None, 1.5, None, 0)


def test_the_table_of_marks_says_who_is_not_in_the_roster(moved, capsys):
    moved.tito(*REGRADE)
    capsys.readouterr()
    assert moved.tito("export", "--format", "csv", "--out", "-") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    found = {row["student_id"]: row["status"] for row in rows}
    assert found["ann"] == found["cem"] == "not in roster.csv"
    assert found["ben"] == "graded" and found["eva"] == found["anna"] == "nothing handed in"


def test_a_class_without_results_is_told_what_to_do(taught, capsys, tmp_path):
    own = Taught(tmp_path)
    assert own.tito("regrade") == 1
    assert "tito grade run" in capsys.readouterr().err
