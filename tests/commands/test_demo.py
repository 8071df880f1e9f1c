"""`tito demo` shows the whole way, and its hand-ins are what they are called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.sample import SOLUTION, make_course, make_kit, master
from tito import cli
from tito.course import Course
from tito.grading import example_handins
from tito.release import kit


def sources(data: bytes) -> dict[str, str]:
    cells = json.loads(data)["cells"]
    return {c["id"]: "".join(c["source"]) for c in cells if c["metadata"].get("nbgrader")}


@pytest.fixture
def handed_in(tmp_path):
    own = make_kit(tmp_path)
    student = kit.released_bytes(own, "02_demo")
    return {n: sources(d) for n, d in example_handins.handins(master(), student).items()}


def test_the_complete_one_holds_the_solution_without_markers(handed_in):
    for line in SOLUTION.split("\n"):
        assert line in handed_in["complete"]["weigh"]
    assert "BEGIN SOLUTION" not in handed_in["complete"]["weigh"]
    assert example_handins.ANSWER in handed_in["complete"]["reflect-1"]
    assert "YOUR ANSWER HERE" not in handed_in["complete"]["reflect-1"]


def test_the_empty_one_is_the_kits(handed_in):
    assert "raise NotImplementedError()" in handed_in["empty"]["weigh"]


def test_the_wrong_and_the_endless_one_keep_signature_and_docstring():
    source = 'def f(a, b=1):\n    """Words."""\n    c = a\n    return c\n\n\ndef g():\n    return 2'
    wrong = example_handins.with_bodies(source, "return {first}")
    assert wrong == (
        'def f(a, b=1):\n    """Words."""\n    return a\n\n\ndef g():\n    return None'
    )
    assert "while True: pass" in example_handins.with_bodies(source, "while True: pass")


def test_only_solutions_and_answers_differ_between_hand_ins(handed_in):
    for name, cells in handed_in.items():
        for cell in ("weigh-test", "weigh-hidden"):
            assert cells[cell] == handed_in["empty"][cell], name


# Each of its commands has tests on every Python.
@pytest.mark.newest
def test_the_demo_shows_every_step(tmp_path, monkeypatch, capsys):
    course = make_course(tmp_path)
    monkeypatch.chdir(course.root)
    assert cli.main(["demo", "--keep", str(tmp_path / "kept")]) == 0
    out = capsys.readouterr().out
    for number in range(1, 6):
        assert f"{number}/5" in out
    points = {line.split()[0]: line.split()[1] for line in out.splitlines() if "/3 " in line + " "}
    assert points["complete"] == "3/3"
    assert points["empty"] == points["wrong"] == points["endless"] == "0/3"
    assert out.splitlines()[-1].startswith("next: ") and out.rstrip().endswith(" start")
    own = Course(tmp_path / "kept" / "kit")
    run = subprocess.run(
        [sys.executable, "-c", "from tinykernels.demo import weigh; print(weigh([1, 5], 2))"],
        cwd=own.root,
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "50.0", run.stderr


def test_nothing_is_left_without_keep(tmp_path, monkeypatch, capsys):
    course = make_course(tmp_path)
    monkeypatch.chdir(course.root)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tito.commands.demo._grade", lambda *a: False)
    assert cli.main(["demo"]) == 1
    assert list((tmp_path / "scratch").iterdir()) == []
    assert "did not show what it should" in capsys.readouterr().out


def test_a_full_folder_is_not_used(tmp_path, monkeypatch):
    course = make_course(tmp_path)
    monkeypatch.chdir(course.root)
    assert cli.main(["demo", "--keep", str(course.root)]) == 2


def test_a_kit_alone_has_nothing_to_show(tmp_path, monkeypatch, capsys):
    own = make_kit(tmp_path)
    monkeypatch.chdir(own.root)
    monkeypatch.setattr("tito.__file__", str(own.root / "tito" / "__init__.py"))
    assert cli.main(["demo"]) == 1
    assert "needs the course's repository" in capsys.readouterr().err


def test_it_finds_the_course_that_it_lies_in(tmp_path, monkeypatch):
    from tito.commands import demo

    monkeypatch.chdir(tmp_path)
    assert demo._course().root == Path(__file__).parents[2]
