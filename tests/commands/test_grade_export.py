"""`tito grade export`: marks out of the grade book, into files that platforms take."""

from __future__ import annotations

import csv
import io
import shutil

import pytest

from tests.grading.book.conftest import template as template  # the class folder, made once
from tests.grading.book.sample import Class
from tito import cli

pytest.importorskip("nbgrader")

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Sums (7)\r\n"
    "    Points Possible,,,,,9.5\r\n"
    '"Arendt, Ann",101,,ann,A,\r\n'
    '"Öz, Cem",103,,cem,B,1\r\n'
    '"Dua",104,,dua,B,\r\n'
)


@pytest.fixture
def own(template, tmp_path, monkeypatch) -> Class:
    own = Class.at(shutil.copytree(template, tmp_path / "class"))
    monkeypatch.chdir(own.root / "submitted")  # a folder below finds the class, too
    return own


def export(*words):
    return cli.main(["grade", "export", *words])


def test_a_table_of_all_marks(own, capsys):
    assert export() == 0
    said = capsys.readouterr()
    path = own.root / "exports" / "grades.csv"
    assert f"wrote {path}: 07_sums" in said.out
    assert "3 of these still wait" in said.err
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    assert [(r["student_id"], r["score"]) for r in rows] == [
        ("ann", "3.5"),
        ("ben", "0"),
        ("cem", "2.75"),
        ("dua", "0"),
    ]
    assert export("--out", "-") == 0
    out = capsys.readouterr().out
    assert out == path.read_text("utf-8-sig")


def test_canvas_gets_its_own_sheet_back(own, capsys, tmp_path):
    sheet = tmp_path / "gradebook.csv"
    sheet.write_bytes(CANVAS.encode())
    assert export("--format", "canvas", "--sheet", str(sheet)) == 0
    out = (own.root / "exports" / "07_sums-canvas.csv").read_bytes().decode()
    assert out == CANVAS.replace("ann,A,", "ann,A,3.5").replace("cem,B,1", "cem,B,2.75")
    said = capsys.readouterr().out
    assert "marks in the column 'Sums (7)': 2, 2 of them new" in said
    assert "Dua: nothing was handed in" in said
    assert "in no row of the sheet: ben" in said
    assert sheet.read_bytes() == CANVAS.encode()


def test_a_broken_upload_is_no_zero(own, capsys, tmp_path):
    own.grade("ann", {**own.store.get("ann").submission, "status": "broken", "reason": "no JSON"})
    sheet = tmp_path / "gradebook.csv"
    sheet.write_bytes(CANVAS.encode())
    assert export("--format", "canvas", "--sheet", str(sheet)) == 0
    assert "Arendt, Ann: no JSON" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--format", "moodle"], 2, "download it there and name it with --sheet"),
        (["--format", "canvas", "--sheet", "nowhere.csv"], 2, "no such file"),
        (["--sheet", "x.csv"], 2, "goes with --format canvas or moodle"),
        (["--module", "09"], 2, "graded are: 07_sums"),
    ],
)
def test_mistakes_are_said(own, capsys, words, code, said):
    assert export(*words) == code
    assert said in capsys.readouterr().err


def test_before_grading_there_is_nothing_to_export(own, capsys):
    own.room.gradebook.unlink()
    assert export() == 1
    assert "tito grade run" in capsys.readouterr().err
