"""Grading again touches the questions that a mended test concerns, and no other."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.grading.book.sample import MASTER, NAME, POINTS, Class, master, row
from tito.grading.book import Kept, Regrade
from tito.grading.book.kept import key_of
from tito.grading.judge.result import Result

MENDED = MASTER.replace("assert total([]) == 0", "assert total([]) in (0, 3)")


@pytest.fixture
def room(tmp_path) -> Class:
    """A class whose results name the module that is kept."""
    own = Class(tmp_path / "class")
    key = Kept(own.root, NAME).keep_master(master())
    for student in POINTS:
        own.grade(student, key=key)
    return own


def regrade_of(room, text=MENDED):
    return Regrade(Kept(room.root, NAME), room.store, master(text))


def fresh(student, points):
    return Result.from_json(row(student, points))


def test_nothing_is_stale_with_the_same_module(room):
    plan = regrade_of(room, MASTER).plan(room.results())
    assert (plan.stale, plan.relabelled, plan.questions) == ([], [], [])


def test_a_remark_in_the_module_makes_nothing_stale(room):
    own = regrade_of(room, MASTER.replace("three = 3", "three = 3  # a remark"))
    plan = own.plan(room.results())
    assert (plan.stale, len(plan.relabelled)) == ([], 3)
    before = plan.relabelled[0]
    own.keep(own.relabelled(before))
    after = room.store.get(before.student)
    assert after.key.master == own.key != before.key.master
    assert after.submission == before.submission


def test_other_questions_keep_their_result_to_the_byte(room):
    """Also points that would flip: mean is graded anew as wrong, and stays as it was."""
    own = regrade_of(room)
    plan = own.plan(room.results())
    assert plan.questions == ["total"]
    [stale] = [s for s in plan.stale if s.stored.student == "ben"]
    flipped = fresh("ben", {"total-test": 2, "total-hidden": 0.5, "mean-test": 0})
    flipped.cells[2].message = "other words"
    after = own.merged(stale, flipped)
    old = {c["id"]: json.dumps(c) for c in stale.stored.submission["cells"]}
    new = {c["id"]: json.dumps(c) for c in after.submission["cells"]}
    assert {i for i in old if old[i] != new[i]} == {"total-hidden"}
    assert list(old) == list(new)
    assert (after.submission["points"], after.submission["points_exact"]) == (3.5, "7/2")
    [change] = own.changes(stale.stored, after)
    assert change == type(change)("ben", "total", Fraction(2), Fraction(5, 2))


def test_what_could_not_be_graded_is_graded_as_a_whole(room):
    key = key_of(master())
    room.grade("ann", row("ann", {}, status="broken", reason="the grading broke off"), key=key)
    own = regrade_of(room)
    plan = own.plan(room.results())
    assert plan.questions == ["total"]
    [stale] = plan.broken
    after = own.merged(stale, fresh("ann", POINTS["ann"]))
    assert after.submission["status"] == "graded"
    assert after.submission["points"] == 3.5


def test_without_the_old_module_every_question_counts(room):
    room.grade("ann", key="0" * 64)
    plan = regrade_of(room, MASTER).plan(room.results())
    assert plan.unknown
    assert [s.stored.student for s in plan.stale] == ["ann"]
    assert set(plan.questions) == {"total", "mean", "own", "reflect-1", "draw"}


def test_a_new_test_counts_and_one_that_is_gone_does_not(room):
    text = MASTER.replace('"total-hidden"', '"total-more"')
    own = regrade_of(room, text)
    [stale] = [s for s in own.plan(room.results()).stale if s.stored.student == "ann"]
    document = row("ann")
    for cell in document["cells"]:
        cell["id"] = cell["id"].replace("total-hidden", "total-more")
    after = own.merged(stale, Result.from_json(document))
    ids = [c["id"] for c in after.submission["cells"]]
    assert "total-more" in ids
    assert "total-hidden" not in ids
    assert list(own.changes(stale.stored, after)) == []
