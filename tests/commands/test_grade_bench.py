"""`tito grade bench` on a module of two cells: what it measures, says and refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import psutil
import pytest

from tests.grading import tiny
from tito.cli import main
from tito.commands.masters import make_batch
from tito.grading import book
from tito.grading.bench import growth as growth_module
from tito.grading.bench.growth import Growth
from tito.grading.bench.synthetic import synthetic_class
from tito.grading.bench.versus import Difference, Spent, Versus, our_scores

# It counts and compares; what it measures, the judge, has tests on every Python.
pytestmark = pytest.mark.newest

ROOT = Path(__file__).parents[2]
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


def test_ours_writes_the_grade_book_and_its_time_counts(course, tmp_path, monkeypatch):
    """As nbgrader's autograde does: what both have recorded is what is compared."""
    pytest.importorskip("nbgrader")
    ref = course.resolve("01")
    batch = make_batch(course, ref)
    hand_ins = [*synthetic_class(batch.master, 20)]
    slow, real = 0.3, book.write

    def write(*args, **options):
        time.sleep(slow)
        return real(*args, **options)

    monkeypatch.setattr(book, "write", write)
    found = Versus(20)
    scores = our_scores(course, ref, batch, hand_ins, tmp_path, found)
    assert found.ours.wall > found.book.wall > slow
    assert 0 < found.book.cpu < found.ours.cpu
    students = {student for student, _ in scores}
    assert students == {h.student for h in hand_ins}
    right = next(h.student for h in hand_ins if h.kind == "right")
    assert sum(p for (s, _), p in scores.items() if s == right) == Fraction(7, 2)
    assert (tmp_path / "ours" / "autograded" / right / tiny.NAME / f"{tiny.NAME}.ipynb").is_file()
    text = "\n".join(found.lines())
    assert "of that, the grade book" in text


@linux
@pytest.mark.parametrize(
    "part",
    [
        "growth",
        pytest.param("spread", marks=pytest.mark.slow),
        pytest.param("killed", marks=pytest.mark.slow),
        pytest.param("versus", marks=pytest.mark.slow),
    ],
)
@pytest.mark.clock
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_one_that_is_ended_leaves_nothing_behind(course, tmp_path, part, number):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = ["grade", "bench", "--module", "01", "--part", part, "--students", "200"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tito", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # Whoever runs the tests may have nohup before them, which is passed on.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    begun = time.monotonic() + 180
    while not list(scratch.glob(f"tito-bench-*/{part}/*/*")) and time.monotonic() < begun:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(number)
    _, said = process.communicate(timeout=180)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said and f"ended by {number.name}" in said
    assert list(scratch.iterdir()) == []
    assert _in_session(process.pid) == []


def _in_session(session):
    """The processes that are left of it, after a moment to end in."""
    for _ in range(100):
        left = [p for p in psutil.process_iter() if _session_of(p.pid) == session]
        if not left:
            break
        time.sleep(0.1)
    return left


def _session_of(pid):
    try:
        return os.getsid(pid)
    except OSError:
        return None


@linux
@pytest.mark.slow
@pytest.mark.parametrize("part", ["versus", "spread", "killed"])
def test_each_part_runs_and_nothing_is_lost(course, capsys, part):
    assert bench("--part", part, "--students", "40", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    if part == "versus":
        assert document["throughput_ratio"] > 1
        assert document["versus"]["honest_differences"] == 0
        assert 0 < document["versus"]["ours_book"]["cpu"] < document["versus"]["ours"]["cpu"]
        kinds = {d.split("(")[1].split(")")[0] for d in document["versus"]["differences"]}
        assert kinds <= {"broken"}
    elif part == "spread":
        assert [s["wrong"] for s in document["spread"]] == [[]] * len(document["spread"])
        assert [len(s["share"]) for s in document["spread"][:2]] == [1, 2]
        assert all(s["hand_ins"] == sum(s["share"]) == 40 for s in document["spread"])
        ratios = [s["cpu_ratio"] for s in document["spread"] if not s["killed"]]
        assert ratios[0] == 1 and all(0.5 < ratio < 2 for ratio in ratios)
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
