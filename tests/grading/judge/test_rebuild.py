"""A hand-in's cells are found in the master whatever was done to them."""

import copy

import pytest

from tests.grading.judge.samples import (
    CLAMP,
    CLAMP_WRONG,
    DOUBLE,
    hand_in,
    master,
    solution,
    without_metadata,
)
from tito.grading.judge.rebuild import rebuild
from tito.notebook import Cell, Notebook

CLAMP_AT, TEST_AT, DOUBLE_AT = 2, 3, 5


def sources(rebuilt, position):
    return [piece.source for piece in rebuilt.solutions.get(position, [])]


def changed(change):
    own = hand_in()
    change(own.cells)
    return Notebook(own.cells, own.metadata, own.path)


def test_untouched_hand_in_has_no_deviation():
    found = rebuild(master(), hand_in())
    assert sources(found, CLAMP_AT) == [CLAMP]
    assert sources(found, DOUBLE_AT) == [DOUBLE]
    assert found.deviations == []
    assert found.extras == {}


def test_layout_comments_and_assert_words_are_no_deviation():
    def change(cells):
        cells[TEST_AT].source = "\n# mine\nassert clamp( 12,0, LIMIT) == 10, 'other words'   \n\n\n"

    assert rebuild(master(), changed(change)).deviations == []


@pytest.mark.parametrize(
    "change, said",
    [
        (lambda c: setattr(c[TEST_AT], "source", "assert True"), "test edited"),
        (lambda c: setattr(c[TEST_AT], "kind", "markdown"), "no longer a code cell"),
        (lambda c: setattr(c[TEST_AT], "kind", "raw"), "no longer a code cell"),
        (lambda c: c[TEST_AT].nbgrader.update(points=50), "settings changed"),
        (lambda c: c[TEST_AT].nbgrader.update(grade=False), "settings changed"),
        (lambda c: c[CLAMP_AT].nbgrader.update(grade=True, points=9), "settings changed"),
        (lambda c: c.insert(4, copy.deepcopy(c[TEST_AT])), "clamp-test appears again"),
        (lambda c: c.pop(TEST_AT), "clamp-test: not in the hand-in"),
        (lambda c: c[TEST_AT].metadata.update(nbgrader="garbage"), "no dictionary"),
        (lambda c: c[TEST_AT].nbgrader.update(grade_id="other"), "not one of the course's"),
    ],
)
def test_what_was_done_to_a_test_is_named(change, said):
    found = rebuild(master(), changed(change))
    assert any(said in d and ("cell" in d or "clamp" in d) for d in found.deviations)
    assert sources(found, CLAMP_AT) == [CLAMP]


def test_renamed_and_stripped_tests_are_recognised_by_their_text():
    def change(cells):
        cells[TEST_AT].metadata = {}

    found = rebuild(master(), changed(change))
    assert found.extras == {}
    assert "recognised as clamp-test" in found.deviations[0]


def test_cells_in_another_order_are_put_in_ours():
    own = hand_in()
    own = Notebook(own.cells[::-1])
    found = rebuild(master(), own)
    assert sources(found, CLAMP_AT) == [CLAMP]
    assert any("moved" in d for d in found.deviations)


def test_all_copies_of_a_solution_run_in_order():
    def change(cells):
        cells.insert(3, solution("clamp", CLAMP_WRONG))

    found = rebuild(master(), changed(change))
    assert sources(found, CLAMP_AT) == [CLAMP, CLAMP_WRONG]
    assert any("appears again" in d for d in found.deviations)


@pytest.mark.parametrize("lower_has_metadata", [True, False])
def test_a_split_cell_is_joined(lower_has_metadata):
    upper, lower = CLAMP.split("\n", 1)

    def change(cells):
        cells[CLAMP_AT].source = upper + "\n"
        below = solution("clamp", lower) if lower_has_metadata else Cell("code", lower)
        cells.insert(3, below)

    found = rebuild(master(), changed(change))
    [joined] = sources(found, CLAMP_AT)
    names = {}
    exec(joined, names)
    assert names["clamp"](12, 0, 10) == 10
    assert found.extras == {}
    assert any("split" in d for d in found.deviations)


def test_without_any_metadata_cells_are_found_by_names_and_text():
    found = rebuild(master(), without_metadata(hand_in()))
    assert sources(found, CLAMP_AT) == [CLAMP]
    assert sources(found, DOUBLE_AT) == [DOUBLE]
    assert any("recognised as clamp by the names it defines" in d for d in found.deviations)


def test_a_solution_merged_into_the_test_below_is_found():
    def change(cells):
        cells[TEST_AT].source = CLAMP + cells[TEST_AT].source
        cells.pop(CLAMP_AT)

    found = rebuild(master(), changed(change))
    assert CLAMP in sources(found, CLAMP_AT)[0]


def test_two_solutions_merged_into_one_cell():
    def change(cells):
        cells[CLAMP_AT].source = CLAMP + DOUBLE
        cells.pop(DOUBLE_AT)

    found = rebuild(master(), changed(change))
    assert sources(found, CLAMP_AT) == [CLAMP + DOUBLE]
    assert not any("double: not in the hand-in" in d for d in found.deviations)


def test_cells_are_found_by_the_ids_of_the_release():
    release = hand_in()
    for number, cell in enumerate(release.cells):
        cell.id = f"id{number}"
    own = without_metadata(release)
    own.cells[CLAMP_AT].source = "limit = min  # defines other names\n"
    found = rebuild(master(), own, release)
    assert sources(found, CLAMP_AT) == [own.cells[CLAMP_AT].source]


def test_further_code_follows_the_cell_above_it():
    def change(cells):
        cells.insert(0, Cell("code", "first = 1"))
        cells.insert(5, Cell("code", "after_the_test = 1"))

    found = rebuild(master(), changed(change))
    assert [p.source for p in found.extras[-1]] == ["first = 1"]
    assert [p.source for p in found.extras[TEST_AT]] == ["after_the_test = 1"]


def test_an_edited_given_cell_runs_after_ours():
    release = hand_in()
    for number, cell in enumerate(release.cells):
        cell.id = f"id{number}"
    own = copy.deepcopy(release)
    own.cells[1].source = "import math\nimport cmath\n\nLIMIT = 99"
    found = rebuild(master(), own, release)
    assert [p.source for p in found.extras[1]] == [own.cells[1].source]
    assert any("given cell edited" in d for d in found.deviations)


def test_a_missing_solution_is_said():
    found = rebuild(master(), changed(lambda c: c.pop(CLAMP_AT)))
    assert "clamp: not in the hand-in" in found.deviations


def test_another_notebook_is_not_ours():
    other = Notebook([Cell("code", "x = 1"), Cell("markdown", "hello")])
    found = rebuild(master(), other)
    assert not found.ours and not found.solutions


def test_cells_that_no_compiler_takes_are_carried_along():
    deep = "x = " + "(" * 5000 + ")" * 5000
    found = rebuild(master(), changed(lambda c: c.append(Cell("code", deep))))
    assert sources(found, CLAMP_AT) == [CLAMP]
