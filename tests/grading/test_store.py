"""Results on the disk: whole or not there, and graded again only where that can change anything."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tito.grading.judge.result import (
    AMBIGUOUS,
    BROKEN,
    GRADED,
    MANUAL,
    MISSING,
    PARTIAL,
    CellResult,
    Result,
)
from tito.grading.store import Key, Store

KEY = Key("m" * 64, "h" * 64, "j" * 64)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results" / "01_tiny")


def result(status=GRADED):
    cells = [
        CellResult("a", PARTIAL, Fraction(7, 3), Fraction(1, 3), "nearly", 0.25, True),
        CellResult("b", MANUAL, Fraction(2)),
    ]
    return Result(status, "01_tiny", cells, ["a note"], ["landlock"], raised=["cell 3"])


def test_what_was_put_comes_back_with_its_exact_points(store):
    store.put("ann", KEY, result())
    stored = store.get("ann")
    assert (stored.student, stored.module, stored.key) == ("ann", "01_tiny", KEY)
    assert stored.result == result()
    assert stored.result.points == Fraction(1, 3)


def test_the_file_has_the_form_that_other_commands_read(store):
    store.put("ann", KEY, result())
    document = json.loads((store.folder / "ann.json").read_text("utf-8"))
    assert document["version"] == 1 and document["key"]["master"] == "m" * 64
    row = {"student": "ann", **result().to_json()}
    assert document["submission"] == row
    assert document["graded_at"].endswith("+00:00")


@pytest.mark.parametrize("part", ["master", "handin", "judge"])
def test_another_key_means_grading_again(store, part):
    store.put("ann", KEY, result())
    assert store.is_current("ann", KEY)
    assert not store.is_current("ann", replace(KEY, **{part: "x" * 64}))
    assert not store.is_current("bob", KEY)


@pytest.mark.parametrize(
    ("status", "current"), [(GRADED, True), (MISSING, True), (AMBIGUOUS, True), (BROKEN, False)]
)
def test_what_could_not_be_graded_is_tried_again(store, status, current):
    store.put("ann", KEY, result(status))
    assert store.is_current("ann", KEY) is current


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"version": 2}', '{"version": 1}', '{"version": 1, "key": 3}']
)
def test_a_file_that_cannot_be_read_is_no_result(store, text):
    store.put("ann", KEY, result())
    store.path("ann").write_text(text)
    assert store.get("ann") is None
    assert not store.is_current("ann", KEY)


def test_what_a_killed_run_was_writing_goes_and_the_results_stay(store):
    store.put("ann", KEY, result())
    (store.folder / ".bob.json.x1y2").write_text('{"vers')
    store.remove_torn()
    assert [p.name for p in store.folder.iterdir()] == ["ann.json"]


def test_results_come_in_the_order_asked_for_and_may_be_read_again(store):
    for student in ("ann", "bob", "cy"):
        store.put(student, KEY, result())
    results = store.results(["cy", "nobody", "ann"])
    assert [r.student for r in results] == ["cy", "ann"]
    assert [r.student for r in results] == ["cy", "ann"]
    assert len(results) == 2 and results[1].student == "ann"
