"""The table of lessons says what was measured, where it must lie, and what left its band."""

from tests.bench.lessons.outcomes import FOUND, outcome
from tests.bench.reports import MACHINE
from tito.bench.lessons import table
from tito.bench.results import Machine


def text(found=FOUND, width=100):
    return table.text(found, Machine(1, MACHINE), width)


def test_a_row_for_each_lesson():
    lines = [line.split() for line in text().splitlines()]
    assert ["memory", *table.HEADS] in lines
    assert ["stride", "4", "40%", "3", "5", "at", "least", "2", "yes"] in lines
    assert ["exact", "8.5", "0%", "8.5", "8.5", "exactly", "8.5", "yes"] in lines
    assert ["ticks", "1267", "4%", "1234", "1300", "at", "least", "1", "yes"] in lines


def test_one_repeat_outside_shows():
    [line] = [line for line in text().splitlines() if line.startswith("  equal ")]
    assert line.split()[-1] == "NO"


def test_what_is_left_out_says_why():
    assert "  far     left out: this machine has no such cache" in text().splitlines()


def test_every_band_says_what_it_follows_from():
    assert "equal: far / near. Band: 0.5 to 2, for both touch as much." in text()


def test_lessons_that_compare_the_same_are_explained_once():
    pair = [outcome("one", 3.0), outcome("two", 4.0), outcome("three", 4.0, compared="x / y")]
    said = text({"memory": pair})
    assert "one; two: far / near." in said and "three: x / y." in said
    assert said.count("for it must") == 2


def test_the_machine_stands_below():
    assert "machine: Example CPU 9000, 4 cores, L1 32K L2 1M" in text()


def test_no_line_is_wider_than_asked():
    wide = {"memory": [outcome("a", 2.0, compared="much " * 60)]}
    assert max(map(len, text(wide, 100).splitlines())) <= 100


def test_a_lesson_outside_is_named_with_its_ratio():
    assert table.broken(FOUND) == ["memory: equal left its band (0.5 to 2): 2.5"]
