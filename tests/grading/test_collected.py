"""A class graded into its folder: what is missing or changed is graded, and nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.grading import tiny
from tito.commands.masters import make_batch
from tito.grading import report
from tito.grading.batch import Row
from tito.grading.collected import NOTHING, Collected
from tito.grading.executors import threads

ROOT = Path(__file__).parents[2]
CLASS = {
    "zoe": tiny.hand_in(),
    "ann": tiny.hand_in(twice="return x"),
    "cy": b"{ torn",
    "bob": None,
}


def collected(room, course):
    return Collected(room, tiny.NAME, make_batch(course, course.resolve("01"), room))


@pytest.fixture
def course(tmp_path):
    return tiny.make_course(tmp_path / "course")


@pytest.fixture
def room(tmp_path, course):
    return tiny.make_class(tmp_path / "class", course, CLASS)


def grade(run, again=False):
    """Grade what waits; who that was."""
    heard = []
    with threads(1) as workers:
        run.grade(run.waiting(again), workers, lambda row: heard.append(row.student))
    return sorted(heard)


def test_everybody_in_the_roster_has_a_row_in_its_order(room, course):
    run = collected(room, course)
    assert grade(run) == sorted(CLASS)
    rows = {r.student: r.result for r in run.results}
    assert list(rows) == list(CLASS)
    assert [r.status for r in rows.values()] == ["graded", "graded", "broken", "missing"]
    assert [float(r.points) for r in rows.values()] == [3.5, 2, 0, 0]
    assert rows["bob"].reason == NOTHING


def test_again_only_what_is_missing_changed_or_broken(room, course):
    grade(collected(room, course))
    assert grade(collected(room, course)) == ["cy"]
    tiny.submit(room, "cy", tiny.hand_in(less="return 0"))
    tiny.submit(room, "bob", tiny.hand_in())
    room.results(tiny.NAME).joinpath("zoe.json").unlink()
    run = collected(room, course)
    assert grade(run) == ["bob", "cy", "zoe"]
    assert [float(r.result.points) for r in run.results] == [3.5, 2, 1.5, 3.5]
    assert grade(collected(room, course)) == []
    assert grade(collected(room, course), again=True) == sorted(CLASS)


def test_a_mended_test_or_another_secret_means_everybody(room, course):
    grade(collected(room, course))
    master = course.resolve("01").py
    master.write_text(master.read_text().replace("twice(3) == 6", "twice(4) == 8"))
    assert grade(collected(room, course)) == sorted(CLASS)
    other = collected(room, course)
    other.batch = replace(other.batch, secret=b"another")
    assert grade(other) == sorted(CLASS)


def test_a_hand_in_that_is_a_link_is_not_followed(room, course, tmp_path):
    path = room.submitted("zoe", tiny.NAME)
    path.rename(tmp_path / "elsewhere.ipynb")
    path.symlink_to(tmp_path / "elsewhere.ipynb")
    run = collected(room, course)
    grade(run)
    assert run.store.get("zoe").result.status == "broken"


KILLED = """
from pathlib import Path
from tests.grading.test_collected import collected
from tito.course import Course
from tito.grading.classroom import Classroom
from tito.grading.executors import processes
if __name__ == "__main__":
    run = collected(Classroom.open({room!r}), Course(Path({course!r})))
    with processes(2) as workers:
        run.grade(run.waiting(), workers, lambda row: None)
"""


@pytest.mark.skipif(os.name == "nt", reason="killed by a signal")
# What a killed run leaves are files; grading what is missing is tried on every Python above.
@pytest.mark.newest
def test_killed_in_the_middle_and_called_again_a_class_of_200_has_the_same_marks(tmp_path, course):
    files = [tiny.hand_in(), tiny.hand_in(twice="return x"), tiny.hand_in(less="return 1"), None]
    handed_in = {f"s{n:03}": files[n % 4] for n in range(200)}
    # What four get in one go is what all get who handed the same in.
    few = collected(tiny.make_class(tmp_path / "few", course, dict(zip("abcd", files))), course)
    grade(few)
    results = [stored.result for stored in few.results]
    wanted = [Row(student, results[n % 4]) for n, student in enumerate(handed_in)]
    room = tiny.make_class(tmp_path / "torn", course, handed_in)
    torn = collected(room, course)

    script = tmp_path / "script.py"
    script.write_text(KILLED.format(room=str(room.root), course=str(course.root)))
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": path})
    while process.poll() is None and sum(1 for _ in torn.store.folder.glob("s*.json")) < 90:
        time.sleep(0.01)
    process.kill()
    process.wait()
    there = {p.stem for p in torn.store.folder.glob("s*.json")}
    assert 90 <= len(there) < 200
    assert all(torn.store.get(student) for student in there)  # none of them is half a file

    graded = grade(torn)
    assert set(graded) == set(handed_in) - there
    assert report.to_csv(torn.results) == report.to_csv(wanted)
    assert not list(torn.store.folder.glob(".*"))
