"""`tito grade run` in a class folder: what was collected is graded, kept, and told to the book."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.grading import tiny
from tito.cli import main
from tito.commands import grade_run as commands_grade_run
from tito.commands.masters import course_of, make_batch

ROOT = Path(__file__).parents[2]
CLASS = {
    "zoe": tiny.hand_in(),
    "ann": tiny.hand_in(twice="return x"),
    "bob": None,
}


def _mind_ctrl_c():
    """Whoever starts the tests in the background makes them, and what they start, ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def room(tmp_path):
    course = tiny.make_course(tmp_path / "course")
    return tiny.make_class(tmp_path / "class", course, CLASS)


def test_limits_of_the_class_hold(room):
    with open(room.root / "course.toml", "a") as file:
        file.write("\n[limits]\nsolution = 7\n")
    course = course_of(room)
    assert make_batch(course, course.resolve("01"), room).limits.solution == 7


def grade_run(room, *options):
    return main(["grade", "run", "--class", str(room.root), "-j", "1", *options])


def test_the_class_is_graded_and_the_grade_book_written(room, capsys):
    assert grade_run(room) == 0  # who handed nothing in is no failure of the grading
    captured = capsys.readouterr()
    rows = [line.split()[:2] for line in captured.out.splitlines()[2:5]]
    assert rows == [["zoe", "3.5/3.5"], ["ann", "2/3.5"], ["bob", "0/3.5"]]
    assert "missing, nothing was handed in" in captured.out
    assert f"{tiny.NAME}: 2 graded now; 1 missing\n" in captured.err
    assert captured.out.splitlines()[-1].startswith("next: tito grade status --class ")
    assert room.gradebook.is_file()
    assert (room.root / "autograded" / "zoe" / tiny.NAME / f"{tiny.NAME}.ipynb").is_file()

    tiny.submit(room, "bob", tiny.hand_in())
    assert grade_run(room, "--module", "01") == 0
    assert "1 graded now, 2 unchanged since they were graded\n" in capsys.readouterr().err
    assert grade_run(room, "--again") == 0
    assert "3 graded now\n" in capsys.readouterr().err


def test_only_what_was_graded_counts_as_graded(room, capsys):
    tiny.submit(room, "ann", b"no notebook")
    for now in ("1 graded now", "0 graded now, 1 unchanged since they were graded"):
        assert grade_run(room) == 1
        assert f"{tiny.NAME}: {now}; 1 broken, 1 missing\n" in capsys.readouterr().err


def test_that_a_line_was_cut_is_said_with_where_it_stands_whole(
    room, capsys, monkeypatch, tmp_path
):
    said = "lines that end in ... are cut"
    monkeypatch.setenv("COLUMNS", "250")
    grade_run(room)
    assert said not in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    grade_run(room)
    assert f"{said}: --json FILE holds every message" in capsys.readouterr().out


def test_json_and_csv_hold_everybody_in_the_order_of_the_roster(room, capsys, tmp_path):
    sheet = tmp_path / "marks.csv"
    tiny.submit(room, "ann", b"no notebook")
    assert grade_run(room, "--json", "--csv", str(sheet)) == 1  # hers could not be graded
    document = json.loads(capsys.readouterr().out)
    assert [s["student"] for s in document["submissions"]] == list(CLASS)
    assert {s["module"] for s in document["submissions"]} == {tiny.NAME}
    lines = list(csv.DictReader(io.StringIO(sheet.read_text("utf-8-sig"))))
    assert [(r["student"], r["points"]) for r in lines] == [
        ("zoe", "3.5"),
        ("ann", "0"),
        ("bob", "0"),
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["grade", "run", "--master", "x.py"], 2, "--master needs HANDINS"),
        (
            ["grade", "run", ".", "--again", "--module", "01"],
            2,
            "--again is for what was collected",
        ),
        (["grade", "run", "--class", "nowhere"], 2, "no such folder"),
        (["grade", "run", "--class", "{room}", "--course", "nowhere"], 2, "course folder is not"),
        (["grade", "run", "--class", "{room}", "--module", "07"], 2, "no module is called"),
    ],
)
def test_what_cannot_be_meant_is_said(room, capsys, words, code, said):
    assert main([w.format(room=room.root) for w in words]) == code
    captured = capsys.readouterr()
    assert said in captured.err and captured.out == ""


def test_a_module_that_nobody_handed_in_gets_no_rows_of_zeros(room, capsys):
    other = room.root.parent / "course" / "modules" / "02_more"
    other.mkdir()
    (other / "02_more.py").write_text(tiny.MASTER)
    assert grade_run(room, "--module", "2") == 1
    assert "nobody has handed in 02_more" in capsys.readouterr().err
    assert not room.results("02_more").exists()


def test_students_are_called_as_in_the_roster(room, capsys, monkeypatch):
    monkeypatch.setattr(commands_grade_run, "_write_book", lambda *args: None)  # costs seconds
    (room.root / "roster.csv").write_text("id,name\nzoe,\nCON,\n")
    assert grade_run(room, "--csv", "-") == 0
    said = capsys.readouterr()
    assert "CON," in said.out and "con~" not in said.out + said.err
    assert [p.stem.partition("~")[0] for p in room.results(tiny.NAME).glob("con*.json")] == ["con"]


def test_nothing_collected_is_no_success(room, capsys):
    for student in CLASS:
        room.submitted(student, tiny.NAME).unlink(missing_ok=True)
    assert grade_run(room) == 1
    assert "nothing was collected yet" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C as POSIX systems send it")
def test_ctrl_c_ends_with_130_and_keeps_what_was_graded(tmp_path):
    slow = tiny.hand_in(twice="import time; time.sleep(600)")
    course = tiny.make_course(tmp_path / "course")
    handed_in = {"ann": tiny.hand_in(), "bob": slow, "cy": slow, "dee": slow}
    room = tiny.make_class(tmp_path / "class", course, handed_in)
    words = ["grade", "run", "--class", str(room.root), "-j", "2"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "tito", *words],
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_mind_ctrl_c,
    )
    result = room.results(tiny.NAME) / "ann.json"
    end = time.monotonic() + 180
    while not result.exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, said = process.communicate(timeout=180)
    assert process.returncode == 130
    assert [p.name for p in scratch.iterdir()] == []
    assert "Traceback" not in said and "is kept" in said
    assert json.loads(result.read_text())["submission"]["points"] == 3.5
