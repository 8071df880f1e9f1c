"""`tito grade bench` on a module of two cells: what it measures, says and refuses."""

from __future__ import annotations

import json
import sys

import pytest

from tests.grading import tiny
from tito.cli import main
from tito.grading.bench import growth as growth_module
from tito.grading.bench.growth import Growth
from tito.grading.bench.versus import Difference, Spent, Versus

linux = pytest.mark.skipif(sys.platform != "linux", reason="the bench needs Linux")


@pytest.fixture
def course(tmp_path, monkeypatch):
    course = tiny.make_course(tmp_path / "course")
    monkeypatch.chdir(course.root)
    return course


def bench(*options):
    return main(["grade", "bench", "--module", "01", *options])


@linux
def test_growth_measures_first_and_last_and_says_it_as_json(course, capsys):
    assert bench("--part", "growth", "--students", "40", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    found = document["growth"]
    assert (found["hand_ins"], found["compared"], found["workers"]) == (40, 20, 1)
    assert found["cpu_first"] > 0.001 and found["cpu_last"] > 0.001
    assert found["cpu_ratio"] == pytest.approx(found["cpu_last"] / found["cpu_first"], rel=0.05)
    assert 10e6 < found["peak_memory"] < 1e9
    assert found["cpu_parent"] < found["cpu_last"]


def test_parts_of_a_class_that_are_compared_hold_the_same_kinds():
    assert [growth_module._part(n) for n in (1000, 200, 60, 40, 20)] == [100, 100, 20, 20, 10]


@linux
@pytest.mark.slow
@pytest.mark.parametrize("part", ["versus", "spread", "killed"])
def test_each_part_runs_and_nothing_is_lost(course, capsys, part):
    assert bench("--part", part, "--students", "40", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    if part == "versus":
        assert document["throughput_ratio"] > 1
        assert document["versus"]["honest_differences"] == 0
        kinds = {d.split("(")[1].split(")")[0] for d in document["versus"]["differences"]}
        assert kinds <= {"broken"}
    elif part == "spread":
        assert [s["wrong"] for s in document["spread"]] == [[]] * len(document["spread"])
        assert [len(s["share"]) for s in document["spread"][:2]] == [1, 2]
    else:
        assert document["killed"]["same"] and 0 < document["killed"]["kept"] < 40


def test_what_starting_costs_is_no_grading():
    found = Versus(20, Spent(40.0, 30.0), Spent(4.0, 3.0), Spent(2.0, 2.7))
    assert found.throughput_ratio == 18.0
    assert round(found.cpu_ratio, 3) == 10.0


def test_differences_are_listed_with_the_kind_and_those_of_honest_ones_counted():
    torn = Difference("student-001", "broken", "twice-test", None, 0)
    honest = Difference("student-002", "right", "twice-test", 0, 1)
    found = Versus(20, Spent(2, 2), Spent(), Spent(1, 1), [torn, honest])
    text = "\n".join(found.lines())
    assert "student-001 (broken): twice-test: nbgrader none, ours 0" in text
    assert found.honest_differences == [honest]
    assert found.to_json()["honest_differences"] == 1


def test_what_is_printed_of_a_large_class():
    text = "\n".join(Growth(1000, 100, 60.0, 0.05, 0.055, 0.002, 80_000_000, 300_000_000).lines())
    assert "1.100 times" in text and "80.0 MB" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--students", "5"], "from 20 on"),
        (["-j", "0"], "from 1 on"),
        (["--module", "07"], "no module is called"),
    ],
)
def test_wrong_usage_is_two(course, capsys, words, said):
    assert main(["grade", "bench", *words]) == 2
    assert said in capsys.readouterr().err
