"""The made-up class: the same for a seed, of every kind, and each worth what its kind says."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.grading import tiny
from tito.commands.masters import make_batch
from tito.grading.bench.synthetic import (
    BROKEN,
    EMPTY,
    HALF,
    REPEATED_AFTER,
    RIGHT,
    SHARES,
    SLOW,
    WRONG,
    synthetic_class,
)
from tito.grading.executors import threads
from tito.grading.handins import HandIn


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    course = tiny.make_course(tmp_path_factory.mktemp("bench") / "course")
    return make_batch(course, course.resolve("01"))


def test_a_seed_makes_one_class_and_another_seed_another(batch):
    one, same, other = (list(synthetic_class(batch.master, 40, seed)) for seed in (0, 0, 1))
    assert one == same != other


def test_every_twenty_hold_each_kind_in_its_share(batch):
    kinds = [h.kind for h in synthetic_class(batch.master, 60)]
    for start in (0, 20, 40):
        assert Counter(kinds[start : start + 20]) == SHARES
    assert kinds[:20] != kinds[20:40]


def test_the_last_hundred_are_the_first_but_for_their_names(batch):
    made = list(synthetic_class(batch.master, 2 * REPEATED_AFTER))
    for first, last in zip(made, made[REPEATED_AFTER:]):
        renamed = first.data.replace(first.student.encode(), last.student.encode())
        assert (first.kind, renamed) == (last.kind, last.data)
        assert first.student != last.student


def test_what_each_kind_earns(batch):
    made = list(synthetic_class(batch.master, 20))
    with threads(1) as workers:
        own = [HandIn(h.student, read=lambda h=h: h.data) for h in made]
        rows = {row.student: row.result for _, row in batch.stream(own, workers)}
    for hand_in in made:
        result = rows[hand_in.student]
        assert (result.status == "broken") == (hand_in.kind == BROKEN)
        points = float(result.points)
        if hand_in.kind in (RIGHT, SLOW):
            assert points == 3.5, hand_in
        elif hand_in.kind == HALF:
            assert points in (1.5, 2)
        elif hand_in.kind in (EMPTY, BROKEN):
            assert points == 0
        else:
            assert hand_in.kind == WRONG and points < 3.5


def test_no_hidden_test_is_in_a_hand_in(batch):
    for hand_in in synthetic_class(batch.master, 20):
        if hand_in.kind != BROKEN:
            assert "a text" not in json.dumps(json.loads(hand_in.data))
